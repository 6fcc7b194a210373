"""Dense formulas, backends, selection and risk bound of MV-, LS- and LR-KPCA and the Spectral Graph Transducer."""

import dask.array as da
import numpy as np
import pytest
import scipy.linalg as sla
import torch
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError

from mercer import (
    RBF,
    Diffusion,
    GraphLaplacian,
    LeastSquaresKPCA,
    LogisticKPCA,
    LSSVMClassifier,
    MinimumVarianceKPCA,
    RLSClassifier,
    SpectralGraphTransducer,
)
from mercer.errors import BackendError, InputError
from mercer.evidence.margin import choose_by_margin, relative_hinge
from mercer.kernels.graph import laplacian, neighbor_graph
from mercer.model_selection.mixed_kernel import select_mixed_kernel
from mercer.model_selection.risk import risk_bound


def moons(n=60, per_class=4, seed=0):
    X, y = make_moons(n, noise=0.06, random_state=seed)
    given = np.full(n, -1)
    for c in (0, 1):
        given[np.flatnonzero(y == c)[:per_class]] = c
    return X, given, y


def dense_fit(K, K_new, rows, t, c, s2, center, extra=0.0):
    """min aᵀ(K + K extra K)a + c‖K_L a − t‖² s.t. aᵀKHKa = s², in a basis of K, by brute pencil and bisection."""
    n = len(K)
    values, V = np.linalg.eigh(K)
    keep = values > 1e-12 * values[-1]
    Z, back = V[:, keep] * np.sqrt(values[keep]), V[:, keep] / np.sqrt(values[keep])
    H = np.eye(n) - (1 / n if center else 0)
    P, C = Z.T @ H @ Z, np.eye(Z.shape[1]) + c * Z[rows].T @ Z[rows] + (Z.T @ extra @ Z if np.ndim(extra) else 0)
    b = c * Z[rows].T @ t
    delta = 1 / sla.eigh(P, C, eigvals_only=True)[-1]

    def at(gap):
        w = np.linalg.solve(C - (delta - gap) * P, b)
        return w, w @ P @ w

    low, high = 1e-12 * delta, 1.0
    while at(high)[1] > s2:
        high *= 4
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if at(middle)[1] > s2 else (low, middle)
    return K_new @ back @ at(high)[0]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("c,v", [(1.0, 1.0), (50.0, 0.2), (0.1, 5.0)])
def test_least_squares_equals_the_dense_formula_also_for_new_rows(c, v, center):
    X, given, _ = moons(30)
    new = X[:7] + 0.05
    kernel = RBF(0.5)
    rows = np.flatnonzero(given >= 0)
    model = LeastSquaresKPCA(c, v, center=center, kernel=kernel).fit(X, given)
    expected = dense_fit(kernel(X), kernel(new, X), rows, 2.0 * given[rows] - 1, c, v * 30, center)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-5 * np.sqrt(v))
    f = model.decision_function(X)
    assert np.mean((f - f.mean() * center) ** 2) == pytest.approx(v, rel=1e-6)
    assert model.certificate_ < 1e-7


@pytest.mark.parametrize(
    "model",
    [
        LeastSquaresKPCA(10.0),
        LogisticKPCA(10.0, 3.0),
        LogisticKPCA(10.0, 3.0, loss="hinge"),
        SpectralGraphTransducer(8),
    ],
    ids=str,
)
def test_eight_labels_solve_two_moons(model):
    X, given, y = moons(200)
    if hasattr(model, "kernel") and not isinstance(model, SpectralGraphTransducer):
        model.set_params(kernel=RBF(0.25))
    model.fit(X, given)
    assert np.mean(model.transduction_ == y) > 0.97
    assert model.score(X, y) > 0.95
    assert np.mean(model.predict(X + 0.01) == y) > 0.95


