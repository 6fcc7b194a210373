"""The candidates of the few-label choice: which spaces are built, and which methods, with which values, run in each.

Every value here is fixed without looking at labels. One space costs a neighbour search or a factorisation; a method in
it costs a small closed form, left-out labels included. The first candidate is the label-free default.
"""

import copy
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..estimators.least_squares_kpca import LeastSquaresKPCA
from ..estimators.logistic_kpca import LogisticKPCA
from ..estimators.lssvm import LSSVMClassifier
from ..estimators.rls import RLSClassifier
from ..estimators.s2rls import S2RLSClassifier
from ..estimators.semi_kpca import SemiKPCA
from ..estimators.spectral_graph_transducer import SpectralGraphTransducer
from ..kernels import RBF, Linear
from ..kernels.bandwidth import bandwidth_of
from .spaces import GraphSpace, JoinedSpace, KernelSpace, components, diffused, principal, transducer
from .views import AsGiven, Components, Standardised, UnitNorm
from .within_variance import WithinVarianceClassifier

LARGE = 5000  # rows above which one graph, one RBF and one linear space are enough, all on the leading components
METHODS = {  # name → (what people call it, what it does)
    "lssvm": ("Least-squares SVM", "learns from the labelled rows only, with an RBF or linear kernel"),
    "components": ("Least-squares SVM on components", "sees only the leading kernel principal components"),
    "diffusion": ("Least-squares SVM on a graph", "labels spread from row to neighbouring row (heat kernel)"),
    "mixed": ("Least-squares SVM on both", "the mean of an RBF kernel and of the graph's heat kernel"),
    "semi_kpca": ("Semi-supervised kernel PCA", "kernel PCA of all rows, pulled by the labels"),
    "ls_kpca": ("Least-squares kernel PCA", "fits the labels, with the variance over all rows held fixed"),
    "sgt": ("Spectral graph transducer", "the smoothest balanced function on the graph that agrees with the labels"),
    "mv_kpca": ("Minimum-variance kernel PCA", "ten components that vary little within a class, then an SVM"),
    "lr_kpca": ("Logistic kernel PCA", "as least-squares kernel PCA, with logistic loss"),
    "s2rls": ("Semi-supervised least squares", "searches labels for all rows whose boundary avoids dense regions"),
    "rls": ("Regularised least squares", "learns from the labelled rows only (kernel ridge regression)"),
}
IN_KERNEL = {"lssvm", "components", "semi_kpca", "ls_kpca", "mv_kpca", "lr_kpca", "s2rls", "rls"}
AUTO = ("lssvm", "components", "diffusion", "mixed", "semi_kpca", "ls_kpca", "sgt")


@dataclass
class Candidate:
    """A method in a space: `solve` fits it to labels, `decide` gives its scores."""

    name: str
    method: str
    space: Any
    model: Any
    seconds: float = 0.0
    left_out: Any = field(default=None, repr=False)

    def solve(self, labels):
        """A fitted copy, with the left-out answers of every label; the space and its decomposition are shared."""
        start = time.perf_counter()
        fitted = copy.copy(self)
        fitted.model = copy.copy(self.model)
        left_out = fitted.model._solve(self.space.Z, labels, None)
        if left_out is None:
            left_out = fitted.model._left_out(self.space.Z, labels, None)
        fitted.left_out = left_out
        fitted.seconds = self.seconds + time.perf_counter() - start
        return fitted

    def decide(self, Z):
        """(n, k') scores of rows of the space."""
        return self.model._decide(Z)


def planned(X, methods=AUTO, random_state=0):
    """The feature spaces to build, the most useful first.

    Parameters
    ----------
    X : (n, d) rows, dense or CSR.
    methods : names from `METHODS`.

    Returns
    -------
    list of (name of the space, function without arguments that builds it and returns its list of `Candidate`)
    """
    shared: dict = {}
    return [
        (
            f"{MAKES[build][0]} ({view.name}{'' if value is None else f', {value:g}'})",
            partial(_candidates_in, build, view, value, X, methods, shared, random_state),
        )
        for build, view, value in _plan(X)
        if not MAKES[build][1].isdisjoint(methods)
    ]


def _candidates_in(build, view, value, X, methods, shared, random_state):
    begun = time.perf_counter()
    if id(view) not in shared:
        shared[id(view)] = view.fit(X, random_state)
    new = [
        Candidate(_title(method, model, space), method, space, model)
        for method, space, model in build(view, value, shared, random_state)
        if method in methods
    ]
    for candidate in new:
        candidate.seconds = (time.perf_counter() - begun) / len(new)
    return new


