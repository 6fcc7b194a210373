"""Every eigen-solver against LAPACK on spectra that make solvers stumble."""

import numpy as np
import pytest

import naive
from mercer.errors import InputError, NotConverged
from mercer.geometry.operators import Operator
from mercer.solvers.eigen import top as eigen
from mercer.solvers.eigen.top import choose, top
from naive import assert_close

N = 120
SPECTRA = {
    "decaying": 0.8 ** np.arange(N),
    "slow": 1.0 / (1.0 + np.arange(N)),
    "clustered": np.repeat([1.0, 0.5, 0.1], N // 3) + 1e-9 * np.linspace(1, 0, N),
    "multiple": np.concatenate([np.ones(30), np.full(N - 30, 0.5)]),
    "identity": np.ones(N),
    "rank 3": np.concatenate([[3.0, 2.0, 1.0], np.zeros(N - 3)]),
    "zero": np.zeros(N),
    "indefinite": np.linspace(1.0, -3.0, N),
    "negative": -1.0 - np.arange(N),
    "huge": 1e80 * 0.7 ** np.arange(N),
    "tiny": 1e-80 * 0.7 ** np.arange(N),
}
METHODS = ["full", "krylov", "lanczos", "randomized", "lobpcg"]


class Counter(Operator):
    """A matrix that only multiplies, and counts."""

    def __init__(self, A):
        self.A, self.shape, self.columns, self.products = A, A.shape, 0, 0

    def __matmul__(self, V):
        self.columns += V.shape[1] if V.ndim == 2 else 1
        self.products += 1
        return self.A @ V

    def dense(self):
        return self.A


def matrix(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def check(A, result, s, tol):
    """Correct values, orthonormal vectors, and correct residuals."""
    values, vectors = result.value
    scale = max(abs(naive.eigh(A)[0][0]), np.finfo(float).tiny)
    assert values.shape == (s,) and vectors.shape == (len(A), s)
    assert np.all(np.diff(values) <= 1e-12 * scale)
    assert_close(values, naive.eigh(A)[0][:s], atol=tol * scale)
    assert_close(vectors.T @ vectors, np.eye(s), atol=1e-9)
    true = np.linalg.norm(A @ (vectors) - vectors * values, axis=0) / max(np.abs(values).max(), np.finfo(float).tiny)
    noise = 1e-13 * max(1.0, np.abs(A).max() / scale)
    assert_close(result.info["residuals"], true, rtol=1e-3, atol=noise)
    assert result.gap == pytest.approx(true.max(), rel=1e-3, abs=noise)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("s", [1, 12, 24])
def test_each_method_on_each_spectrum(method, spectrum, s):
    A = matrix(SPECTRA[spectrum])
    result = top(Counter(A), s, method)
    if method == "randomized" and result.gap > 1e-9:  # never above the truth after a fixed amount of work
        assert spectrum not in ("identity", "rank 3", "zero")
        assert np.all(result.value[0] <= naive.eigh(A)[0][:s] + 1e-9 * np.abs(A).max() * N)
    else:
        assert result.converged and result.gap <= 1e-9, result.reason
        check(A, result, s, 1e-8)
    assert result.n_iter >= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_all_pairs_of_a_small_matrix(method, n):
    A = matrix(1.0 + np.arange(n)[::-1])
    for s in range(1, n + 1):
        result = top(Counter(A), s, method)
        assert result.converged, result.reason
        check(A, result, s, 1e-9)


@pytest.mark.parametrize("method", ["krylov", "lanczos"])
def test_many_restarts(method):
    """A slow spectrum of 700 rows, for which the basis of 160 columns is not enough."""
    values = 1.0 / (1.0 + 0.002 * np.arange(700))
    A = matrix(values)
    operator = Counter(A)
    result = top(operator, 5, method)
    assert result.converged
    check(A, result, 5, 1e-9)
    if method == "krylov":
        assert operator.columns > 160
    assert_close(np.abs(result.value[1].T @ naive.eigh(A)[1][:, :5]), np.eye(5), atol=1e-5)


def test_multiplicity_above_the_block_width():
    """A random block of w columns finds w copies of an eigenvalue, so the solver must search for more."""
    for extra in (np.full(570, 0.5), 0.9 ** np.arange(1, 571)):
        A = matrix(np.concatenate([np.ones(30), extra]))
        for s in (8, 20, 40):
            result = top(Counter(A), s, "krylov")
            assert result.converged
            check(A, result, s, 1e-8)


def test_signs_are_fixed_and_seeds_agree():
    A = matrix(SPECTRA["decaying"])
    answers = [top(A, 4, method, seed=seed).value[1] for method in METHODS for seed in (0, 1)]
    for V in answers:
        assert_close(V, answers[0], atol=1e-7)
        peak = V[np.argmax(np.abs(V), axis=0), np.arange(4)]
        assert np.all(peak > 0)


def test_the_same_seed_gives_the_same_bits():
    A = matrix(SPECTRA["slow"])
    for method in METHODS:
        first, second = (top(A, 4, method, seed=3).value for _ in range(2))
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("method", ["krylov", "lanczos", "lobpcg"])
def test_too_few_iterations_are_admitted(method):
    values = 1.0 / (1.0 + 0.01 * np.arange(600))
    A = matrix(values)
    result = top(Counter(A), 6, method, max_iter=1)
    assert not result.converged and result.gap > 1e-9
    assert result.value[0].shape == (6,) and result.value[1].shape == (600, 6)
    assert np.isfinite(result.value[1]).all()
    true = np.linalg.norm(A @ result.value[1] - result.value[1] * result.value[0], axis=0) / result.value[0][0]
    assert_close(result.info["residuals"], true, rtol=1e-6)
    said = r"stopped after \d+ product\(s\) with the matrix at a residual of .* Raise max_iter or tol"
    with pytest.warns(NotConverged, match=said):
        result.warn()


@pytest.mark.parametrize("method", ["krylov", "lanczos", "randomized", "lobpcg"])
def test_iterations_are_products_with_the_matrix(method):
    """Next to them there are a few for a first guess and the residuals."""
    for values in (0.7 ** np.arange(300), 1.0 / (1.0 + 0.05 * np.arange(300))):
        operator = Counter(matrix(values))
        result = top(operator, 4, method)
        assert operator.products - 3 <= result.n_iter <= operator.products
        assert f"after {result.n_iter} product(s)" in result.reason


def test_tol_is_the_residual():
    A = matrix(1.0 / (1.0 + 0.05 * np.arange(600)))
    costs = []
    for tol in (1e-2, 1e-6, 1e-11):
        operator = Counter(A)
        result = top(operator, 5, "krylov", tol=tol)
        assert result.converged and result.gap <= tol
        costs.append(operator.columns)
    assert costs[0] < costs[1] < costs[2]


def test_a_good_start_saves_work():
    A = matrix(1.0 / (1.0 + 0.05 * np.arange(600)))
    start = naive.eigh(A)[1][:, :5]
    cold, warm = Counter(A), Counter(A)
    top(cold, 5, "krylov")
    assert top(warm, 5, "krylov", start=start).converged
    assert warm.columns < cold.columns / 2


def test_history_falls():
    result = top(matrix(1.0 / (1.0 + 0.05 * np.arange(600))), 5, "krylov")
    assert result.history[-1] < 1e-8 < result.history[0]


def test_auto_has_no_cliff():
    assert choose(400, 5) == "full" and choose(400, 400) == "full"
    assert choose(10_000, 9) == choose(10_000, 10) == choose(10_000, 500) == "krylov"
    assert choose(10_000, 9_000) == "full"
    A = matrix(SPECTRA["decaying"])
    assert top(A, 3).info["method"] == "full"
    assert choose(600, 3) == top(Counter(np.eye(600)), 3).info["method"] == "lanczos"


def test_refusals():
    A = np.eye(5)
    for s in (0, 6):
        with pytest.raises(InputError, match=f"{s} eigenpairs of a matrix of 5 rows were requested. Accepted: 1 to 5"):
            top(A, s)
    with pytest.raises(InputError, match="eigen_solver='magic' is not known. Accepted: auto, full"):
        top(A, 2, "magic")
    assert set(METHODS) <= set(eigen.METHODS)
