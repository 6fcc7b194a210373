"""The proposed number of groups."""

import numpy as np
import pytest

from mercer.jobs.cluster_number import cluster_number


def balls(k, seed, n=240):
    """k balls in the plane, at least eight standard deviations apart."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(k) + rng.random()) / k
    centers = 4.0 / np.sin(np.pi / k) * np.column_stack([np.cos(angle), np.sin(angle)])
    return centers[rng.integers(0, k, n)] + rng.normal(size=(n, 2))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_balls_are_counted(k):
    for seed in range(4):
        found = cluster_number(balls(k, seed), "rbf", seed)
        assert found.proposed == k, (seed, found)
        assert f"{k} groups are separated best" in found.sentence and max(found.separation) == 8


def test_one_gaussian_has_no_number():
    for seed in range(6):
        rows = np.random.default_rng(seed).normal(size=(200, 3)) * [1, 2, 4]
        found = cluster_number(rows, "rbf", seed)
        assert found.proposed is None and "No number of groups is clearly best" in found.sentence, (seed, found)


def test_the_largest_number_tried_is_said_to_be_it():
    found = cluster_number(balls(8, 0), "rbf", 0)
    assert found.proposed == 8 and "It is the largest number tried." in found.sentence