@pytest.mark.parametrize("model", [LeastSquaresKPCA(), LogisticKPCA()], ids=str)
def test_several_classes_and_text_labels(model):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y].astype(object)
    given = names.copy()
    given[np.setdiff1d(np.arange(150), [0, 10, 20, 50, 60, 70, 100, 110, 120])] = None
    model = model.set_params(label_weight=100.0).fit(X, given)
    assert model.decision_function(X).shape == (150, 3)
    assert np.mean(model.transduction_ == names) > 0.85


@pytest.mark.parametrize("model", [LeastSquaresKPCA(graph=5), LogisticKPCA(5.0), MinimumVarianceKPCA(3, 2.0)], ids=str)
@pytest.mark.parametrize("approx", ["exact", 15])
def test_same_answer_on_every_backend(model, approx):
    X, given, _ = moons(50)
    model.set_params(approx=approx, kernel=RBF(0.5))
    ask = "transform" if isinstance(model, MinimumVarianceKPCA) else "decision_function"
    answer = getattr(model.fit(X, given), ask)(X[:9])
    for rows in (torch.as_tensor(X), da.from_array(X, chunks=(17, 2))):
        if getattr(model, "graph", None) is not None and not isinstance(rows, torch.Tensor):
            with pytest.raises(BackendError, match="joins all rows in one graph, which Dask cannot do"):
                model.fit(rows, given)
            continue
        other = getattr(model.fit(rows, given), ask)(rows[:9])
        np.testing.assert_allclose(other, answer, atol=1e-5 * np.abs(answer).max())


def test_logistic_ignores_what_least_squares_pulls_back():
    X, given, _ = moons(80)
    square = LeastSquaresKPCA(100.0, 30.0, kernel=RBF(0.3)).fit(X, given)
    logistic = LogisticKPCA(100.0, 30.0, kernel=RBF(0.3)).fit(X, given)
    rows = np.flatnonzero(given >= 0)
    assert np.abs(square.decision_function(X)[rows]).max() < 2.0  # kept near ±1
    assert np.abs(logistic.decision_function(X)[rows]).min() > 2.0  # free to follow the variance
    assert logistic.certificate_ < 1e-5 and 1 <= logistic.n_iter_ <= 20


def test_hinge_has_no_pull_from_labels_beyond_the_corner():
    X, given, y = moons(80)
    model = LogisticKPCA(5.0, 4.0, loss="hinge", kernel=RBF(0.3)).fit(X, given)
    rows = np.flatnonzero(given >= 0)
    margin = (2 * given[rows] - 1) * model.decision_function(X)[rows]
    beyond = np.flatnonzero(margin > 1.5)
    assert 0 < len(beyond) < len(rows) and model.certificate_ < 1e-6
    table = model.left_out_table(X, given, grid={"label_weight": [5.0]})[1][1][:, 0]
    for i in beyond[:3]:  # such a label may be hidden without any change
        hidden = given.copy()
        hidden[rows[i]] = -1
        again = clone(model).fit(X, hidden).decision_function(X)
        np.testing.assert_allclose(again, model.decision_function(X), atol=1e-5)
        assert table[i] == pytest.approx(model.decision_function(X)[rows[i]], abs=1e-4)
    assert np.mean(model.transduction_ == y) > 0.9
    assert (
        np.abs(model.decision_function(X) - model.set_params(loss="logistic").fit(X, given).decision_function(X)).max()
        > 0.1
    )


def test_a_wrong_label_does_not_pull_under_the_bounded_loss():
    """The sigmoid loss of Walder et al. has slope 0 far on the wrong side, but the logistic loss has slope 1 there."""
    X, given, y = moons(120, per_class=10)
    wrong = np.flatnonzero(given == 0)[:3]
    given[wrong] = 1
    bounded, logistic = (
        LogisticKPCA(30.0, 9.0, loss=loss, kernel=RBF(0.4)).fit(X, given) for loss in ("sigmoid", "logistic")
    )
    assert bounded.certificate_ < 1e-5
    assert bounded.decision_function(X)[wrong].mean() < logistic.decision_function(X)[wrong].mean() - 0.5
    assert bounded.score(X, y) > logistic.score(X, y)


