"""Fits to more rows than are decomposed, and fits to tensors."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from mercer import FewLabelClassifier, suggest, use_device
from mercer.evidence.groups import same_rows
from mercer.few_label import sizes
from mercer.few_label.spaces import KernelSpace
from mercer.few_label.views import AsGiven
from mercer.geometry.open import POLICIES
from mercer.kernels import RBF

FOUND = ("probabilities_", "confidence_", "left_out_scores_", "weights_", "votes_", "scores_")
METHODS = ["lssvm", "diffusion", "mixed", "sgt", "forest"]


@pytest.fixture(scope="module")
def digits():
    X, t = load_digits(return_X_y=True)
    X, t = X[:900], t[:900]
    y = np.full(900, -1)
    y[:60] = t[:60]
    return X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape), t, y  # no two distances are the same


@pytest.fixture
def few(monkeypatch):
    """At most 400 rows are decomposed."""
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, core_rows=400))


def test_a_fit_to_many_rows_is_that_of_a_sample_prepared_and_taught(digits, few):
    X, t, y = digits
    model = FewLabelClassifier(METHODS).fit(X, y)
    core = model.library_.core
    assert len(core) == 400 and not np.isin(np.arange(60), core).all()
    taught = FewLabelClassifier(METHODS).prepare(X, core=core).taught(np.arange(60), t[:60])
    for name in FOUND:
        np.testing.assert_array_equal(getattr(model, name), getattr(taught, name))
    free = y < 0
    whole = FewLabelClassifier(METHODS)
    whole = whole.prepare(X, core=np.arange(900)).taught(np.arange(60), t[:60])
    assert np.mean(model.predicted_[free] == t[free]) > np.mean(whole.predicted_[free] == t[free]) - 0.05
    assert "A sample of 400 rows was decomposed" in str(model.report_)
    others = np.flatnonzero(free & ~np.isin(np.arange(900), core))
    np.testing.assert_array_equal(model.predict(X[others]), model.transduction_[others])
    more = y.copy()
    more[others[:3]] = t[others[:3]]
    again = FewLabelClassifier(METHODS).fit(X, more)
    np.testing.assert_allclose(model.teach(others[:3], t[others[:3]]).scores_, again.scores_, atol=1e-9)


def test_methods_that_look_at_every_row_have_them_all(digits, few):
    X, _, y = digits
    assert FewLabelClassifier(["rls", "s2rls"], time_budget=1e-3).fit(X[:410, :9], y[:410]).library_.extension is None


def test_features_that_are_not_held_give_the_same_answers(digits, few, monkeypatch):
    X, _, y = digits
    held = FewLabelClassifier(METHODS).fit(X, y)
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, held_bytes=0))
    computed = FewLabelClassifier(METHODS).fit(X, y)
    assert len(computed.library_.extension._seen) < len(held.library_.extension._seen)
    np.testing.assert_allclose(computed.probabilities_, held.probabilities_, atol=1e-4)


@pytest.mark.parametrize("core_rows", [400, 50_000])
def test_tensors_are_fitted_on_their_device_with_the_answers_of_the_host(digits, monkeypatch, core_rows):
    monkeypatch.setitem(POLICIES, "few labels", replace(POLICIES["few labels"], exact_rows=300))
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, core_rows=core_rows))
    X, t, y = digits
    rows = torch.as_tensor(X, dtype=torch.float32)
    on_host, model = (FewLabelClassifier(METHODS).fit(some, y) for some in (X, rows))
    assert isinstance(model.candidates_[0].space.Z, torch.Tensor)
    assert np.mean(model.predicted_ == on_host.predicted_) >= 0.998
    np.testing.assert_allclose(model.probabilities_, on_host.probabilities_, atol=0.02)
    free = np.flatnonzero(y < 0)
    np.testing.assert_array_equal(model.predict(rows[free]), model.transduction_[free])
    assert isinstance(model.probabilities_, np.ndarray)
    np.testing.assert_array_equal(suggest(model, 1).rows, suggest(on_host, 1).rows)
    with use_device("cpu"):
        inside = FewLabelClassifier(METHODS).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(inside.probabilities_, model.probabilities_)
    model.teach(free[:2], t[free[:2]])
    assert np.mean(model.predicted_ == on_host.teach(free[:2], t[free[:2]]).predicted_) >= 0.995


def test_equal_rows_are_known_among_all_and_nearly_equal_ones_in_the_core():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[200] = X[3]  # outside the core, equal to a row of it
    X[250] = X[260] = rng.normal(size=4)  # both outside
    X[7] = X[5] + 1e-6  # in the core, nearly equal
    X[280] = X[9] + 1e-6  # nearly equal to a row of the core
    groups = same_rows(X, np.arange(100))
    assert groups[200] == groups[3] and groups[250] == groups[260] and groups[7] == groups[5]
    assert groups[280] != groups[9] and len(np.unique(groups)) == 297
    assert np.array_equal(np.unique(groups, return_index=True)[1], np.sort(np.unique(groups, return_index=True)[1]))


@pytest.mark.parametrize(("d", "apart"), [(1, False), (12, True)])
def test_other_rows_score_by_similarities_or_features_whichever_keeps_the_digits(d, apart):
    rows = np.random.default_rng(0).normal(size=(3200, d))
    space = KernelSpace("RBF", AsGiven(), RBF(0.7 * np.sqrt(d)), rows[:3000])
    W = np.random.default_rng(1).normal(size=(space.Z.shape[1], 3))
    seen, expected = space.seen(rows[3000:]), space.features(rows[3000:]) @ W
    similar = np.asarray(space.similar(rows[3000:]))
    assert seen.dtype == np.float32 and (seen.shape == similar.shape and np.allclose(seen, similar)) == apart
    found = seen @ space.on_seen(W).astype(np.float32)
    np.testing.assert_allclose(found, expected, atol=3e-4 * expected.std())
