"""Choose landmarks, the rows from which a kernel matrix is approximated.

Each function takes host rows, a resolved kernel and a number, and returns the indices of the chosen rows. `kmeans`
returns new rows. `LandmarkMap` calls these functions, and they also work without it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from ...errors import InputError
from ...homes import Objects
from ...linalg import eigh_down
from ...types import Array, Block, Rows


def uniform(X: Rows, kernel: Any, n_landmarks: int, rng: Generator) -> Array:
    """Rows drawn with equal probability, without replacement."""
    return np.sort(rng.choice(X.shape[0], n_landmarks, replace=False))


def with_probabilities(X: Rows, kernel: Any, n_landmarks: int, rng: Generator, probabilities: Any) -> Array:
    """Independent draws with replacement (Drineas and Mahoney 2005). The same row may come twice."""
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != (X.shape[0],) or not np.all(p >= 0) or not p.sum() > 0:
        raise InputError(
            f"probabilities of shape {p.shape} are not accepted. Give {X.shape[0]} numbers ≥ 0, one per row, not all "
            "of them zero."
        )
    return rng.choice(len(p), n_landmarks, p=p / p.sum())


def kmeans(X: Rows, kernel: Any, n_landmarks: int, rng: Generator) -> Block:
    """Centers of k-means in the input space, which are not rows (Zhang et al. 2008)."""
    from sklearn.cluster import MiniBatchKMeans

    if isinstance(X, Objects):
        raise InputError(
            "choice='kmeans' needs means of rows, and these rows are objects. Use 'pivoted', 'uniform' or 'leverage'."
        )

    seed = int(rng.integers(2**31 - 1))
    centers = MiniBatchKMeans(n_landmarks, random_state=seed, n_init=1, batch_size=max(1024, 2 * n_landmarks)).fit(X)
    centers = centers.cluster_centers_.astype(X.dtype)
    return sp.csr_matrix(centers) if sp.issparse(X) else centers


def leverage(X: Rows, kernel: Any, n_landmarks: int, rng: Generator) -> Array:
    """Rows drawn in proportion to approximate ridge leverage scores (Alaoui and Mahoney 2015).

    A score is l_i = (k_ii − k_iS (K_SS + λI)⁻¹ k_Si) / λ, at most 1, with a uniform sample S of rows instead of all
    rows. The ridge λ is estimated from the tail of the spectrum of K_SS.
    """
    n = X.shape[0]
    sketch = uniform(X, kernel, min(n, 2 * n_landmarks), rng)
    values, vectors = eigh_down(np.asarray(kernel(X[sketch]), dtype=np.float64))
    values = np.maximum(values, 0.0)  # an indefinite similarity counts by its positive part
    ridge = float(values[n_landmarks // 2 :].sum()) / n_landmarks * n / len(sketch)
    ridge = max(ridge, 1e-10 * float(values[0]), np.finfo(np.float64).tiny)
    cross = vectors.T @ np.asarray(kernel(X[sketch], X), dtype=np.float64)
    cross /= np.sqrt(values + ridge * len(sketch) / n)[:, None]
    score = np.clip((kernel.diag(X) - np.einsum("ij,ij->j", cross, cross)) / ridge, 1e-12, 1.0)
    return np.sort(rng.choice(n, n_landmarks, replace=False, p=score / score.sum()))


# "pivoted" is uniform here, because only kernels that may be indefinite use this table, and they have no pivots.
CHOICES = {"pivoted": uniform, "uniform": uniform, "kmeans": kmeans, "leverage": leverage}
