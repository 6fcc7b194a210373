"""Displays draw the results of the model into the given axes, and can draw again."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

from mercer import (
    SVDD,
    FewLabelClassifier,
    FewLabelRegressor,
    InputError,
    KernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCA,
)
from mercer.plots import LeftOutDisplay, MapDisplay, ReliabilityDisplay, SpectrumDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.where(np.arange(150) % 7 == 0, y, -1), y


@pytest.fixture(scope="module")
def model(iris):
    return FewLabelClassifier(["lssvm", "diffusion"]).fit(iris[0], iris[1])


def test_a_map_of_answers(model, iris):
    X, given, _ = iris
    _, axes = pyplot.subplots(1, 2)
    shown = MapDisplay.from_estimator(model, X, ax=axes[1])
    assert shown.ax_ is axes[1] and not axes[0].collections
    assert sum(len(points.get_offsets()) for points in shown.scatter_) == 150
    np.testing.assert_array_equal(shown.codes, model.classes_.searchsorted(model.transduction_))
    np.testing.assert_array_equal(shown.given, given >= 0)
    np.testing.assert_array_equal(shown.confidence, model.predict_proba(X).max(axis=1))
    rims = [points for points in axes[1].collections if points not in shown.scatter_]
    assert sum(len(points.get_offsets()) for points in rims) == (given >= 0).sum()
    again = shown.plot()
    assert again is shown and shown.ax_ is not axes[1]


def test_a_map_of_components_or_of_other_models(iris):
    X, _, y = iris
    pca = KernelPCA(2, kernel="rbf").fit(X)
    shown = MapDisplay.from_estimator(pca, X, y, s=3)
    np.testing.assert_array_equal(shown.positions, pca.transform(X))
    np.testing.assert_array_equal(shown.codes, y)
    plain = MapDisplay.from_estimator(pca, X)
    assert len(plain.scatter_) == 1 and plain.ax_.get_legend() is None
    other = MapDisplay.from_estimator(LogisticRegression(max_iter=500).fit(X, y), X, legend=False)
    assert len(other.scatter_) == 3 and other.given is None
    clusters = MapDisplay.from_estimator(SVDD(0.2).fit(X), X)
    assert [text.get_text() for text in clusters.ax_.get_legend().get_texts()] == ["-1", "1"]
    with pytest.raises(InputError, match="needs two components"):
        MapDisplay.from_estimator(KernelPCA(1).fit(X), X)


def test_reliability_of_withheld_and_of_known_labels(model, iris):
    X, _, y = iris
    shown = ReliabilityDisplay.from_estimator(model, n_bins=3)
    P, labels = model.left_out_probabilities_, model.labels_
    right = P.argmax(axis=1) == labels.codes[labels.labeled]
    order = np.argsort(P.max(axis=1), kind="stable")
    bins = np.array_split(order, 3)
    np.testing.assert_allclose(shown.confidence, [P[b].max(axis=1).mean() for b in bins])
    np.testing.assert_allclose([rate.value for rate in shown.right], [right[b].mean() for b in bins])
    np.testing.assert_allclose(shown.line_.get_ydata(), [right[b].mean() for b in bins])
    known = ReliabilityDisplay.from_estimator(model, X, y, n_bins=1)
    assert known.right[0].value == pytest.approx(model.score(X, y)) and known.what == "rows with known labels"
    with pytest.raises(InputError, match="Pass X and y"):
        ReliabilityDisplay.from_estimator(LogisticRegression(max_iter=500).fit(X, y))


def test_a_spectrum(iris):
    X, given, _ = iris
    pca = KernelPCA(kernel="rbf").fit(X)
    shown = SpectrumDisplay.from_estimator(pca, color="red")
    np.testing.assert_array_equal(shown.line_.get_ydata(), pca.eigenvalues_)
    assert shown.share_line_.get_ydata()[-1] == pytest.approx(100) and shown.ax_.get_yscale() == "log"
    other = SpectrumDisplay.from_estimator(SemiKPCA().fit(X, given))
    assert other.share_ax_ is None
    with pytest.raises(InputError, match="SVDD has no eigenvalues_"):
        SpectrumDisplay.from_estimator(SVDD().fit(X))


def test_left_out_classes(model, iris):
    X, given, _ = iris
    shown = LeftOutDisplay.from_estimator(model)
    labels = model.labels_
    codes = labels.codes[labels.labeled]
    np.testing.assert_allclose(shown.answers, model.left_out_probabilities_[np.arange(len(codes)), codes])
    np.testing.assert_array_equal(shown.right, model.left_out_probabilities_.argmax(axis=1) == codes)
    np.testing.assert_allclose(shown.scatter_.get_offsets()[:, 0], shown.answers)
    machine = LSSVMClassifier().fit(X, given)
    own = LeftOutDisplay.from_estimator(machine, X, given)
    assert np.mean(own.right) == pytest.approx(machine.left_out_accuracy_)
    with pytest.raises(InputError, match="X and y of its fit"):
        LeftOutDisplay.from_estimator(machine)


def test_left_out_numbers():
    X, y = (part[:120] for part in load_diabetes(return_X_y=True))
    given = np.where(np.arange(120) % 3 == 0, y, np.nan)
    model = FewLabelRegressor(["lssvm"]).fit(X, given)
    shown = LeftOutDisplay.from_estimator(model)
    np.testing.assert_array_equal(shown.answers, model.left_out_)
    np.testing.assert_array_equal(shown.given, given[::3])
    assert shown.reach == model.reach()
    machine = LSSVMRegressor().fit(X, given)
    own = LeftOutDisplay.from_estimator(machine, X, given)
    np.testing.assert_allclose(own.scatter_.get_offsets()[:, 0], machine.left_out_)
    with pytest.raises(InputError, match="does not keep the numbers of its fit. Please pass y"):
        LeftOutDisplay.from_estimator(machine)
