"""Average precision, next to that of scikit-learn."""

import numpy as np
from sklearn.metrics import average_precision_score

from mercer.evidence.ranking import average_precision


def test_equal_to_that_of_scikit_learn_also_with_ties():
    rng = np.random.default_rng(0)
    for _ in range(20):
        inside, scores = rng.random(60) < 0.2, rng.integers(0, 12, 60) / 12
        if inside.any():
            assert np.isclose(average_precision(scores, inside), average_precision_score(inside, scores))


def test_without_a_row_of_the_class_there_is_none():
    assert np.isnan(average_precision(np.array([0.2, 0.1]), np.zeros(2, dtype=bool)))
