"""Bring all labeled rows in Dask and a sample of the others to the client, and another sample to compare with."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from ..errors import InputError
from ..homes import home_of
from ..homes.blocks import SAMPLE, draw
from ..inputs.labels import read_labels
from ..inputs.sampling import on_sample
from ..inputs.weights import check_weight
from ..types import ColumnLike, Estimator, Rows


@dataclass(frozen=True)
class OtherSample:
    """Another sample with its labels and weights, and rows to judge on."""

    X: Rows
    y: np.ndarray
    weight: np.ndarray | None
    compared: Rows


@dataclass(frozen=True)
class RowsToFit:
    """Rows that are fitted, with their labels and weights.

    Attributes
    ----------
    X, y, drawn, weight : of these rows. sample : their row numbers in Dask, or None for rows that are not in Dask.
    other : another sample with its labels and weights, and rows to judge on. None if all rows are fitted.
    n_rows : of the data.
    """

    X: Rows
    y: ColumnLike
    drawn: ColumnLike
    weight: ColumnLike
    n_rows: int
    sample: np.ndarray | None = None
    other: OtherSample | None = None

    @property
    def dask(self) -> "DaskSample | None":
        """The sample as a model remembers it."""
        return None if self.sample is None else DaskSample(self.sample, self.n_rows, self.other)


def rows_to_fit(
    X: Rows, y: ColumnLike, drawn: ColumnLike, weight: ColumnLike, missing_label: object, seed: int
) -> RowsToFit:
    """The rows that are fitted, which are all rows, or a sample of rows in Dask, brought in one pass."""
    home = home_of(X)
    if not home.lazy:
        n = _num_samples(X)
        return RowsToFit(X, y, drawn, check_weight(weight, n), n)
    X = home.opened(X, frames=hasattr(X, "columns"))
    n = X.shape[0]
    weight = check_weight(weight, n)
    y = on_sample(X, y, "classes", missing_label, seed)
    sample = home.sample_of(X)
    known = read_labels(y, missing_label).labeled
    others = np.union1d(draw(n, SAMPLE, seed + 1), sample[known])
    compared = draw(n, 2000, seed + 2)  # rows on which the two samples are compared
    other = None
    if len(sample) < n:
        home.fetch(X, others, compared)
        also = np.full((len(others), *np.shape(y)[1:]), np.nan if np.ndim(y) > 1 else None, dtype=object)
        also[np.searchsorted(others, sample[known])] = np.asarray(y)[known]
        other = OtherSample(_rows(X, others), also, None if weight is None else weight[others], _rows(X, compared))
    else:
        home.fetch(X)
    drawn = None if drawn is None else np.asarray(drawn)[sample]
    return RowsToFit(_rows(X, sample), y, drawn, None if weight is None else weight[sample], n, sample, other)


@dataclass(frozen=True)
class DaskSample:
    """The sample of rows in Dask that a model was fitted to.

    Attributes
    ----------
    rows : row numbers of the rows that were fitted. n_rows : of the data.
    other : another sample, until it was compared.
    stability : fraction of rows to which a fit to it gives the same class.
    compared : how many rows that is.
    """

    rows: np.ndarray
    n_rows: int
    other: OtherSample | None = None
    stability: float | None = None
    compared: int = 0

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Places among the fitted rows of rows given by their numbers in the data."""
        found = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        if not np.array_equal(self.rows[found], rows):
            raise InputError(
                "Some of these rows are not among those that were fitted, which are in `sample_`: `suggest` proposes "
                "rows of it. To use a label of another row, fit again with it in y."
            )
        return found

    def judged(self, model: Estimator, hints: list[str] | None) -> "DaskSample":
        """With the stability of a model of this sample. `hints` are the columns of hints that it was fitted with."""
        if self.other is None:
            return self
        other = clone(model).set_params(verbose=False)
        other.fit(self.other.X, self.other.y, sample_weight=self.other.weight, hints=hints)
        compared = self.other.compared
        share = float(np.mean(other.predict(compared) == model.predict(compared)))
        return replace(self, other=None, stability=share, compared=len(compared))

    @property
    def sentence(self) -> str:
        """A sentence for the report on how many rows were sampled, and how much that matters."""
        return (
            f"Fitted to a sample of {len(self.rows)} of {self.n_rows} rows, with all labeled rows in it. A fit to "
            f"another sample gives the same class to {self.stability:.1%} of {self.compared} rows."
        )


def _rows(X: Rows, positions: np.ndarray) -> Rows:
    """Rows on the host. A data frame counts them again."""
    rows = X[positions]
    return rows.reset_index(drop=True) if hasattr(rows, "reset_index") else rows
