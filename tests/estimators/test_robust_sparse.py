"""Definitions, limits, storage and refusals of robust and sparse kernel PCA, and kernel PCA through the dual."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import RBF, InputError, KernelPCA, Linear, NotConverged, Polynomial, RobustKernelPCA, SparseKernelPCA
from mercer.solvers.dual import starts as dual_search
from mercer.solvers.dual.loss import Loss
from mercer.solvers.eigen import top as eigen

X = scale(load_wine().data)  # 178 rows, 13 columns
KERNEL = RBF("median").resolve(X)
both = pytest.mark.parametrize("Model", [RobustKernelPCA, SparseKernelPCA])
norms = pytest.mark.parametrize("norm", ["row", "element"])


def centered(K):
    return K - K.mean(axis=0) - K.mean(axis=0)[:, None] + K.mean()


def by_hand(model, X_new):
    """Scores by the formula g(x)ᵀA − c, with every training row and the textbook centering of k(x, ·)."""
    K, new = KERNEL(X), KERNEL(X_new, X)
    g = new - new.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    A = np.zeros((len(X), model.dual_coef_.shape[1]))
    A[model.support_] = model.dual_coef_ if isinstance(model, SparseKernelPCA) else model.dual_coef_[model.support_]
    scores = centered(K) @ A
    loss = Loss(getattr(model, "kappa_", np.inf), getattr(model, "epsilon_", 0.0), model.norm, location=True)
    assert loss.norm == "row"
    return g @ A - loss.locate(scores), A, scores - loss.locate(scores), loss


@pytest.mark.parametrize(
    "model",
    [
        RobustKernelPCA(3, kappa=0.3, kernel=KERNEL),
        RobustKernelPCA(2, influence=0.2, kernel=KERNEL),
        SparseKernelPCA(2, epsilon=0.4, kernel=KERNEL),
        SparseKernelPCA(3, keep=0.3, kernel=KERNEL),
    ],
    ids=str,
)
def test_definition(model):
    """Components, dual variable and out-of-sample scores by the formulas, from all rows."""
    new = X[:20] + 0.1
    scores = model.fit_transform(X)
    expected, A, training, loss = by_hand(model, new)
    np.testing.assert_allclose(A.T @ centered(KERNEL(X)) @ A, np.eye(A.shape[1]), atol=1e-8)
    np.testing.assert_allclose(A.sum(axis=0), 0, atol=1e-9 * np.abs(A).sum())
    np.testing.assert_allclose(scores, training, atol=1e-7)
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-7)
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-7)
    H = np.zeros_like(A)
    H[model.support_] = model.dual_variables_
    np.testing.assert_allclose(H, loss.prox(training), atol=2e-6 * np.linalg.norm(H))
    np.testing.assert_allclose(training.T @ H, np.diag(model.eigenvalues_), atol=1e-5 * model.eigenvalues_[0])
    assert model.gap_ <= model.tol and model.n_iter_ >= 1
    assert np.all(np.diff(model.history_) <= 1e-12 * abs(model.history_[-1]))
    assert model.objective_ == pytest.approx(-loss.value(training), rel=1e-8)


@norms
def test_loose_limits_give_kernel_pca(norm):
    plain = np.abs(KernelPCA(3, kernel=KERNEL).fit_transform(X))
    robust = RobustKernelPCA(3, kappa=1e3, kernel=KERNEL, norm=norm, tol=1e-8).fit(X)
    sparse = SparseKernelPCA(3, epsilon=0.0, kernel=KERNEL, norm=norm, tol=1e-8).fit(X)
    np.testing.assert_allclose(np.abs(robust.transform(X)), plain, atol=1e-5)
    np.testing.assert_allclose(np.abs(sparse.transform(X)), plain, atol=1e-5)
    assert len(sparse.support_) == len(X) and len(robust.bounded_) == 0


@norms
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_influence_is_the_share_of_rows_at_the_bound(norm, share):
    model = RobustKernelPCA(2, influence=share, kernel=KERNEL, norm=norm, n_init=4).fit(X)
    assert abs(len(model.bounded_) / len(X) - share) < 0.025
    size = dual_search.row_size(model.dual_variables_, norm)
    assert size.max() <= model.kappa_ * (1 + 1e-9)
    at_bound = np.flatnonzero(size >= model.kappa_ * (1 - 1e-4))
    assert set(model.bounded_) <= set(at_bound)
    again = RobustKernelPCA(2, kappa=model.kappa_, kernel=KERNEL, norm=norm, n_init=4).fit(X)
    np.testing.assert_allclose(again.transform(X), model.transform(X), atol=1e-10)


@norms
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_keep_is_the_share_of_rows_kept(norm, share):
    model = SparseKernelPCA(2, keep=share, kernel=KERNEL, norm=norm, n_init=4).fit(X)
    assert abs(len(model.support_) / len(X) - share) < 0.025
    assert model.dual_coef_.shape == (len(model.support_), 2)
    again = SparseKernelPCA(2, epsilon=model.epsilon_, kernel=KERNEL, norm=norm, n_init=4).fit(X)
    np.testing.assert_array_equal(again.support_, model.support_)


def test_sparse_and_robust_together():
    model = SparseKernelPCA(2, epsilon=0.3, kappa=0.1, kernel=KERNEL).fit(X)
    size = np.linalg.norm(model.dual_variables_, axis=1)
    assert len(model.support_) < len(X) and size.max() <= 0.1 * (1 + 1e-9) and len(model.bounded_) > 5
    far = np.linalg.norm(model.transform(X), axis=1)
    np.testing.assert_array_equal(np.flatnonzero(far > 0.3), model.support_)
    np.testing.assert_array_equal(np.flatnonzero(far >= 0.4), model.bounded_)


def test_sparse_stores_and_evaluates_only_the_kept_rows():
    model = SparseKernelPCA(2, keep=0.1, kernel=KERNEL).fit(X)
    m = len(model.support_)
    np.testing.assert_array_equal(model.X_fit_, X[model.support_])
    for name, value in vars(model).items():
        assert not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) < len(X), name
    evaluated = []

    class Spy(RBF):
        def tile(self, X, Y):
            evaluated.append(Y.shape[0])
            return super().tile(X, Y)

    spy = SparseKernelPCA(2, epsilon=model.epsilon_, kernel=Spy(KERNEL.bandwidth)).fit(X)
    evaluated.clear()
    np.testing.assert_allclose(spy.transform(X), model.transform(X), atol=1e-10)
    assert evaluated and max(evaluated) == m
    assert len(pickle.dumps(model)) < len(pickle.dumps(RobustKernelPCA(2, kernel=KERNEL).fit(X))) / 3


@both
def test_reconstruction_error_is_a_distance_in_feature_space(Model):
    """Against explicit features of the linear kernel, for which the mean and the subspace have explicit formulas."""
    model = Model(2, kernel=Linear(), **({"keep": 0.5} if Model is SparseKernelPCA else {})).fit(X)
    A = np.zeros((len(X), 2))
    A[model.support_] = model.dual_coef_
    W = (X - X.mean(axis=0)).T @ A
    new = X[:10] * 1.5
    center = X.mean(axis=0)
    if Model is SparseKernelPCA:  # 89 rows in 13 dimensions span everything, so the mean itself is in their span
        assert model.center_error_ < 1e-5 or np.linalg.norm(center) < 1e-10
    rest = (new - center) @ (np.eye(13) - W @ W.T)
    np.testing.assert_allclose(model.reconstruction_error(new), np.sum(rest**2, axis=1), atol=1e-6)


def test_center_error_says_how_far_the_stand_in_is():
    few, many = (SparseKernelPCA(2, keep=share, kernel=KERNEL).fit(X) for share in (0.05, 0.5))
    K, kept = KERNEL(X), few.support_
    mean = K.mean(axis=0)
    best = np.linalg.lstsq(K[np.ix_(kept, kept)], mean[kept], rcond=None)[0]
    assert few.center_error_ == pytest.approx(np.sqrt(1 - best @ mean[kept] / K.mean()), rel=1e-6)
    assert 0 < many.center_error_ < few.center_error_ < 1


@both
def test_same_scores_stored_tiled_and_precomputed(Model):
    stored = Model(2, kernel=KERNEL, solver="stored").fit(X)
    tiled = Model(2, kernel=KERNEL, solver="operator").fit(X)
    matrix = Model(2, kernel="precomputed").fit(KERNEL(X))
    new = X[:15] * 0.9
    np.testing.assert_allclose(tiled.transform(new), stored.transform(new), atol=1e-5)
    np.testing.assert_allclose(matrix.transform(KERNEL(new, X)), stored.transform(new), atol=1e-5)
    np.testing.assert_allclose(matrix.reconstruction_error(KERNEL(X)), stored.reconstruction_error(X), atol=1e-5)


@both
def test_every_home_gives_the_same_scores(Model, home):
    fixed = {"kappa": 0.3} if Model is RobustKernelPCA else {"epsilon": 0.3}
    expected = Model(2, kernel=KERNEL, approx=40, **fixed).fit(X)
    model = Model(2, kernel=KERNEL, approx=40, **fixed).fit(home(X))
    np.testing.assert_allclose(model.transform(home(X)), expected.transform(X), atol=1e-4)
    np.testing.assert_allclose(model.reconstruction_error(home(X)), expected.reconstruction_error(X), atol=1e-4)


@both
def test_landmarks_at_every_row_are_exact(Model):
    fixed = {"kappa": 0.3} if Model is RobustKernelPCA else {"epsilon": 0.3}
    exact = Model(2, kernel=KERNEL, **fixed).fit(X)
    mapped = Model(2, kernel=KERNEL, approx=len(X), **fixed).fit(X)
    np.testing.assert_allclose(mapped.transform(X[:9] + 0.2), exact.transform(X[:9] + 0.2), atol=1e-5)
    np.testing.assert_array_equal(mapped.support_, exact.support_)


def test_float32_and_names():
    model = RobustKernelPCA(2, kernel=KERNEL).set_output(transform="pandas")
    frame = model.fit_transform(X.astype(np.float32))
    assert list(frame.columns) == ["robustkernelpca0", "robustkernelpca1"] and frame.dtypes.eq(np.float32).all()
    wide = RobustKernelPCA(2, kernel=KERNEL).fit(X)
    assert abs(wide.kappa_ - model.kappa_) < 1e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@both
def test_rows_that_occur_often_leave_fewer_directions_than_the_sketch_is_wide(Model, dtype):
    rows = np.repeat(np.random.default_rng(0).normal(size=(5, 4)), 12, axis=0).astype(dtype)
    model = Model(2).fit(rows)
    assert np.isfinite(model.transform(rows)).all()
    assert np.linalg.matrix_rank(model.transform(rows), tol=1e-3) == 2


@both
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_a_table_comes_out_of_transform_too(Model, container):
    model = Model(2, kernel=KERNEL).set_output(transform=container).fit(X)
    first = model.fit_transform(X)
    again = model.transform(X)
    assert type(again) is type(first) and list(again.columns) == list(first.columns)
    np.testing.assert_allclose(again.to_numpy(), first.to_numpy(), atol=1e-8)


def test_robust_components_stay_where_outliers_turn_the_plain_ones():
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((180, 10)) * np.r_[3.0, 2.0, np.full(8, 0.3)]
    spikes = 0.3 * rng.standard_normal((20, 10))
    spikes[:, 4] += rng.choice([-11.0, 11.0], 20)  # a channel that jumps
    dirty = np.r_[clean, spikes]

    def basis(model, rows):
        A = model.fit(rows).coefficients_
        return np.linalg.qr((rows - rows.mean(axis=0)).T @ A)[0]

    truth = basis(KernelPCA(1, kernel=Linear()), clean)
    plain = basis(KernelPCA(1, kernel=Linear()), dirty)
    robust = basis(RobustKernelPCA(1, influence=0.3, kernel=Linear()), dirty)
    assert abs(truth[:, 0] @ plain[:, 0]) < 0.2 and abs(truth[:, 0] @ robust[:, 0]) > 0.8


@pytest.mark.parametrize("s", [1, 4])
def test_kernel_pca_through_the_dual(s):
    plain = KernelPCA(s, kernel=KERNEL, eigen_solver="full").fit(X)
    for asked in ({"solver": "dual"}, {"eigen_solver": "dual"}):
        model = KernelPCA(s, kernel=KERNEL, tol=1e-9, **asked).fit(X)
        assert model.result_.converged and model.result_.gap <= 1e-9 and model.result_.info["method"] == "dual"
        np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.transform(X), plain.transform(X), atol=1e-7)


def test_dual_eigen_solver_fills_up_beyond_the_rank_and_hands_over_near_n():
    Z = np.random.default_rng(0).standard_normal((60, 3))
    result = eigen.top(Z @ Z.T, 6, "dual")
    values, vectors = result.value
    np.testing.assert_allclose(values, np.r_[np.linalg.svd(Z)[1] ** 2, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-10)
    assert result.converged
    assert eigen.top(Z @ Z.T, 40, "dual").info["method"] == "full"


# Bad input


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RobustKernelPCA(kappa=0), "kappa=0 is not accepted. Use a number above 0"),
        (RobustKernelPCA(kappa=-1.5), "kappa=-1.5 is not accepted"),
        (RobustKernelPCA(kappa="5%"), "kappa='5%' is not accepted"),
        (RobustKernelPCA(kappa=np.nan), "kappa=nan is not accepted"),
        (RobustKernelPCA(kappa=0.1, influence=0.1), "kappa=0.1 and influence=0.1 have the same meaning"),
        (RobustKernelPCA(influence=5), "influence=5 is not accepted. Use a fraction of the rows between 0 and 1"),
        (RobustKernelPCA(influence=0.0), "influence=0.0 is not accepted"),
        (SparseKernelPCA(epsilon=-0.1), "epsilon=-0.1 is not accepted. Use a number of at least 0"),
        (SparseKernelPCA(epsilon=True), "epsilon=True is not accepted"),
        (SparseKernelPCA(epsilon=0.1, keep=0.1), "epsilon=0.1 and keep=0.1 have the same meaning"),
        (SparseKernelPCA(keep=1.0), "keep=1.0 is not accepted"),
        (SparseKernelPCA(kappa=0.0), "kappa=0.0 is not accepted"),
        (RobustKernelPCA(1000), "n_components=1000 components were requested for 178 rows"),
        (RobustKernelPCA(14, kernel=Linear()), "the centered kernel matrix has rank 13. Use at most 13"),
        (SparseKernelPCA(14, kernel=Linear()), "the centered kernel matrix has rank 13"),
        (RobustKernelPCA(norm="rows"), "norm"),
    ],
    ids=str,
)
def test_bad_input_is_refused_in_one_sentence(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)


@norms
def test_epsilon_that_wipes_out_everything_names_the_largest_that_does_not(norm):
    with pytest.raises(InputError, match="so large that every row vanishes") as raised:
        SparseKernelPCA(2, epsilon=50.0, kernel=KERNEL, norm=norm).fit(X)
    largest = float(str(raised.value).split("is about ")[1].split(". ")[0])
    assert SparseKernelPCA(2, epsilon=largest, kernel=KERNEL, norm=norm).fit(X).dual_coef_.shape[1] == 2


def test_constant_rows_and_indefinite_matrices_are_refused():
    with pytest.raises(InputError, match="same features, so there is no direction"):
        RobustKernelPCA(1, kernel=RBF(1.0)).fit(np.ones((10, 2)))
    S = np.random.default_rng(0).standard_normal((30, 30))
    with pytest.raises(InputError, match="not positive semi-definite"):
        RobustKernelPCA(2, kernel="precomputed").fit(-S @ S.T)
    with pytest.raises(InputError, match="not positive semi-definite"):
        KernelPCA(2, kernel="precomputed", solver="dual").fit(S + S.T)


def test_components_that_die_are_said():
    """Two far pairs and a crowd: at this epsilon one direction is left, and the model states this instead of
    failing.
    """
    rows = np.r_[0.01 * np.random.default_rng(0).standard_normal((40, 2)), [[9.0, 0.0], [9.1, 0.0], [0.0, 0.2]]]
    with pytest.warns(UserWarning, match="Only 1 of the 2 components are left"):
        model = SparseKernelPCA(2, epsilon=1.0, kernel=Linear(), norm="element").fit(rows)
    assert model.transform(rows).shape == (43, 1) and np.all(np.isfinite(model.transform(rows)))


def test_too_few_iterations_warn():
    with pytest.warns(NotConverged, match="Raise max_iter or tol"):
        RobustKernelPCA(3, kappa=0.1, kernel=KERNEL, max_iter=1).fit(X)


@parametrize_with_checks(
    [
        RobustKernelPCA(),
        RobustKernelPCA(kappa=0.3, norm="element", solver="operator", n_init=4),
        RobustKernelPCA(kernel=Polynomial(2), approx=20),
        SparseKernelPCA(),
        SparseKernelPCA(epsilon=0.1, kappa=0.3, center=False),
    ]
)
def test_contract(estimator, check):
    check(estimator)


def test_iris_needs_no_scaling_of_the_threshold():
    """κ and ε are in units of a row's score, so they are near quantiles of the lengths of the plain scores."""
    rows = load_iris().data
    length = np.linalg.norm(KernelPCA(2, kernel=RBF("median")).fit_transform(rows), axis=1)
    found = RobustKernelPCA(2, influence=0.1, kernel=RBF("median")).fit(rows).kappa_
    assert abs(found / np.quantile(length, 0.9) - 1) < 0.3