def test_soft_labels_count_in_part_for_both_signs():
    X, given, _ = moons(40)
    rows = np.flatnonzero(given >= 0)
    table = np.full((40, 2), np.nan)
    table[rows, given[rows]], table[rows, 1 - given[rows]] = 1.0, 0.0
    hard = LogisticKPCA(10.0, kernel=RBF(0.4)).fit(X, given)
    same = LogisticKPCA(10.0, kernel=RBF(0.4)).fit(X, table)
    np.testing.assert_allclose(same.decision_function(X), hard.decision_function(X), atol=1e-6)
    table[rows[0]] = [0.5, 0.5]
    unsure = LogisticKPCA(10.0, kernel=RBF(0.4)).fit(X, table)
    assert abs(unsure.decision_function(X)[rows[0]]) < abs(hard.decision_function(X)[rows[0]])


@pytest.mark.parametrize(
    "model", [LeastSquaresKPCA(5.0, 0.5), LogisticKPCA(5.0, 0.5), LogisticKPCA(5.0, 0.5, loss="hinge")], ids=str
)
def test_sample_weight_repeats_rows(model):
    X, given, _ = moons(40)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    weight[given >= 0] = [1, 2, 1, 3, 1, 2, 2, 1]
    again = np.repeat(np.arange(40), weight)
    model.set_params(kernel=RBF(0.4))
    f = model.fit(X, given, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(f, model.fit(X[again], given[again]).decision_function(X), atol=1e-5)


def test_left_out_scores_of_the_fit_are_refits_without_the_label():
    X, given, _ = moons(40)
    model = LeastSquaresKPCA(3.0, 0.7, kernel=RBF(0.4))
    candidates, left_out, labels = model.left_out_table(
        X, given, grid={"label_weight": [0.5, 20.0], "variance": [0.3, 3.0]}
    )
    assert candidates[0] == {} and len(candidates) == 5
    for candidate, scores in zip(candidates, left_out):
        for i, row in enumerate(labels.labeled[:3]):
            hidden = given.copy()
            hidden[row] = -1
            again = LeastSquaresKPCA(3.0, 0.7, kernel=RBF(0.4)).set_params(**candidate).fit(X, hidden)
            assert scores[i, 0] == pytest.approx(again.decision_function(X[[row]])[0], abs=1e-4)


def test_folds_withhold_labels_together():
    X, given, _ = moons(40, per_class=6)
    model = LeastSquaresKPCA(3.0, 0.7, kernel=RBF(0.4), label_folds=4)
    _, left_out, labels = model.left_out_table(X, given, grid={"label_weight": [3.0]})
    order = np.argsort(labels.codes[labels.labeled], kind="stable")
    hidden = given.copy()
    hidden[labels.labeled[order[1::4]]] = -1
    again = LeastSquaresKPCA(3.0, 0.7, kernel=RBF(0.4)).fit(X, hidden)
    expected = again.decision_function(X)[labels.labeled[order[1::4]]]
    np.testing.assert_allclose(left_out[1, order[1::4], 0], expected, atol=1e-4)


@pytest.mark.parametrize("model", [LeastSquaresKPCA(), LogisticKPCA()], ids=str)
def test_select_finds_a_useful_width_and_grid(model):
    X, given, y = moons(120, per_class=6)
    grid = {"label_weight": [0.01, 1.0, 100.0], "variance": [0.1, 1.0]}
    best = model.set_params(kernel=RBF(20.0)).select(X, given, kernel=[RBF(20.0), RBF(0.3)], **grid)
    assert best.kernel.bandwidth == 0.3 and np.mean(best.transduction_ == y) > 0.95
    assert len(best.selection_["candidates"]) == 13 and "held-out labels are predicted" in best.selection_["reason"]
    mixes = [Diffusion(8, time=5.0), 0.5 * RBF(0.3) + 0.5 * Diffusion(8, time=5.0)]
    assert np.mean(model.select(X, given, kernel=mixes, **grid).transduction_ == y) > 0.9
    with pytest.raises(ValueError, match=r"'variance' parameter of \w+ must be a float in the range \(0\.0, inf\)"):
        model.select(X, given, variance=[0.0])


def test_choice_by_margin():
    codes = np.array([0, 1, 1, 0])
    scores = np.array([[-1, 1, 1, -1], [-9, 0.1, 0.1, -0.1], [1, -1, -1, 1.0]])[:, :, None]
    losses = relative_hinge(scores, codes)
    np.testing.assert_allclose(losses[0], 0)
    assert losses[0].mean() < losses[1].mean() < losses[2].mean()
    np.testing.assert_allclose(relative_hinge(scores * 7, codes), losses)
    assert choose_by_margin(scores, codes).value == 0
    assert choose_by_margin(scores, codes, default=2).value == 0
    close = np.array([[-1, 0.9, 1.1, -1], [-1.1, 1, 0.8, -1.1]])[:, :, None]
    assert choose_by_margin(close, codes).value == 0
    kept = choose_by_margin(close, codes, default=1)
    assert kept.value == 1 and "label-free default" in kept.reason
    three = np.array([[[1.0, 0, 0], [0, 2, 1], [0, 0, 3], [0, 1, 0]]])
    np.testing.assert_array_equal(relative_hinge(three, np.array([0, 1, 2, 0]))[0] > 1, [False, False, False, True])


def test_graph_term_equals_the_dense_formula():
    X, given, _ = moons(30)
    kernel, rows = RBF(0.5), np.flatnonzero(given >= 0)
    W, _ = neighbor_graph(X, 5)
    extra = 2 * 0.7 * laplacian(W, "unnormalized").toarray()
    expected = dense_fit(kernel(X), kernel(X), rows, 2.0 * given[rows] - 1, 2.0, 30.0, True, extra)
    for graph in (5, W, W.toarray()):
        model = LeastSquaresKPCA(2.0, 1.0, kernel=kernel, graph=graph, graph_weight=0.7).fit(X, given)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("unlabeled", ["ignore", "zero"])
def test_graph_term_of_the_least_squares_machine_equals_the_dense_formula(bias, unlabeled):
    X, given, _ = moons(30)
    kernel, rows = RBF(0.5), np.flatnonzero(given >= 0)
    Lap = laplacian(neighbor_graph(X, 5)[0], "unnormalized").toarray()
    K, used = kernel(X), rows if unlabeled == "ignore" else np.arange(30)
    t = np.zeros(30)
    t[rows] = 2.0 * given[rows] - 1
    # stationarity of aᵀKa + 2·0.7·aᵀK Lap K a + γ Σ (t − Ka − b)² in (Ka, b), with f = Ka
    A = np.linalg.inv(K) + 2 * 0.7 * Lap
    pick = np.zeros(30)
    pick[used] = 4.0
    M = np.block([[A + np.diag(pick), pick[:, None]], [pick[None], np.array([[pick.sum()]])]])
    solution = np.linalg.solve(M, np.append(pick * t, (pick * t).sum())) if bias else None
    expected = solution[:-1] + solution[-1] if bias else np.linalg.solve(A + np.diag(pick), pick * t)
    model = LSSVMClassifier(4.0, unlabeled=unlabeled, bias=bias, kernel=kernel, graph=5, graph_weight=0.7)
    np.testing.assert_allclose(model.fit(X, given).decision_function(X), expected, atol=1e-6)
    hidden = given.copy()
    hidden[rows[2]] = -1
    table = model.left_out_table(X, given, grid={"gamma": [4.0]})[1]
    again = clone(model).fit(X, hidden).decision_function(X[rows[2:3]])[0]
    assert table[1, 2, 0] == pytest.approx(again, abs=1e-7)


def test_laplacian_rls_uses_the_unlabeled_rows():
    X, given, y = moons(200, per_class=1)
    plain = RLSClassifier(1e-3, kernel=RBF(0.3)).fit(X, given)
    graph = RLSClassifier(1e-3, kernel=RBF(0.3), graph=8, graph_weight=1.0).fit(X, given)
    assert np.mean(graph.transduction_ == y) > 0.95 > np.mean(plain.transduction_ == y)
    # f on the rows: (λ l (K⁻¹ + 2 Lap) + J) f = J t
    K = RBF(0.3)(X) + 1e-9 * np.eye(200)
    J = (given >= 0).astype(float)
    Lap = laplacian(neighbor_graph(X, 8)[0], "unnormalized").toarray()
    expected = np.linalg.solve(1e-3 * 2 * (np.linalg.inv(K) + 2 * Lap) + np.diag(J), J * (2.0 * given - 1))
    np.testing.assert_allclose(graph.decision_function(X), expected, atol=1e-3)


def test_select_over_the_graph_and_its_weight():
    X, given, _ = moons(30)
    model = LeastSquaresKPCA(2.0, 1.0, kernel=RBF(0.5), graph=5)
    grid = {"graph": [3, None], "graph_weight": [0.1, 5.0]}
    candidates, left_out, labels = model.left_out_table(X, given, grid=grid)
    assert len(candidates) == 5
    hidden = given.copy()
    hidden[labels.labeled[2]] = -1
    for candidate, scores in zip(candidates, left_out):
        again = LeastSquaresKPCA(2.0, 1.0, kernel=RBF(0.5), graph=5).set_params(**candidate).fit(X, hidden)
        assert scores[2, 0] == pytest.approx(again.decision_function(X[labels.labeled[2:3]])[0], abs=1e-5)


def test_transducer_equals_the_dense_formula():
    X, given, _ = moons(40, per_class=3)
    given[np.flatnonzero(given == 1)[0]] = -1  # three against two
    rows = np.flatnonzero(given >= 0)
    model = SpectralGraphTransducer(6, n_eigenvectors=12, label_weight=50.0, balance="labels").fit(X, given)
    Lap = laplacian(neighbor_graph(X, 6)[0]).toarray()
    values, V = np.linalg.eigh(Lap)
    assert values[1] > 1e-8  # with one component, the constant is the only null vector
    V = V[:, 1:13]
    t = np.where(given[rows] == 1, np.sqrt(3 / 2), -np.sqrt(2 / 3))
    a = np.where(given[rows] == 1, 5 / 4, 5 / 6)
    G = np.diag(np.arange(1.0, 13) ** 2) + 50.0 * V[rows].T @ (a[:, None] * V[rows])
    b = 50.0 * V[rows].T @ (a * t)
    low, high = 0.0, 1e6  # ‖(G − ζ)⁻¹b‖² = n for ζ below the smallest eigenvalue of G
    top = np.linalg.eigvalsh(G)[0]
    for _ in range(200):
        middle = (low + high) / 2
        size = np.sum(np.linalg.solve(G - (top - middle) * np.eye(12), b) ** 2)
        low, high = (middle, high) if size > 40 else (low, middle)
    f = V @ np.linalg.solve(G - (top - high) * np.eye(12), b)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-6)
    assert f.sum() == pytest.approx(0, abs=1e-8) and f @ f == pytest.approx(40)


