"""The share of each class among the unlabelled rows, as a user may give it."""

import numpy as np

from ..errors import InputError


def shares_of(balance, labels, weight=None):
    """(k,) wanted shares from "labels" (of these weights), a number, a dict, one number per class; None for None."""
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
                f"balance has the classes {list(balance)} and the labels have {names}. Give one share for "
                "each class of the labels, and for no other."
            )
        shares = np.array([balance[name] for name in names], dtype=np.float64)
    elif np.ndim(balance) == 0:
        if len(names) != 2:
            raise InputError(
                f"balance={balance} is one share, and y has {len(names)} classes: {names}. Give one share per "
                "class, or a dict {class: share}."
            )
        shares = np.array([1.0 - balance, balance])
    else:
        shares = np.asarray(balance, dtype=np.float64)
        if shares.shape != (len(names),):
            raise InputError(f"balance has shape {shares.shape} and y has {len(names)} classes: {names}.")
    for name, share, count in zip(names, shares, labels.counts()):
        if share <= 0 and count > 0:
            raise InputError(
                f"The labels contradict the balance: {int(count)} row(s) are labelled {name!r}, and balance gives "
                f"that class the share {share:g} of the unlabelled rows. Give it a positive share or drop them."
            )
    return shares
