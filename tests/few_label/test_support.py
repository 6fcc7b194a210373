"""Far from the training rows, trust is that of a loop, and confidence falls to the class frequencies."""

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import FewLabelClassifier
from mercer.few_label import sizes
from mercer.few_label.rows import Support
from mercer.few_label.sizes import Sizes


def test_trust_against_a_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.01]
    new = np.vstack([X[:5], rng.normal(size=(10, 3)) * [1.0, 100.0, 0.01], 30 * X[:10]])
    rows, seen = X / X.std(axis=0), new / X.std(axis=0)
    own = [min(np.linalg.norm(rows[i] - rows[j]) for j in range(60) if j != i) for i in range(60)]
    reach = 2 * np.quantile(own, 0.99)
    nearest = np.array([min(np.linalg.norm(x - row) for row in rows) for x in seen])
    expected = (reach / np.maximum(nearest, reach)) ** 2
    np.testing.assert_allclose(Support(X).trust(new), expected, rtol=1e-6)
    assert expected[-10:].max() < 1.0
    assert (expected[:5] == 1.0).all()


def test_training_rows_are_trusted_also_when_a_sample_is_kept(monkeypatch):
    monkeypatch.setattr(sizes, "SIZES", Sizes(support_rows=100))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    X[:5] = 1e3 * rng.normal(size=(5, 2))
    found = Support(X)
    assert (found.trust(X) == 1.0).all()
    assert found.trust(np.array([[3e4, 3e4]]))[0] < 0.05


def test_equal_rows_and_sparse_rows_are_trusted():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], 20, axis=0)  # nearest rows are equal
    assert (Support(X).trust(np.array([[0.5, 0.5], [0.0, 2.0]])) == 1.0).all()
    assert (Support(np.ones((5, 2))).trust(np.zeros((3, 2))) == 1.0).all()
    assert (Support(sp.csr_matrix(np.eye(5))).trust(sp.csr_matrix(100 * np.eye(5))) == 1.0).all()


def test_other_units_lose_confidence(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.arange(150) % 3
    means = np.array([[39.0, 190.0, 3700.0], [49.0, 196.0, 3730.0], [47.5, 217.0, 5080.0]])
    X = means[codes] + rng.normal(size=(150, 3)) * [2.7, 6.5, 450.0]
    y = np.where(np.arange(150) < 30, codes, -1)
    model = FewLabelClassifier(["lssvm", "diffusion"]).fit(X, y)
    assert np.mean(model.predict(X) == codes) > 0.9
    small = X / [10.0, 10.0, 1000.0]
    assert model.trust(small).max() < 0.1
    assert np.abs(model.predict_proba(small) - model.prior_).max() < 0.1
    np.testing.assert_array_equal(model.trust(X), 1.0)
    np.testing.assert_allclose(model.predict_proba(small).sum(axis=1), 1.0)
    mercer.save(model, tmp_path / "m.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "m.mercer").predict_proba(small), model.predict_proba(small))


@pytest.mark.parametrize("distance", [1.0, 3.0, 10.0, 100.0])
def test_confidence_falls_with_the_distance(distance):
    X = np.vstack(
        [np.random.default_rng(0).normal(size=(40, 2)), [[6.0, 6.0]] + np.random.default_rng(1).normal(size=(40, 2))]
    )
    y = np.where(np.arange(80) % 8 == 0, np.arange(80) >= 40, -1)
    model = FewLabelClassifier(["lssvm"]).fit(X, y)
    near, far = (model.predict_proba([[6.0 + step, 6.0 + step]]).max() for step in (distance, 10 * distance))
    assert far <= near
