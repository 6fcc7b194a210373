"""A time budget limits the estimated work, and the plan and not the clock decides what to omit."""

import time

import numpy as np

from mercer import FewLabelClassifier
from mercer.few_label.catalog import methods_named
from mercer.few_label.cost import affordable, build_seconds
from mercer.few_label.plan import planned as planned_for
from mercer.inputs.labels import read_labels


def planned(X, methods="auto"):
    return planned_for(X, methods_named("classes", methods))


def rows(n=60, scale=(1.0, 50.0, 0.1, 1.0)):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 2
    X = (rng.normal(size=(n, 4)) + codes[:, None]) * scale
    return X, np.where(np.arange(n) < 12, codes, -1)


def test_a_slow_machine_gives_the_same_answer(monkeypatch):
    X, y = rows()
    budget = 0.15
    before = FewLabelClassifier(time_budget=budget).fit(X, y)
    assert 0 < len(before.skipped_) < len(planned(X))
    clock = iter(range(10**9))
    monkeypatch.setattr(time, "perf_counter", lambda: 1000.0 * next(clock))  # every look at it is a quarter of an hour
    slow = FewLabelClassifier(time_budget=budget).fit(X, y)
    assert slow.skipped_ == before.skipped_
    np.testing.assert_array_equal(slow.scores_, before.scores_)
    assert [row["candidate"] for row in slow.report_.candidates] == [r["candidate"] for r in before.report_.candidates]


def test_what_fits_is_taken_and_the_first_three_always():
    assert affordable([9.0, 9.0, 9.0, 9.0], 1.0) == [True, True, True, False]
    assert affordable([1.0, 1.0, 1.0, 9.0, 2.0, 1.0], 5.0) == [True, True, True, False, True, False]
    X, y = rows()
    costs = [step.seconds(12, 2) for step in planned(X)]
    model = FewLabelClassifier(time_budget=sum(costs) + 1e-9).fit(X, y)
    assert model.skipped_ == []
    short = FewLabelClassifier(time_budget=sum(costs) - min(costs[3:]) / 2).fit(X, y)
    assert len(short.skipped_) == 1
    assert f"The time budget left out: {short.skipped_[0]}." in str(short.report_)


def test_standardized_spaces_are_among_the_first_three():
    for n in (60, 6000):
        X, _ = rows(n)
        assert any("standardized" in step.name for step in planned(X)[:3])
    X, _ = rows(60, np.ones(4))
    alike = (X - X.mean(axis=0)) / X.std(axis=0)
    assert not any("standardized" in step.name for step in planned(alike))


def test_costs_grow_with_rows_labels_and_the_slower_methods():
    for kind in ("graph", "rbf", "narrow", "linear"):
        small, large = build_seconds(kind, 500, 50), build_seconds(kind, 2000, 50)
        assert small < large
    X, y = rows()
    few, all_ = planned(X), planned(X, ("s2rls", "lssvm"))
    assert few[1].seconds(100, 5) > few[1].seconds(10, 2)
    labels = read_labels(y)
    assert len(labels.labeled) == 12
    assert all_[0].seconds(12, 2) > planned(X, ("lssvm",))[0].seconds(12, 2)
