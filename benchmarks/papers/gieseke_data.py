"""The data sets of Gieseke et al. (2012), Table 1, and their splits; used by gieseke.py and speed/label_search.py."""

import numpy as np

# data set, labeled, unlabeled, test, then mean and deviation of RLSC, LIBSVM, UniverSVM, S²RLSC: Table 2, Table 3.
TABLES = """
Gaussian2C 25 225 250 10.6 2.3 13.0 2.9 1.0 0.5 0.8 0.5 11.4 2.4 13.2 2.8 1.8 0.9 3.3 1.8
Gaussian2C 50 200 250 4.9 1.9 5.8 2.2 1.0 0.4 0.8 0.6 5.3 2.1 6.3 2.4 1.8 0.8 2.4 1.5
Gaussian4C 25 225 250 16.1 7.0 17.4 6.6 7.6 12.2 16.4 22.2 16.5 6.8 20.6 11.5 13.3 15.2 22.4 19.1
Gaussian4C 50 200 250 6.1 2.1 6.7 1.5 1.6 0.8 1.0 0.7 6.5 1.9 6.9 1.6 2.5 1.5 3.2 2.2
COIL(3,6) 14 101 29 14.5 7.7 13.4 7.0 2.8 3.7 5.1 9.5 15.5 8.3 16.2 7.2 16.9 13.9 10.7 11.9
COIL(3,6) 28 87 29 4.1 4.8 3.1 3.3 0.3 1.0 0.0 0.0 6.2 5.7 3.8 4.2 5.2 5.8 1.7 3.5
COIL(5,9) 14 101 29 13.1 8.0 13.4 7.8 6.9 7.2 1.7 3.5 16.2 9.5 13.4 7.8 19.3 10.9 15.5 12.0
COIL(5,9) 28 87 29 3.1 4.2 3.4 4.1 1.4 3.2 0.0 0.0 4.5 7.4 4.5 5.6 7.2 9.1 2.8 4.6
COIL(6,19) 14 101 29 10.0 6.8 12.1 9.8 4.5 8.2 0.3 1.0 13.4 11.1 15.5 13.1 21.0 12.0 4.8 13.4
COIL(6,19) 28 87 29 2.4 3.1 3.1 3.3 0.7 2.1 1.0 3.1 3.8 3.3 3.4 3.4 4.5 5.1 1.7 3.2
COIL(18,19) 14 101 29 10.0 8.6 6.9 8.0 1.0 3.1 2.1 6.2 10.7 8.1 6.9 8.0 7.6 8.8 13.1 11.8
COIL(18,19) 28 87 29 3.4 5.8 1.4 4.1 0.0 0.0 0.0 0.0 3.8 6.1 1.4 4.2 5.2 9.7 1.4 4.1
USPS(2,5) 16 806 823 7.9 2.9 9.4 5.1 3.2 0.5 4.6 2.8 9.3 2.3 10.5 4.7 9.0 5.6 13.7 12.2
USPS(2,5) 32 790 823 4.4 0.5 4.7 0.7 3.2 0.5 3.7 0.7 5.8 1.6 5.4 0.8 5.7 1.8 5.0 1.3
USPS(2,7) 17 843 861 3.6 2.5 4.6 3.0 1.5 0.3 1.0 0.2 4.0 2.4 4.9 2.9 6.1 5.3 4.0 6.7
USPS(2,7) 34 826 861 2.2 0.7 2.5 1.0 1.4 0.2 1.0 0.2 3.1 1.7 2.8 1.1 3.4 2.4 1.3 0.3
USPS(3,8) 15 751 766 9.8 6.6 12.0 8.2 4.8 1.1 4.5 1.8 11.0 6.4 12.9 8.3 8.7 3.9 13.4 15.0
USPS(3,8) 30 736 766 6.3 2.0 6.6 2.1 4.0 0.1 4.3 1.5 7.7 1.4 7.3 2.1 7.1 1.8 7.2 4.4
USPS(8,0) 22 1108 1131 4.8 1.9 4.8 1.7 1.7 0.7 1.2 0.2 6.6 3.3 5.0 2.0 3.2 2.2 2.7 1.8
USPS(8,0) 45 1085 1131 2.6 0.8 2.7 0.8 1.3 0.4 1.2 0.2 3.3 0.9 3.0 0.9 3.3 1.8 2.0 0.8
MNIST(1,7) 10 490 500 4.5 3.6 7.3 4.6 2.9 0.9 2.0 0.6 5.4 3.6 7.8 5.2 9.5 7.5 9.2 12.0
MNIST(1,7) 20 480 500 2.7 1.1 3.5 1.3 2.6 1.0 1.9 0.5 3.9 1.3 4.2 1.6 4.3 2.8 2.7 1.1
MNIST(1,7) 50 450 500 2.1 1.1 2.3 1.0 2.2 0.9 1.7 0.8 2.8 1.7 2.6 1.0 3.7 2.5 2.2 1.0
MNIST(2,5) 10 490 500 14.9 8.9 15.9 8.4 3.7 1.1 4.7 3.2 17.4 11.5 17.9 12.3 15.7 12.5 26.0 17.9
MNIST(2,5) 20 480 500 7.7 3.3 9.3 3.2 3.4 0.7 3.4 2.1 9.2 2.6 10.2 3.1 6.3 3.9 10.1 9.3
MNIST(2,5) 50 450 500 4.0 0.9 4.7 1.2 3.4 0.7 2.6 0.6 5.4 2.1 5.8 1.7 4.2 1.6 4.5 1.8
MNIST(2,7) 10 490 500 8.7 5.5 12.0 8.0 3.0 0.7 3.1 0.9 10.2 5.9 12.1 7.9 13.3 14.5 17.8 16.6
MNIST(2,7) 20 480 500 5.6 2.7 6.7 3.7 2.9 0.6 3.0 1.4 6.6 2.7 7.9 4.4 8.0 4.7 6.8 3.4
MNIST(2,7) 50 450 500 3.5 0.9 4.2 1.2 2.5 0.5 2.6 0.9 4.0 0.8 5.0 1.5 5.1 1.6 4.7 2.6
MNIST(3,8) 10 490 500 19.4 5.6 20.7 5.9 12.3 3.8 8.3 1.6 21.3 5.7 26.1 11.1 19.9 6.5 28.6 15.1
MNIST(3,8) 20 480 500 13.7 4.1 15.2 4.1 8.6 3.3 7.7 1.8 18.4 11.7 18.8 11.5 16.1 3.9 11.7 8.2
MNIST(3,8) 50 450 500 8.2 2.2 8.6 2.5 6.3 2.0 7.4 3.0 9.0 2.2 9.0 2.4 9.5 4.1 9.0 2.9
"""


