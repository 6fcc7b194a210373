"""A kernel from outside of mercer. Maps, operators, estimators and the command need only its class."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    RBF,
    SVDD,
    Callable,
    Cosine,
    Diffusion,
    FourierMap,
    InputError,
    Kernel,
    KernelOperator,
    KernelPCA,
    LandmarkMap,
    Laplacian,
    Linear,
    LSSVMClassifier,
    Matern52,
    Polynomial,
)
from mercer.geometry.maps.graph import split
from mercer.geometry.operators.radial import RadialOperator, kernel_operator
from mercer.jobs.tables import kernel_for
from mercer.kernels import REGISTRY, Formula, Term, as_kernel
from naive import assert_close
from recipes import recipe

RationalQuadratic = recipe("A kernel").RationalQuadratic


class Minimum(Kernel):
    """Σ min(exp xᵢ, exp yᵢ), which is neither radial nor a function of the inner product."""

    names = ("minimum",)

    def tile(self, X, Y):
        return np.minimum(np.exp(X)[:, None], np.exp(Y)).sum(axis=-1)

    def diag(self, X):
        return np.exp(X).sum(axis=1)


def by_hand(kernel, x, y):
    if isinstance(kernel, Minimum):
        return sum(min(np.exp(a), np.exp(b)) for a, b in zip(x, y))
    return (1 + sum((a - b) ** 2 for a, b in zip(x, y)) / (2 * kernel.alpha * kernel.bandwidth**2)) ** -kernel.alpha


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 3))


each = pytest.mark.parametrize("kernel", [RationalQuadratic(0.8, 0.7), Minimum()], ids=repr)


@each
def test_matrix_diagonal_and_product_are_the_formula(kernel, X):
    truth = np.array([[by_hand(kernel, x, y) for y in X] for x in X])
    K = kernel(X)
    assert_close(K, truth, rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
    assert_close(kernel.diag(X), np.diag(truth), rtol=1e-12)
    assert_close(kernel(X[:5], X[5:]), truth[:5, 5:], rtol=1e-12)
    V = np.random.default_rng(1).standard_normal((40, 2))
    assert_close(KernelOperator(kernel, X) @ V, truth @ V, rtol=1e-10)
    assert_close(kernel_operator(kernel, X).rows(np.arange(3)), truth[:3], rtol=1e-10)
    mixed = 0.5 * kernel + Linear() * kernel
    assert_close(mixed(X), 0.5 * truth + (X @ X.T) * truth, rtol=1e-10, atol=1e-12)


@each
def test_the_exact_map_reproduces_the_matrix(kernel, X):
    Z = LandmarkMap(kernel, "exact").fit_transform(X)
    assert_close(Z @ Z.T, kernel(X), atol=1e-9)


@pytest.mark.parametrize("name", ["rational_quadratic", "minimum"])
def test_the_name_works_wherever_a_kernel_is_named(name, X):
    y = np.where(X[:, 0] > 0, "right", "left")
    fitted = LSSVMClassifier(kernel=name).fit(X, y)
    given = LSSVMClassifier(kernel=REGISTRY[name]()).fit(X, y)
    assert type(fitted.kernel_) is REGISTRY[name]
    np.testing.assert_array_equal(fitted.decision_function(X), given.decision_function(X))
    assert np.mean(fitted.predict(X) == y) > 0.9
    assert type(KernelPCA(2, kernel=name).fit(X).kernel_) is REGISTRY[name]
    assert kernel_for(X, name)[0] == REGISTRY[name]()
    with pytest.raises(InputError, match=f"kernel='none' is not known. Use .*{name}"):
        as_kernel("none")


def test_every_parameter_survives_resolve_clone_and_repr(X):
    kernel = RationalQuadratic("median", alpha=0.25)
    resolved = kernel.resolve(X)
    assert resolved.alpha == 0.25 and resolved.bandwidth == RBF().resolve(X).bandwidth
    assert clone(kernel) == kernel != RationalQuadratic("median")
    assert repr(kernel) == "RationalQuadratic(alpha=0.25)"
    assert kernel.set_params(alpha=2.0).alpha == 2.0
    with pytest.raises(InputError, match=r"Call kernel.resolve\(X\)"):
        kernel.check()


def test_a_name_belongs_to_one_class():
    with pytest.raises(InputError, match=r"name 'rbf' of .*\.Other is taken by mercer\.kernels\.radial\.RBF\. Give an"):
        type("Other", (Kernel,), {"names": ("rbf",)})
    assert REGISTRY["rbf"] is RBF
    with pytest.raises(InputError, match=r"names='mine' of Other is a str. Use a tuple, \('mine',\)"):
        type("Other", (Kernel,), {"names": "mine"})

    def define():  # as a notebook cell that is run again
        class Again(Kernel):
            names = ("again",)

        return Again

    try:
        first, second = define(), define()
        assert first is not second and REGISTRY["again"] is second
        assert type("Inherits", (second,), {}) and REGISTRY["again"] is second  # a name is not inherited
    finally:
        del REGISTRY["again"]


def test_terms_of_sums_and_scalings():
    kernel = 0.5 * (RBF(2.0) + 3.0 * Polynomial(2, 1.0, 0.1)) + Cosine()
    assert kernel.terms() == [
        Term(Formula.GAUSSIAN, 0.5, 0.25),
        Term(Formula.POWER + 2, 1.5, 0.1, 1.0),
        Term(Formula.COSINE, 1.0),
    ]
    assert (2.0 * Linear()).terms(3.0) == [Term(Formula.LINEAR, 6.0)]
    for other in (RBF(1.0) * Linear(), RBF(1.0) + Laplacian(1.0), Minimum(), RationalQuadratic(1.0), Callable(max)):
        assert other.terms() is None


def test_a_subclass_with_other_values_inherits_neither_formula_nor_spectrum(X):
    class Squared(RBF):
        def profile(self, squared, xp):
            return super().profile(2 * squared, xp)

    class Named(RBF):
        pass

    assert Squared(1.0).terms() is None and Named(1.0).terms() == RBF(1.0).terms()
    assert FourierMap(Named(1.0)).fit(X).rank_ == 500
    for kernel in (Squared(1.0), RationalQuadratic(1.0), 2 * RBF(1.0), Linear()):
        with pytest.raises(InputError, match=r"has no random Fourier features.*use LandmarkMap"):
            FourierMap(kernel).fit(X)


def test_a_kernel_with_its_own_spectrum_has_fourier_features(X):
    class Heavy(RationalQuadratic):
        """The spectrum of a scale mixture of Gaussians, a Gaussian with a Gamma(alpha) precision."""

        spectrum = "isotropic"

        def spectral_sample(self, rng, n, d):
            precision = rng.gamma(self.alpha, 1 / self.alpha, size=(n, 1))
            return rng.standard_normal((n, d)) * np.sqrt(precision) / self.bandwidth

    kernel = Heavy(1.2, 0.9)
    for orthogonal in (False, True):
        Z = FourierMap(kernel, n_features=40_000, orthogonal=orthogonal).fit_transform(X)
        assert np.abs(Z @ Z.T - kernel(X)).max() < 0.04
    assert np.abs(Z @ Z.T - RBF(1.2)(X)).max() > 0.1  # the test distinguishes the two spectra


def test_smooth_radial_kernels_take_the_radial_operator(X):
    for kernel in (RBF(1.0), RationalQuadratic(1.0)):
        assert isinstance(kernel_operator(kernel, X), RadialOperator)
    for kernel in (Matern52(1.0), Laplacian(1.0), Minimum(), 2.0 * RBF(1.0)):
        assert not isinstance(kernel_operator(kernel, X), RadialOperator)
    by_operator = SVDD(kernel=RationalQuadratic(1.0)).fit(X).decision_function(X)
    by_matrix = SVDD(kernel="precomputed").fit(RationalQuadratic(1.0)(X))
    assert_close(by_operator, by_matrix.decision_function(RationalQuadratic(1.0)(X)), atol=1e-6)


def test_parts_of_a_sum(X):
    graph = Diffusion(n_neighbors=4)
    kernel = 2.0 * (0.5 * RBF(1.0) + 3.0 * (Linear() + graph)) + Cosine()
    assert kernel.parts() == [(1.0, RBF(1.0)), (6.0, Linear()), (6.0, graph), (1.0, Cosine())]
    graphs, others = split(kernel)
    assert graphs == [(6.0, graph)] and others == RBF(1.0) + 6.0 * Linear() + Cosine()
    assert split(graph) == ([(1.0, graph)], None)
    assert (RBF(1.0) * Linear()).parts(2.0) == [(2.0, RBF(1.0) * Linear())]
    with pytest.raises(InputError, match="multiplies a graph kernel with another kernel, which has no factor"):
        (Linear() + RBF(1.0) * graph).parts()


a, b, c = RBF(2.0), Linear(), Polynomial(2)
TREES = [
    a + b + c,
    a + (b + c),
    a * b * c,
    a * (b * c),
    2 * (a * b),
    (2 * a) * b,
    a * (2 * b),
    0.5 * (2 * a),
    2 * (a + b),
]
TREES += [(a + b) * (b + c), a * b + c, a + b * c, 0.5 * a + (b + 3.0 * c) * (a * b)]


@pytest.mark.parametrize("kernel", TREES, ids=repr)
def test_python_reads_a_repr_as_the_same_kernel(kernel):
    names = {"RBF": RBF, "Linear": Linear, "Polynomial": Polynomial, "KernelPCA": KernelPCA}
    assert eval(repr(kernel), names) == kernel
    model = eval(repr(KernelPCA(3, kernel=kernel)), names)
    assert model.kernel == kernel and model.n_components == 3


def test_estimators_print_composite_kernels():
    kernel = 0.5 * RBF(1.0) + Linear()
    assert repr(KernelPCA(kernel=kernel)) == "KernelPCA(kernel=0.5 * RBF(bandwidth=1.0) + Linear())"
    assert repr(KernelPCA(kernel=Callable(by_hand))) == "KernelPCA(kernel=Callable(by_hand))"
    assert "RBF(bandwidth=1.0) + Linear()" in KernelPCA(kernel=kernel)._repr_html_()