def test_transducer_is_least_squares_kpca_with_the_inverse_laplacian():
    X, given, _ = moons(40)
    plain = SpectralGraphTransducer(6, 20, 5.0, eigenvalues="laplacian", balanced=False).fit(X, given)
    kernel = GraphLaplacian(6, rank=20)
    same = LeastSquaresKPCA(5.0, 1.0, center=False, kernel=kernel).fit(X, given)
    np.testing.assert_allclose(plain.decision_function(X), same.decision_function(X), atol=1e-7)
    assert len(plain.select(X, given, label_weight=[1.0, 100.0]).selection_["candidates"]) == 3
    three = SpectralGraphTransducer(6).fit(X, np.where(given == 0, np.where(X[:, 0] > 0.5, 2, 0), given))
    assert three.decision_function(X).shape == (40, 3)


@pytest.mark.parametrize("center", [True, False])
def test_minimum_variance_equals_the_dense_eigenproblem(center):
    X, given, _ = moons(30)
    kernel = RBF(0.5)
    K = kernel(X)
    H = np.eye(30) - (1 / 30 if center else 0)
    right = K.copy()
    for c in (0, 1):
        rows = np.flatnonzero(given == c)
        right += 3.0 * K[rows].T @ (np.eye(len(rows)) - 1 / len(rows)) @ K[rows]
    mu, A = sla.eigh(K @ H @ K, right + 1e-12 * np.eye(30))
    f = K @ A[:, ::-1][:, :3]
    model = MinimumVarianceKPCA(3, 3.0, kernel=kernel, center=center)
    scores = model.fit_transform(X, given)
    f = f - f.mean(axis=0) * center
    np.testing.assert_allclose(np.abs(scores), np.abs(f), atol=1e-5)
    np.testing.assert_allclose(model.eigenvalues_, mu[::-1][:3], rtol=1e-6)
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-9)
    assert model.certificate_ < 1e-9


