"""Graphs given by the user, as a matrix of edge weights or a list of edges over the rows."""

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError, NotInductiveError
from ..homes import Objects
from ..rows import host_rows
from ..types import ColumnLike, Rows

ACCEPTED = "Accepted: a symmetric (n, n) matrix of weights, sparse or dense, or edges (row, row) or (row, row, weight)."


def as_graph(graph: Rows, n: int, ids: ColumnLike = None) -> sp.csr_matrix:
    """(n, n) symmetric edge weights with a zero diagonal, checked.

    Parameters
    ----------
    graph : a symmetric matrix of weights that are not negative, sparse or dense, or a list of edges (row, row) or
        (row, row, weight). Edges have no direction. The weights of repeated edges add up.
    n : number of rows.
    ids : names of the rows, by which edges may name them. None for row numbers.
    """
    if sp.issparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape == (n, n) and n > 3):
        W = sp.csr_matrix(graph, dtype=np.float64)
        if W.shape != (n, n):
            raise InputError(f"The graph has the shape {W.shape}, and there are {n} rows. {ACCEPTED}")
        _refuse_weights(W.data)
        if W.nnz and abs(W - W.T).max() > 1e-10 * W.max():
            raise InputError(
                f"The matrix of the graph is not symmetric. {ACCEPTED} Pass W + W.T if links count both ways."
            )
    else:
        W = _from_edges(graph, n, ids)
    W.setdiag(0.0)
    W.eliminate_zeros()
    if not W.nnz:
        raise InputError("The graph has no edges between different rows. Give at least one edge.")
    return W


def _from_edges(graph: Rows, n: int, ids: ColumnLike) -> sp.csr_matrix:
    edges = [tuple(edge) if isinstance(edge, tuple | list | np.ndarray) else () for edge in _listed(graph)]
    if any(len(edge) not in (2, 3) for edge in edges):
        raise InputError(f"The graph is neither a matrix nor a list of edges. {ACCEPTED}")
    ends = [end for edge in edges for end in edge[:2]]
    pairs = _positions(ends, n, ids).reshape(-1, 2)
    try:
        weight = np.array([float(edge[2]) if len(edge) == 3 else 1.0 for edge in edges])
    except (TypeError, ValueError):
        raise InputError(f"A weight in the list of edges is not a number. {ACCEPTED}") from None
    _refuse_weights(weight)
    pairs, weight = pairs[kept := pairs[:, 0] != pairs[:, 1]], weight[kept]
    W = sp.csr_matrix((weight, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return (W + W.T).tocsr()


def _listed(graph: Rows) -> Any:
    if isinstance(graph, np.ndarray):
        return list(graph) if graph.ndim == 2 and graph.shape[1] in (2, 3) else [()]
    return graph if isinstance(graph, tuple | list) else [()]


def _positions(ends: list, n: int, ids: ColumnLike) -> NDArray[np.int64]:
    """Row numbers of the ends of edges."""
    numbers = [end for end in ends if isinstance(end, int | float | np.number) and end == int(end) and 0 <= end < n]
    if len(numbers) == len(ends):
        return np.array(numbers, dtype=np.int64)
    places: dict = {}
    for i, name in enumerate([] if ids is None else ids):
        places.setdefault(name, []).append(i)
    named = any(end in places for end in ends)
    unknown = [end for end in ends if end not in places] if named else [end for end in ends if end not in range(n)]
    if unknown:
        raise InputError(
            f"An edge of the graph ends at {unknown[0]!r}, which is not a row. Accepted: row numbers from 0 to {n - 1}"
            + ("." if ids is None else ", or the rows themselves if they are names.")
        )
    double = next((end for end in ends if len(places[end]) > 1), None)
    if double is not None:
        raise InputError(f"An edge of the graph ends at {double!r}, and several rows have this name. Give row numbers.")
    return np.array([places[end][0] for end in ends], dtype=np.int64)


def _refuse_weights(weight: NDArray[np.float64]) -> None:
    if len(weight) and not (np.isfinite(weight).all() and weight.min() >= 0):
        raise InputError("The weights of the graph's edges must be finite and not negative. Drop or clip the others.")


class KnownRows:
    """Recognize the rows for which a graph was given. It has no edges to other rows.

    Attributes
    ----------
    keys : (n,) keys by which rows are recognized.
    strict : whether other rows raise an error. Else they are connected to no row.
    """

    strict = True

    def __init__(self, X: Rows) -> None:
        self.keys = row_keys(X)

    def spread(self, X: Rows) -> sp.csr_matrix:
        """(m, n) matrix with 1 at the row that equals each row of X, divided among several equal rows."""
        order = np.argsort(self.keys, kind="stable")
        known, keys = self.keys[order], row_keys(X)
        first, last = (np.searchsorted(known, keys, side=side) for side in ("left", "right"))
        missing = np.flatnonzero(first == last)
        if len(missing) and self.strict:
            raise NotInductiveError(
                f"{len(missing)} of {len(keys)} rows, the first in row {missing[0]}, are not rows of the graph "
                "that was given, so they have no edges. Accepted: rows that were in fit, without changes. Build "
                "the graph over all rows and fit again. Predictions for the rows of fit are in transduction_."
            )
        ends = np.concatenate([[0], np.cumsum(last - first)])
        number = np.diff(ends)
        places = np.arange(ends[-1]) - np.repeat(ends[:-1] - first, number)
        value = np.repeat(1.0 / np.maximum(number, 1), number)
        return sp.csr_matrix((value, order[places], ends), (len(keys), len(known)))


def row_keys(X: Rows) -> NDArray[np.uint64]:
    """A key of 64 bits for each row of numbers or objects. It is the same in every process."""
    if isinstance(X, Objects):
        texts = [_stable(cell).encode("utf-8", "surrogatepass") for cell in X]
    else:
        rows = host_rows(X)
        if sp.issparse(rows):
            rows = rows.tocsr().astype(np.float64)
            rows.sum_duplicates()
            rows.eliminate_zeros()
            parts = zip(rows.indptr[:-1], rows.indptr[1:])
            texts = [rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in parts]
        else:
            texts = [row.tobytes() for row in np.ascontiguousarray(rows, dtype=np.float64) + 0.0]
    return np.array([int.from_bytes(hashlib.blake2b(t, digest_size=8).digest(), "little") for t in texts], np.uint64)


def _stable(value: object) -> str:
    """A text for an object that does not depend on the order of its sets and dicts."""
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(map(_stable, value))) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{_stable(k)}:{_stable(v)}" for k, v in value.items())) + "}"
    if isinstance(value, tuple | list):
        return "(" + ",".join(map(_stable, value)) + ")"
    return repr(value.item() if isinstance(value, np.generic) else value)


def same_graph(first: Any, second: Any) -> bool:
    """Whether two given graphs are the same."""
    if first is second:
        return True
    if sp.issparse(first) and sp.issparse(second):
        return first.shape == second.shape and (first != second).nnz == 0
    if first is None or second is None or sp.issparse(first) or sp.issparse(second):
        return False
    return np.array_equal(np.asarray(first, dtype=object), np.asarray(second, dtype=object))
