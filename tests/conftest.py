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
    """A function that moves a host array into one of the homes: NumPy, torch (CPU) or Dask."""
    return HOMES[request.param]
