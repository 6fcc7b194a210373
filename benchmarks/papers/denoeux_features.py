"""Denœux's table of test errors on USPS: a linear SVM on polynomial kernel PCA features; called by denoeux.py.

The slides give the kernel's name (polynomial), 3,000 images for the components, and a linear SVM. What they leave open
is a `Protocol`; `study` computes the table up to 256 components for each of them, `table` all cells for one.
"""

from dataclasses import asdict, dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.ndimage import gaussian_filter
from sklearn.svm import SVC, LinearSVC

from benchmarks.harness import read_csv, write_csv
from mercer import KernelPCA, Polynomial

COMPONENTS = (32, 64, 128, 256, 512, 1024, 2048)
SLIDE_ERRORS = {
    1: (9.6, 8.8, 8.6, 8.7, None, None, None),
    2: (8.8, 7.3, 5.8, 5.5, 4.9, 4.9, 4.9),
    3: (8.1, 6.8, 5.9, 5.3, 4.6, 4.3, 4.2),
    4: (8.5, 6.7, 6.1, 5.2, 4.4, 4.4, 4.1),
    5: (9.1, 6.7, 5.8, 5.2, 5.1, 4.6, 4.0),
    6: (9.3, 7.2, 6.0, 5.4, 4.6, 4.8, 4.3),
    7: (10.8, 7.5, 6.8, 5.4, 4.9, 4.6, 4.4),
}
GRID = (1, 3, 10, 30)  # of C, for features of mean square norm 1
N_MAP = 3000
ONE_ERROR = 0.45  # points: standard error of one error rate near 4% on 2,007 images


@dataclass(frozen=True)
class Protocol:
    """What the slides leave open.

    offset : b in (b + x·y/256)^degree.
    smooth : width in pixels of a Gaussian filter on the images, 0 for none.
    pixels : "signed", −1 to 1 with −1 the paper, as in the files; "positive", 0 to 1.
    choose : whether C is chosen for each degree (at 256 components) or for each cell (beyond 256 components that at
        256), on a fifth of the images.
    scheme : "rest", liblinear one against the rest; "pairs", libsvm one against one.
    images : whether the components come from the "first" 3,000 images or from "random" ones.
    svm_rows : whether the SVM sees "all" 7,291 images or the "same" 3,000.
    scale : whether components are taken as they are ("none") or divided by their deviation ("white").
    """

    offset: float = 0.0
    smooth: float = 0.0
    pixels: str = "signed"
    choose: str = "degree"
    scheme: str = "rest"
    images: str = "first"
    svm_rows: str = "all"
    scale: str = "none"

    def __str__(self):
        plain = asdict(Protocol())
        other = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
                 for name, value in asdict(self).items() if value != plain[name]]  # fmt: skip
        return ", ".join(other) or "plain"


STUDY = (
    Protocol(),
    Protocol(choose="cell"),
    Protocol(offset=1.0, choose="cell"),
    Protocol(smooth=0.75, choose="cell"),
    Protocol(pixels="positive", choose="cell"),
    Protocol(scheme="pairs", choose="cell"),
    Protocol(offset=1.0, scheme="pairs", choose="cell"),
    Protocol(offset=1.0, smooth=0.75, choose="cell"),
    Protocol(images="random", choose="cell"),
    Protocol(svm_rows="same", choose="cell"),
    Protocol(scale="white", choose="cell"),
)


TABLE = Protocol(smooth=0.75, choose="cell")  # what `study` found


def images(folder, protocol):
    usps = np.load(folder / "usps.npz")
    sets = [usps["X_train"].astype(float), usps["X_test"].astype(float)]
    if protocol.smooth:
        width = (0, protocol.smooth, protocol.smooth)
        sets = [
            gaussian_filter(X.reshape(-1, 16, 16), width, mode="constant", cval=-1.0).reshape(-1, 256) for X in sets
        ]
    if protocol.pixels == "positive":
        sets = [(X + 1) / 2 for X in sets]
    return *sets, usps["y_train"], usps["y_test"]


