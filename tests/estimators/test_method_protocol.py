"""A new few-label method is one class with `prepare` and `solve`, and one line among the candidates."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

from mercer import (
    FewLabelClassifier,
    LeastSquaresKPCA,
    LogisticKPCA,
    LSSVMClassifier,
    RLSClassifier,
    S2RLSClassifier,
    SemiKPCA,
    SpectralGraphTransducer,
    TransductiveSVMClassifier,
    load,
    save,
)
from mercer.estimators.within_variance import WithinVarianceClassifier
from mercer.few_label import catalog
from mercer.inputs.labels import read_labels
from mercer.model_selection import leave_one_label_out
from mercer.solvers.result import Result
from mercer.solvers.ridge.effect import LabelEffect
from mercer.solvers.ridge.state import State
from recipes import recipe

METHODS = [
    LSSVMClassifier(),
    LSSVMClassifier(unlabeled="zero"),
    RLSClassifier(),
    SemiKPCA(),
    LeastSquaresKPCA(),
    LogisticKPCA(),
    SpectralGraphTransducer(5),
    S2RLSClassifier(n_restarts=3),
    S2RLSClassifier(n_restarts=3, multi_class="one_vs_rest"),
    TransductiveSVMClassifier(),
    WithinVarianceClassifier(),
]
each = pytest.mark.parametrize("model", METHODS, ids=str)


class ZeroedRidge(recipe("A few-label method").ZeroedRidge):
    """The recipe of CONTRIBUTING.md, which also records what it prepares and has the effect of one more label."""

    def prepare(self, Z, weight=None, Lap=None):
        prepared.append(Z.shape)
        return super().prepare(Z, weight, Lap)

    def solve(self, state, labels):
        inverse = np.linalg.inv(state.G + self.lam * np.eye(len(state.G)))
        return replace(super().solve(state, labels), influence=lambda: LabelEffect(np.asarray(state.Z), inverse))


prepared: list = []


def blobs(k=3, n=60, per_class=3, seed=0):
    X, y = make_blobs(n, 4, centers=k, cluster_std=2.0, random_state=seed)
    given = np.full(n, -1)
    for c in range(k):
        given[np.flatnonzero(y == c)[:per_class]] = c
    return X, y, given


@pytest.mark.parametrize("k", [2, 3])
def test_a_method_of_two_functions_is_a_classifier(k):
    X, y, given = blobs(k)
    model = ZeroedRidge().fit(X, given)
    same = LSSVMClassifier(10.0, unlabeled="zero", bias=False).fit(X, given)
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-9)
    assert_allclose(model.predict_proba(X), same.predict_proba(X), atol=1e-8)
    assert model.score(X, y) > 0.7
    fast = leave_one_label_out(model, X, given, lam=[0.01, 1.0])
    slow = leave_one_label_out(model, X, given, refit=True, lam=[0.01, 1.0])
    assert_allclose(fast.scores, slow.scores, atol=1e-9)
    ours, theirs = (m.solution_for(X, given).effect for m in (model, same))
    assert_allclose(ours.M, theirs.M, atol=1e-9)


def test_a_method_becomes_a_candidate_by_one_line(monkeypatch):
    X, y, given = blobs()
    settings = tuple(catalog.Setting("kernel", ZeroedRidge(lam), "lam") for lam in (0.1, 1.0))
    toy = catalog.Method("classes", "toy", "Toy", "a test", settings)
    monkeypatch.setattr(catalog, "CATALOG", (*catalog.CATALOG, toy))
    prepared.clear()
    model = FewLabelClassifier(["toy", "lssvm"]).fit(X, given)
    names = [c.name for c in model.candidates_ if c.method == "toy"]
    assert "toy lam=0.1: RBF of 1 median, raw" in names and "toy lam=1: linear, raw" in names
    assert len(prepared) == len(names)
    only = FewLabelClassifier(["toy"]).fit(X, given)
    assert only.linear_ is not None and np.mean(only.transduction_ == y) > 0.8
    assert_allclose(only.decision_function(X), only.scores_, atol=1e-9)
    prepared.clear()
    only.teach([40], [y[40]])
    assert prepared == []  # the state has no label in it


@each
@pytest.mark.parametrize("k", [2, 3])
def test_solving_leaves_the_model_and_the_state_as_they_are(model, k):
    X, _, given = blobs(k)
    model = clone(model).fit(X, given)
    before = {name: value for name, value in vars(model).items()}
    state = State(model.map_.transform(X))
    labels = read_labels(given)
    one = model.solve(state, labels)
    fewer = model.solve(state, labels.keep(np.arange(1, len(labels.labeled))))
    again = clone(model).solve(state, labels)
    assert all(vars(model)[name] is value for name, value in before.items()) and len(vars(model)) == len(before)
    assert_array_equal(one.coef, again.coef)
    assert np.abs(one.coef - fewer.coef).max() > 0
    assert_allclose(one.coef, model.coef_, atol=1e-9 * np.abs(model.coef_).max())
    assert_array_equal(one.left_out, again.left_out)


@each
def test_every_method_says_how_good_its_answer_is(model, tmp_path):
    X, _, given = blobs()
    model = clone(model).fit(X, given)
    result = model.result_
    assert isinstance(result, Result) and result.converged and result.reason.endswith(".")
    assert 0 <= result.gap <= (1e-6 if not isinstance(model, S2RLSClassifier) else 1)
    if not isinstance(model, WithinVarianceClassifier):
        save(model, tmp_path / "model.mercer")
        assert load(tmp_path / "model.mercer").result_.reason == result.reason


@pytest.mark.parametrize("model", [LSSVMClassifier(unlabeled="zero"), SemiKPCA(), LeastSquaresKPCA()], ids=str)
def test_a_state_keeps_its_weights(model):
    X, _, given = blobs()
    Z = clone(model).fit(X, given).map_.transform(X)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    state, labels = model.prepare(Z, weight), read_labels(given)
    expected = model.solve(model.prepare(Z, weight), labels).coef
    weight[:] = 1.0
    assert_array_equal(model.solve(state, labels).coef, expected)
    assert np.abs(model.solve(model.prepare(Z, weight), labels).coef - expected).max() > 1e-3


@pytest.mark.parametrize("model", [LSSVMClassifier(unlabeled="zero"), RLSClassifier(), LeastSquaresKPCA()], ids=str)
def test_one_state_serves_every_graph_weight(model):
    X, _, given = blobs()
    for graph_weight in (0.01, 1.0):
        model = clone(model).set_params(graph=5, graph_weight=graph_weight)
        state, labels = model._read(X, given, None)
        plain = model.prepare(state.Z, None, model._laplacian(X, None))
        clone(model).set_params(graph_weight=7.0).solve(plain, labels)
        assert_array_equal(model.solve(plain, labels).coef, model.fit(X, given).coef_)


def test_what_is_linear_in_the_labels_is_declared():
    X, _, given = blobs()
    linear = [m for m in METHODS if clone(m).fit(X, given).solution_for(X, given).influence is not None]
    assert linear == [METHODS[0], METHODS[3]]
    assert LSSVMClassifier(unlabeled="zero", bias=False).fit(X, given).solution_for(X, given).effect is not None
