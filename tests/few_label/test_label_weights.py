"""Weights of labels by weights of rows and of classes in FewLabelClassifier."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from mercer import FewLabelClassifier, InputError, suggest
from mercer.estimators.spectral_graph_transducer import SpectralGraphTransducer
from mercer.few_label.candidates.linear import LinearCandidate
from mercer.few_label.spaces import Space
from mercer.inputs.labels import read_labels, weigh_labels

METHODS = ["lssvm", "components", "diffusion", "mixed", "semi_kpca", "ls_kpca", "sgt", "rls"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = X[50:] + np.random.default_rng(0).normal(scale=0.2, size=(100, 4))
    y = np.where(np.arange(100) % 8 == 0, y[50:], -1)
    return X, y


def test_weights_of_one_change_nothing(iris):
    X, y = iris  # forests aside, which draw other rows when there are weights
    plain, ones, equal = (
        FewLabelClassifier(METHODS, **options).fit(X, y, sample_weight=weight)
        for options, weight in (({}, None), ({}, np.ones(100)), ({"class_weight": {2: 1.0}}, None))
    )
    for other in (ones, equal):
        np.testing.assert_allclose(other.probabilities_, plain.probabilities_, atol=1e-9)
        np.testing.assert_allclose(other.weights_, plain.weights_, atol=1e-9)
        np.testing.assert_allclose(other.predict_proba(X + 0.1), plain.predict_proba(X + 0.1), atol=1e-9)


def test_a_weight_of_zero_is_no_label(iris):
    X, y = iris
    weight = np.ones(100)
    weight[:40] = 0.0
    there = FewLabelClassifier(METHODS).fit(X, y, sample_weight=weight)
    wanted = FewLabelClassifier(METHODS).fit(X, np.where(weight > 0, y, -1))
    np.testing.assert_allclose(there.probabilities_, wanted.probabilities_, atol=1e-9)
    assert there.labels_.labeled.tolist() == wanted.labels_.labeled.tolist()


def test_a_weight_of_two_is_a_label_given_twice(iris):
    """The fit, not what follows from held-out labels: the pair would be held out one by one."""
    X, y = iris
    labels = read_labels(y)
    weight = np.ones(100)
    weight[labels.labeled[:5]] = 2.0
    twice = np.concatenate([np.arange(100), labels.labeled[:5]])
    model = FewLabelClassifier(["lssvm", "rls", "components", "diffusion", "mixed"]).prepare(X)
    for candidate in model.candidates_:
        weighed = candidate.solve(weigh_labels(labels, weight, None))
        doubled = LinearCandidate("twice", candidate.method, _Rows(candidate.space.Z[twice]), candidate.model)
        doubled = doubled.solve(read_labels(y[twice]))
        np.testing.assert_allclose(weighed.scores(), doubled.scores()[:100], atol=1e-8)


class _Rows(Space):
    def __init__(self, Z):
        self.Z = Z


@pytest.mark.parametrize("method", ["semi_kpca", "lr_kpca", "mv_kpca", "forest"])
def test_labels_that_count_more_are_followed_more(iris, method):
    X, y = iris
    wrong = np.flatnonzero(y == 1)[:2]
    y = y.copy()
    y[wrong] = 2
    weight = np.ones(100)
    weight[wrong] = 0.02
    labels = read_labels(y)
    for candidate in FewLabelClassifier([method]).prepare(X).candidates_:
        trusted, doubtful = (candidate.solve(weigh_labels(labels, w, None)).scores()[:, 0] for w in (None, weight))
        trusted, doubtful = (scores[wrong] / scores.std() for scores in (trusted, doubtful))  # positive means class 2
        assert (doubtful < trusted - 1e-6).all()


@pytest.mark.parametrize("method", ["lssvm", "semi_kpca", "ls_kpca", "sgt", "lr_kpca"])
def test_a_tiny_weight_is_almost_no_label(iris, method):
    X, y = iris
    labels, weight = read_labels(y), np.ones(100)
    weight[labels.labeled[:2]] = 1e-7
    for candidate in FewLabelClassifier([method]).prepare(X).candidates_:
        found = candidate.solve(weigh_labels(labels, weight, None)).scores()
        wanted = candidate.solve(labels.keep(np.arange(2, len(labels.labeled)))).scores()
        np.testing.assert_allclose(found, wanted, atol=1e-3 * np.abs(wanted).max())


def test_left_out_answers_follow_the_weights():
    """Against fits without the label, for the methods whose held-out predictions have a closed form."""
    X, y = make_blobs(60, centers=2, cluster_std=3.0, random_state=0)
    y = np.where(np.arange(60) % 5 == 0, y, -1)
    labels = weigh_labels(read_labels(y), np.random.default_rng(0).uniform(0.5, 2.0, 60), None)
    model = FewLabelClassifier(["lssvm", "rls", "ls_kpca", "sgt"]).prepare(X)
    seen = set()
    for candidate in model.candidates_:
        if candidate.method == "ls_kpca" or (candidate.method, type(candidate.model)) in seen:
            continue  # its held-out predictions are of a compressed problem
        seen.add((candidate.method, type(candidate.model)))
        found = candidate.solve(labels).left_out
        for i in (0, 3, 7):
            others = labels.keep(np.setdiff1d(np.arange(len(labels.labeled)), [i]))
            wanted = candidate.solve(others).scores(labels.labeled[[i]])
            tolerance = 2e-3 if isinstance(candidate.model, SpectralGraphTransducer) else 1e-8
            if candidate.method == "rls":
                continue  # its penalty is a fraction of the number of labels
            np.testing.assert_allclose(found[i], wanted[0], atol=tolerance * np.abs(found).max())
    assert len(seen) >= 3


def test_balanced_classes():
    X, y = make_blobs([200, 200], centers=[[0, 0], [2.0, 0]], random_state=0)
    given = np.full(400, -1)
    given[np.flatnonzero(y == 0)[:27]] = 0
    given[np.flatnonzero(y == 1)[:3]] = 1
    plain, balanced = (FewLabelClassifier(METHODS, class_weight=w).fit(X, given) for w in (None, "balanced"))
    counted = balanced.labels_.counted @ balanced.labels_.given
    np.testing.assert_allclose(counted, 15.0)
    found = [np.mean(model.transduction_[y == 1] == 1) for model in (plain, balanced)]
    assert found[1] > found[0]
    np.testing.assert_allclose(balanced.prior_, 0.5)
    by_hand = FewLabelClassifier(METHODS, class_weight={0: 15 / 27, 1: 5.0}).fit(X, given)
    np.testing.assert_allclose(by_hand.probabilities_, balanced.probabilities_, atol=1e-9)


def test_taught_labels_keep_the_weights(iris):
    X, y = iris
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 100)
    more = y.copy()
    more[[1, 51]] = 1, 2
    model = FewLabelClassifier(METHODS, class_weight="balanced").fit(X, y, sample_weight=weight)
    wanted = FewLabelClassifier(METHODS, class_weight="balanced").fit(X, more, sample_weight=weight)
    np.testing.assert_allclose(model.teach([1, 51], [1, 2]).probabilities_, wanted.probabilities_, atol=1e-9)
    again = FewLabelClassifier(METHODS, class_weight="balanced").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.unteach([1, 51]).probabilities_, again.probabilities_, atol=1e-9)


def test_what_is_refused(iris):
    X, y = iris
    with pytest.raises(InputError, match="class_weight='even' is not accepted.*balanced"):
        FewLabelClassifier(["lssvm"], class_weight="even").fit(X, y)
    for bad in ({1: -1.0}, {"virginica": 2.0}):
        with pytest.raises(InputError, match=r"a dict of positive numbers by class. The classes are \[1, 2\]"):
            FewLabelClassifier(["lssvm"], class_weight=bad).fit(X, y)
    with pytest.raises(InputError, match="s2rls does not accept weights"):
        FewLabelClassifier(["lssvm", "s2rls"], class_weight="balanced").fit(X, y)
    with pytest.raises(InputError, match="sample_weight.shape == \\(3,\\)"):
        FewLabelClassifier(["lssvm"]).fit(X, y, sample_weight=np.ones(3))


def test_advice_goes_on_with_weights(iris):
    X, y = iris
    model = FewLabelClassifier(METHODS, class_weight="balanced").fit(X, y)
    assert model.linear_ is not None and len(suggest(model, 3).rows) == 3
    assert model.estimate_.n_labels == len(model.labels_.labeled) and str(model.report_)
