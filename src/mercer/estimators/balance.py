"""The fraction of each class among the unlabeled rows, as a user may give it."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..evidence.shares import class_shares
from ..inputs.labels import Labels
from ..rows import take, tdot


def is_estimated(balance: object) -> bool:
    """Whether the fractions are to be estimated."""
    return isinstance(balance, str) and balance == "estimate"


def shares_of(balance: str, labels: Labels, weight: np.ndarray | None = None) -> np.ndarray:
    """Wanted fraction of each class, (k,). A string means the fractions of the labels with these weights.

    A number, a dict or an array contains the fractions themselves. None returns None.
    """
    if balance is None:
        return None
    names = labels.classes.tolist()
    if isinstance(balance, str):
        counts = labels.counts(weight)
        return counts / counts.sum()
    if isinstance(balance, dict):
        strange = [name for name in balance if name not in names]
        absent = [name for name in names if name not in balance]
        if strange or absent:
            raise InputError(
                f"balance has the classes {list(balance)} and the labels have {names}. Give one fraction for each "
                f"class of the labels, and for no other."
            )
        shares = np.array([balance[name] for name in names], dtype=np.float64)
    elif np.ndim(balance) == 0:
        if len(names) != 2:
            raise InputError(
                f"balance={balance} is one fraction, and y has the {len(names)} classes {names}. Give one fraction per "
                "class, or a dict from classes to fractions."
            )
        shares = np.array([1.0 - balance, balance])
    else:
        shares = np.asarray(balance, dtype=np.float64)
        if shares.shape != (len(names),):
            raise InputError(f"balance has shape {shares.shape} and y has the {len(names)} classes {names}.")
    for name, share, count in zip(names, shares, labels.counts()):
        if share <= 0 and count > 0:
            raise InputError(
                f"The labels contradict the balance: {int(count)} row(s) are labeled {name!r}, and balance gives "
                f"that class the fraction {share:g} of the unlabeled rows. Give it a positive fraction or drop them."
            )
    return shares


def fold_key(state: Any, labels: Labels):
    """(l,) array of a number for each labeled row that depends neither on the order of rows nor on the basis of Z."""
    Z_l, mean = take(state.Z, labels.labeled), tdot(state.Z, np.full(state.Z.shape[0], 1.0 / state.Z.shape[0]))
    return Z_l @ mean + np.einsum("ij,ij->i", Z_l, Z_l)


def estimated_shares(fold_fits, state, labels, rounds=3, counted=0.25):
    """(fractions, standard errors) of the classes among the unlabeled rows, from fits with held-out labels.

    A held-out row is scored like an unlabeled one. The mean score of the unlabeled rows is therefore the mean of the
    held-out scores of the classes, weighted by the fractions (`mercer.evidence.shares`).

    Parameters
    ----------
    fold_fits : callable
        Function of (fractions, errors), or of None in the first round. It yields (positions of the held-out labels,
        coefficients, intercept) of each fit.
    state : State
        Prepared rows.
    labels : Labels
        All labels.
    rounds : int, default=3
        Maximum number of estimates. Every estimate repeats the fits.
    counted : float, default=0.25
        Weight of a label as evidence of the fractions. It is small because labels are often picked and not drawn.
    """
    free = (labels.codes < 0).astype(float) * (1.0 if state.weight is None else state.weight)
    mean = tdot(state.Z, free / free.sum())
    codes, counts = labels.codes[labels.labeled], counted * labels.counts()
    wanted = None
    for _ in range(rounds):
        scores, average, tested = np.full(labels.signs.shape, np.nan), np.zeros(labels.signs.shape[1]), 0
        for test, coef, intercept in fold_fits(wanted):
            scores[test] = take(state.Z, labels.labeled[test]) @ coef + intercept
            average, tested = average + len(test) * (mean @ coef + intercept), tested + len(test)
        before, wanted = wanted, class_shares(scores, codes, average / max(tested, 1), labels.n_classes, counts)
        if before is not None and np.all(np.abs(wanted[0] - before[0]) <= wanted[1] / 4):
            break
    return wanted
