"""Approximate neighbors have the stated recall for new rows, and exact distances."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import Diffusion
from mercer.graphs import cells, neighbors
from mercer.graphs.cells import Cells
from mercer.graphs.nearest import Products, trees
from mercer.graphs.neighbors import Neighbors


@pytest.fixture(scope="module")
def rows():
    """Twelve columns, of which three matter."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(7000, 3)) @ rng.normal(size=(3, 12)) + 0.1 * rng.normal(size=(7000, 12))).astype("f4")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cells, "CELLS", 40)
    monkeypatch.setattr(cells, "SAMPLE", 300)


def test_the_recall_is_as_stated_on_new_rows(rows):
    known, new = rows[:6000], rows[6000:]
    exact = Products(known, lambda: trees(known))
    found = Cells(known, exact)
    assert found.recall >= cells.RECALL and found.reach < len(known)
    distance, index = found(new, 10)
    recall = np.mean([np.isin(a, b).mean() for a, b in zip(exact(new, 10)[1], index)])
    assert abs(recall - found.recall) < 0.02
    np.testing.assert_allclose(distance, np.linalg.norm(new[:, None].astype(float) - known[index], axis=2), rtol=1e-12)
    assert (np.diff(distance, axis=1) >= 0).all()
    for one, other in zip(found(new[17:18], 10), (distance[17:18], index[17:18])):  # independent of other rows
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_only_very_many_rows_are_looked_up_approximately(rows, monkeypatch):
    known, new = rows[:6000], rows[6000:]
    finder = Neighbors(known)
    finder.hurry(len(new))
    finder.find(new, 5)
    assert not finder.approximate and finder.recall == 1.0
    monkeypatch.setattr(neighbors, "MANY_PAIRS", 0)
    finder.hurry(len(new))
    finder.find(new, 5)
    assert finder.approximate and cells.RECALL <= finder.recall < 1.0
    sparse = Neighbors(sp.csr_matrix(known))
    sparse.hurry(len(new))
    assert not sparse.approximate


def test_a_graph_kernel_states_its_recall(rows, monkeypatch):
    monkeypatch.setattr(neighbors, "MANY_PAIRS", 0)
    kernel = Diffusion(rank=10).resolve(rows[:4000])
    before = kernel.features(rows[6000:6100])
    assert kernel.recall == 1.0
    kernel.hurry(100)
    after = kernel.features(rows[6000:6100])
    assert kernel.recall < 1.0 and np.mean(np.abs(after - before)) < 0.02 * np.mean(np.abs(before))
