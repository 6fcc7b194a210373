"""Rows that are in a table more than once, exactly or nearly, and labels that were copied with them.

A label whose row has a labeled copy is known without learning anything. Held out alone, it is predicted correctly.
If the unlabeled rows have no such copies, it is not known for them.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..backend import one_thread
from ..types import Rows


def same_rows(X: Rows, core: np.ndarray | None = None) -> np.ndarray:
    """Group numbers 0, 1, … of the rows in the order of their first rows. Nearly equal rows have the same number.

    Columns are divided by their standard deviations. Rows closer than 1% of the median distance between nearest
    different rows are copies, and so are rows joined by a chain of copies. Close pairs are found with a search tree on
    eight fixed random projections and then measured. A projection never enlarges a distance, so none is missed. The
    cost is O(n log n).

    Parameters
    ----------
    X : (n, d) rows, dense or sparse.
    core : numbers of the rows among which nearly equal ones are looked for. The others are compared for equality only.
        None is all rows. It is for tables of many thousand rows.

    Returns (n,) whole numbers.

    Examples
    --------
    >>> same_rows([[0.0, 1.0], [5.0, 2.0], [0.0, 1.0], [9.0, 9.0]]).tolist()
    [0, 1, 0, 2]
    """
    if core is not None:
        return _with_equal(X, core, same_rows(X[core]))
    rows = _standardized(X)
    _, first, group = np.unique(_marks(rows), return_index=True, return_inverse=True)
    order = np.argsort(first)  # of the rows, not of the marks, which differ from run to run
    group, rows = np.argsort(order)[group.ravel()], rows[np.sort(first)]
    n, d = rows.shape
    if n > 2:
        directions = np.linalg.qr(np.random.default_rng(0).normal(size=(d, min(d, 8))))[0]
        tree = cKDTree(np.asarray(rows @ directions))
        reach = 0.01 * _typical(rows)  # closer rows are copies
        pairs = tree.query_pairs(reach, output_type="ndarray") if reach > 0 else np.zeros((0, 2), dtype=int)
        pairs = pairs[_lengths(rows, pairs) < reach]
        edges = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        group = connected_components(edges, directed=False)[1][group]
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group.ravel()]


def _with_equal(X: Rows, core, near):
    """Groups of all rows. Equal rows have the same one, and so do those of the core that are nearly equal."""
    _, group = np.unique(_marks_by_blocks(X), return_inverse=True)
    places = group.max() + 1 + near, group[core]
    edges = sp.coo_array((np.ones(len(core)), places), (places[0].max() + 1,) * 2)
    group = connected_components(edges, directed=False)[1][group]
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def mean_of_equal(X: Rows, values: np.ndarray) -> np.ndarray:
    """(n, …) values of rows, with the mean over equal rows in place of each of theirs. As they are on a device.

    >>> mean_of_equal(np.array([[0.0], [1.0], [0.0]]), np.array([1.0, 5.0, 2.0])).tolist()
    [1.5, 5.0, 1.5]
    """
    if not isinstance(X, np.ndarray):
        return values
    _, group, counts = np.unique(_marks_by_blocks(X), return_inverse=True, return_counts=True)
    out = values.copy()
    several = counts[group] > 1
    for column, own in zip(out.reshape(len(X), -1).T, values.reshape(len(X), -1).T):
        column[several] = (np.bincount(group, own) / counts)[group[several]]
    return out


def copied_labels(groups: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Group numbers of the labels that must be held out together.

    Labels of equal rows belong together if such rows are more frequent among the labels than the unlabeled rows have
    labeled copies, by more than 10% of the rows. Else copies are part of what there is to predict, as in a table of a
    few categories where most rows occur often, and every label is a group of its own.

    Parameters
    ----------
    groups : (n,) from `same_rows`.
    labeled : (l,) row numbers of the labels.

    Examples
    --------
    >>> copied_labels(np.array([0, 0, 1, 1, 2, 3, 4, 5]), np.array([0, 1, 2, 3])).tolist()
    [0, 0, 1, 1]
    >>> copied_labels(np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 1, 4, 5])).tolist()
    [0, 1, 2, 3]
    """
    own = groups[labeled]
    count = np.bincount(own, minlength=groups.max() + 1)
    free = np.delete(groups, labeled)
    among_free = np.mean(count[free] > 0) if len(free) else 0.0
    if np.mean(count[own] > 1) <= among_free + 0.1:
        return np.arange(len(own))
    return np.unique(own, return_inverse=True)[1].ravel()


def _standardized(X: Rows) -> Rows:
    """The rows over the standard deviations of their columns. Means do not matter to distances."""
    if sp.issparse(X):
        rows = sp.csr_array(X, dtype=np.float64)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(rows.multiply(rows).mean(axis=0)).ravel() - mean**2, 0.0))
        rows = rows @ sp.diags_array(1.0 / np.where(spread > 0, spread, np.inf))
        rows = sp.csr_array(rows)
        rows.eliminate_zeros()
        return rows
    rows = np.asarray(X, dtype=np.float64)
    spread = rows.std(axis=0)
    # A column whose spread is rounding of its mean is constant.
    mean = rows.mean(axis=0)
    return (rows - mean) / np.where(spread > 1e-12 * np.maximum(np.abs(mean), 1e-300), spread, np.inf)


def _marks(rows: Rows) -> np.ndarray:
    """A number for each row, equal for equal rows (a hash of its bytes)."""
    if sp.issparse(rows):
        rows.sort_indices()
        spans = zip(rows.indptr[:-1], rows.indptr[1:])
        return np.array([hash((rows.indices[a:b].tobytes(), rows.data[a:b].tobytes())) for a, b in spans])
    return np.array([hash(row.tobytes()) for row in rows + 0.0])  # −0 becomes 0


def _marks_by_blocks(X: Rows, size: int = 65_536) -> np.ndarray:
    """`_marks` of many rows, of so many at a time."""
    return np.concatenate([_marks(X[begin : begin + size]) for begin in range(0, X.shape[0], size)])


def _typical(rows: Rows, most: int = 2000) -> float:
    """Median distance from a row to its nearest other row, over at most so many rows of a table without equal rows."""
    from sklearn.neighbors import NearestNeighbors

    some = rows[np.unique(np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], most)).astype(int))]
    with one_thread():
        return float(np.median(NearestNeighbors(n_neighbors=2).fit(rows).kneighbors(some)[0][:, 1]))


def _lengths(rows: Rows, pairs: np.ndarray) -> np.ndarray:
    """Distances of the pairs."""
    out = np.empty(len(pairs))
    for begin in range(0, len(pairs), 10_000):
        part = pairs[begin : begin + 10_000]
        gap = rows[part[:, 0]] - rows[part[:, 1]]
        out[begin : begin + len(part)] = np.sqrt(np.asarray((gap * gap).sum(axis=1)).ravel())
    return out
