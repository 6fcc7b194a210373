"""Links between the rows of a table. A second table lists which rows of the graph are joined."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..types import ColumnLike


def link_matrix(ids: ColumnLike, first: Any, second: Any, weight: ColumnLike = None) -> tuple[sp.csr_array, int]:
    """(n, n) symmetric weights of the links between rows, and how many links end outside the rows.

    Parameters
    ----------
    ids : (n,) identifiers of the rows, all different.
    first, second : (m,) identifiers at the two ends of each link. A link has no direction.
    weight : (m,) weights that are not negative, or None for ones. The weights of repeated links add up. Links of a row
        with itself are dropped.

    Examples
    --------
    >>> W, outside = link_matrix(["a", "b", "c"], ["a", "c", "a"], ["b", "b", "elsewhere"])
    >>> W.toarray().astype(int).tolist(), outside
    ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], 1)
    """
    names = [end_name(value) for value in ids]
    places = {name: i for i, name in enumerate(names)}
    if len(places) < len(names):
        double = next(name for i, name in enumerate(names) if places[name] != i)
        raise InputError(
            f"The identifier {double!r} belongs to several rows, so links to it are ambiguous. Accepted: a column in "
            "which every row has its own value."
        )
    ends = [
        np.array([places.get(end_name(value), -1) for value in column], dtype=np.int64) for column in (first, second)
    ]
    if len(ends[0]) != len(ends[1]):
        raise InputError(f"Links have {len(ends[0])} first ends and {len(ends[1])} second ends. Give two per link.")
    value = np.ones(len(ends[0])) if weight is None else np.asarray(weight, dtype=np.float64)
    if len(value) != len(ends[0]) or not np.isfinite(value).all() or (value < 0).any():
        raise InputError("The weights of the links are not finite numbers of at least 0, one per link. Fix the column.")
    inside = (ends[0] >= 0) & (ends[1] >= 0)
    kept = inside & (ends[0] != ends[1])
    n = len(names)
    if not inside.any():
        raise InputError(
            f"None of the {len(inside)} links joins two of the {n} rows. A row is called {names[0] if names else ''!r} "
            f"and a link ends at {end_name(first[0]) if len(inside) else ''!r}. Give the column of identifiers that "
            "the links use."
        )
    W = sp.csr_array((value[kept], (ends[0][kept], ends[1][kept])), shape=(n, n))
    return sp.csr_array(W + W.T), int(np.sum(~inside))


def read_ends(path: Any) -> list[list]:
    """The first two columns of a file, which are the ends of links, and a third one, if any, their weights.

    The file is a table of any format that mercer reads. The names of its columns do not matter.
    """
    from .tables.formats import read_table

    frame = read_table(path).frame
    if frame.shape[1] < 2:
        raise InputError(f"{path} has {frame.shape[1]} column(s). Accepted: the two ends of a link, and its weight.")
    return [frame.iloc[:, j].tolist() for j in range(min(frame.shape[1], 3))]


def read_links(path: Any, ids: ColumnLike) -> tuple[sp.csr_array, int]:
    """`link_matrix` of a file of links."""
    return link_matrix(ids, *read_ends(path))


def end_name(value: object) -> str:
    """An identifier as text, so that 7, 7.0 and "7" are the same row."""
    if isinstance(value, float | np.floating) and np.isfinite(value) and value == int(value):
        value = int(value)
    return str(value).strip()
