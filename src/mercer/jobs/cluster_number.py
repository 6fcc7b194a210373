"""The number of groups in the rows of a table, by the gap statistic (Tibshirani, Walther and Hastie 2001)."""

import warnings
from dataclasses import dataclass

import numpy as np

from ..events import OnEvent, Progress, ignore
from ..types import Rows
from .unlabeled import clustering

LEAST_ROWS = 5  # rows per group that a proposed number of groups needs


@dataclass(frozen=True)
class ClusterNumber:
    """Numbers of groups, how well each fits, and which one is clearly best.

    Attributes
    ----------
    separation : score from 0 to 1 of each number of groups. It is the fraction by which distances within groups are
        smaller than in evenly spread rows.
    proposed : the number that is clearly best, or None. sentence : that in words.
    """

    separation: dict[int, float]
    proposed: int | None
    sentence: str


def cluster_number(X: Rows, kernel: str, seed: int, also: int = 0, on_event: OnEvent = ignore) -> ClusterNumber:
    """Compare numbers of groups on a sample of the rows.

    The logarithm of the sum of squares within the groups is compared with that of rows that are spread evenly over a
    box along the principal axes. The difference is the gap. The proposed number is the smallest whose gap is within one
    standard error of the largest. It is None if the gap is not clearly larger than that of one group.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    kernel, seed : str and int
        The kernel and the seed of the clustering.
    also : int, default=0
        A further number to compare, if above 1.
    on_event : callable
        Function that receives the progress.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> balls = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 40, axis=0) + rng.normal(size=(120, 2))
    >>> cluster_number(balls, "rbf", 0).proposed
    3
    >>> print(cluster_number(rng.normal(size=(120, 2)), "rbf", 0).sentence)
    No number of groups is clearly best. The rows are not more separated than evenly spread ones.
    """
    tables_of_even_rows, clear = 5, 3.0  # `clear` is the lead over one group, in standard errors
    rng = np.random.default_rng(seed)
    some = np.asarray(X[np.sort(rng.permutation(len(X))[:1_000])], dtype=np.float64)  # at most 1,000 rows are compared
    most = min(8, len(some) // LEAST_ROWS)
    numbers = sorted({*range(1, most + 1), *({also} if 1 < also < len(some) else set())})
    center = some.mean(axis=0)
    axes = np.linalg.svd(some - center, full_matrices=False)[2]
    along = (some - center) @ axes.T
    low, width = along.min(axis=0), np.ptp(along, axis=0)
    tables = [some, *(center + (low + width * rng.random(along.shape)) @ axes for _ in range(tables_of_even_rows))]
    logs = np.empty((len(tables), len(numbers)))
    for i, rows in enumerate(tables):
        for j, number in enumerate(numbers):
            on_event(Progress(f"grouping into {number}", (i * len(numbers) + j) / logs.size))
            logs[i, j] = _log_within(rows, number, kernel, seed)
    gap = logs[1:].mean(axis=0) - logs[0]
    error = logs[1:].std(axis=0, ddof=1) * np.sqrt(1 + 1 / tables_of_even_rows)
    rise = np.maximum(gap - gap[0], 0.0)
    separation = {number: float(1 - np.exp(-rise[j])) for j, number in enumerate(numbers) if number > 1}
    counted = [j for j, number in enumerate(numbers) if number <= most]
    best = max(counted, key=lambda j: gap[j])
    chosen = next(j for j in counted if gap[j] >= gap[best] - error[best])
    if numbers[chosen] == 1 or rise[chosen] < clear * error[chosen]:
        none = "No number of groups is clearly best. The rows are not more separated than evenly spread ones."
        return ClusterNumber(separation, None, none)
    last = " It is the largest number tried." if numbers[chosen] == most else ""
    return ClusterNumber(separation, numbers[chosen], f"{numbers[chosen]} groups are separated best.{last}")


def _log_within(rows: np.ndarray, number: int, kernel: str, seed: int) -> float:
    """Return the logarithm of the sum of squares within groups, relative to that of all rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty group is a poor number, and its sum of squares shows it
        inertia = clustering(rows, number, kernel, seed, n_init=3).fit(rows).inertia_
    return float(np.log(max(float(inertia or 0.0), 1e-12 * len(rows))))
