"""Transformations of the rows before any kernel, such as standardization, unit length or a few components.

A view does not depend on labels, so it is the same for every labeling.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..backend import moved, parallel
from ..linalg import eigh_down, fix_signs
from ..rows import gram, like
from ..types import Rows

BLOCK = 4096  # rows whose deviations are in the cache at a time


def is_wide(X: Rows, most: int = 100) -> bool:
    """Return whether the rows are probably pixels, spectra or words, because they have more than `most` columns."""
    return bool(sp.issparse(X) or X.shape[1] > most)


class View(Protocol):
    """A transformation of rows."""

    name: str

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Learn the view. Return the rows in it."""

    def transform(self, X: Rows) -> Rows:
        """Return any rows in this view."""


class AsGiven:
    """The rows themselves."""

    name = "raw"

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Nothing to learn. The rows come back."""
        return X

    def transform(self, X: Rows) -> Rows:
        """The rows."""
        return X


class Standardized:
    """Every column with mean 0 and variance 1. A constant column is 0. For columns in different units."""

    name = "standardized"

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Learn mean and standard deviation of the columns. Return the rows in this view."""
        self.mean_, spread = mean_and_spread(X)
        # A column whose spread is rounding of its mean is constant.
        self.spread_ = np.where(spread > 1e-12 * np.maximum(np.abs(self.mean_), 1e-300), spread, np.inf)
        return self.transform(X)

    def transform(self, X: Rows) -> Rows:
        """Return the rows, standardized with the training means and standard deviations."""
        mean, spread = self.mean_.astype(X.dtype), self.spread_.astype(X.dtype)  # many rows are in single precision
        out = np.empty_like(X)

        def fill(rows: slice) -> None:
            np.subtract(X[rows], mean, out=out[rows])
            out[rows] /= spread

        parallel(fill, [slice(start, start + BLOCK) for start in range(0, len(X), BLOCK)])
        return out


class HingeColumns:
    """Every column and its hinges max(x − quantile, 0), standardized. A linear function of these is a sum of curves."""

    name = "bent columns"
    quantiles = (0.2, 0.4, 0.6, 0.8)

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Learn the quantiles. Return the rows in this view."""
        self.knots_ = [np.unique(np.quantile(column, self.quantiles)) for column in np.asarray(X, dtype=np.float64).T]
        self.weight_ = np.concatenate([[1.0, *np.full(len(knots), 0.7)] for knots in self.knots_])
        self.scaled_ = Standardized()
        return self.scaled_.fit(self._hinges(X)) * self.weight_

    def transform(self, X: Rows) -> Rows:
        """Return the rows in this view, with the training quantiles, means and standard deviations."""
        return self.scaled_.transform(self._hinges(X)) * self.weight_

    def _hinges(self, X: Rows) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        parts = [
            part
            for column, knots in zip(X.T, self.knots_)
            for part in (column[:, None], np.maximum(column[:, None] - knots, 0))
        ]
        return np.hstack(parts)


class UnitNorm:
    """Every row divided by its length, so that distances compare directions. For word counts and other sparse rows."""

    name = "unit norm"

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Nothing to learn. The rows come back with length 1."""
        return self.transform(X)

    def transform(self, X: Rows) -> Rows:
        """Rows of length 1. A row of zeros stays."""
        from sklearn.preprocessing import normalize

        return normalize(X)


