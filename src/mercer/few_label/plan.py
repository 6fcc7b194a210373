"""The candidates of the few-label choice: which spaces are built, and which methods, with which values, run in each.

Every value here is fixed without looking at labels. One space costs a neighbour search or a factorisation; a method in
it costs a small closed form, left-out labels included. The first candidate is the label-free default.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..estimators.classifier import KernelClassifier
from ..estimators.least_squares_kpca import LeastSquaresKPCA
from ..estimators.logistic_kpca import LogisticKPCA
from ..estimators.lssvm import LSSVMClassifier
from ..estimators.rls import RLSClassifier
from ..estimators.s2rls import S2RLSClassifier
from ..estimators.semi_kpca import SemiKPCA
from ..estimators.solution import Solution
from ..estimators.spectral_graph_transducer import SpectralGraphTransducer
from ..estimators.within_variance import WithinVarianceClassifier
from ..kernels import RBF, Laplacian, Linear
from ..kernels.bandwidth import bandwidth_of
from ..rows import host
from ..solvers.ridge.state import State
from .cost import build_seconds, forest_seconds, solve_seconds
from .forest import ForestCandidate
from .spaces import GraphSpace, JoinedSpace, KernelSpace, Space, components, diffused, principal, transducer
from .views import AsGiven, Bent, LeadingComponents, Standardised, UnitNorm, equally_spread, is_wide

LARGE = 5000  # rows above which one graph, one RBF and one linear space are enough, all on the leading components
WIDE_AXES = "axes of wide rows"
AUTO = ("lssvm", "components", "diffusion", "mixed", "semi_kpca", "ls_kpca", "sgt", "forest")
# (method, kind of space, model, parameter to show): a further candidate is a line here.
CANDIDATES: list[tuple[str, str, Any, str | None]] = [
    ("lssvm", "kernel", LSSVMClassifier(10.0), "gamma"),
    ("lssvm", "kernel", LSSVMClassifier(100.0), "gamma"),
    ("lssvm", "narrow kernel", LSSVMClassifier(10.0), "gamma"),
    ("lssvm", "narrow kernel", LSSVMClassifier(100.0), "gamma"),
    ("rls", "kernel", RLSClassifier(0.01), "lam"),
    ("rls", "narrow kernel", RLSClassifier(0.01), "lam"),
    ("components", "components", LSSVMClassifier(10.0), "gamma"),  # the first few principal axes
    ("ls_kpca", "axes", LeastSquaresKPCA(1.0), "label_weight"),
    ("ls_kpca", WIDE_AXES, LeastSquaresKPCA(0.1), "label_weight"),
    ("ls_kpca", WIDE_AXES, LeastSquaresKPCA(10.0), "label_weight"),
    ("lr_kpca", "axes", LogisticKPCA(), "label_weight"),
    ("mv_kpca", "axes", WithinVarianceClassifier(), None),
    ("s2rls", "axes", S2RLSClassifier(n_restarts=10), "lam"),
    ("semi_kpca", "several axes", SemiKPCA(), None),  # two or more: it removes the first
    ("mixed", "joined", LSSVMClassifier(10.0), "gamma"),
    ("diffusion", "heat 30", LSSVMClassifier(3.0, bias=False), "gamma"),
    ("diffusion", "heat 10", LSSVMClassifier(10.0), "gamma"),
    ("diffusion", "heat 100", LSSVMClassifier(3.0, bias=False), "gamma"),
    ("sgt", "spectrum", LSSVMClassifier(10.0), "gamma"),
    ("sgt", "spectrum", SpectralGraphTransducer(), None),
]
# Labels above which "auto" leaves a model out. On the development tables and the book's sets, with 100 labels, the
# first had 0 to 1 % of the weight and the second 5 to 10 %; without them the mean error is the same to 0.1 points, and
# a lesson takes less than half the time.
MOST_LABELS = {SpectralGraphTransducer: 50, LeastSquaresKPCA: 75}
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
    "forest": ("Forests", "extremely randomised trees and a random forest on the labelled rows"),
}
for line in CANDIDATES:
    METHODS.setdefault(line[0], (line[0], type(line[2]).__name__))


@dataclass
class Candidate:
    """A method in a space. `solve` fits it to labels; the space and everything that needs no label is shared."""

    name: str
    method: str
    space: Space
    model: KernelClassifier
    seconds: float = 0.0
    solution: Solution | None = None
    most_labels: float = np.inf  # it is not tried with more

    @cached_property
    def state(self) -> Any:
        """The prepared rows: those of the space, or the method's own where it has its own `prepare`."""
        shared = type(self.model).prepare is KernelClassifier.prepare
        return self.space.state if shared else self.model.prepare(self.space.Z)

    @property
    def Z(self) -> np.ndarray:
        """(n, r) features of the training rows, on the host."""
        return host(self.space.Z)

    @property
    def left_out(self) -> np.ndarray:
        """(l, k') scores of the labelled rows, each by the fit without its label."""
        return self.solution.left_out  # type: ignore[union-attr]

    @property
    def influence(self) -> Any:
        """How one more label moves the scores; None where the method is not linear in its labels."""
        return self.solution.influence  # type: ignore[union-attr]

    @property
    def closed_form(self) -> bool:
        """Whether a fit to other labels takes no iteration."""
        return self.model.closed_form

    def features(self, rows: Any) -> np.ndarray:
        """(m, r) features of some training rows."""
        return host(self.space.Z[rows])

    def scores(self, rows: np.ndarray | None = None) -> np.ndarray:
        """(n, k') scores of the training rows, or of some of them."""
        return self.solution.scores(self.space.Z if rows is None else self.space.Z[rows])  # type: ignore[union-attr]

    def counting(self, labels: Any) -> Any:
        """The state for labels of different weights; what it knows of all rows does not change."""
        if labels.weight is None:
            return self.state
        if isinstance(self.state, State):
            return self.state.counting(labels)
        return self.model.prepare(self.space.Z, labels.row_weight)

    def withheld(self, labels: Any) -> Any:
        """What knows the fits without folds of the labels, or None: see `KernelClassifier.withheld`."""
        return self.model.withheld(self.counting(labels), labels)

    def solve(self, labels: Any) -> "Candidate":
        """The candidate with its `solution` for the labels, left-out answers included."""
        start = time.perf_counter()
        solution = self.model.solve(self.counting(labels), labels)
        _ = solution.left_out  # computed when first asked for: now, so that the seconds count it
        return replace(self, solution=solution, seconds=self.seconds + time.perf_counter() - start)


