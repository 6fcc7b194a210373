"""Known outliers and known ordinary rows that correct outlier scores (semi-supervised outlier detection).

In units of normal scores z an ordinary row should have 0 and an outlier 4. The differences between these targets and z
at the known rows are carried to other rows by a Gaussian process with the kernel

    amplitude · exp(−‖u − u'‖² / 2 width²),

u being the parts' surprises or the columns in the view "normal". Every pair of amplitude and width, and also "no
correction", gets a weight by its leave-one-out predictive likelihood (Rasmussen and Williams 2006, equations 5.10 to
5.12).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..rows import host
from ..types import ColumnLike
from .outlier_parts import OutlierView, squared_distances

Floats = NDArray[Any]
CAP = 8.0  # nats, above which surprises are alike


def answers_of(y: ColumnLike, n: int) -> np.ndarray:
    """(n,) −1, +1 or 0 (unknown) for each row. Only the numbers −1 and +1 mean that a row is known."""
    if y is None:
        return np.zeros(n, dtype=int)
    y = np.asarray(y)
    y = y.reshape(len(y), -1)[:, 0] if y.ndim > 1 else y
    if y.shape != (n,):
        raise InputError(f"y has {len(y)} entries and X has {n} rows. Give one entry per row.")
    return np.array([int(v) if isinstance(v, (int, float)) and v in (-1, 1) else 0 for v in y.tolist()], dtype=int)


@dataclass
class Answered:
    """The correction of scores by known rows."""

    view: OutlierView
    spaces: list  # known rows in the spaces of surprises and of columns
    pulls: list  # (space, amplitude, width, weight, coefficients) of the grid

    @staticmethod
    def of(surprise: Floats, view: OutlierView, rows: Floats, score: Floats, odd: Floats) -> "Answered":
        """Learn from known rows, by their surprises, columns in a view, normal scores, and which are outliers."""
        spaces = [np.minimum(surprise, CAP), rows]
        difference = np.where(odd, np.maximum(4.0 - score, 0.0), np.minimum(-score, 0.0))
        found = [(0, 0.0, 1.0, likelihood(np.zeros((len(score),) * 2), difference)[0], np.zeros(len(score)))]
        for space, U in enumerate(spaces):
            for width in np.array([0.5, 1.0, 2.0]) * np.sqrt(U.shape[1]):
                K = np.exp(-squared_distances(U, U) / (2 * width**2))
                for amplitude in (0.5, 2.0, 8.0):
                    found.append((space, amplitude, width, *likelihood(amplitude * K, difference)))
        logs = np.array([one[3] for one in found])
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        pulls = [(s, a, w, weight, c) for (s, a, w, _, c), weight in zip(found, weights)]
        return Answered(view, spaces, pulls)

    def corrected(self, X: Floats, surprise: Floats, score: Floats) -> Floats:
        """(n,) normal scores after the correction."""
        spaces = [np.minimum(surprise, CAP), host(self.view(X))]
        change = np.zeros(len(score))
        for space, amplitude, width, weight, coefficients in self.pulls:
            if amplitude and weight > 1e-6:
                K = np.exp(-squared_distances(spaces[space], self.spaces[space]) / (2 * width**2))
                change += weight * amplitude * (K @ coefficients)
        return score + change


def likelihood(K: Floats, target: Floats, noise: float = 1.0) -> tuple[float, Floats]:
    """(leave-one-out log likelihood, coefficients) of a Gaussian process without mean. noise : variance of a target."""
    inverse = np.linalg.inv(K + noise * np.eye(len(K)))
    coefficients = inverse @ target
    variance = 1 / np.diag(inverse)
    log = -0.5 * np.sum(np.log(variance) + (coefficients * variance) ** 2 / variance)
    return float(log), coefficients
