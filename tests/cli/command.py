"""Run the command as a user does, on a table of irises."""

import os
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from mercer.cli.app import app

MERCER = str(Path(sysconfig.get_path("scripts")) / "mercer")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1"}


def installed(*arguments, cwd):
    """The installed command in a process of its own."""
    command = [MERCER, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


def here(*arguments):
    """The same command in this process, for the many cases of bad input."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def iris(n_labels=3, every=3):
    data = load_iris()
    names = data.target_names[data.target][::every].astype(object)
    frame = pd.DataFrame(data.data[::every], columns=["sepal length", "sepal width", "petal length", "petal width"])
    frame.insert(0, "flower", [f"f{i:03d}" for i in range(len(frame))])
    shown = np.zeros(len(frame), dtype=bool)
    for name in data.target_names:
        rows = np.flatnonzero(names == name)
        shown[rows[np.linspace(0, len(rows) - 1, n_labels).astype(int)]] = True  # spread, as in a random sample
    return frame.assign(species=np.where(shown, names, "")), names
