"""TransductiveSVMClassifier against SciPy's minimum, with the balance, sparse rows, backends and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import make_blobs, make_circles
from sklearn.svm import LinearSVC

from mercer import RBF, InputError, Linear, NotConverged, TransductiveSVMClassifier, load, save
from mercer.geometry.maps import RowMap
from mercer.inputs.labels import read_labels


def few(y, per_class, seed=0):
    """y with all but `per_class` labels of each class replaced by −1."""
    rng, out = np.random.default_rng(seed), np.full(len(y), -1)
    for c in np.unique(y):
        out[rng.choice(np.flatnonzero(y == c), per_class, replace=False)] = c
    return out


def texts(n=300, d=2000, words=40, seed=0):
    """Sparse rows of unit length. Every class prefers a third of the words, and few rows have words in common."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    taste = np.ones((2, d))
    taste[0, : d // 3] = taste[1, d // 3 : 2 * d // 3] = 2.5
    X = np.zeros((n, d))
    for i in range(n):
        X[i, rng.choice(d, words, p=taste[y[i]] / taste[y[i]].sum())] = 1.0
    return sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), y


def smooth_hinge(x):
    return np.log1p(np.exp(20 * (1 - x))) / 20


def bell(f):
    return np.exp(-3 * f**2)


def ramp(f):
    """Of both signs, cut off where f = −0.3 of the one that is requested."""
    return sum(smooth_hinge(sign * f) - np.maximum(-0.3 - sign * f, 0) for sign in (1, -1))


def formula(w, Z, t, labeled, free, lam, lam_unlabeled, b, s, loss=bell):
    """The paper's objective of one column, with weighted means of the losses and f with the mean b over `free`."""
    f = Z @ w - np.average(Z[free] @ w, weights=s[free]) + b
    hinge = np.average(smooth_hinge(t * f[labeled]), weights=s[labeled])
    return hinge + lam_unlabeled * np.average(loss(f[free]), weights=s[free]) + lam * w @ w


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver, loss", [("lbfgs", bell), ("cccp", ramp)])
def test_the_solution_is_a_minimum_of_the_formula(weighted, solver, loss):
    X, y = make_blobs(40, centers=2, cluster_std=3.0, random_state=1)
    given = few(y, 4)
    s = np.random.default_rng(0).uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    model = TransductiveSVMClassifier(0.02, 0.7, kernel=RBF(3.0), balance=0.4, solver=solver, tol=1e-9)
    model.fit(X, given, sample_weight=s if weighted else None)
    Z, labeled, free = model.map_.transform(X), np.flatnonzero(given >= 0), np.flatnonzero(given < 0)
    arguments = Z, np.where(given[labeled] == 1, 1.0, -1.0), labeled, free, 0.02, 0.7, 2 * 0.4 - 1, s, loss
    w = model.coef_[:, 0]
    value = formula(w, *arguments)
    assert model.objectives_[0] == pytest.approx(value, rel=1e-12)
    assert model.result_.converged and model.result_.gap <= 1e-9
    assert np.abs(approx_fprime(w, formula, 1e-7, *arguments)).max() < 1e-5
    again = minimize(formula, w, arguments, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    assert again.fun >= value - 1e-9  # nothing lower nearby
    rng = np.random.default_rng(0)
    assert all(formula(w + 1e-3 * rng.normal(size=len(w)), *arguments) > value for _ in range(20))
    np.testing.assert_allclose(np.average(model.decision_function(X)[free], weights=s[free]), -0.2, atol=1e-10)


def test_without_unlabeled_weight_it_is_the_convex_machine():
    """λ' = 0 has one minimum, which SciPy finds from anywhere."""
    X, y = make_blobs(30, centers=2, cluster_std=2.0, random_state=2)
    given = few(y, 6)
    model = TransductiveSVMClassifier(0.05, 0.0, kernel=Linear(), tol=1e-10, balance="labels").fit(X, given)
    Z, labeled, free = model.map_.transform(X), np.flatnonzero(given >= 0), np.flatnonzero(given < 0)
    arguments = Z, np.where(given[labeled] == 1, 1.0, -1.0), labeled, free, 0.05, 0.0, 0.0, np.ones(30)
    best = minimize(formula, np.ones(Z.shape[1]), arguments, options={"gtol": 1e-9})
    assert model.objectives_[0] == pytest.approx(best.fun, rel=1e-9)


@pytest.mark.parametrize("solver, lam", [("lbfgs", 0.001), ("cccp", 0.1)])
def test_the_gaussians_of_the_paper(solver, lam):
    """Two Gaussians of 500 columns, 25 labels, 225 unlabeled and 250 test rows: 13% for the labels alone, 1 to 2%
    for UniverSVM (Gieseke et al. 2012, Tables 2 and 3)."""
    rng, y = np.random.default_rng(0), np.arange(500) % 2
    X = rng.normal(size=(500, 500))
    X[:, 0] += np.where(y == 1, 2.5, -2.5)
    given = np.where(np.arange(250) < 25, y[:250], -1)
    options = {"kernel": Linear(), "solver": solver, "tol": 1e-4}
    alone, both = (
        TransductiveSVMClassifier(lam, weight, **options).fit(X[:250], given).score(X[250:], y[250:])
        for weight in (0.0, 1.0)
    )
    assert both > 0.95 > 0.92 > alone


def test_columns_of_several_classes_are_separate_problems():
    X, y = make_blobs(60, 3, centers=4, cluster_std=2.0, random_state=0)
    given = few(y, 4)
    model = TransductiveSVMClassifier(0.01, tol=1e-9, balance="labels").fit(X, given)
    assert model.coef_.shape[1] == 4 and model.score(X, y) > 0.75
    for c in range(4):
        one = TransductiveSVMClassifier(0.01, tol=1e-9, balance=0.25)
        one.fit(X, np.where(given < 0, -1, given == c))
        np.testing.assert_allclose(one.decision_function(X), model.decision_function(X)[:, c], atol=1e-5)


def test_sparse_rows_of_text_are_their_own_features(tmp_path):
    X, y = texts()
    given = few(y, 12)
    model = TransductiveSVMClassifier(kernel="linear").fit(X, given)
    assert isinstance(model.map_, RowMap) and model.coef_.shape == (X.shape[1], 1)
    dense = TransductiveSVMClassifier(kernel="linear").fit(X.toarray(), given)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X.toarray()), atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X.toarray()), model.decision_function(X), atol=1e-10)
    alone = LinearSVC().fit(X[given >= 0], y[given >= 0]).score(X, y)
    assert model.score(X, y) > max(0.87, alone + 0.1)
    assert model.result_.gap <= 1e-6 and not model.unsupported_.any()
    save(model, tmp_path / "text.mercer")
    np.testing.assert_array_equal(load(tmp_path / "text.mercer").decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("approx", [20, "exact"])
def test_every_home_gives_the_same_scores(home, approx):
    X, y = make_circles(80, noise=0.05, factor=0.4, random_state=0)
    given = few(y, 4)
    model = TransductiveSVMClassifier(kernel=RBF(0.6), approx=approx, tol=1e-8)
    expected = model.fit(X, given).decision_function(X)
    found = model.fit(home(X), given).decision_function(home(X))
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-5)
    assert np.mean((expected > 0) == y) > 0.95


