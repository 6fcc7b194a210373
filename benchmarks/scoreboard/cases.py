"""What is raced: for every case its data, its sizes, our contender and the peers, each a function that makes a run.

How a contender is set up and run is in makers.py and label_makers.py, for those with `r` in kernlab.R.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import label_makers as labels
from . import makers


@dataclass(frozen=True)
class Contender:
    """Someone in the race: ours, a peer in Python (`needs` its package), or a peer in R (`r`: what kernlab.R runs)."""

    name: str
    make: Callable | None = None
    against: str = ""  # our contender that a peer is compared with; "" for our own
    needs: str = "sklearn"
    r: str = ""


@dataclass(frozen=True)
class Case:
    """One race over sizes. `answer` shows what the printed values of the predictions are."""

    part: str
    name: str
    title: str
    sizes: tuple
    quick: int
    data: Callable
    contenders: tuple
    answer: str
    better: str = "equal"  # "equal", "lower" or "higher": how answers are read
    setting: float = 0.0  # kernlab's number of components, nu or number of clusters
    facts: dict = field(default_factory=dict)

    @property
    def key(self):
        return f"{self.part}/{self.name}"

    def contender(self, name):
        return next(c for c in self.contenders if c.name == name)


def ours(name, make):
    return Contender(name, make)


def peer(name, make, against, needs="sklearn"):
    return Contender(name, make, against, needs)


def kernlab(what, against):
    return Contender(
        f"kernlab {what}", None, against, "kernlab", {"kpca": "kpca", "ksvm": "svdd", "kkmeans": "cmeans"}[what]
    )


def mixture(n, d=20, groups=20, classes=4, spread=1.0, n_labels=100):
    """Rows of a Gaussian mixture, γ of the median rule, classes, and a few of them given (−1: not)."""
    from mercer import bandwidth_of

    rng = np.random.default_rng(0)
    centers = 3 * rng.standard_normal((groups, d))
    group = rng.integers(groups, size=n)
    X = centers[group] + spread * rng.standard_normal((n, d))
    y = group % classes
    given = np.full(n, -1)
    rows = rng.choice(n, min(n_labels, n // 4), replace=False)
    given[rows] = y[rows]
    gamma = 1 / (2 * bandwidth_of(X[:1000], "median") ** 2)
    return {"X": X, "y": y, "given": given, "gamma": gamma, "sharp": 1 / (2 * d)}


def two_groups(n):
    """Two overlapping groups in 200 dimensions, a twentieth of the labels pinned: the label search's problem."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 200))
    y = np.arange(n) % 2
    X[:, 0] += np.where(y == 1, 2.5, -2.5)
    return {"X": X, "y": y, "given": np.where(np.arange(n) < n // 20, y, -1), "lam": 1.0}


def doubling(first, last):
    sizes = [first]
    while sizes[-1] * 2 <= last:
        sizes.append(sizes[-1] * 2)
    return tuple(sizes)


_ALL = (
    Case(
        "kernel_pca", "20 components", "Kernel PCA, RBF, 20 columns, 20 components", doubling(1000, 32_000), 2000,
        mixture,
        (
            ours("mercer", makers.kernel_pca),
            peer("scikit-learn dense", makers.sklearn_kernel_pca("dense"), "mercer"),
            peer("scikit-learn arpack", makers.sklearn_kernel_pca("arpack"), "mercer"),
            peer("scikit-learn randomized", makers.sklearn_kernel_pca("randomized"), "mercer"),
            kernlab("kpca", "mercer"),
        ),
        "sum of eigenvalues / n", setting=20,
    ),
    Case(
        "nystroem", "features", "500 Nyström features of all rows", doubling(5000, 160_000), 20_000, mixture,
        (ours("mercer", makers.landmark_features), peer("scikit-learn Nystroem", makers.nystroem, "mercer")),
        "relative error of the kernel", better="lower",
    ),
    Case(
        "nystroem", "components", "10 kernel principal components through 500 landmarks", doubling(5000, 160_000),
        20_000, mixture,
        (ours("mercer", makers.landmark_pca), peer("scikit-learn Nystroem + PCA", makers.nystroem_pca, "mercer")),
        "sum of variances", better="higher",
    ),
    *(
        Case(
            "svdd", f"nu {nu}", f"One-class SVM / SVDD, ν = {nu}", doubling(1000, 64_000), 4000, mixture,
            (
                ours("mercer", makers.svdd(nu)),
                peer("scikit-learn OneClassSVM", makers.one_class_svm(nu), "mercer"),
                kernlab("ksvm", "mercer"),
            ),
            "number of support vectors", setting=nu,
        )
        for nu in (0.1, 0.5)
    ),
    Case(
        "cmeans", "10 clusters", "Kernel c-means, 10 clusters, one start", doubling(1000, 16_000), 2000, mixture,
        (
            ours("mercer", makers.cmeans),
            peer("tslearn KernelKMeans", makers.tslearn_cmeans, "mercer", "tslearn"),
            kernlab("kkmeans", "mercer"),
        ),
        "inertia / n (kkmeans: clusters)", setting=10, better="lower",
    ),
    Case(
        "ridge", "fit", "Kernel ridge / LS-SVM regression, every row with a target", doubling(1000, 32_000), 4000,
        mixture,
        (
            ours("mercer exact", makers.lssvm("exact")),
            ours("mercer default", makers.lssvm("auto")),
            peer("scikit-learn KernelRidge", makers.kernel_ridge, "mercer exact"),
        ),
        "R² on new rows", better="higher",
    ),
    Case(
        "few_label", "100 labels", "Classifiers from 100 labels, labels of all rows", doubling(2000, 64_000), 2000,
        mixture,
        (
            ours("mercer LSSVM", labels.few_label("lssvm")),
            ours("mercer LS-KPCA", labels.few_label("ls_kpca")),
            ours("mercer SGT", labels.few_label("sgt")),
            peer("scikit-learn LabelSpreading rbf", labels.sklearn_few_label("spreading rbf"), "mercer LS-KPCA"),
            peer("scikit-learn LabelPropagation rbf", labels.sklearn_few_label("propagation rbf"), "mercer LS-KPCA"),
            peer("scikit-learn LabelSpreading knn", labels.sklearn_few_label("spreading knn"), "mercer LS-KPCA"),
            peer("scikit-learn SelfTraining(SVC)", labels.sklearn_few_label("self-training"), "mercer LS-KPCA"),
        ),
        "error of the unlabeled rows, %", better="lower",
    ),
    Case(
        "label_search", "evaluation", "One evaluation of the label search's objective", doubling(500, 8000), 2000,
        two_groups,
        (
            ours("mercer", labels.one_flip),
            peer("naive, from the kernel matrix", labels.naive_evaluation, "mercer", "numpy"),
        ),
        "objective, at the labels found; at the true ones",
    ),
    Case(
        "label_search", "search", "Label search, 50 restarts", doubling(500, 8000), 1000, two_groups,
        (
            ours("mercer", labels.search("auto")),
            peer("the paper's evolution", labels.search("ea"), "mercer", "numpy"),
        ),
        "objective", better="lower",
    ),
)  # fmt: skip
CASES = {case.key: case for case in _ALL}
PARTS = tuple(dict.fromkeys(case.part for case in _ALL))
