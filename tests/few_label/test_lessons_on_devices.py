"""Teaching with rows in torch. Work that no label changes is done once, and its results stay on the device."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mercer import FewLabelClassifier, FewLabelRegressor
from mercer.few_label import extension, scoring, sizes
from mercer.few_label.candidates import forest
from mercer.graphs.neighbors import Neighbors
from mercer.kernels import RBF

METHODS = ["lssvm", "components", "diffusion", "mixed", "forest"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = rng.normal(size=(3, 6))[y] * 1.5 + rng.normal(size=(900, 6))
    given = np.where(np.arange(900) < 40, y, -1)
    return X, y, given


def prepared(X, rows, y):
    """A model whose core is a third of the rows, taught 40 labels."""
    model = FewLabelClassifier(METHODS).prepare(X, core=np.arange(0, 900, 3))
    return model.taught(rows, y[rows])


@pytest.fixture
def counted(monkeypatch):
    """Rows that teaching must not move to the device, search for neighbors or compare by a kernel again."""
    calls: dict = {"moved": 0, "searched": 0, "compared": 0}

    def counting(name, function):
        def wrapper(*args, **options):
            rows = args[0] if name == "moved" else args[1]
            calls[name] += 0 if name == "moved" and isinstance(rows, torch.Tensor) else len(rows)
            return function(*args, **options)

        return wrapper

    for module in (forest, extension):
        monkeypatch.setattr(module, "moved", counting("moved", module.moved))
    monkeypatch.setattr(Neighbors, "find", counting("searched", Neighbors.find))
    monkeypatch.setattr(RBF, "tile", counting("compared", RBF.tile))
    return calls


@pytest.mark.parametrize("core", [False, True])
def test_a_lesson_moves_no_rows_and_computes_nothing_twice(rows, counted, core):
    X, y, given = rows
    there, known = torch.as_tensor(X), np.flatnonzero(given >= 0)
    model = prepared(there, known, y) if core else FewLabelClassifier(METHODS).fit(there, given)
    assert min(counted.values()) > 900
    model = model.taught([700], [y[700]])
    before = dict(counted)
    model.taught([701], [y[701]])
    assert counted["searched"] == before["searched"] and counted["moved"] == before["moved"]
    # Only labeled rows outside the core are placed in each kernel space.
    assert counted["compared"] - before["compared"] <= (4 * 42 if core else 0)


@pytest.mark.parametrize("core", [False, True])
def test_lessons_are_those_of_the_host(rows, monkeypatch, core):
    X, y, given = rows
    monkeypatch.setattr(scoring, "DEVICE_SCORES", 20_000)  # several blocks
    monkeypatch.setattr(scoring, "BLOCK", 100)
    known = np.flatnonzero(given >= 0)
    found = []
    for place in (X, torch.as_tensor(X)):
        model = prepared(place, known, y) if core else FewLabelClassifier(METHODS).fit(place, given)
        found.append(model.taught([700, 701], y[[700, 701]]))
    np.testing.assert_allclose(found[1].probabilities_, found[0].probabilities_, atol=2e-5 if core else 1e-8)
    np.testing.assert_allclose(found[1].answers_.votes_of(np.arange(50)), found[0].answers_.votes_of(np.arange(50)))
    if core:
        held = found[1].library_.extension._there
        assert held and all(isinstance(one, torch.Tensor) for one in held.values())


def test_numbers_on_devices(rows):
    X, _, _ = rows
    t = np.where(np.arange(900) < 60, X[:, 0] + X[:, 1] ** 2, np.nan)
    here, there = FewLabelRegressor().fit(X, t), FewLabelRegressor().fit(torch.as_tensor(X), t)
    np.testing.assert_allclose(there.predicted_, here.predicted_, atol=1e-7)


def test_similarities_that_the_host_does_not_keep_are_kept_on_the_device(rows, counted, monkeypatch):
    X, y, given = rows
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, held_bytes=0))
    known, found = np.flatnonzero(given >= 0), []
    for place in (X, torch.as_tensor(X)):
        model = prepared(place, known, y).taught([700], [y[700]])
        assert model.library_.extension._similar
        before = counted["compared"]
        found.append(model.taught([701], [y[701]]))
        compared = counted["compared"] - before
        assert compared > 600 if place is X else compared <= 4 * 42
    np.testing.assert_allclose(found[1].probabilities_, found[0].probabilities_, atol=2e-5)


def test_rows_stay_on_the_host_if_the_device_has_no_room(rows, monkeypatch):
    X, _, given = rows
    for module in (forest, extension):
        monkeypatch.setattr(module, "room_on", lambda device, n_bytes: False)
    model = FewLabelClassifier(METHODS).fit(torch.as_tensor(X), given)
    held = [one.candidate._on_device for one in model.answers_.fit.fitted if one.method == "forest"]
    assert held and all(isinstance(one, np.ndarray) for one in held)


def test_votes_of_a_device_are_those_of_the_compiled_loop(rows, monkeypatch):
    X, y, _ = rows
    monkeypatch.setattr("mercer.kernels.forest.VALUES", 5000)  # blocks of a few rows
    trees, _ = forest.Trees.grown(X[:200], y[:200], 3, "random", 0, 30)
    assert trees.height == max(_depth(trees, root) for root in trees.roots) > 3
    np.testing.assert_allclose(trees.votes(torch.as_tensor(X)), trees.votes(X), atol=1e-12)
    assert trees.votes(torch.as_tensor(X[:0])).shape == (0, 3)


def _depth(trees, node):
    return 0 if trees.left[node] < 0 else 1 + max(_depth(trees, trees.left[node]), _depth(trees, trees.right[node]))
