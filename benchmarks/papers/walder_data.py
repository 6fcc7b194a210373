"""A data set of the book for walder.py: distances, splits, and the decompositions of its kernels, each made once."""

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from benchmarks.accuracy.book import load
from mercer.kernels.graph import laplacian, low_spectrum, neighbor_graph
from mercer.linalg import eigh_down
from mercer.solvers.sphere.secular import variance_basis


class Data:
    """Squared distances, targets, splits, and pairs (theta, Z) with K = ZZᵀ and centered scatter ZᵀHZ = diag(theta)."""

    def __init__(self, folder, name):
        self.X, self.codes, self.splits = load(folder, name)
        inner = np.asarray((self.X @ self.X.T).todense() if sp.issparse(self.X) else self.X @ self.X.T)
        norm = np.diag(inner)
        self.squared = np.clip(norm[:, None] + norm - 2 * inner, 0, None)
        self.n = len(norm)
        self.median = np.median(np.sqrt(self.squared[np.triu_indices(self.n, 1)]))
        n_classes = self.codes.max() + 1
        signs = 2.0 * (self.codes[:, None] == np.arange(n_classes)) - 1.0
        self.targets = signs[:, 1:] if n_classes == 2 else signs
        self.made = {}

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def gaussian(self, factor):
        return np.exp(-self.squared / (2 * (factor * self.median) ** 2))

    def width(self, factor):
        return self.once(factor, lambda: diagonal(self.gaussian(factor)))

    def spectrum(self, k):
        """Laplacian spectrum of the k-neighbor graph, with the constant as the first of the null vectors."""

        def make():
            values, V, _ = low_spectrum(laplacian(neighbor_graph(self.X, k)[0]))
            null = int(np.sum(values == 0))
            rest = V[:, :null] @ sla.null_space(V[:, :null].sum(axis=0)[None])
            return values, np.concatenate([np.full((self.n, 1), self.n**-0.5), rest, V[:, null:]], axis=1)

        return self.once(("graph", k), make)

    def diffusion(self, k, time, centered=True):
        """The pair of exp(−time·Lap): the constant has no variance, and the other eigenvectors diagonalize P.

        centered=False takes the mean square for the variance: the constant then has one.
        """
        values, V = self.spectrum(k)
        theta = np.exp(-time * values)
        keep = theta > 1e-12 * theta[1]  # the constant is always kept, and always first
        Z = V[:, keep] * np.sqrt(theta[keep])
        theta = theta[keep].copy()
        if centered:
            theta[0] = 0.0
        order = np.argsort(-theta, kind="stable")
        return theta[order], Z[:, order]

    def mixed(self, k, time, weight, factor):
        def make():
            values, V = self.spectrum(k)
            return diagonal(weight * self.gaussian(factor) + (1 - weight) * (V * np.exp(-time * values)) @ V.T)

        return self.once((k, time, weight, factor), make)

    def error(self, scores, rows, threshold=0.0):
        """Fraction of the rows without a label that these scores (n, k') put into a wrong class."""
        hidden = np.setdiff1d(np.arange(self.n), rows)
        guess = (scores[hidden, 0] > threshold).astype(int) if scores.shape[1] == 1 else scores[hidden].argmax(axis=1)
        return float(np.mean(guess != self.codes[hidden]))


def diagonal(K):
    """(theta, Z) of a kernel matrix."""
    L = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    mean = L.sum(axis=0)
    theta, Q = variance_basis(*eigh_down(L.T @ L - np.outer(mean, mean) / len(K)))
    return theta, L @ Q
