"""Rows ranked by the probability of a class."""

import numpy as np
import pytest

from mercer import FewLabelClassifier
from mercer.evidence.accuracy import Rate
from mercer.jobs.ranking import Ranking, ranked, rare_classes
from mercer.jobs.usage import UsageError


def test_expected_rows_are_sums_of_probabilities_and_ranks_begin_at_one():
    found = Ranking("yes", 2, 50, 0.5, Rate(0.5, 0.1, 0.9), np.array([3, 0]), np.array([0.75, 0.5]))
    assert found.expected == 1.25
    assert found.column(4).tolist() == ["2", "", "", "1"]
    assert "average precision is 0.50 (0.04 by chance)" in found.sentence
    assert found.within(1) == "The first 1 rows are expected to contain 1 of about 1 rows."


def test_rare_are_classes_of_few_labels_and_a_model_without_held_out_labels_has_no_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 5 * (np.arange(80) < 10)[:, None]
    y = np.full(80, None, dtype=object)
    y[:2], y[10:50] = "rare", "often"
    model = FewLabelClassifier(["lssvm"]).fit(X, y)
    assert rare_classes(model) == ["rare"]
    given = model.labels_.codes >= 0
    found = ranked(model, model.probabilities_, given, "rare")
    assert found.rows[:8].tolist() != [] and set(found.rows[:8]) == set(range(2, 10))
    with pytest.raises(UsageError, match="There is no class 'absent'"):
        ranked(model, model.probabilities_, given, "absent")
    y[1], y[11:50] = None, None
    alone = FewLabelClassifier(["lssvm"]).fit(X, y)
    assert rare_classes(alone) == []
    assert np.isnan(ranked(alone, alone.probabilities_, alone.labels_.codes >= 0, "rare").precision)
