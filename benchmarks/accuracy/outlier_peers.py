"""Other detectors in a few lines each, as PyOD defines them: a run needs no PyOD, and a test compares both.

A detector is a function of (training rows, new rows or None) that returns scores, high for outliers, of the new rows or
of the training rows.
"""

import numpy as np
from scipy.stats import rankdata, skew
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors


def forest(A, B=None, trees=200):
    """scikit-learn's Isolation Forest."""
    model = IsolationForest(n_estimators=trees, random_state=0).fit(A)
    return -model.score_samples(A if B is None else B)


def local(A, B=None):
    """scikit-learn's local outlier factor with 20 neighbors."""
    model = LocalOutlierFactor(n_neighbors=min(20, len(A) - 1), novelty=B is not None).fit(A)
    return -model.negative_outlier_factor_ if B is None else -model.score_samples(B)


def neighbor(k):
    """Distance to the k-th nearest training row, itself not counted (Ramaswamy, Rastogi and Shim 2000)."""

    def scored(A, B=None):
        return NearestNeighbors(n_neighbors=min(k, len(A) - 1)).fit(A).kneighbors(B)[0][:, -1]

    return scored


def tails(combine):
    """ECOD and COPOD: tail probabilities of the columns, summed; new rows are ranked with the training rows."""

    def scored(A, B=None):
        X = A if B is None else np.vstack([A, B])
        left, right = (-np.log(rankdata(side * X, method="max", axis=0) / len(X)) for side in (1, -1))
        sign = np.sign(np.nan_to_num(skew(X, axis=0)))
        by_skew = -left * np.sign(sign - 1) + right * np.sign(sign + 1)
        return combine(left, right, by_skew).sum(axis=1)[0 if B is None else len(A) :]

    return scored


ecod = tails(lambda left, right, by_skew: np.maximum(np.maximum(left, right), by_skew))  # Li et al. 2022
copod = tails(lambda left, right, by_skew: np.maximum(by_skew, (left + right) / 2))  # Li et al. 2020


def deep_forest(A, B=None):
    """PyOD's deep isolation forest at its defaults (Xu et al. 2023): isolation forests of random networks' outputs."""
    import torch
    from pyod.models.dif import DIF

    torch.set_num_threads(1)
    model = DIF(random_state=0, device="cpu").fit(A)
    return model.decision_scores_ if B is None else model.decision_function(B)
