"""LS-SVM, RLSC and Semi-KPCA as estimators: dense-kernel formulas, held-out predictions, backends, weights, soft
labels.
"""

import dask.array as da
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_moons

from mercer.errors import InputError
from mercer.estimators.lssvm import LSSVMClassifier
from mercer.estimators.lssvm_regressor import LSSVMRegressor
from mercer.estimators.rls import RLSClassifier
from mercer.estimators.semi_kpca import SemiKPCA, convexity_interval
from mercer.geometry.maps.fourier import FourierMap
from mercer.kernels import RBF, Linear
from mercer.model_selection.leave_one_label_out import leave_one_label_out

CLASSIFIERS = [
    LSSVMClassifier(2.0),
    LSSVMClassifier(0.5, bias=False),
    LSSVMClassifier(3.0, unlabeled="zero"),
    LSSVMClassifier(0.3, unlabeled="zero", bias=False),
    RLSClassifier(0.05),
    SemiKPCA(),
    SemiKPCA(1),
    SemiKPCA(0),
    SemiKPCA(2, gamma=0.02),
]
NAMES = [str(m) for m in CLASSIFIERS]
each = pytest.mark.parametrize("model", CLASSIFIERS, ids=NAMES)
one_of_a_kind = pytest.mark.parametrize("model", [CLASSIFIERS[i] for i in (0, 3, 4, 5, 6)], ids=str)


