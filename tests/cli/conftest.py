"""The table that most commands are tried on."""

import pytest

from .command import iris


@pytest.fixture
def data(tmp_path):
    frame, _ = iris()
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"