def paper_rows():
    """[(data set, l, u, t, {table: {method: (mean, deviation)}})] as printed.

    One slip is corrected: MNIST with l = 50 has u = 450 (400 in the paper, which does not add up to 500).
    """
    rows = []
    for line in TABLES.strip().splitlines():
        name, *numbers = line.split()
        values = [float(v) for v in numbers[3:]]
        tables = {}
        for table, start in ((2, 0), (3, 8)):
            pairs = [tuple(values[start + 2 * i : start + 2 * i + 2]) for i in range(4)]
            tables[table] = dict(zip(("RLSC", "LIBSVM", "UniverSVM", "S²RLSC"), pairs))
        rows.append((name, *(int(v) for v in numbers[:3]), tables))
    return rows


def load(folder, name, seed=0):
    """X (float64, pixels in [0, 1]) and y (0 or 1) of a data set of Table 1; the artificial ones depend on the seed."""
    rng = np.random.default_rng(seed)
    if name.startswith("Gaussian"):
        return gaussians(500, 500, name.endswith("4C"), rng)
    if name == "Moons":
        from sklearn.datasets import make_moons

        return make_moons(200, noise=0.1, random_state=seed)
    kind, _, pair = name.rstrip(")").partition("(")
    a, b = (int(v) for v in pair.split(","))
    if kind == "COIL":
        data = np.load(folder / "coil20.npz")
        X, y = data["X"] / 255.0, data["y"]
    elif kind == "USPS":
        data = np.load(folder / "usps.npz")
        X = (np.vstack([data["X_train"], data["X_test"]]).astype(np.float64) + 1.0) / 2.0
        y = np.concatenate([data["y_train"], data["y_test"]])
    else:
        data = np.load(folder / "mnist.npz")
        y = data["y_train"]
        chosen = np.flatnonzero(np.isin(y, (a, b)))[:1000]
        X, y = data["X_train"][chosen] / 255.0, y[chosen]
    rows = np.isin(y, (a, b))
    return X[rows], (y[rows] == b).astype(int)


def gaussians(n, d, four, rng):
    """Gaussian2C or Gaussian4C: unit Gaussians around ±2.5 on the first axis (and ±5 on the second)."""
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 2
    X[:, 0] += np.where(y == 1, 2.5, -2.5)
    if four:
        X[:, 1] += np.where((np.arange(n) // 2) % 2 == 1, 5.0, -5.0)
    return X, y


def split(y, l, u, t, seed, equal=False):
    """Positions of l labeled, u unlabeled and t test rows, drawn until the labels have both classes twice.

    `equal` takes the same number of labels from both classes (one more of class 1 when l is odd).
    """
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(y))
        if equal:
            first = np.concatenate([np.flatnonzero(y[order] == c)[: l // 2 + c * (l % 2)] for c in (0, 1)])
            order = np.concatenate([order[first], np.delete(order, first)])
        labeled = order[:l]
        if min(np.bincount(y[labeled], minlength=2)) >= 2:
            return labeled, order[l : l + u], order[l + u : l + u + t]


def rotated(X, rows):
    """X in an orthogonal basis of the chosen rows' span: the same linear kernel with at most len(rows) columns."""
    if X.shape[1] <= len(rows):
        return X
    _, _, V = np.linalg.svd(X[rows], full_matrices=False)
    return X @ V.T