def moons(n=40, labels=10, seed=0, classes=2):
    generator = np.random.default_rng(seed)
    X, y = make_moons(n, noise=0.1, random_state=seed)
    if classes == 3:
        X, y = np.vstack([X, generator.normal(size=(n // 2, 2)) * 0.2 + [3, 2]]), np.append(y, np.full(n // 2, 2))
    given = np.full(len(y), -1)
    for c in range(classes):
        rows = generator.choice(np.flatnonzero(y == c), labels // classes, replace=False)
        given[rows] = c
    return X, given, y


def dense(model, X, given, new):
    """Scores from the n × n kernel matrix by the formulas of the papers, one class against the rest at a time."""
    kernel = RBF("median").resolve(X)
    K, K_new = kernel(X), kernel(new, X)
    rows = np.flatnonzero(given >= 0)
    k = given.max() + 1
    columns = []
    for c in range(k) if k > 2 else [1]:
        t = np.zeros(len(X))
        t[rows] = np.where(given[rows] == c, 1.0, -1.0)
        if isinstance(model, SemiKPCA):
            m, gamma = model.n_removed, model.gamma
            if m == "constant":
                H = np.eye(len(K)) - 1 / len(K)
                inner = np.linalg.eigvalsh(H @ K @ H)[-1]
                gamma = 1 / np.sqrt(np.linalg.eigvalsh(K)[-1] * inner) if gamma == "middle" else gamma
                alpha = H @ np.linalg.solve(np.eye(len(K)) / gamma - H @ K @ H, H @ t)
                columns.append((K_new - K.mean(axis=0)) @ alpha)
                continue
            values, V = np.linalg.eigh(K)
            values, V = values[::-1], V[:, ::-1]
            if gamma == "middle":
                gamma = 1 / np.sqrt(values[m - 1] * values[m]) if m else 0.1 / values[0]
            top = V[:, :m]
            alpha = np.linalg.solve(np.eye(len(K)) / gamma - K + top * values[:m] @ top.T, t)
            columns.append(K_new @ (alpha - top @ (top.T @ alpha)))
            continue
        used = np.arange(len(X)) if getattr(model, "unlabeled", "ignore") == "zero" else rows
        penalty = model.lam * len(rows) if isinstance(model, RLSClassifier) else 1 / model.gamma
        M = np.zeros((len(used) + 1, len(used) + 1))
        M[:-1, :-1] = K[np.ix_(used, used)] + penalty * np.eye(len(used))
        M[-1, -1] = 1.0
        if getattr(model, "bias", False):
            M[-1, :-1] = M[:-1, -1] = 1.0
            M[-1, -1] = 0.0
        solution = np.linalg.solve(M, np.append(t[used], 0.0))
        columns.append(K_new[:, used] @ solution[:-1] + solution[-1])
    return np.array(columns).T


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_exact_map_is_the_dense_kernel_formula_also_for_new_rows(model, classes):
    X, given, _ = moons(classes=classes, labels=12)
    new = np.random.default_rng(1).normal(size=(7, 2))
    fitted = model.fit(X, given)
    for rows in (X, new):
        scores = fitted.decision_function(rows)
        assert_allclose(scores.reshape(len(rows), -1), dense(model, X, given, rows), atol=2e-7)


@pytest.mark.parametrize("model", CLASSIFIERS[:7], ids=NAMES[:7])
@pytest.mark.parametrize(("classes", "weighted"), [(2, True), (3, False)])
def test_left_out_answers_equal_refitting(model, classes, weighted):
    X, given, _ = moons(n=30, classes=classes, labels=9)
    weight = np.random.default_rng(2).uniform(0.5, 2, size=len(X)) if weighted else None
    grid = {"kernel": [RBF(0.4), RBF(1.5)]}
    if isinstance(model, RLSClassifier):
        grid["lam"] = [1e-3, 0.3]
    elif isinstance(model, LSSVMClassifier):
        grid["gamma"] = [0.05, 20.0]
    else:
        grid["n_removed"], grid["gamma"] = ["constant", 2], [0.01, 0.02, "middle"]
    fast = leave_one_label_out(model, X, given, weight, **grid)
    slow = leave_one_label_out(model, X, given, weight, refit=True, **grid)
    assert fast.candidates == slow.candidates
    assert len(fast.candidates) == (5 if "n_removed" not in grid else 13)
    scale = np.abs(slow.scores).max(axis=(1, 2), keepdims=True)
    assert_allclose(fast.scores / scale, slow.scores / scale, atol=1e-9)
    assert_allclose(model.fit(X, given, sample_weight=weight).left_out_accuracy_, slow.accuracy[0])


@each
def test_soft_labels(model):
    """Probabilities of 0 and 1 are hard labels. Halves between two classes pull to neither."""
    X, given, _ = moons(classes=3, labels=9)
    table = np.full((len(X), 3), np.nan)
    rows = np.flatnonzero(given >= 0)
    table[rows] = np.eye(3)[given[rows]]
    hard = model.fit(X, given).decision_function(X)
    assert_allclose(model.fit(X, table).decision_function(X), hard)
    table[rows[0]] = [0.5, 0.5, 0.0]
    softer = model.fit(X, table)
    assert_allclose(softer.predict_proba(X).sum(axis=1), 1.0)
    assert softer.score(X, table) > 0.6
    assert softer.classes_.tolist() == [0, 1, 2] and softer.transduction_[rows[0]] == 0
    fast = leave_one_label_out(model, X, table)
    slow = leave_one_label_out(model, X, table, refit=True)
    assert_allclose(fast.scores[:, fast.labels.testable], slow.scores[:, fast.labels.testable], rtol=1e-7, atol=1e-9)


@one_of_a_kind
@pytest.mark.parametrize("approx", ["exact", 15, "fourier"])
def test_same_answer_on_every_backend(model, approx):
    X, given, _ = moons(n=60, labels=12)
    approx = FourierMap(n_features=40, random_state=0) if approx == "fourier" else approx
    model = type(model)(**{**model.get_params(deep=False), "kernel": RBF(0.7), "approx": approx})
    plain = model.fit(X, given).decision_function(X)
    labels = model.transduction_
    tensor = torch.as_tensor(X)
    assert_allclose(model.fit(tensor, given).decision_function(tensor), plain, atol=1e-6)
    assert_array_equal(model.transduction_, labels)
    blocks = da.from_array(X, chunks=(17, 2))
    assert_allclose(model.fit(blocks, given).decision_function(blocks), plain, atol=1e-6)
    assert_allclose(model.decision_function(X), plain, atol=1e-6)  # fitted on blocks, used on plain rows


@each
def test_weights_are_repetitions_and_zero_is_removal(model):
    X, given, _ = moons(n=30, labels=10)
    weight = np.random.default_rng(3).integers(0, 4, size=len(X))
    weight[given >= 0] = [0, 2, 1, 1, 3, 1, 2, 1, 1, 2]
    repeated = np.repeat(np.arange(len(X)), weight)
    new = np.random.default_rng(4).normal(size=(9, 2))
    with_weight = model.fit(X, given, sample_weight=weight).decision_function(new)
    assert_allclose(with_weight, model.fit(X[repeated], given[repeated]).decision_function(new), atol=1e-7)


@one_of_a_kind
def test_many_labels_go_through_moments(model, monkeypatch):
    """With a few thousand labels or more nothing of their size is copied, and the fit is the same."""
    X, given, _ = moons(n=60, labels=40)
    weight = np.random.default_rng(6).uniform(0.5, 2.0, size=60)
    plain = model.fit(X, given, sample_weight=weight).decision_function(X)
    monkeypatch.setattr("mercer.solvers.ridge.smoother.MOST", 10)
    monkeypatch.setattr("mercer.estimators.classifier.MANY", 10)
    for rows in (X, da.from_array(X, chunks=(25, 2))):
        model.fit(rows, given, sample_weight=weight)
        assert_allclose(model.decision_function(X), plain, atol=1e-6 * np.abs(plain).max())
        assert np.isfinite(model.predict_proba(X)).all()
        assert 0.5 < model.left_out_accuracy_ <= 1
        assert model.unsupported(np.array([[1e4, 0.0], X[0]])).tolist() == [True, False]
    model.select(X, given)


@one_of_a_kind
def test_row_order_does_not_matter(model):
    X, given, _ = moons()
    order = np.random.default_rng(5).permutation(len(X))
    one = model.fit(X, given).decision_function(X)
    two = model.fit(X[order], given[order]).decision_function(X)
    assert_allclose(one, two, atol=1e-7)


def test_semi_kpca_beats_the_baselines_with_two_labels_a_class():
    """On clustered data with very few labels, the unlabeled rows determine the prediction, as the paper claims."""
    generator = np.random.default_rng(0)
    truth = np.repeat([0, 1], 150)
    X = generator.normal(size=(300, 8)) + np.where(truth == 0, -2.0, 2.0)[:, None] * (np.arange(8) == 0)
    wins = []
    for _ in range(20):
        given = np.full(300, -1)
        for c in (0, 1):
            rows = generator.choice(np.flatnonzero(truth == c), 2, replace=False)
            given[rows] = c
        free = given < 0
        semi, plain = (m.fit(X, given).transduction_[free] for m in (SemiKPCA(), LSSVMClassifier(bias=False)))
        wins.append(np.mean(semi == truth[free]) - np.mean(plain == truth[free]))
    assert np.mean(wins) > 0.02


def test_gamma_path_is_the_fit_at_each_gamma():
    for classes in (2, 3):
        X, given, _ = moons(classes=classes, labels=9)
        for k in ("constant", 1):
            model = SemiKPCA(k, gamma=0.01).fit(X, given)
            gammas, path = model.gamma_path(X)
            assert len(gammas) == 50 and gammas[-1] < model.convexity_interval_[1]
            for m in (0, 20, 49):
                same = SemiKPCA(k, gamma=gammas[m]).fit(X, given).decision_function(X)
                assert_allclose(path[m], same, rtol=1e-6, atol=1e-8)


def test_convexity_interval_is_reported_and_enforced():
    X, given, _ = moons()
    values = np.sort(np.linalg.eigvalsh(RBF("median").resolve(X)(X)))[::-1]
    for k in (0, 1, 3):
        model = SemiKPCA(k).fit(X, given)
        low, high = model.convexity_interval_
        assert_allclose((low, high), (1 / values[k - 1] if k else 0.0, 1 / values[k]))
        assert_allclose(model.eigenvalues_[:4], values[:4])
        with pytest.raises(
            InputError, match=rf"convex for 0 < gamma < {high:.6g}.*interval is \({low:.6g}, {high:.6g}\)"
        ):
            SemiKPCA(k, gamma=1.01 * high).fit(X, given)
        with pytest.raises(InputError, match="unbounded"):
            model.gamma_path(X, [0.5 * high, high])
    with pytest.raises(InputError, match=r"n_removed=2 leaves nothing, as the kernel matrix has rank 2.*0 to 1"):
        SemiKPCA(2, kernel=Linear()).fit(X, given)
    with pytest.raises(InputError, match="makes the problem unbounded"):
        SemiKPCA().select(X, given, gamma=[10.0, 100.0])


def test_equal_eigenvalues_leave_a_middle():
    assert convexity_interval(np.array([2.0, 2.0, 1.0]), 1) == (0.5, 0.5)
    X = np.array([[1.0, 0.0], [0.0, 1.0]])  # the linear kernel matrix is the identity
    with pytest.warns(UserWarning, match="differ by less than 1%"):
        model = SemiKPCA(1, kernel=Linear()).fit(X, ["a", "b"])
    assert model.gamma_ == pytest.approx(0.99)
    assert np.isfinite(model.decision_function(X)).all()


def test_select_keeps_the_defaults_unless_labels_speak_and_leaves_self_alone():
    X, truth = load_iris(return_X_y=True)
    given = np.where(np.arange(150) % 5 == 0, truth, -1)
    for model in (LSSVMClassifier(1e-4), SemiKPCA(), RLSClassifier()):
        before = model.get_params()
        best = model.select(X, given)
        assert model.get_params() == before and not hasattr(model, "classes_")
        assert best.selection_["accuracy"][best.selection_["chosen"]] >= best.selection_["accuracy"][0]
        assert best.score(X, truth) > 0.8
        assert "held-out labels are predicted" in best.selection_["reason"]
    poor = LSSVMClassifier(1.0, kernel=RBF(50.0))
    better = poor.select(X, given, kernel=[RBF(50.0), RBF(1.0)], gamma=[1.0])
    assert better.kernel == RBF(1.0)
    nested = poor.select(X, given, kernel__bandwidth=[50.0, 1.0])
    assert nested.kernel == RBF(1.0)
    with pytest.raises(InputError, match="no parameter 'gama' to choose"):
        poor.select(X, given, gama=[1.0])
    with pytest.raises(InputError, match="not a list of candidates"):
        poor.select(X, given, gamma=1.0)
    with pytest.raises(InputError, match="no label can be held out"):
        leave_one_label_out(poor, X, np.where(np.isin(np.arange(150), [0, 60, 120]), truth, -1))


def test_regressor_is_the_lssvm_system_and_ignores_rows_without_target():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.1 * generator.normal(size=40)
    y[25:] = np.nan
    K = RBF("median").resolve(X)(X)
    for bias in (True, False):
        M = np.zeros((26, 26))
        M[:25, :25] = K[:25, :25] + np.eye(25) / 5.0
        M[25, :25] = M[:25, 25] = float(bias)
        M[25, 25] = float(not bias)
        solution = np.linalg.solve(M, np.append(y[:25], 0.0))
        model = LSSVMRegressor(5.0, bias=bias).fit(X, y)
        assert_allclose(model.predict(X), K[:, :25] @ solution[:25] + solution[25], atol=1e-8)
        refit = []
        for i in range(25):
            held = y.copy()
            held[i] = np.nan
            refit.append(LSSVMRegressor(5.0, bias=bias).fit(X, held).predict(X[i : i + 1])[0])
        assert_allclose(model.left_out_, refit, atol=1e-8)
    best = LSSVMRegressor(1e-4).select(X, y)
    assert best.gamma > 1e-2 and best.score(X, y) > 0.8
    errors = best.selection_["error"]
    assert errors[best.selection_["chosen"]] <= errors[0]
    noise = generator.normal(size=40)
    assert LSSVMRegressor(0.1).select(X, noise, gamma=[0.2, 1.0]).gamma == 0.1  # nothing to distinguish them by


def test_constant_duplicate_and_zero_rows_have_finite_answers():
    y = [0, 1, -1, 0, 1, -1]
    for X in (np.ones((6, 2)), np.zeros((6, 2)), np.repeat([[0.0, 1.0], [2.0, 3.0], [4.0, 4.0]], 2, axis=0)):
        for kernel in ("rbf", Linear()):
            for model in (LSSVMClassifier(kernel=kernel), LSSVMClassifier(unlabeled="zero", kernel=kernel)):
                P = model.fit(X, y).predict_proba(np.vstack([X, [[1e3, 1e3]]]))
                assert np.isfinite(P).all()
                assert_allclose(P.sum(axis=1), 1.0)
    with pytest.raises(InputError, match="n_removed=1 leaves nothing, as the kernel matrix has rank 1"):
        SemiKPCA(1).fit(np.ones((6, 2)), y)
    with pytest.raises(InputError, match="Every row has the same features"):
        SemiKPCA().fit(np.ones((6, 2)), y)


def test_bad_parameters_are_named():
    X, given, _ = moons()
    for model, word in [
        (LSSVMClassifier(-1.0), "gamma"),
        (LSSVMClassifier(unlabeled="drop"), "unlabeled"),
        (RLSClassifier(0.0), "lam"),
        (SemiKPCA(-1), "n_removed"),
        (SemiKPCA(gamma="mean"), "gamma"),
        (LSSVMRegressor(0.0), "gamma"),
    ]:
        with pytest.raises(ValueError, match=word):
            model.fit(X, given)
