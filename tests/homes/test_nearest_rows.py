"""Nearest rows among tensors, which are always those of the exact distances despite rounding."""

import numpy as np
import pytest
import torch

from mercer.few_label.candidates.forest import Trees
from mercer.homes.nearest import Nearest, SearchSizes

rng = np.random.default_rng(0)


def naive(rows, X, k):
    D = np.sqrt(np.sum((X[:, None] - rows[None]) ** 2, axis=2))
    index = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, index, axis=1), index


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("m", [300, 5000, 6001])
def test_equal_the_exact_search(m, dtype):
    rows = torch.as_tensor(rng.normal(size=(m, 17)) + 3.0, dtype=dtype)
    X = torch.cat([rows[:40], torch.as_tensor(rng.normal(size=(30, 17)), dtype=dtype)])
    distance, index = Nearest(rows)(X, 7)
    expected, near = naive(rows.double().numpy(), X.double().numpy(), 7)
    np.testing.assert_array_equal(index, near)
    np.testing.assert_allclose(distance, expected, rtol=1e-12, atol=1e-12)
    assert (distance[:40, 0] == 0).all()


def test_most_rows_are_proved_and_the_others_are_measured():
    rows = rng.normal(size=(5000, 14))
    rows[:2500] = 1e4 + 1e-3 * rows[:2500]  # in single precision all of these are equally far
    rows = torch.as_tensor(rows, dtype=torch.float32)
    search = Nearest(rows)
    sure = search._selected(rows, 5, 11)[2]
    assert not sure[:2500].any() and sure[2500:].all()
    asked = torch.cat([rows[:30], rows[-30:]])
    expected = naive(rows.double().numpy(), asked.double().numpy(), 5)[0]
    np.testing.assert_allclose(search(asked, 5)[0], expected, rtol=1e-12, atol=1e-9)


def test_blocks_of_rows_are_small_where_memory_is(monkeypatch):
    rows = torch.as_tensor(rng.normal(size=(3000, 13)))
    expected = Nearest(rows)(rows, 4)
    monkeypatch.setattr("mercer.homes.nearest.SIZES", SearchSizes(cpu_bytes=2**16))
    assert Nearest(rows)._step(3000, rows, 10) == 16
    for one, other in zip(Nearest(rows)(rows, 4), expected):
        np.testing.assert_array_equal(one, other)


def test_trees_divide_tensors_as_they_divide_host_rows():
    X, y = rng.normal(size=(300, 5)).astype(np.float32), rng.integers(3, size=300)
    trees, _ = Trees.grown(X, y, 3, "extra", 0, 20, np.ones(300))
    trees.threshold[0] = np.float64(X[0, trees.feature[0]]) + 1e-12  # rounds to the value itself or just below
    np.testing.assert_allclose(trees.votes(torch.as_tensor(X)), trees.votes(X), rtol=1e-12)