def methods_named(names: Any) -> tuple:
    """The methods that `methods=` of the classifier means: "auto", "all", a name or a list of names."""
    if isinstance(names, str) and names in ("auto", "all"):
        return AUTO if names == "auto" else tuple(METHODS)
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found or any(name not in METHODS for name in found):
        raise InputError(f"methods={names!r} is not accepted: give 'auto', 'all' or a list of {', '.join(METHODS)}.")
    return found


@dataclass
class Step:
    """A feature space to build.

    Attributes
    ----------
    name : of the space.
    build : function without arguments that builds it and returns its list of candidates.
    seconds : function of the numbers of labels and classes: what building and fitting take (`mercer.few_label.cost`).
    """

    name: str
    build: Callable[[], list]
    seconds: Callable[[int, int], float]


def planned(X: Any, methods: tuple = AUTO, random_state: int = 0) -> list[Step]:
    """What the classifier builds, the most useful first: feature spaces and forests.

    Parameters
    ----------
    X : (n, d) rows, dense or CSR.
    methods : names from `METHODS`.

    Returns
    -------
    list of `Step`
    """
    wide = is_wide(X)
    chosen = [candidate for candidate in CANDIDATES if candidate[0] in methods and (wide or candidate[1] != WIDE_AXES)]
    steps = spaces_for(chosen, X, random_state, MOST_LABELS if methods == AUTO else {})
    if "forest" in methods and not sp.issparse(X):
        steps.insert(min(3, len(steps)), Step("forests", partial(_forests, X, random_state), forest_seconds))
    return steps


def spaces_for(chosen: list, X: Any, random_state: int = 0, most_labels: Any = MappingProxyType({})) -> list[Step]:
    """The feature spaces for the chosen candidates, a list like `CANDIDATES`, the most useful first."""
    kinds = {kind for _, kind, _, _ in chosen}
    shared: dict = {}
    return [
        Step(
            f"{MAKES[build][0]} ({view.name}{'' if value is None else f', {value:g}'})",
            partial(_candidates_in, build, view, value, X, chosen, kinds, shared, random_state, most_labels),
            partial(_seconds, build, X.shape, [method for method, kind, _, _ in chosen if kind in MAKES[build][1]]),
        )
        for build, view, value in _plan(X)
        if not MAKES[build][1].isdisjoint(kinds)
    ]


def _forests(X, seed):
    view = AsGiven()
    return [
        ForestCandidate(f"forest: {name}", "forest", view, X, kind, seed)
        for kind, name in (("extra", "extremely randomised trees"), ("random", "random forest"))
    ]


def _seconds(build, shape, methods, l, k):
    return build_seconds(build.__name__.strip("_"), *shape) + sum(solve_seconds(m, shape[0], l, k) for m in methods)


def _candidates_in(build, view, value, X, chosen, kinds, shared, random_state, most_labels):
    begun = time.perf_counter()
    if id(view) not in shared:
        shared[id(view)] = view.fit(X, random_state)
    spaces = build(view, value, kinds, shared, random_state)
    new = [
        Candidate(
            _title(method, model, shown, space), method, space, model, most_labels=most_labels.get(type(model), np.inf)
        )
        for method, kind, model, shown in chosen
        for space in spaces.get(kind, [])
    ]
    for candidate in new:
        candidate.seconds = (time.perf_counter() - begun) / len(new)
    return new