def features(train, test, degree, protocol, most, n_map=N_MAP):
    """Kernel principal components of the training and the test images, and the rows that the SVM learns from."""
    first = np.arange(n_map)
    if protocol.images == "random":
        first = np.random.default_rng(0).permutation(len(train))[:n_map]
    kernel = Polynomial(degree, offset=protocol.offset, scale=1 / 256)
    model = KernelPCA(min(most, 256 if degree == 1 else n_map - 1), kernel=kernel, approx="exact").fit(train[first])
    F, G = model.transform(train), model.transform(test)
    if protocol.scale == "white":
        deviation = F[first].std(axis=0)
        F, G = F / deviation, G / deviation
    size = np.sqrt(np.mean(np.sum(F**2, axis=1)))
    return F / size, G / size, first if protocol.svm_rows == "same" else np.arange(len(train))


def svm(C, scheme):
    """Liblinear with an intercept that is hardly penalized, or libsvm."""
    if scheme == "pairs":
        return SVC(kernel="linear", C=C, cache_size=1000)
    return LinearSVC(C=C, intercept_scaling=10, max_iter=300, random_state=0)


def errors(folder, degree, protocol, components, n_map=N_MAP):
    """Rows of the table for one degree."""
    train, test, y_train, y_test = images(folder, protocol)
    F, G, rows = features(train, test, degree, protocol, max(components), n_map)
    components = [m for m in components if m <= F.shape[1]]
    order = np.random.default_rng(1).permutation(rows)
    held_out, kept = order[: len(order) // 5], order[len(order) // 5 :]

    def fails(C, m):
        fitted = svm(C, protocol.scheme).fit(F[kept, :m], y_train[kept])
        return np.mean(fitted.predict(F[held_out, :m]) != y_train[held_out])

    chosen, out = {}, []
    for m in components:
        few = min(m if protocol.choose == "cell" else 256, 256, F.shape[1])
        if few not in chosen:
            chosen[few] = min(GRID, key=lambda C, few=few: fails(C, few))
        fitted = svm(chosen[few], protocol.scheme).fit(F[rows, :m], y_train[rows])
        wrong = 100 * float(np.mean(fitted.predict(G[:, :m]) != y_test))
        out.append({"protocol": str(protocol), "degree": degree, "components": m, "C": chosen[few], "ours": wrong})
    return out


def compute(name, folder, protocols, degrees, components, jobs, out, n_map=N_MAP):
    """Rows of name.csv that are missing; it is written after each part, so that a run may be broken off."""
    rows = {(row["protocol"], int(row["degree"]), int(row["components"])): row for row in read_csv(name, out)}
    parts = [tuple(m for m in components if m <= 512), *((m,) for m in components if m > 512)]
    wanted = [(d, p, part) for part in reversed(parts) for p in protocols for d in degrees
              if any((str(p), d, m) not in rows and (d > 1 or m <= 256) for m in part)]  # fmt: skip
    found = Parallel(jobs, return_as="generator_unordered")(delayed(errors)(folder, *w, n_map) for w in wanted)
    for part in found:
        new = [dict(row, ours=f"{row['ours']:.2f}") for row in part]
        rows |= {(row["protocol"], row["degree"], row["components"]): row for row in new}
        told = ", ".join(f"{row['components']}: {row['ours']:.1f}" for row in part)
        print(f"{part[0]['protocol']}, degree {part[0]['degree']}: {told}", flush=True)
        write_csv(name, list(rows.values()), out)


def slide(row):
    return SLIDE_ERRORS[int(row["degree"])][COMPONENTS.index(int(row["components"]))]


def standard_errors(row):
    """(ours − slide) in standard errors of one error rate: strict, for both are measured on the same images."""
    return (float(row["ours"]) - slide(row)) / ONE_ERROR


def counts(rows):
    """(agree, worse, better) by two standard errors."""
    z = np.array([standard_errors(row) for row in rows if slide(row) is not None])
    return int(np.sum(np.abs(z) <= 2)), int(np.sum(z > 2)), int(np.sum(z < -2))
