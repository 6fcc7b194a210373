"""Where each row is drawn: two kernel principal components of a kernel that sees clusters and keeps some shape."""

import numpy as np
import scipy.sparse as sp

from ..estimators.kernel_pca import KernelPCA
from ..kernels import RBF, Cosine, Diffusion

HEAT_TIME = 100.0
HEAT_RANK = 40
SHAPE = 0.3  # share of the plain kernel beside the heat kernel: without it a cluster is one dot, with more they overlap
SENTENCE = "The axes are two kernel principal components, of a heat kernel on the neighbour graph and a plain kernel."


def positions(X, seed=0):
    """(n, 2) positions of the rows of X."""
    if not sp.issparse(X):
        spread = X.std(axis=0)
        if spread.max() > 20 * max(float(np.median(spread)), 1e-300):  # else the picture would be that one column
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    n = X.shape[0]
    heat = Diffusion(min(10, max(n // 3, 1)), HEAT_TIME, rank=min(HEAT_RANK, n)).resolve(X).factor()
    heat = heat / np.maximum(np.linalg.norm(heat, axis=1, keepdims=True), 1e-300)
    number = min(HEAT_RANK, n - 1)
    approx = "exact" if n <= 3000 else 500
    plain = KernelPCA(number, kernel=Cosine() if sp.issparse(X) else RBF(), approx=approx, random_state=seed)
    shape = np.asarray(plain.fit_transform(X), dtype=np.float64)
    power = float(np.mean(np.sum(shape**2, axis=1)))
    both = np.hstack([heat, np.sqrt(SHAPE / power) * shape if power > 0 else shape])
    both -= both.mean(axis=0)
    axes = np.linalg.svd(both, full_matrices=False)[2][:2]
    xy = both @ (axes * np.sign(axes.sum(axis=1, keepdims=True) + 1e-300)).T
    return xy if xy.shape[1] == 2 else np.column_stack([xy[:, 0], np.zeros(n)])