def test_left_out_scores_are_refits():
    X, y = make_blobs(50, centers=2, cluster_std=3.0, random_state=4)
    given = few(y, 5)
    model = TransductiveSVMClassifier(0.01, balance="labels").fit(X, given)
    solution = model.solution_for(X, given)
    labels = read_labels(given)
    test, others = next(iter(labels.folds(5)))
    withheld = np.full(len(y), -1)
    withheld[others.labeled] = y[others.labeled]
    again = (
        TransductiveSVMClassifier(0.01, balance="labels").fit(X, withheld).decision_function(X[labels.labeled[test]])
    )
    np.testing.assert_allclose(solution.left_out[test, 0], again, atol=1e-4)
    grid = {"lam": [1e-2, 1e-1], "lam_unlabeled": [1.0, 0.1]}
    candidates, at_once = model.set_params(tol=1e-9).path(model.prepare(model.map_.transform(X)), labels, grid)
    for candidate, scores in zip(candidates, at_once):
        alone = TransductiveSVMClassifier(tol=1e-9, balance="labels", **candidate).fit(X, given)
        alone = alone.solution_for(X, given).left_out
        np.testing.assert_allclose(scores, alone, atol=1e-5)
    chosen = model.select(X, given, lam=[1e-3, 1e-1], lam_unlabeled=[0.0, 1.0])
    assert len(chosen.selection_["candidates"]) == 5


def test_shares_are_estimated_from_fits_that_withhold_labels():
    """With equal numbers of labels and five times as many rows, the labels' fractions misplace the boundary."""
    X, y = make_blobs([100, 20], centers=[[0.0, 0.0], [12.0, 0.0]], random_state=1)
    given = few(y, 3)
    told = TransductiveSVMClassifier(balance="labels").fit(X, given)
    model = TransductiveSVMClassifier().fit(X, given)
    assert (model.transduction_ == y).all() and np.mean(told.transduction_ == y) < 0.98
    assert abs(model.balance_[1] - 1 / 6) < 0.05 and np.all(model.result_.info["balance_error"] < 0.1)
    weight = np.where(y == 1, 3.0, 1.0)  # counts as three rows
    model.fit(X, given, sample_weight=weight)
    assert abs(model.balance_[1] - 60 / 160) < 0.08


def test_soft_labels_count_in_part():
    X, y = make_blobs(40, centers=2, cluster_std=2.0, random_state=5)
    given = few(y, 5)
    hard = np.full((40, 2), np.nan)
    hard[given >= 0] = np.eye(2)[given[given >= 0]]
    same = TransductiveSVMClassifier(0.01, tol=1e-9)
    names = same.fit(X, given).decision_function(X)
    np.testing.assert_allclose(same.fit(X, hard).decision_function(X), names, atol=1e-7)
    soft = hard.copy()
    soft[given >= 0] = 0.8 * soft[given >= 0] + 0.1
    assert np.abs(same.fit(X, soft).decision_function(X) - names).max() > 1e-2


def test_refusals_and_what_is_said():
    X, y = make_blobs(40, centers=3, random_state=0)
    given = few(y, 3)
    with pytest.raises(InputError, match="one fraction, and y has the 3 classes"):
        TransductiveSVMClassifier(balance=0.4).fit(X, given)
    with pytest.raises(InputError, match="contradict the balance"):
        TransductiveSVMClassifier(balance=[0.0, 0.5, 0.5]).fit(X, given)
    with pytest.warns(NotConverged, match="Raise max_iter or tol"):
        TransductiveSVMClassifier(1e-4, max_iter=2).fit(X, given)
