"""Real tables and draws of their labels, for the benchmarks on tables."""

from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 1500


def drawn(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """At most 1,500 rows of a CSV file, and their classes as text."""
    frame = pd.read_csv(path)
    if len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=0).reset_index(drop=True)
    return frame.drop(columns="class"), frame["class"].astype(str).to_numpy()


def labeled(y: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Rows with labels: one of each class, the others at random."""
    order = np.random.default_rng(seed).permutation(len(y))
    first = order[np.unique(y[order], return_index=True)[1]]
    rest = order[~np.isin(order, first)]
    return np.concatenate([first, rest[: max(n - len(first), 0)]])
