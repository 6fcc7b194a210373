"""Fixtures shared by the tests."""

import numpy as np
import pytest


def to_numpy(X):
    return np.asarray(X)


def to_torch(X):
    import torch

    return torch.as_tensor(np.array(X))


def to_dask(X):
    import dask.array

    return dask.array.from_array(np.asarray(X), chunks=(max(1, -(-np.shape(X)[0] // 3)), -1))  # three row blocks


HOMES = {"numpy": to_numpy, "torch": to_torch, "dask": to_dask}


@pytest.fixture(params=HOMES, ids=str)
def home(request):
    """A function that moves a host array to one of the backends, NumPy, torch (CPU) or Dask."""
    return HOMES[request.param]


# Folders and files whose tests have a mark. `make test` skips the slow ones and those in a browser.
MARKS = {
    "attacks": ("slow", "process"),
    "studio/browser": ("browser", "process"),
    "test_site.py": ("slow",),
    "test_cluster.py": ("process",),
}


def pytest_collection_modifyitems(config, items):
    """Mark tests by their place."""
    root = config.rootpath / "tests"
    for item in items:
        if item.path.is_relative_to(root):
            place = item.path.relative_to(root).as_posix()
            for name, marks in MARKS.items():
                if place == name or place.startswith(f"{name}/"):
                    for mark in marks:
                        item.add_marker(mark)
