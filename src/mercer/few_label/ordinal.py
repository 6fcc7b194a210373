"""The columns of a table, one number each, out of a matrix in which a category has a column for each value: for trees.

A category of fifty values is fifty columns of the matrix, and a forest that tries some columns for a cut tries it fifty
times. A tree needs one column: the place of the value in an order that no label has a part in. The matrix shows which
columns belong together: neighbors with the same two values, 0 and another, of which no row has two that are not 0.
"""

import numpy as np

from .views import AsGiven, View


class OrdinalColumns:
    """One column for each number and for each category: (n, d) rows times (d, c) codes.

    Parameters
    ----------
    codes : (d, c) matrix; `ordinal_view` makes it.
    """

    name = "ordinal columns"

    def __init__(self, codes: np.ndarray):
        self.codes = codes

    def fit(self, X: np.ndarray, random_state: int = 0) -> np.ndarray:
        """Nothing to learn. Return the rows in this view."""
        return self.transform(X)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """(n, c) numbers, and places of values."""
        return np.asarray(X @ self.codes.astype(X.dtype))


def ordinal_view(X: np.ndarray) -> View:
    """The view of rows in which every category is one column. `AsGiven` if there is none of three values or more.

    The values of a category are numbered from the most frequent to the rarest. A row that has none comes last.
    """
    blocks = _blocks(X)
    if len(blocks) == X.shape[1]:
        return AsGiven()
    codes = np.zeros((X.shape[1], len(blocks)))
    for place, block in enumerate(blocks):
        codes[block, place] = 1.0
        if len(block) > 1:
            often = np.argsort(-np.count_nonzero(X[:, block], axis=0), kind="stable")
            codes[block[often], place] = -np.arange(len(block), 0, -1) / X[:, block[0]].max()
    return OrdinalColumns(codes)


def _blocks(X: np.ndarray) -> list[np.ndarray]:
    """Numbers of the columns that are one column of the table."""
    # 1000: rows that are looked at first
    some = X[:1000]
    top = X.max(axis=0)
    codes = (top > 0) & ((some == 0) | (some == top)).all(axis=0)
    codes[codes] = ((X[:, codes] == 0) | (X[:, codes] == top[codes])).all(axis=0)
    blocks: list[list[int]] = []
    taken: np.ndarray | None = None
    for column in range(X.shape[1]):
        here = X[:, column] != 0 if codes[column] else None
        if here is None or taken is None or top[column] != top[column - 1] or (taken & here).any():
            blocks.append([column])
            taken = here
        else:
            blocks[-1].append(column)
            taken = taken | here
    return [np.array(block) for block in blocks]
