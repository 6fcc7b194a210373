"""The models of Gieseke et al. (2012) for a linear kernel, for every value of their parameters."""

import numpy as np
from sklearn.svm import SVC

from mercer.solvers.label_search.features import coefficients, rotated_rows, scaled_rows, search_basis
from mercer.solvers.label_search.solve import label_search, smallest_slack

GRID = 2.0 ** np.arange(-10, 11)
WEIGHTS = (0.1, 1.0)


def basis_for(Z, labeled, unlabeled, weight):
    """What all λ share for one λ': the rotated rows (labeled, then unlabeled), their weights, the eigenpairs."""
    d2 = np.r_[np.full(len(labeled), 1.0 / len(labeled)), np.full(len(unlabeled), weight / len(unlabeled))]
    rows = Z[np.r_[labeled, unlabeled]]
    basis = search_basis((rows * d2[:, None]).T @ rows)
    return rotated_rows(rows, d2, basis), d2, basis


def s2rlsc_path(Z, y, labeled, unlabeled, share, slack, grid=GRID, weights=WEIGHTS, **search):
    """Weights w (r,) of the best labeling for every (λ', λ): the paper's model for a linear kernel Z Zᵀ."""
    out = {}
    codes = np.r_[y[labeled], np.full(len(unlabeled), -1)]
    slack = max(slack, smallest_slack(len(unlabeled), [1 - share, share]))
    for weight in weights:
        rows, _, basis = basis_for(Z, labeled, unlabeled, weight)
        for lam in grid:
            W, T = scaled_rows(rows, basis, lam)
            found = label_search(
                W, codes, shares=[1 - share, share], slack=slack, total=1 + weight, n_jobs=1, certify=False, **search
            )
            out[weight, lam] = coefficients(W, T, found.value, 2)[:, 0]
    return out


def rlsc_path(Z, y, labeled):
    """Weights of plain RLSC for every λ."""
    A, t = Z[labeled], 2.0 * y[labeled] - 1.0
    values, V = np.linalg.eigh(A @ A.T)
    return {lam: A.T @ (V @ ((V.T @ t) / (np.maximum(values, 0) + lam * len(t)))) for lam in GRID}


def svm_path(Z, y, labeled):
    return {C: SVC(kernel="linear", C=C).fit(Z[labeled], y[labeled]) for C in GRID}


def error(model, Z, y):
    predicted = model.predict(Z) if hasattr(model, "predict") else (Z @ model > 0).astype(int)
    return 100.0 * np.mean(predicted != y)