def test_minimum_variance_where_no_row_is_similar_to_another():
    X = np.random.default_rng(0).normal(size=(258, 3))  # with K = I, LAPACK loses equal eigenvalues of a range
    model = MinimumVarianceKPCA(2, kernel=RBF(1e-4)).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 1.0)
    assert model.certificate_ < 1e-8


def test_must_link_sets_pull_together_and_equal_labels():
    X, given, _ = moons(40)
    sets = [np.flatnonzero(given == c) for c in (0, 1)]
    by_label = MinimumVarianceKPCA(2, 5.0, kernel=RBF(0.5)).fit_transform(X, given)
    by_link = MinimumVarianceKPCA(2, 5.0, kernel=RBF(0.5)).fit_transform(X, groups=[s.tolist() for s in sets])
    np.testing.assert_allclose(by_link, by_label, atol=1e-9)
    loose = MinimumVarianceKPCA(1, 0.0, kernel=RBF(0.5)).fit_transform(X, given)
    tight = MinimumVarianceKPCA(1, 1e3, kernel=RBF(0.5)).fit_transform(X, given)
    within = [max(np.ptp(f[s]) for s in sets) / f.std() for f in (loose, tight)]
    assert within[1] < 0.2 * within[0]
    with pytest.raises(InputError, match=r"must-link set contains \[0, 99\]. .* row numbers from 0 to 39"):
        MinimumVarianceKPCA().fit(X, groups=[[0, 99]])