def _plan(X):
    """[(builder, view, its value)]: the most useful spaces first, so that a time budget cuts the least useful."""
    n, d = X.shape
    sparse = sp.issparse(X)
    raw: Any = UnitNorm() if sparse else AsGiven()
    most = min(n, d) - 1
    if n > LARGE:
        view = Components(30) if most >= 30 and d > 50 else raw
        other = Components(8) if most >= 8 and d > 50 else Standardised() if not sparse else raw
        return [(_graph, view, 10), (_rbf, view, 1.0), (_linear, view, None), (_graph, other, 10), (_rbf, view, 0.35)]
    eight = Components(8) if most >= 8 else raw
    three = Components(3) if most >= 3 else raw
    plan: list = [
        (_graph, raw, 10),
        (_rbf, raw, 1.0),
        (_linear, raw, None),
        (_graph, eight, 10),
        (_graph, three, 30),
        (_graph, raw, 5),
        (_graph, raw, 20),
        (_rbf, raw, 0.35),
    ]
    if not sparse and not _standard(X):
        scaled = Standardised()
        plan += [(_graph, scaled, 10), (_rbf, scaled, 1.0), (_linear, scaled, None)]
    seen: set = set()
    unique = []
    for build, view, value in plan:  # a graph of too many neighbours for n is that of fewer; small d has no components
        value = min(value, max(n // 3, 1)) if build is _graph else value
        if (build, id(view), value) not in seen:
            seen.add((build, id(view), value))
            unique.append((build, view, value))
    return unique


def _standard(X):
    """Whether all columns have the same spread already."""
    spread = X.std(axis=0, dtype=np.float64)
    return bool(spread.max() <= 1.01 * spread.min())


def _graph(view, n_neighbors, shared, seed):
    base = GraphSpace(f"{n_neighbors} neighbours, {view.name}", view, n_neighbors, shared[id(view)], seed)
    ten, thirty, hundred = (diffused(base, time) for time in (10.0, 30.0, 100.0))
    shared.setdefault("heat", thirty)
    found = [
        ("diffusion", thirty, LSSVMClassifier(3.0, bias=False)),
        ("diffusion", ten, LSSVMClassifier(10.0)),
        ("diffusion", hundred, LSSVMClassifier(3.0, bias=False)),
    ]
    spectrum = transducer(base)
    if spectrum is not None:
        found += [("sgt", spectrum, LSSVMClassifier(10.0)), ("sgt", spectrum, SpectralGraphTransducer())]
    return found


def _rbf(view, factor, shared, seed):
    rows = shared[id(view)]
    width = factor * bandwidth_of(rows)
    base = KernelSpace(f"RBF of {factor:g} median, {view.name}", view, RBF(width), rows, seed)
    if factor < 1:
        return [("lssvm", base, LSSVMClassifier(10.0)), ("rls", base, RLSClassifier(0.01))]
    found = _in_kernel(base)
    if "heat" in shared:
        joined = JoinedSpace(f"{base.name} and {shared['heat'].name}", base, shared["heat"])
        found.append(("mixed", joined, LSSVMClassifier(10.0)))
    return found


def _linear(view, _, shared, seed):
    return _in_kernel(KernelSpace(f"linear, {view.name}", view, Linear(), shared[id(view)], seed))


def _in_kernel(base):
    found = [("lssvm", base, LSSVMClassifier(10.0)), ("lssvm", base, LSSVMClassifier(100.0))]
    found.append(("rls", base, RLSClassifier(0.01)))
    axes = principal(base)
    few = components(axes, (1, 2, 4, 8, 16))
    if not few:  # all rows are the same row
        return found
    found += [("components", space, LSSVMClassifier(10.0)) for space in few]
    for weight in (0.1, 1.0, 10.0):
        found.append(("ls_kpca", axes, LeastSquaresKPCA(weight)))
    found.append(("lr_kpca", axes, LogisticKPCA()))
    found.append(("mv_kpca", axes, WithinVarianceClassifier()))
    found.append(("s2rls", axes, S2RLSClassifier(n_restarts=10)))
    if axes.Z.shape[1] > 1:  # the first direction is removed
        found.append(("semi_kpca", axes, SemiKPCA()))
    return found


def _title(method, model, space):
    value = {
        "ls_kpca": lambda: f" label_weight={model.label_weight:g}",
        "lr_kpca": lambda: f" label_weight={model.label_weight:g}",
        "rls": lambda: f" lam={model.lam:g}",
        "s2rls": lambda: f" lam={model.lam:g}",
    }.get(method, lambda: f" gamma={model.gamma:g}" if isinstance(model, LSSVMClassifier) else "")()
    return f"{method}{value}: {space.name}"


MAKES = {
    _graph: ("neighbour graph", {"diffusion", "sgt", "mixed"}),
    _rbf: ("RBF kernel", IN_KERNEL | {"mixed"}),
    _linear: ("linear kernel", IN_KERNEL),
}
