"""What scikit-learn's suites ask of label propagation, label spreading and self-training."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from mercer import (
    RBF,
    Diffusion,
    FewLabelClassifier,
    InputError,
    LeastSquaresKPCA,
    LSSVMClassifier,
    RLSClassifier,
    SemiKPCA,
    SpectralGraphTransducer,
)

QUICK = ["lssvm", "diffusion"]
MODELS = [
    FewLabelClassifier(QUICK),
    LSSVMClassifier(),
    LSSVMClassifier(kernel=Diffusion(n_neighbors=2)),
    RLSClassifier(),
    SemiKPCA(),
    LeastSquaresKPCA(),
    SpectralGraphTransducer(n_neighbors=2),
]
every = pytest.mark.parametrize("model", MODELS, ids=repr)
LINE = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 3.0]])  # the toy rows of their suite


@every
def test_the_label_of_a_row_between_two(model):
    rows = np.vstack([LINE[0], LINE[2], [1.0, 0.2], [0.9, 2.9], [1.1, 2.8], [1.0, 0.3]])
    fitted = model.fit(rows, [0, 1, -1, -1, -1, -1])
    assert fitted.transduction_.tolist() == [0, 1, 0, 1, 1, 0]
    assert fitted.predict([[0.9, 2.95]]).tolist() == [1]


@every
def test_distributions_sum_to_one_and_agree_with_the_answers(model):
    X, y = make_classification(n_samples=120, n_classes=3, n_informative=3, random_state=0)
    y[::3] = -1
    fitted = model.fit(X, y)
    P = fitted.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (fitted.classes_[P.argmax(axis=1)] == fitted.predict(X)).all()
    known = y >= 0
    assert (fitted.transduction_[known] == y[known]).all()  # given labels stay, as with alpha = 0
    assert set(fitted.classes_) == {0, 1, 2}


@every
def test_no_warning_and_no_nan_with_a_lonely_cluster(model):
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), np.full((5, 2), 1e3)])
    y = np.r_[0, 1, np.full(23, -1)]
    fitted = model.fit(X, y)
    assert np.isfinite(fitted.predict_proba(X)).all()


def test_minus_one_and_one_are_two_readings():
    LabelSpreading().fit(LINE, [-1, 1, 1])
    for model in (LSSVMClassifier(), FewLabelClassifier(QUICK)):  # named in README.md
        with pytest.raises(InputError, match="only -1 and 1"):
            model.fit(LINE, [-1, 1, 1])


def test_moons_with_two_labels_as_label_spreading():
    X, y = make_moons(300, noise=0.05, random_state=0)
    given = np.full(300, -1)
    given[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]] = 0, 1
    theirs = np.mean(LabelSpreading(kernel="knn", n_neighbors=10, max_iter=1000).fit(X, given).transduction_ == y)
    for model in (SpectralGraphTransducer(), LSSVMClassifier(3.0, kernel=Diffusion(time=30.0), bias=False)):
        assert np.mean(model.fit(X, given).transduction_ == y) >= theirs - 0.02


def test_sparse_rows_and_other_label_types():
    X, y = load_iris(return_X_y=True)
    names = np.array(["", "a", "b", "c"])[np.where(np.arange(150) % 5, 0, y + 1)]
    for model in (SemiKPCA(), LSSVMClassifier()):
        plain = model.fit(X, names).predict(X)
        assert set(plain) <= {"a", "b", "c"}
        assert (model.fit(sp.csr_matrix(X), names).predict(sp.csr_matrix(X)) == plain).mean() > 0.99


@pytest.mark.parametrize("criterion", ["threshold", "k_best"])
def test_self_training_around_our_classifiers(criterion):
    X, y = load_iris(return_X_y=True)
    X, new, y, wanted = train_test_split(X, y, random_state=0)
    given = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    base = LSSVMClassifier(10.0, kernel=RBF(), missing_label=[])
    options = {"threshold": 0.75} if criterion == "threshold" else {"k_best": 10}
    model = SelfTrainingClassifier(base, criterion=criterion, max_iter=10, **options).fit(X, given)
    alone = LSSVMClassifier(10.0, kernel=RBF()).fit(X[given >= 0], y[given >= 0])
    assert model.score(new, wanted) >= alone.score(new, wanted) - 0.1
    assert (model.transduction_[given >= 0] == y[given >= 0]).all()
    assert (model.labeled_iter_[given >= 0] == 0).all()
    np.testing.assert_array_equal(model.predict(new), model.estimator_.predict(new))


def test_self_training_without_unlabeled_rows_is_the_classifier():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="y contains no unlabeled samples"):
        model = SelfTrainingClassifier(LSSVMClassifier()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), LSSVMClassifier().fit(X, y).predict(X))


def test_self_training_of_a_stack_with_ours_in_it():
    X, y = load_iris(return_X_y=True)
    given = np.where(np.arange(150) % 3 == 0, y, -1)
    stack = StackingClassifier([("ours", LSSVMClassifier()), ("theirs", LogisticRegression(max_iter=300))], cv=3)
    model = SelfTrainingClassifier(stack).fit(X, given)
    assert model.score(X, y) > 0.9
