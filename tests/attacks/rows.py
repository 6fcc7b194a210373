"""Degenerate rows, labels, weights and kernels, in all containers."""

import contextlib

import numpy as np
import scipy.sparse as sp

import mercer

with contextlib.suppress(ImportError):  # without pandas and Dask there are arrays in their place
    import pandas as pd
with contextlib.suppress(ImportError):
    import dask.array

SCALES = [1.0] * 8 + [1e-300, 1e300, 1e-150, 1e150, 1e-30, 1e30, 1e-8, 1e8]
TYPES = ["f8"] * 6 + ["f4", "f4", "i8", "u1", "?", "f2", "O", "c16", "U5", "longdouble"]


def matrix(R):
    """(rows in some container, generator)."""
    rng = np.random.default_rng(R.randrange(2**32))
    n, d = R.choice([1, 2, 3, 5, 12, 30, 50]), R.choice([0, 1, 1, 2, 3, 3, 20])
    if d == 0 and R.random() < 0.7:
        d = 2
    X = rng.normal(size=(n, d))
    if R.random() < 0.4:
        X += 3.0 * (np.arange(n) % 2)[:, None]
    change = R.choice([None, None, "constant", "column", "twins", "outlier", "gap", "whole", "far", "zero", "mixed"])
    if change == "constant":
        X[:] = R.choice([0.0, 1.0, -7.5])
    elif change == "column" and d:
        X[:, 0] = 1.0
    elif change == "twins":
        X = X[rng.integers(0, max(n // 3, 1), n)]
    elif change == "outlier":
        X[0] *= 10.0 ** R.choice([3, 8, 100, 200])
    elif change == "gap" and X.size:
        X[-1, -1] = R.choice([np.nan, np.inf, -np.inf])
    elif change == "whole":
        X = np.round(X)
    elif change == "far":
        X += 10.0 ** R.choice([6, 12, 100])
    elif change == "zero":
        X[::2] = 0.0
    elif change == "mixed" and d > 1:
        X *= 10.0 ** np.linspace(-R.choice([3, 100]), R.choice([3, 100]), d)
    with np.errstate(all="ignore"):
        X *= R.choice(SCALES)
        X = X.astype(R.choice(TYPES))
    return _contained(R, X), rng


def _contained(R, X):
    box = R.choice(
        ["array"] * 5 + ["list", "fortran", "strided", "locked", "csr", "csc", "coo", "frame", "torch", "dask"]
    )
    if box == "list":
        return X.tolist()
    if box == "fortran":
        return np.asfortranarray(X)
    if box == "strided":
        return np.repeat(X, 2, axis=0)[::2]
    if box == "locked":
        X = X.copy()
        X.setflags(write=False)
        return X
    if box in ("csr", "csc", "coo") and X.dtype.kind in "fiub" and X.dtype.char not in "eg":
        return R.choice([sp.coo_matrix, sp.coo_array])(X).asformat(box)
    if box == "frame" and "pd" in globals():
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if box == "torch" and X.dtype.char in "fd":
        import torch

        return torch.as_tensor(X)
    if box == "dask" and X.dtype.char in "fd" and R.random() < 0.3 and "dask" in globals():
        return dask.array.from_array(X, chunks=(max(1, -(-len(X) // 2)), -1))
    return X


def length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def plain(X):
    """Rows as a checked array, of sizes whose squares are numbers."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X)
    try:
        X = np.nan_to_num(X.astype(np.float64))
    except (TypeError, ValueError):
        X = np.zeros(X.shape)
    return np.clip(X, -1e30, 1e30)


def equal(X, Y):
    X, Y = (np.asarray(A.toarray() if sp.issparse(A) else A) for A in (X, Y))
    return X.shape == Y.shape and bool(np.all((X == Y) | ((X != X) & (Y != Y))))  # NaN in objects too


def labels(R, n):
    """Class names for some rows."""
    codes = [R.randrange(R.choice([1, 2, 2, 2, 3])) for _ in range(n)]
    names = R.choice(
        [
            ["a", "b", "c"],
            [0, 1, 2],
            [1.0, 2.0, 3.0],
            [True, False, True],
            ["", " ", "nan"],
            [-1, 1, 0],
            [10**20, -5, 7],
        ]
    )
    mark = R.choice([None, None, -1, float("nan"), ""])
    share = R.choice([0.0, 0.2, 0.5, 0.5, 0.9, 1.0])
    y = [names[code] if R.random() < share else mark for code in codes]
    if share and n > 3 and R.random() < 0.8:
        y[:4] = [names[0], names[1], names[0], names[1]]
    form = R.choice(["list", "objects", "objects", "array", "series", "table", "short", "column"])
    if form == "array":
        return np.array(y) if len({type(one) for one in y}) == 1 else np.array(y, dtype=object)
    if form == "series" and "pd" in globals():
        return pd.Series(y, dtype=object)
    if form == "table":
        P = np.full((n, 2), np.nan)
        P[: n // 2] = 0.5
        P[: n // 4] = [1.0, 0.0]
        return P
    if form == "short" and R.random() < 0.3:
        return y[:-1]
    if form == "column":
        return np.array(y, dtype=object)[:, None]
    out = np.empty(n, dtype=object)
    out[:] = y
    return out if form == "objects" else y


def numbers(R, rng, n):
    """Numbers to predict, for some rows."""
    y = rng.normal(size=n) * R.choice(SCALES)
    if R.random() < 0.3:
        y[:] = R.choice([0.0, 5.0])
    y[rng.random(n) < R.choice([0.0, 0.3, 0.7, 1.0])] = np.nan
    if R.random() < 0.05 and n:
        y[0] = np.inf
    return y


def weights(R, rng, n):
    weight = rng.random(n) * R.choice([1.0, 1.0, 1.0, 1e-300, 1e300, 1e-8])
    change = R.choice([None, None, "zero", "some", "negative", "nan", "short", "huge"])
    if change == "zero":
        weight[:] = 0
    elif change == "some":
        weight[: n // 2] = 0
    elif change == "negative":
        weight[0] = -1
    elif change == "nan":
        weight[0] = np.nan
    elif change == "short":
        weight = weight[1:]
    elif change == "huge":
        weight[0] = 1e6
    return weight


def kernel(R, rng, X):
    """(a kernel, rows for it), with a name, an object, a function, or a matrix that may not be a kernel at all."""
    kind = R.choice(["name"] * 4 + ["object"] * 4 + ["matrix", "matrix", "function"])
    if kind == "name":
        return R.choice(
            ["rbf", "laplacian", "matern32", "linear", "poly", "cosine", "sigmoid", "forest", "chi2", "diffusion"]
        ), X
    if kind == "object":
        made = [
            mercer.RBF(R.choice([1e-8, 1.0, 1e8, 1e-200, "knn"])),
            mercer.Polynomial(R.choice([1, 2, 5, 20])),
            2.0 * mercer.RBF("median") + mercer.Linear(),
            mercer.RBF("median") * mercer.Cosine(),
            1e-300 * mercer.RBF(),
            mercer.Laplacian("scale"),
            mercer.Sigmoid(),
            mercer.Diffusion(n_neighbors=3),
        ]
        return R.choice(made), X
    if kind == "function":
        return R.choice([lambda A, B: A @ B.T, lambda A, B: np.full((len(A), len(B)), np.nan), lambda a, b: 1.0]), X
    n = length(X)
    A = rng.normal(size=(n, n))
    K = R.choice(
        [
            A @ A.T,
            A + A.T,
            A,
            np.zeros((n, n)),
            np.ones((n, n)),
            np.full((n, n), np.nan),
            -A @ A.T,
            1e300 * (A @ A.T),
            A[:, :-1],
        ]
    )
    return R.choice(["precomputed", mercer.Precomputed()]), K
