"""S2RLSClassifier against dense formulas, its fall-back and its refusals."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from mercer import LandmarkMap, RLSClassifier, S2RLSClassifier
from mercer.errors import BackendError, InputError
from mercer.kernels import RBF


def few_labels(y, per_class, seed=0):
    """y with all but `per_class` labels of each class replaced by −1."""
    rng = np.random.default_rng(seed)
    out = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.choice(np.flatnonzero(y == c), per_class, replace=False)
        out[chosen] = c
    return out


def dense_fit(K, labels, y, lam, lam_unlabeled):
    """c* = D (DKD + λI)⁻¹ D y and F(y) = ‖D(y − Kc)‖² + λ cᵀKc, with nothing clever."""
    l = np.sum(labels >= 0)
    d = np.where(labels >= 0, 1 / np.sqrt(l), np.sqrt(lam_unlabeled / (len(y) - l)))
    c = d * np.linalg.solve(d[:, None] * K * d + lam * np.eye(len(y)), d * y)
    residual = d * (y - K @ c)
    return c, residual @ residual + lam * c @ K @ c


@pytest.mark.parametrize("lam, lam_unlabeled", [(0.05, 1.0), (1.0, 0.1)])
def test_objective_and_decision_are_the_dense_formulas(lam, lam_unlabeled):
    X, y = make_blobs(40, centers=2, cluster_std=3.0, random_state=1)
    labels = few_labels(y, 3)
    model = S2RLSClassifier(lam, lam_unlabeled, kernel=RBF(2.0), n_restarts=5).fit(X, labels)
    K = rbf_kernel(X, gamma=1 / 8)
    signs = np.where(model.transduction_ == 1, 1.0, -1.0)
    c, value = dense_fit(K, labels, signs, lam, lam_unlabeled)
    assert model.result_.objective == pytest.approx(value, abs=1e-9)
    new = X[:10] + 0.3
    np.testing.assert_allclose(model.decision_function(new), rbf_kernel(new, X, gamma=1 / 8) @ c, atol=1e-7)
    assert np.array_equal(model.transduction_[labels >= 0], y[labels >= 0])
    assert model.result_.info["best_move"] >= -1e-12 and model.result_.gap >= 0


def test_optimum_over_every_labeling():
    X, y = make_blobs(14, centers=2, cluster_std=3.0, random_state=3)
    labels = few_labels(y, 2)
    model = S2RLSClassifier(0.1, 1.0, kernel=RBF(2.0), balance=0.5, balance_slack=0.15).fit(X, labels)
    K, free, best = rbf_kernel(X, gamma=1 / 8), np.flatnonzero(labels < 0), np.inf
    for guess in itertools.product([-1.0, 1.0], repeat=10):
        if abs(np.mean(np.array(guess) > 0) - 0.5) < 0.15:
            signs = np.where(labels == 1, 1.0, -1.0)
            signs[free] = guess
            best = min(best, dense_fit(K, labels, signs, 0.1, 1.0)[1])
    assert model.result_.objective == pytest.approx(best, abs=1e-9)


def test_unlabeled_rows_move_the_boundary():
    """Two moons with two labels each. Least squares on four points fails, and the search follows the gap."""
    X, y = make_moons(200, noise=0.05, random_state=0)
    labels = few_labels(y, 2, seed=1)
    options = {"kernel": RBF(0.3), "lam": 0.01}
    alone = RLSClassifier(**options).fit(X, labels).score(X, y)
    model = S2RLSClassifier(**options, n_restarts=10, random_state=0).fit(X, labels)
    assert np.mean(model.transduction_ == y) > 0.99 > 0.95 > alone
    assert model.score(X, y) > 0.99
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_landmarks_use_the_same_code():
    X, y = make_blobs(120, centers=2, cluster_std=2.5, random_state=0)
    labels = few_labels(y, 4)
    chosen = LandmarkMap(RBF(3.0), 25, random_state=0)
    model = S2RLSClassifier(0.1, kernel=RBF(3.0), approx=chosen, n_restarts=5).fit(X, labels)
    Z = model.map_.transform(X)
    assert Z.shape[1] <= 25
    signs = np.where(model.transduction_ == 1, 1.0, -1.0)
    c, value = dense_fit(Z @ Z.T, labels, signs, 0.1, 1.0)
    assert model.result_.objective == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(model.decision_function(X), Z @ (Z.T @ c), atol=1e-7)


@pytest.mark.parametrize("multi_class", ["joint", "one_vs_rest"])
def test_several_classes_and_names(multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    labels = np.array([None if c < 0 else names[c] for c in few_labels(y, 4)], dtype=object)
    model = S2RLSClassifier(0.001, multi_class=multi_class, n_restarts=10).fit(X, labels)
    assert model.classes_.tolist() == names.tolist()
    assert np.mean(model.transduction_ == names[y]) > 0.9
    assert model.decision_function(X).shape == (150, 3)
    known = [i for i, name in enumerate(labels) if name is not None]
    assert np.array_equal(model.transduction_[known], names[y[known]])
    if multi_class == "joint":
        Y = np.where(model.result_.value[:, None] == np.arange(3), 1.0, -1.0)
        K, codes = rbf_kernel(X, gamma=1 / (2 * model.kernel_.bandwidth**2)), few_labels(y, 4)
        values = [dense_fit(K, codes, Y[:, c], 0.001, 1.0)[1] for c in range(3)]
        assert model.result_.objective == pytest.approx(np.mean(values), abs=1e-7)
    else:
        assert len(model.result_.info["results"]) == 3


def test_balance_is_kept_in_every_form():
    X, y = make_blobs(60, centers=2, cluster_std=4.0, random_state=5)
    labels = few_labels(y, 3)
    free = labels < 0
    for balance in (0.3, {0: 0.7, 1: 0.3}, [0.7, 0.3]):
        model = S2RLSClassifier(0.1, balance=balance, balance_slack=0.05, n_restarts=3, label_folds=0).fit(X, labels)
        assert abs(np.mean(model.transduction_[free] == 1) - 0.3) < 0.05
        assert model.balance_.tolist() == pytest.approx([0.7, 0.3])
    loose = S2RLSClassifier(0.1, balance=None, n_restarts=3, label_folds=0).fit(X, labels)
    assert loose.balance_ is None
    assert loose.result_.objective <= model.result_.objective + 1e-12


def test_shares_from_the_labels_are_widened_to_a_feasible_count():
    X, y = make_blobs(9, centers=2, random_state=0)
    labels = y.copy()
    labels[0] = -1  # with one row to search, no count is near any fraction
    model = S2RLSClassifier(0.1, balance_slack=0.01).fit(X, labels)
    assert model.transduction_.shape == (9,)
    for search in ("ea", "round_robin"):
        S2RLSClassifier(0.1, balance_slack=0.01, search=search).fit(X, labels)
    with pytest.raises(InputError, match=r"1 unlabeled rows is 0\.5 rows.*nearest feasible counts are 0 and 1"):
        S2RLSClassifier(0.1, balance=0.5, balance_slack=0.01).fit(X, labels)


def test_folds_never_refuse_what_the_fit_accepts():
    X, y = make_blobs(26, centers=2, random_state=0)
    labels = few_labels(y, 3)  # 20 rows to search, and 21 or 22 in the folds, half of which may not be a whole number
    model = S2RLSClassifier(0.1, balance=0.5, balance_slack=0.01, n_restarts=2).fit(X, labels)
    assert np.bincount(model.transduction_[labels < 0]).tolist() == [10, 10]
    assert np.isfinite(model.left_out_accuracy_)


def test_without_unlabeled_rows_it_is_rlsc_and_says_so():
    X, y = make_blobs(30, centers=3, random_state=0)
    with pytest.warns(UserWarning, match="plain RLSC"):
        model = S2RLSClassifier(0.1).fit(X, y)
    plain = RLSClassifier(0.1).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-10)
    assert "plain RLSC" in model.result_.reason


def test_select_runs_folds_over_the_labels():
    X, y = make_moons(120, noise=0.05, random_state=0)
    labels = few_labels(y, 5)
    model = S2RLSClassifier(100.0, kernel=RBF(0.3), n_restarts=4, balance="labels")  # far too smooth
    best = model.select(X, labels, lam=[0.01, 100.0], lam_unlabeled=[0.1, 1.0])
    assert best.selection_["candidates"][1:] == [
        {"lam": lam, "lam_unlabeled": other} for lam in (0.01, 100.0) for other in (0.1, 1.0)
    ]
    _, left_out, read = model.left_out_table(X, labels, grid={"lam": [0.01]})
    by_hand = np.full(10, np.nan)  # the same five folds, fitted one by one
    order = np.argsort(labels[read.labeled], kind="stable")
    for fold in range(5):
        withheld = labels.copy()
        test = order[fold::5]
        withheld[read.labeled[test]] = -1
        single = S2RLSClassifier(0.01, kernel=RBF(0.3), n_restarts=4, label_folds=0, balance="labels").fit(X, withheld)
        by_hand[test] = single.decision_function(X[read.labeled[test]])
    np.testing.assert_allclose(left_out[1][:, 0], by_hand, atol=1e-8)


def test_select_refuses_a_candidate_that_fit_would_refuse():
    X, y = make_blobs(30, centers=2, random_state=0)
    with pytest.raises(ValueError, match=r"'lam' parameter of S2RLSClassifier must be a float in the range.*Got -1\.0"):
        S2RLSClassifier().select(X, few_labels(y, 4), lam=[0.1, -1.0])


@pytest.mark.parametrize("search", ["ea", "round_robin", "tabu"])
def test_seed_repeats_and_torch_gives_the_same(search):
    torch = pytest.importorskip("torch")
    X, y = make_blobs(50, centers=2, cluster_std=3.0, random_state=2)
    labels = few_labels(y, 3)
    options = {"search": search, "n_restarts": 3, "label_folds": 0, "random_state": 7}
    models = [S2RLSClassifier(0.1, n_jobs=n_jobs, **options).fit(X, labels) for n_jobs in (1, 3)]
    assert np.array_equal(models[0].transduction_, models[1].transduction_)
    other = S2RLSClassifier(0.1, **options).fit(torch.as_tensor(X), labels)
    assert other.result_.objective == pytest.approx(models[0].result_.objective, abs=1e-7)


def test_time_budget_and_progress(capsys):
    X, y = make_blobs(200, centers=2, cluster_std=3.0, random_state=2)
    model = S2RLSClassifier(0.1, n_restarts=10**6, time_budget=0.1, label_folds=0, verbose=1, n_jobs=1)
    model.fit(X, few_labels(y, 3))
    assert "time budget" in model.result_.reason and not model.result_.converged
    assert "best F =" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lam": 0.0}, "'lam' parameter of S2RLSClassifier must be a float in the range"),
        ({"lam": -1.0}, "'lam' parameter of S2RLSClassifier must be a float in the range"),
        ({"lam_unlabeled": 0.0}, "'lam_unlabeled' parameter"),
        ({"label_folds": 1}, "'label_folds' parameter"),
        ({"balance": 0.5, "balance_slack": 0.001}, r"0\.5 of 25 unlabeled rows is 12\.5 rows.*are 12 and 13"),
        ({"balance": 0.0}, r"labels contradict the balance: 3 row\(s\) are labeled 1.*fraction 0 "),
        ({"balance": {0: 0.5, 2: 0.5}}, r"balance has the classes \[0, 2\] and the labels have \[0, 1\]"),
        ({"balance": [0.2, 0.3, 0.5]}, r"balance has shape \(3,\) and y has the 2 classes"),
        ({"balance": [0.5, 0.6]}, "sum to 1"),
    ],
)
def test_refusals(options, message):
    X, y = make_blobs(31, centers=2, random_state=0)
    with pytest.raises(ValueError, match=message):
        S2RLSClassifier(**options).fit(X, few_labels(y, 3))


def test_refuses_one_share_for_three_classes_soft_labels_and_dask():
    X, y = make_blobs(30, centers=3, random_state=0)
    with pytest.raises(InputError, match=r"one fraction, and y has the 3 classes"):
        S2RLSClassifier(balance=0.3).fit(X, few_labels(y, 2))
    table = np.full((30, 2), np.nan)
    table[:4] = [[0.9, 0.1], [0.2, 0.8], [1, 0], [0, 1]]
    with pytest.raises(InputError, match="one class per labeled row"):
        S2RLSClassifier().fit(X, table)
    dask = pytest.importorskip("dask.array")
    with pytest.raises(BackendError, match="one at a time"):
        S2RLSClassifier().fit(dask.from_array(X), few_labels(y, 2))


def test_parents_and_children_are_those_of_the_evolution():
    X, y = make_blobs(60, centers=2, cluster_std=4.0, random_state=1)
    options = {"search": "ea", "n_restarts": 1, "label_folds": 0, "random_state": 0}
    model = S2RLSClassifier(0.1, n_parents=2, n_children=7, **options).fit(X, few_labels(y, 3))
    assert model.result_.info["evaluations"] % 7 == 0
    single = S2RLSClassifier(0.1, n_parents=1, n_children=1, **options).fit(X, few_labels(y, 3))
    assert 60 <= single.result_.info["evaluations"] < model.result_.info["evaluations"]  # it stops after n generations
    assert model.result_.objective <= single.result_.objective + 1e-12
    with pytest.raises(ValueError, match="'n_parents' parameter"):
        S2RLSClassifier(n_parents=0).fit(X, few_labels(y, 3))


@pytest.mark.parametrize("k", [2, 3])
def test_unknown_shares_are_estimated(k):
    """As many labels of each class, and a last class that is rare: the labels' shares shut the correct prediction
    out.
    """
    sizes = [150, 70, 30][-k:]
    X, y = make_blobs(sizes, centers=np.eye(3)[:k] * 7, random_state=0)
    labels = few_labels(y, 10)
    options = {"kernel": "linear", "n_restarts": 5, "random_state": 0}
    misled = S2RLSClassifier(0.1, balance="labels", balance_slack=0.05, **options).fit(X, labels)
    model = S2RLSClassifier(0.1, balance="estimate", **options).fit(X, labels)
    free = labels < 0
    true = np.bincount(y[free]) / free.sum()
    error = model.result_.info["balance_error"]
    assert np.all(np.abs(model.balance_ - true) < 0.1) and np.all((error > 0.01) & (error < 0.1))
    assert np.mean(model.transduction_ != y) < 0.05 < np.mean(misled.transduction_ != y)
    assert np.isfinite(model.left_out_accuracy_)
    uncalibrated = S2RLSClassifier(0.1, balance="estimate", label_folds=0, **options).fit(X, labels)
    np.testing.assert_allclose(uncalibrated.balance_, model.balance_)
    assert np.isnan(uncalibrated.left_out_accuracy_)


def test_a_bias_is_a_constant_that_is_not_penalized():
    """The labels found and the bias minimize the objective over all labelings, by brute force."""
    X, y = make_blobs([9, 5], centers=[[3.0, 0.0], [6.0, 0.0]], random_state=0)  # far from the origin
    labels = np.full(14, -1)
    labels[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]] = [0, 1]
    model = S2RLSClassifier(0.1, 0.7, bias=True, balance=None, kernel="linear", label_folds=0).fit(X, labels)
    free, known = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    weight = np.full(14, 0.7 / 12)
    weight[known] = 0.5
    A = np.column_stack([X, np.ones(14)])

    def fit(t):
        w = np.linalg.solve(A.T @ (weight[:, None] * A) + np.diag([0.1, 0.1, 0.0]), A.T @ (weight * t))
        return weight @ (t - A @ w) ** 2 + 0.1 * w[:2] @ w[:2], w

    t = np.zeros(14)
    t[known] = 2 * labels[known] - 1
    best = np.inf
    for code in range(2**12):
        t[free] = 2 * ((code >> np.arange(12)) & 1) - 1
        best = min(best, fit(t)[0])
    t[free] = 2 * model.transduction_[free] - 1
    value, w = fit(t)
    assert value == pytest.approx(best) == pytest.approx(model.result_.objective)
    np.testing.assert_allclose(model.decision_function(X), A @ w, atol=1e-8)