class LeadingComponents:
    """The first principal components. Distances along them do not contain the noise of many other directions.

    A neighbor graph in 241 dimensions of noise joins rows at random. Along the eight directions of largest variance it
    joins rows of one cluster.
    """

    def __init__(self, n_components: int) -> None:
        self.n_components = n_components
        self.name = f"{n_components} components"

    def fit(self, X: Rows, random_state: int = 0) -> Rows:
        """Learn the components. Return the rows along them."""
        n, d = X.shape
        if not sp.issparse(X) and d <= 1000 and n >= 10 * d:  # the covariance matrix is small
            self.mean_, components = _by_covariance(X, self.n_components)
        elif sp.issparse(X) and not (X.max(axis=0) != X.min(axis=0)).nnz:  # ARPACK refuses rows that are all the same
            self.mean_, components = X[:1].toarray()[0], np.eye(d, self.n_components)
        else:
            from sklearn.decomposition import PCA

            solver = "arpack" if sp.issparse(X) else "auto"
            with np.errstate(invalid="ignore"):  # if all rows are the same, the explained fraction is 0 / 0
                found = PCA(self.n_components, svd_solver=solver, random_state=random_state).fit(X)
            self.mean_, components = np.ravel(found.mean_), found.components_.T
        self.components_ = np.ascontiguousarray(components, dtype=X.dtype)
        self.shift_ = (self.mean_ @ components).astype(X.dtype)
        return self.transform(X)  # a randomized PCA's fit_transform differs from it by more than rounding

    def transform(self, X: Rows) -> Rows:
        """Return any rows along the training components."""
        return X @ self.components_ - self.shift_


class OrdinalColumns:
    """One column for each number and for each category, for trees. It is (n, d) rows times (d, c) codes.

    A category of fifty values is fifty columns of the matrix, and a forest that tries some columns for a cut tries it
    fifty times. A tree needs one column with the place of the value in an order that does not depend on labels. The
    matrix shows which columns belong to one category. They are neighbors with the same two values, 0 and another one,
    and no row has two of them that are not 0.

    Parameters
    ----------
    codes : (d, c) matrix from `ordinal_view`.
    """

    name = "ordinal columns"

    def __init__(self, codes: np.ndarray):
        self.codes = codes

    def fit(self, X: np.ndarray, random_state: int = 0) -> np.ndarray:
        """Nothing to learn. Return the rows in this view."""
        return self.transform(X)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return (n, c) numbers and places of values."""
        return np.asarray(X @ self.codes.astype(X.dtype))


def ordinal_view(X: np.ndarray) -> View:
    """Return the view in which every category is one column. `AsGiven` if no category has three values or more.

    The values of a category are numbered from the most frequent to the rarest. A row that has none comes last.
    """
    blocks = _table_columns(X)
    if len(blocks) == X.shape[1]:
        return AsGiven()
    codes = np.zeros((X.shape[1], len(blocks)))
    for place, block in enumerate(blocks):
        codes[block, place] = 1.0
        if len(block) > 1:
            often = np.argsort(-np.count_nonzero(X[:, block], axis=0), kind="stable")
            codes[block[often], place] = -np.arange(len(block), 0, -1) / X[:, block[0]].max()
    return OrdinalColumns(codes)


def _table_columns(X: np.ndarray) -> list[np.ndarray]:
    """Return the groups of columns of X that are one column of the table."""
    some = X[:1000]  # a first check
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


def mean_and_spread(X: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return ((d,) means, (d,) standard deviations) of the columns, in double precision."""
    mean = _sums(X, lambda block: block.sum(axis=0, dtype=np.float64)) / len(X)
    squares = _sums(X, lambda block: np.einsum("ij,ij->j", gap := block - mean, gap))
    return mean, np.sqrt(squares / len(X))


def _sums(X: Rows, of_block: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the (d,) sum of a function of the blocks of X. The order is fixed, so threads do not change the digits."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(X), BLOCK)]
    found: np.ndarray = np.empty((len(blocks), X.shape[1]))

    def fill(rows: slice) -> None:
        found[rows.start // BLOCK] = of_block(X[rows])

    parallel(fill, blocks)
    total: np.ndarray = found.sum(axis=0)
    return total


def equally_spread(X: Rows) -> bool:
    """Return whether all columns have nearly the same standard deviation."""
    spread = mean_and_spread(X)[1]
    return bool(spread.max() <= 1.01 * spread.min())


def _by_covariance(X: Rows, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (means, (d, number) leading eigenvectors of the covariance matrix), computed on the device in use."""
    mean = _sums(X, lambda block: block.sum(axis=0, dtype=np.float64)) / len(X)
    there = moved(X)
    G = gram(there - like(mean, there))
    return mean, fix_signs(eigh_down(G, number)[1])
