"""The same predictions as the peers, to a stated tolerance; tests/benchmarks/test_peers.py asserts some of them."""

import contextlib
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

from . import HERE
from .cases import CASES, mixture
from .ladder import missing


def correctness(options):
    """Rows: what was compared, with whom, the difference, the tolerance."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in (components, one_class, clusters, ridge, nystroem):
            try:
                found = check(mixture(600))
            except Exception as error:
                found = [(check.__name__, "", float("nan"), 0.0, f"stopped: {error}")]
            for what, peer, value, tolerance, *note in found:
                verdict = note[0] if note else "ok" if value <= tolerance else "DIFFERENT"
                rows.append(
                    {"check": check.__name__, "what": what, "peer": peer, "measured": f"{value:.1e}",
                     "tolerance": f"{tolerance:.0e}", "verdict": verdict}
                )  # fmt: skip
                print("  ", rows[-1], flush=True)
    return rows


def kernlab(what, X, gamma, setting):
    """The prediction of kernlab.R as an array, or None without R or kernlab."""
    some = next(c for case in CASES.values() for c in case.contenders if c.r)
    if missing(some):
        return None
    with tempfile.TemporaryDirectory() as place:
        X.tofile(Path(place) / "rows")
        arguments = [Path(place) / "rows", *X.shape, gamma, setting, Path(place) / "out"]
        command = ["Rscript", "--vanilla", HERE / "kernlab.R", what, *arguments]
        subprocess.run([str(part) for part in command], input="go\n", text=True, capture_output=True, check=True)
        return np.fromfile(Path(place) / "out")


def up_to_sign(A, B):
    """Largest difference of two sets of columns after each column of B has been given the better sign, relative."""
    signs = np.where(np.sum(A * B, axis=0) < 0, -1.0, 1.0)
    return float(np.max(np.abs(A - B * signs)) / np.max(np.abs(A)))


def components(data):
    from sklearn.decomposition import KernelPCA as Peer

    from mercer import RBF, KernelPCA

    X, gamma = data["X"], data["gamma"]
    model = KernelPCA(10, kernel=RBF.from_gamma(gamma)).fit(X)
    mine = model.transform(X)
    for solver in ("dense", "arpack", "randomized"):
        peer = Peer(10, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit_transform(X)
        yield "10 kernel principal components of 600 rows", f"scikit-learn {solver}", up_to_sign(mine, peer), 1e-6
    found = kernlab("kpca", X, gamma, 10)
    if found is not None:
        values, rotated = found[:10], found[10:].reshape(10, -1).T
        yield "eigenvalues / n", "kernlab kpca", float(np.max(np.abs(model.eigenvalues_ / len(X) - values))), 1e-10
        rotated = rotated * np.linalg.norm(mine, axis=0) / np.linalg.norm(rotated, axis=0)  # its own scale
        yield "10 kernel principal components (its scale)", "kernlab kpca", up_to_sign(mine, rotated), 1e-6


def one_class(data):
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import OneClassSVM

    from mercer import RBF, SVDD

    X, gamma, n = data["X"], data["gamma"], len(data["X"])
    K = rbf_kernel(X, gamma=gamma)
    for nu in (0.1, 0.5):
        peer = OneClassSVM(nu=nu, gamma=gamma, tol=1e-9).fit(X)
        model = SVDD(nu, kernel=RBF.from_gamma(gamma), approx="exact", tol=1e-12).fit(X)
        beta = np.zeros(n)
        beta[peer.support_] = peer.dual_coef_.ravel() / peer.dual_coef_.sum()
        objective = 1.0 - beta @ K @ beta
        yield f"dual objective, ν = {nu}", "scikit-learn OneClassSVM", abs(model.objective_ / objective - 1), 1e-8
        # Our decision function is libsvm's times 2 / (ν n): compare in libsvm's units, relative to its range.
        theirs = peer.decision_function(X)
        mine = model.decision_function(X) * nu * n / 2
        yield f"decision function, ν = {nu}", "scikit-learn OneClassSVM", _relative(mine, theirs), 1e-5
        found = kernlab("svdd", X, gamma, nu)
        if found is not None:
            yield f"decision function, ν = {nu} (its tol is 1e-3)", "kernlab ksvm", _relative(mine, found), 1e-3


def _relative(mine, theirs):
    return float(np.max(np.abs(mine - theirs)) / np.ptp(theirs))


def clusters(data):
    """A fixed point of one is a fixed point of the other: no row changes its cluster.

    scikit-learn's KMeans on features with K = Z Zᵀ is kernel c-means, so it is the reference. tslearn takes the norm of
    every cluster mean for 1, and kkmeans stops before nothing moves: they have no fixed point in common with it.
    """
    from sklearn.cluster import KMeans

    from mercer import RBF, KernelCMeans

    X, kernel = data["X"], RBF.from_gamma(data["gamma"])
    values, V = np.linalg.eigh(kernel(X))
    Z = V * np.sqrt(np.maximum(values, 0))
    mine = KernelCMeans(5, kernel=kernel, approx="exact", n_init=3, random_state=0).fit(X)
    peer = KMeans(5, n_init=3, tol=0, random_state=0).fit(Z)
    yield (
        "fraction of rows that mercer moves from its solution",
        "scikit-learn KMeans on Z",
        moves(X, kernel, peer.labels_),
        0.0,
    )
    means = np.stack([Z[mine.labels_ == c].mean(axis=0) for c in range(5)])
    step = KMeans(5, init=means, n_init=1, max_iter=1, tol=0).fit(Z)
    moved = float(np.mean(step.labels_ != mine.labels_))
    yield "fraction of rows that it moves from mercer's solution", "scikit-learn KMeans on Z", moved, 0.0
    yield "objective of that solution", "scikit-learn KMeans on Z", abs(step.inertia_ / mine.inertia_ - 1), 1e-10
    with contextlib.suppress(ImportError):
        from tslearn.clustering import KernelKMeans

        options = {"kernel": "rbf", "kernel_params": {"gamma": data["gamma"]}, "max_iter": 300, "tol": 1e-16}
        moved = moves(X, kernel, KernelKMeans(5, **options, random_state=0).fit(X).labels_)
        note = "another problem: it assumes that every mean has norm 1"
        yield "fraction of rows that mercer moves from its solution", "tslearn KernelKMeans", moved, 0.0, note
    found = kernlab("cmeans", X, data["gamma"], 5)
    if found is not None:
        moved = moves(X, kernel, found.astype(int) - 1)
        yield (
            "fraction of rows that mercer moves from its solution",
            "kernlab kkmeans",
            moved,
            0.0,
            "it stops early",
        )


def moves(X, kernel, labels):
    """Fraction of rows that one of our steps moves when it starts from these labels."""
    from mercer import KernelCMeans

    labels = np.asarray(labels, dtype=int)
    step = KernelCMeans(labels.max() + 1, kernel=kernel, approx="exact", n_init=1, max_iter=1, init=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one step is not a convergence
        return float(np.mean(step.fit(X).labels_ != labels))


def ridge(data):
    from sklearn.kernel_ridge import KernelRidge

    from mercer import RBF, LSSVMRegressor, RLSClassifier

    X, gamma = data["X"], data["gamma"]
    target = np.sin(X[:, 0])
    new = X[:200] + 0.3
    peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=gamma).fit(X, target)
    kernel = RBF.from_gamma(gamma)
    mine = LSSVMRegressor(10.0, bias=False, kernel=kernel, approx="exact").fit(X, target)
    yield (
        "predictions, LSSVMRegressor without bias",
        "scikit-learn KernelRidge",
        _relative(mine.predict(new), peer.predict(new)),
        1e-8,
    )
    signs = np.where(data["y"] < 2, -1.0, 1.0)
    peer = KernelRidge(alpha=0.01 * len(X), kernel="rbf", gamma=gamma).fit(X, signs)
    mine = RLSClassifier(0.01, kernel=kernel, approx="exact").fit(X, np.where(signs > 0, "yes", "no"))
    yield (
        "scores, RLSClassifier, λ l = α",
        "scikit-learn KernelRidge",
        _relative(mine.decision_function(new), peer.predict(new)),
        1e-8,
    )


def nystroem(data):
    """Both maps on the same landmarks give the same approximate kernel matrix."""
    from sklearn.kernel_approximation import Nystroem

    from mercer import RBF, LandmarkMap

    X, gamma = data["X"], data["sharp"]
    peer = Nystroem(gamma=gamma, n_components=60, random_state=0).fit(X)
    Z = peer.transform(X)
    L = RBF.from_gamma(gamma)(X, X[peer.component_indices_])
    core = RBF.from_gamma(gamma)(X[peer.component_indices_])
    exact = L @ np.linalg.solve(core, L.T)
    yield "kernel matrix from its 60 landmarks, formula", "scikit-learn Nystroem", _relative(Z @ Z.T, exact), 1e-8
    mine = LandmarkMap(RBF.from_gamma(gamma)).fit(X[peer.component_indices_]).transform(X)
    yield (
        "kernel matrix from its 60 landmarks, mercer's map",
        "scikit-learn Nystroem",
        _relative(mine @ mine.T, Z @ Z.T),
        1e-8,
    )
