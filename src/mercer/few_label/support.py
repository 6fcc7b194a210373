"""How far a row is from all training rows, and how much a prediction for it is worth."""

import numpy as np
import scipy.sparse as sp

from ..graphs.neighbors import Neighbors
from ..types import Rows
from . import sizes
from .views import Standardized

# On sixteen tables at most 0.4% of ordinary new rows come out with a trust below 1/2.
QUANTILE, TIMES = 0.99, 2.0


class Support:
    """The region of the training rows, in standardized columns.

    With d(x) the distance from a row to the nearest training row, and r twice the 99% quantile of the distances
    between nearest different training rows, the trust in a prediction for the row is

    .. math:: t(x) = \\min(1, r / d(x))^2

    and its probabilities become t(x) p(x) + (1 − t(x)) · class frequencies. Training rows have trust 1. Above 2,000
    rows a random sample is kept, with all rows that are farther than r from it. Sparse rows are compared by direction,
    in which no row is far from all others: their trust is 1.

    Attributes
    ----------
    view, finder : standardized columns and the search among the rows kept. Finder is None if every row has trust 1.
    reach : r.
    """

    def __init__(self, X: Rows, random_state: int = 0) -> None:
        self.view, self.finder, self.reach = Standardized(), None, np.inf
        if sp.issparse(X):
            return
        rows = self.view.fit(X)
        chosen = np.random.default_rng(random_state).permutation(len(rows))[: sizes.SIZES.support_rows]
        some = np.unique(rows[chosen], axis=0)
        if len(some) < 3:
            return
        self.reach = TIMES * float(np.quantile(Neighbors(some).find(some, 2)[0][:, 1], QUANTILE))
        if len(rows) > len(chosen):
            some = np.vstack([some, rows[Neighbors(some).find(rows, 1)[0][:, 0] > self.reach]])
        self.finder = Neighbors(some)

    def trust(self, X: Rows) -> np.ndarray:
        """(n,) from 0 to 1: how much a prediction for each row is worth."""
        if self.finder is None:
            return np.ones(X.shape[0])
        distance = self.finder.find(self.view.transform(X), 1)[0][:, 0]
        trust: np.ndarray = (self.reach / np.maximum(distance, self.reach)) ** 2
        return trust
