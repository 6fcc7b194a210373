"""LevelDisplay draws the values of the model on the grid, the boundary at their change of sign, and rows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from mercer import RBF, InputError, KernelCMeans, KernelPCA, LSSVMClassifier, LSSVMRegressor
from mercer.plots import LevelDisplay

pytest.importorskip("matplotlib").use("Agg")


def test_values_and_boundary_are_those_of_the_model():
    X, y = make_moons(60, noise=0.1, random_state=0)
    given = np.where(np.arange(60) < 20, y, -1)
    model = LSSVMClassifier(10.0, kernel=RBF(0.4)).fit(X, given)
    display = LevelDisplay.from_estimator(model, X, [c if c >= 0 else None for c in given], grid=40)
    for i, j in ((0, 0), (7, 31), (39, 12)):
        point = [[display.first[j], display.second[i]]]
        assert display.values[i, j] == pytest.approx(model.decision_function(point)[0])
    line = np.concatenate([part for part in display.boundary_.allsegs[0] if len(part)])
    assert np.abs(model.decision_function(line)).max() < 0.1
    assert display.ax_.get_legend_handles_labels()[1] == ["0", "1"]


def test_several_classes_components_numbers_and_functions():
    X, y = make_blobs(60, centers=3, random_state=0)
    three = LevelDisplay.from_estimator(LSSVMClassifier().fit(X, y), X, y, grid=20)
    assert set(np.unique(three.values)) == {0.0, 1.0, 2.0} and three.boundary_ is not None
    parts = KernelPCA(2).fit(X)
    second = LevelDisplay.from_estimator(parts, X, response=1, grid=15)
    point = [[second.first[3], second.second[4]]]
    assert second.values[4, 3] == pytest.approx(parts.transform(point)[0, 1]) and second.boundary_ is None
    number = LevelDisplay.from_estimator(LSSVMRegressor().fit(X, X[:, 0]), X, grid=15)
    assert number.boundary_ is None
    own = LevelDisplay.from_estimator(parts, X, response=lambda rows: rows[:, 0], grid=10)
    np.testing.assert_allclose(own.values[0], own.first)
    with pytest.raises(InputError, match="rows of two columns"):
        LevelDisplay.from_estimator(parts, np.ones((3, 3)))


def test_clusters_are_regions_with_lines_between_them():
    X, _ = make_blobs(60, centers=3, random_state=0)
    model = KernelCMeans(3, random_state=0).fit(X)
    display = LevelDisplay.from_estimator(model, X, grid=20)
    point = [[display.first[7], display.second[12]]]
    assert display.values[12, 7] == model.predict(point)[0]
    assert set(np.unique(display.values)) == {0.0, 1.0, 2.0} and display.boundary_ is not None
    two = LevelDisplay.from_estimator(KernelCMeans(2, random_state=0).fit(X), X, grid=20)
    assert set(np.unique(two.values)) == {-0.5, 0.5} and two.boundary_ is not None