def _title(method, model, shown, space):
    return f"{method}{'' if shown is None else f' {shown}={getattr(model, shown):g}'}: {space.name}"


def _plan(X):
    """[(builder, view, its value)]: the most useful spaces first, so that a time budget cuts the least useful."""
    n, d = X.shape
    sparse = sp.issparse(X)
    raw: Any = UnitNorm() if sparse else AsGiven()
    most = min(n, d) - 1
    if n > LARGE:
        view = LeadingComponents(30) if most >= 30 and d > 50 else raw
        other = LeadingComponents(8) if most >= 8 and d > 50 else Standardised() if not sparse else raw
        linear, second = (_linear, view, None), (_graph, other, 10)
        return [
            (_graph, view, 10),
            (_rbf, view, 1.0),
            *([second, linear] if isinstance(other, Standardised) else [linear, second]),
            (_narrow, view, 0.35),
            *([] if sparse else [(_additive, Bent(), None)]),
        ]
    eight = LeadingComponents(8) if most >= 8 else raw
    scaled: Any = None if sparse else raw if equally_spread(X) else Standardised()
    plan: list = [
        (_graph, raw, 10),
        (_rbf, raw, 1.0),
        (_rbf, scaled, 1.0),
        (_graph, scaled, 10),
        (_linear, raw, None),
        (_linear, scaled, None),
        (_graph, eight, 10),
        (_graph, raw, 5),
        (_graph, raw, 20),
        (_narrow, raw, 0.35),
    ]
    plan += [(_narrow, scaled, 0.35), (_city_block, scaled, 1.0), (_additive, None if sparse else Bent(), None)]
    plan = [step for step in plan if step[1] is not None]
    seen: set = set()
    unique = []
    for build, view, value in plan:  # a graph of too many neighbours for n is that of fewer; small d has no components
        value = min(value, max(n // 3, 1)) if build is _graph else value
        if (build, id(view), value) not in seen:
            seen.add((build, id(view), value))
            unique.append((build, view, value))
    return unique


def _graph(view, n_neighbors, kinds, shared, seed):
    base = GraphSpace(f"{n_neighbors} neighbours, {view.name}", view, n_neighbors, shared[id(view)], seed)
    found = {f"heat {time}": [diffused(base, float(time))] for time in (10, 30, 100)}
    shared.setdefault("heat", found["heat 30"][0])
    spectrum = transducer(base) if n_neighbors == 10 else None
    return found | ({} if spectrum is None else {"spectrum": [spectrum]})


def _rbf(view, factor, kinds, shared, seed):
    base = _rbf_space(view, factor, shared, seed)
    found = _in_kernel(base, kinds)
    if "heat" in shared:
        found["joined"] = [JoinedSpace(f"{base.name} and {shared['heat'].name}", base, shared["heat"])]
    return found


def _narrow(view, factor, kinds, shared, seed):
    return {"narrow kernel": [_rbf_space(view, factor, shared, seed)]}


def _city_block(view, factor, kinds, shared, seed):
    rows = shared[id(view)]
    kernel = Laplacian(factor * bandwidth_of(rows, order=1))
    return {"narrow kernel": [KernelSpace(f"city-block kernel, {view.name}", view, kernel, rows, seed)]}


def _linear(view, _, kinds, shared, seed):
    return _in_kernel(KernelSpace(f"linear, {view.name}", view, Linear(), shared[id(view)], seed), kinds)


def _additive(view, _, kinds, shared, seed):
    return {"additive": [KernelSpace(f"linear, {view.name}", view, Linear(), shared[id(view)], seed)]}


def _rbf_space(view, factor, shared, seed):
    rows, width = shared[id(view)], ("median distance", id(view))
    if width not in shared:
        shared[width] = bandwidth_of(rows)
    kernel = RBF(factor * shared[width])
    return KernelSpace(f"RBF of {factor:g} median, {view.name}", view, kernel, rows, seed)


def _in_kernel(base, kinds):
    found = {"kernel": [base]}
    if not kinds.isdisjoint(IN_KERNEL - {"kernel"}):
        axes = principal(base)
        few = components(axes, (1, 2, 4, 8, 16))
        if few:  # there are none if all rows are the same row
            found |= {"axes": [axes], WIDE_AXES: [axes], "components": few}
            found["several axes"] = [axes] if axes.Z.shape[1] > 1 else []
    return found


IN_KERNEL = {"kernel", "axes", WIDE_AXES, "several axes", "components"}
MAKES = {  # builder → what it builds, and the kinds of spaces that it is for ("joined" takes the heat of the graph)
    _graph: ("neighbour graph", {"heat 10", "heat 30", "heat 100", "spectrum", "joined"}),
    _rbf: ("RBF kernel", IN_KERNEL | {"joined"}),
    _narrow: ("RBF kernel", {"narrow kernel"}),
    _city_block: ("city-block kernel", {"narrow kernel"}),
    _linear: ("linear kernel", IN_KERNEL),
    _additive: ("additive model", {"additive"}),
}
