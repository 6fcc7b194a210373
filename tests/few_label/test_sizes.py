"""One rule of sizes, and many labels of many classes."""

import inspect
import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from mercer import FewLabelClassifier, FewLabelRegressor, KernelPCA, LandmarkMap
from mercer.cli import folders, labeling
from mercer.cli.options import OPTIONS
from mercer.events import Note
from mercer.evidence.calibration import sharpen
from mercer.few_label import sizes
from mercer.inputs.sampling import labels_to_fit
from mercer.jobs.options import SearchOptions


@pytest.mark.parametrize(("l", "k"), [(12_000, 10), (1_200, 100), (1_600, 64)])
def test_the_power_is_found_for_many_labels_and_classes(l, k):
    rng = np.random.default_rng(0)
    codes = rng.integers(k, size=l)
    logits = rng.normal(size=(l, k)) + 3.0 * np.eye(k)[codes]
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    given = np.eye(k)[codes]
    assert np.exp(-2.5) <= sharpen(P, given, 0.25) <= np.exp(1.5)
    some = slice(0, 30)
    at_once = sharpen(P[some], given[some], 0.25)
    assert sharpen(P[some], given[some], 0.25, chunk=1) == at_once


def many(l, k, n=0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), np.arange(k), rng.integers(k, size=max(l + n - 2 * k, 0))]
    X = np.column_stack([y % 32, y // 32]) + 0.05 * rng.normal(size=(len(y), 2))
    given = y.copy()
    given[l:] = -1
    return X, y, given


@pytest.mark.parametrize(("l", "k"), [(12_000, 10), (1_200, 100)])
def test_a_fit_takes_many_labels(l, k):
    X, y, given = many(l, k, 200)
    model = FewLabelClassifier(["rls"], time_budget=1e-3).fit(X, given)
    assert np.mean(model.transduction_[l:] == y[l:]) > 5 / max(k, 12) and len(model.labels_.labeled) == l


def test_of_very_many_labels_and_classes_a_sample_is_fitted_and_all_are_kept(monkeypatch):
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, label_entries=1_000))
    X, y, given = many(300, 10, 100)
    events = []
    model = FewLabelClassifier(["rls"]).fit(X, given, on_event=events.append)
    (note,) = [event for event in events if isinstance(event, Note)]
    assert note.text.startswith("100 of 300 labels are fitted, a random sample")
    assert len(model.labels_.labeled) == 100 and set(model.labels_.codes[model.labels_.labeled]) == set(range(10))
    np.testing.assert_array_equal(model.transduction_[:300], y[:300])
    assert (model.confidence_[:300] == 1).all()
    more = model.taught([350], [y[350]])
    assert np.sum(more.answers_.given >= 0) == 301


def test_labels_to_fit_have_every_class():
    codes = np.r_[np.zeros(10**5, dtype=int), np.arange(1000)]
    entries = sizes.SIZES.label_entries
    kept = labels_to_fit(codes, 1000, entries, 0)
    assert len(kept) == 2000 and len(np.unique(codes[kept])) == 1000
    np.testing.assert_array_equal(labels_to_fit(codes[:50], 10, entries, 0), np.arange(50))
    assert len(labels_to_fit(np.zeros(10**5, dtype=int), 10, entries, 0)) == 10**5


def test_every_route_has_the_budget_of_the_table():
    assert FewLabelClassifier().time_budget == sizes.SIZES.seconds
    assert FewLabelRegressor().time_budget == SearchOptions().seconds == sizes.SIZES.seconds
    for command in (labeling.label, folders.label):
        assert inspect.signature(command).parameters["seconds"].default == sizes.SIZES.seconds
    assert OPTIONS["seconds"].default == sizes.SIZES.seconds


def test_the_documentation_has_the_table_of_sizes():
    page = (Path(__file__).parents[2] / "docs" / "approximation.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, re.M))
    assert {name: float(value.replace(",", "")) for name, value in rows.items()} == asdict(sizes.SIZES)


BOTH = pytest.param(10**5, 1_000, 2_000, marks=pytest.mark.slow)  # 0.8 GB of probabilities


@pytest.mark.parametrize(("l", "k", "fitted"), [(10**5, 10, 10**5), (4_000, 1_000, 2_000), BOTH])
def test_a_fit_takes_a_hundred_thousand_labels_and_a_thousand_classes(l, k, fitted):
    X, y, given = many(l, k, 500)
    events: list = []
    model = FewLabelClassifier(["rls"], time_budget=1e-3).fit(X, given, on_event=events.append)
    assert len(model.labels_.labeled) == fitted and len(model.classes_) == k
    assert any(isinstance(event, Note) for event in events) == (fitted < l)
    np.testing.assert_array_equal(model.transduction_[:l], y[:l])
    assert np.mean(model.transduction_[l:] == y[l:]) > 5 / max(k, 12)


def test_rows_that_were_checked_before_are_not_read_again(monkeypatch):
    X, looked = np.random.default_rng(0).normal(size=(20, 2)), []
    monkeypatch.setattr("mercer.inputs.check.refuse_not_finite", lambda *_: looked.append(1))
    KernelPCA(2, kernel="rbf").fit(X)
    assert looked == [1]
    LandmarkMap("rbf").fit(X)
    assert looked == [1, 1]