@pytest.mark.parametrize("m,per_class", [(1, 4), (10, 15)])
def test_minimum_variance_classifies_the_training_rows(m, per_class):
    X, given, y = moons(150, per_class)
    model = MinimumVarianceKPCA(m, 1e3, kernel=RBF(0.25))
    assert np.mean(model.fit_predict(X, given) == y) > 0.9
    assert (model.transduction_[given >= 0] == given[given >= 0]).all()
    with pytest.raises(NotFittedError):
        MinimumVarianceKPCA().transform(X)


def test_lanczos_equals_the_full_eigenproblem():
    from mercer.solvers.eigen.within_variance import within_variance_components

    rng = np.random.default_rng(0)
    A = rng.normal(size=(400, 320)) * np.exp(-np.arange(320) / 40)
    W = rng.normal(size=(20, 320))
    found = within_variance_components(A.T @ A, W, 2.0, 4)
    exact = sla.eigh(A.T @ A, np.eye(320) + 2.0 * W.T @ W, eigvals_only=True)[::-1][:4]
    assert found.gap < 1e-9
    np.testing.assert_allclose(found.info["eigenvalues"], exact, rtol=1e-9)


def test_risk_bound_is_the_formula():
    X, given, _ = moons(50)
    model = LeastSquaresKPCA(5.0, 0.3, center=False, kernel=RBF(0.5)).fit(X, given)
    bound = risk_bound(model, delta=0.1)
    l, u = 8, 42
    f = model.decision_function(X)[given >= 0] * (2 * given[given >= 0] - 1)
    rate = 1 / l + 1 / u
    parts = [
        np.mean(np.clip(1 - f, 0, 1)),
        np.sqrt(2 * model.rank_ * 0.3 * 50 / (l * u)),
        np.sqrt(32 * np.log(4 * np.e) / 3) * rate * np.sqrt(8),
        np.sqrt(2 * rate * np.log(10)),
    ]
    assert bound.value == pytest.approx(sum(parts)) and bound.value > 1 and not bound.informative
    assert bound.complexity == pytest.approx(parts[1])
    with pytest.raises(InputError, match="proved for the uncentered variance"):
        risk_bound(LeastSquaresKPCA(kernel=RBF(0.5)).fit(X, given))
    with pytest.raises(InputError, match=r"delta=2 is not accepted"):
        risk_bound(model, 2)
    with pytest.raises(InputError, match="no unlabeled row"):
        risk_bound(LeastSquaresKPCA(center=False, kernel=RBF(0.5)).fit(X, given.clip(0)))
    with pytest.raises(InputError, match="There is no risk bound for MinimumVarianceKPCA"):
        risk_bound(MinimumVarianceKPCA().fit(X, given))


