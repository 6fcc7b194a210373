"""The table that most jobs are tried on, and a list that collects events."""

import numpy as np
import pandas as pd
import pytest

from cli.command import iris
from mercer.jobs.dataset import read
from mercer.jobs.options import ReadOptions, SearchOptions

QUICK = SearchOptions(["lssvm", "diffusion"])


@pytest.fixture
def path(tmp_path):
    iris()[0].to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


@pytest.fixture
def dataset(path):
    (found,) = read(path, ["species"], ReadOptions(id="flower"))
    return found


@pytest.fixture
def prices(tmp_path):
    """A table with a number to predict. The price is about 100 times the size, and every third one is given."""
    rng = np.random.default_rng(0)
    size = rng.uniform(1, 4, 90)
    price = np.where(np.arange(90) % 3 == 0, np.round(100 * size + rng.normal(size=90), 2), np.nan)
    pd.DataFrame({"size": size, "price": price}).to_csv(tmp_path / "t.csv", index=False)
    (found,) = read(tmp_path / "t.csv", ["price"], ReadOptions())
    return found
