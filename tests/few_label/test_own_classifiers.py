"""`also=`: classifiers of the user in the pool."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import FewLabelClassifier, InputError

KERNEL = ["lssvm"]


def few(y, number, seed=0):
    rows = np.random.default_rng(seed).permutation(len(y))[:number]
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    return given


def weight_of_own(model):
    return sum(w for one, w in zip(model.candidates_, model.weights_) if one.method == "also")


class Product(ClassifierMixin, BaseEstimator):
    """The class is the sign of a product of two columns, which a user may know and no candidate finds."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 0.02 + 0.96 * (X[:, 0] * X[:, 1] > 0)
        return np.column_stack([1 - p, p])[:, : len(self.classes_)]


@pytest.fixture(scope="module")
def products():
    X = np.random.default_rng(3).normal(size=(300, 12))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_a_classifier_that_knows_more_gets_the_weight_and_one_that_knows_nothing_does_not(products):
    X, y = products
    given = few(y, 30)
    free = given < 0
    plain = FewLabelClassifier().fit(X, given)
    helped = FewLabelClassifier(also=[Product()]).fit(X, given)
    assert (plain.transduction_ == y)[free].mean() < 0.75 < 0.98 < (helped.transduction_ == y)[free].mean()
    assert weight_of_own(helped) > 0.9
    easy, classes = load_iris(return_X_y=True)

    class Noise(Product):
        def predict_proba(self, X):
            P = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
            return P[:, : len(self.classes_)]

    model = FewLabelClassifier(also=[Noise()]).fit(easy, few(classes, 30))
    assert weight_of_own(model) < 0.01


def test_held_out_predictions_are_those_of_fits_without_the_label():
    X, y = load_wine(return_X_y=True)
    given = few(y, 40)

    class Memory(Product):
        """Correct on every row that it was fitted to, wrong on others."""

        def fit(self, X, y):
            self.known, self.classes_ = {row.tobytes(): c for row, c in zip(X, y)}, np.unique(y)
            return self

        def predict_proba(self, X):
            code = [self.known.get(row.tobytes(), 0) for row in X]
            return np.eye(len(self.classes_))[code]

    model = FewLabelClassifier(also=[Memory()]).fit(X, given)
    [own] = [one for one in model.answers_.fit.fitted if one.method == "also"]
    np.testing.assert_array_equal(own.left_out.argmax(axis=1), 0)  # none of the labels was known to its fit
    assert (own.scores(np.flatnonzero(given >= 0)).argmax(axis=1) == given[given >= 0]).all()
    assert weight_of_own(model) < 0.01


def test_predictions_teaching_copies_and_the_estimate():
    X, y = load_wine(return_X_y=True)
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    model = FewLabelClassifier(also=[linear, GaussianNB()]).fit(X, few(y, 30))
    assert [one.name for one in model.candidates_ if one.method == "also"] == ["also 1: Pipeline", "also 2: GaussianNB"]
    assert weight_of_own(model) > 0.05
    np.testing.assert_allclose(model.predict_proba(X), model.probabilities_, atol=1e-6)
    row = int(np.flatnonzero(few(y, 30) < 0)[0])
    given = few(y, 30)
    given[row] = y[row]
    taught = model.taught([row], [y[row]])
    np.testing.assert_allclose(taught.probabilities_, FewLabelClassifier(also=model.also).fit(X, given).probabilities_)
    assert 0.8 < model.left_out_accuracy_ <= 1
    assert not any(one.method == "also" for one in model.taught([row], [y[row]], tier="fast").candidates_)
    twin = clone(model)
    assert twin.also[1] is not model.also[1] and twin.get_params()["also"][1].__class__ is GaussianNB
    np.testing.assert_allclose(model.compact().predict_proba(X), model.predict_proba(X))


def test_classes_without_a_label_in_a_fold_sparse_rows_and_weights():
    X, y = load_wine(return_X_y=True)
    given = few(y, 12)
    given[given == 2] = -1
    given[np.flatnonzero(y == 2)[0]] = 2  # with one label, no fit without it knows the class
    model = FewLabelClassifier(KERNEL, also=[GaussianNB()]).fit(X, given)
    assert np.isfinite(model.probabilities_).all()
    words = sp.csr_matrix(np.random.default_rng(0).poisson(0.3, size=(60, 20)).astype(float))
    labels = few((words[:, 0].toarray()[:, 0] > 0).astype(int), 20)
    assert np.isfinite(FewLabelClassifier(KERNEL, also=[LogisticRegression()]).fit(words, labels).probabilities_).all()
    counts = np.where(y == 0, 5.0, 1.0)
    heavy = FewLabelClassifier(KERNEL, also=[LogisticRegression(max_iter=5000)])
    own = [
        next(one for one in heavy.fit(X, few(y, 30), sample_weight=weight).answers_.fit.fitted if one.method == "also")
        for weight in (None, counts)
    ]
    assert np.abs(own[0].left_out - own[1].left_out).max() > 1e-3


@pytest.mark.parametrize(
    ("also", "message"),
    [
        (LogisticRegression(), "also=LogisticRegression.* is not accepted. Give a list"),
        ("forest", "also='forest' is not accepted"),
        ([LogisticRegression], "is not a scikit-learn classifier with predict_proba"),
        ([SGDClassifier()], "CalibratedClassifierCV"),
        ([StandardScaler()], "not a scikit-learn classifier"),
    ],
)
def test_refusals(also, message):
    X, y = load_iris(return_X_y=True)
    for start in (lambda model: model.fit(X, few(y, 20)), lambda model: model.prepare(X)):
        with pytest.raises(InputError, match=message):
            start(FewLabelClassifier(also=also))


def test_a_classifier_that_fails_is_named(tmp_path):
    X, y = load_iris(return_X_y=True)

    class Fails(Product):
        def fit(self, X, y):
            raise ValueError("no license.")

    with pytest.raises(InputError, match="Fails in also failed in fit: no license"):
        FewLabelClassifier(also=[Fails()]).fit(X, few(y, 20))

    class Holes(Product):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(InputError, match=r"Holes in also predicted an array of shape \(\d+, 2\)"):
        FewLabelClassifier(also=[Holes()]).fit(X, few(y, 20))
    model = FewLabelClassifier(KERNEL, also=[RandomForestClassifier(50, random_state=0)]).fit(X, few(y, 60))
    with pytest.raises(InputError, match=r"RandomForestClassifier, which cannot be saved"):
        mercer.save(model, tmp_path / "model.mercer")