def test_refusals():
    X, given, _ = moons(20)
    with pytest.raises(InputError, match=r"graph='knn' is not accepted. Use a number of neighbors, or the 20 × 20"):
        LeastSquaresKPCA(graph="knn").fit(X, given)
    with pytest.raises(InputError, match="must be symmetric and not negative"):
        LeastSquaresKPCA(graph=np.triu(np.ones((20, 20)))).fit(X, given)
    with pytest.raises(InputError, match="sample_weight cannot be combined with graph="):
        LeastSquaresKPCA(graph=3).fit(X, given, sample_weight=np.ones(20))
    with pytest.raises(InputError, match="sample_weight cannot be combined with a graph kernel"):
        LeastSquaresKPCA(kernel=Diffusion(3)).fit(X, given, sample_weight=np.ones(20))
    with pytest.raises(InputError, match="every training row has the same features"):
        LeastSquaresKPCA(kernel=RBF(1.0)).fit(np.ones((20, 2)), given)


def test_graph_is_chosen_first_and_the_gaussian_beside_it():
    rng = np.random.default_rng(0)  # two wide Gaussians, which a graph does not see and a Gaussian kernel does
    y = np.arange(160) % 2
    X = rng.normal(size=(160, 20)) + 0.9 * (2 * y - 1)[:, None]
    given = np.where(np.arange(160) < 16, y, -1)
    grid = {"label_weight": [0.1, 10.0], "variance": [0.1, 1.0]}
    model = select_mixed_kernel(LeastSquaresKPCA(), X, given, [3], [1.0, 10.0], widths=[1.0], mix=[0.5], **grid)
    assert "Diffusion(n_neighbors=3" in repr(model.kernel) and np.mean(model.transduction_ == y) > 0.9
    with pytest.raises(
        InputError, match=r"mix=\[1\] holds 1. Accepted: weights of the Gaussian kernel between 0 and 1"
    ):
        select_mixed_kernel(LeastSquaresKPCA(), X, given, mix=[1])