def plain_dca(G, H, threshold, norm):
    """The textbook iteration H ← prox(G H (HᵀGH)^(−1/2)) in full. It returns the final primal value."""

    def scores(H):
        values, V = np.linalg.eigh(H.T @ G @ H)
        kept = values > 1e-13 * values[-1]
        return G @ H @ (V[:, kept] / np.sqrt(values[kept])) @ V[:, kept].T

    def prox(P):
        size = np.abs(P) if norm == "element" else np.linalg.norm(P, axis=1, keepdims=True)
        return P * np.maximum(1 - threshold / np.maximum(size, 1e-300), 0)

    H = H * np.abs(scores(H)).max() / np.abs(H).max()
    for _ in range(2000):
        new = prox(scores(H))
        if not new.any():
            return 0.0
        if np.linalg.norm(new - H) <= 1e-8 * np.linalg.norm(H):
            break
        H = new
    return 0.5 * np.sum(prox(scores(H)) ** 2)


def sparse_problem(number, norm):
    """(kernel matrix, centered kernel matrix, components, epsilon) of rows with thin or heavy tails."""
    rng = np.random.default_rng(77000 + number)
    n, d, s = (int(rng.integers(*ends)) for ends in ((40, 110), (2, 6), (1, 5)))
    X = rng.normal(size=(n, d)) * rng.uniform(0.3, 2, d) if number % 2 else rng.standard_t(3, size=(n, d))
    K = RBF(float(rng.uniform(0.4, 1.6)) * RBF("median").resolve(X).bandwidth)(X)
    C = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(C @ K @ C)
    leading = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :s]
    size = np.abs(leading).ravel() if norm == "element" else np.linalg.norm(leading, axis=1)
    return K, C @ K @ C, s, float(np.quantile(size, rng.choice([0.3, 0.5, 0.7, 0.85])))


def behind(norm, numbers):
    """The problems on which the default ends below the best of plain DCA from 20 random starts."""
    found = []
    for number in numbers:
        K, G, s, epsilon = sparse_problem(number, norm)
        starts = (np.random.default_rng(100 * number + i).normal(size=(len(G), s)) for i in range(20))
        best = max(plain_dca(G, H, epsilon, norm) for H in starts)
        options = {"kernel": "precomputed", "center": "mean", "tol": 1e-7}
        model = SparseKernelPCA(s, epsilon=epsilon, norm=norm, **options).fit(K)
        found += [number] if -model.history_[-1] < best * (1 - 1e-6) else []
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", ["row", "element"])
def test_the_default_is_not_behind_plain_dca_from_twenty_random_starts(norm):
    assert behind(norm, range(2)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("norm", "problems"), [("row", 60), ("element", 100)])
def test_the_default_is_never_behind_plain_dca_on_many_problems(norm, problems):
    assert behind(norm, range(problems)) == []
