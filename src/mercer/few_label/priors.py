"""Class shares among the unlabeled rows: taken from the labels, given, or estimated, and put into the scores."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from scipy.special import log_softmax, softmax

from ..errors import InputError
from ..evidence.calibration import two_columns
from ..inputs.labels import Labels

Prior: TypeAlias = str | Mapping[object, float] | Sequence[float] | np.ndarray | None
"""Class frequencies: None, "labels", "estimate", or one fraction for each class."""


def read_prior(prior: Prior, labels: Labels) -> str | np.ndarray | None:
    """None, "labels", "estimate" or the (k,) shares that the user requests. Refuses what cannot be read."""
    if prior is None or (isinstance(prior, str) and prior in ("labels", "estimate")):
        return prior
    names = labels.classes.tolist()
    if isinstance(prior, dict):
        if set(prior) != set(names):
            raise InputError(
                f"prior names the classes {list(prior)} and the labels have {names}. Give one fraction for each class."
            )
        shares = np.array([prior[name] for name in names], dtype=float)
    else:
        shares = np.asarray(prior, dtype=float) if not isinstance(prior, str) else np.zeros(0)
    if shares.shape != (len(names),) or not np.all(shares > 0) or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"prior={prior!r} is not accepted: give None, 'labels', 'estimate', or one positive fraction for each of "
            f"the {len(names)} classes {names}, summing to 1."
        )
    return shares


def offsets_for(scores: np.ndarray, slope: float, shares: np.ndarray, steps: int = 100) -> np.ndarray:
    """(k,) offsets b such that the mean of softmax(slope · scores + b) over the rows is `shares`."""
    logits = slope * two_columns(scores)
    b = np.zeros(logits.shape[1])
    for _ in range(steps):
        mean = softmax(logits + b, axis=1).mean(axis=0)
        b += np.log(shares) - np.log(np.maximum(mean, 1e-300))
        if np.max(np.abs(mean - shares)) < 1e-6:
            break
    centered: np.ndarray = b - b.mean()
    return centered


def estimated_shares(scores: np.ndarray, slope: float, counts: np.ndarray, steps: int = 100) -> np.ndarray:
    """(k,) shares among the rows, by expectation maximization from the fractions among the labels (Saerens et al.
    2002).

    The labels count as so many rows of known class, with one more for each class: few rows cannot push a class to 0.
    """
    logits = slope * two_columns(scores)
    start = (counts + 1) / (counts.sum() + len(counts))
    shares: np.ndarray = start
    for _ in range(steps):
        P = np.exp(log_softmax(logits + np.log(shares / start), axis=1))
        new = (P.sum(axis=0) + counts + 1) / (len(P) + counts.sum() + len(counts))
        done = np.max(np.abs(new - shares)) < 1e-7
        shares = new
        if done:
            break
    return shares
