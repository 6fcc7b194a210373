"""Which feature spaces are built for some rows, the most useful first, and the candidates in each.

One space costs a neighbor search or a factorization. A method in it costs a small closed form, held-out labels
included. The first candidate is the label-free default.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..graphs.neighbors import FoundNeighbors, searched
from ..kernels import RBF, Laplacian, Linear
from ..kernels.bandwidth import bandwidth_of
from ..types import ColumnLike, Rows
from . import sizes
from .candidates.base import Candidate
from .candidates.linear import LinearCandidate
from .candidates.own import METHOD, check_own, own_candidates
from .catalog import WIDE_AXES, Method, Setting, methods_named, methods_of, settings_of
from .cost import build_seconds
from .given import GivenBuilder
from .spaces import (
    BaseSpace,
    GraphSpace,
    JoinedSpace,
    KernelSpace,
    Space,
    components,
    diffused,
    principal,
    transducer,
)
from .views import AsGiven, HingeColumns, LeadingComponents, Standardized, UnitNorm, View, equally_spread, is_wide

IN_KERNEL = frozenset(("kernel", "axes", WIDE_AXES, "several axes", "components"))


Spaces: TypeAlias = dict[str, list[Space]]
"""The spaces of each kind."""

Plan: TypeAlias = list[tuple["Builder", View, float | None]]
"""A list of (builder, view, value), the most useful first."""


@dataclass(frozen=True)
class Step:
    """A feature space to build.

    Attributes
    ----------
    name : name of the space.
    build : function without arguments that builds it and returns its list of candidates.
    seconds : function of the numbers of labels and classes that returns the seconds of building and fitting (see
        `mercer.few_label.cost`).
    """

    name: str
    build: Callable[[], list[Candidate]]
    seconds: Callable[[int, int], float]


@dataclass(frozen=True, eq=False)
class Builder:
    """How spaces of one kind are built.

    Attributes
    ----------
    cost : its name in `mercer.few_label.cost.build_seconds`. title : its name in the report.
    kinds : kinds of spaces that it builds ("joined" uses the heat of the graph).
    build : function of (rows in the view, view, value, requested kinds, `PlanCache`) that returns `Spaces`.
    """

    cost: str
    title: str
    kinds: frozenset[str]
    build: Callable[[Rows, View, Any, set[str], "PlanCache"], Spaces]  # the value is None, a factor or a number


class PlanCache:
    """Values that the spaces of one plan use, such as the rows in each view, their bandwidths and their neighbors.

    Parameters
    ----------
    X : (n, d) rows. seed : seed of landmarks and components.
    most : largest number of neighbors in each view, by the identity of the view.
    """

    def __init__(self, X: Rows, seed: int, most: dict[int, int]):
        self.X, self.seed, self.most = X, seed, most
        self.heats: dict[str, Space] = {}  # of the links, and of the first neighbor graph
        self._rows: dict[int, Rows] = {}
        self._widths: dict[int, float] = {}
        self._found: dict[int, FoundNeighbors] = {}

    def rows(self, view: View) -> Rows:
        """Return the rows in a view."""
        if id(view) not in self._rows:
            self._rows[id(view)] = view.fit(self.X, self.seed)
        return self._rows[id(view)]

    def width(self, view: View) -> float:
        """Return the median distance of the rows in a view."""
        if id(view) not in self._widths:
            self._widths[id(view)] = bandwidth_of(self.rows(view))
        return self._widths[id(view)]

    def graph(self, name: str, rows: Rows, view: View, n_neighbors: int) -> GraphSpace:
        """Return the graph of so many neighbors. The neighbors are searched once for all graphs on a view."""
        if id(view) not in self._found:
            self._found[id(view)] = searched(rows, self.most[id(view)])
        return GraphSpace(name, view, n_neighbors, rows, self.seed, self._found[id(view)])


def planned(
    X: Rows,
    methods: tuple[Method, ...],
    random_state: int = 0,
    also: ColumnLike = (),
    given: Mapping[str, GivenBuilder] | None = None,
) -> list[Step]:
    """Return steps that build the spaces and other candidates of some methods of one task, the most useful first.

    X : (n, d) rows, dense or CSR. methods : from `mercer.few_label.catalog`. also : classifiers of the user.
    given : spaces of the user, from `read_given`.
    """
    check_own(also)
    wide = is_wide(X)
    chosen = [pair for pair in settings_of(methods) if wide or pair[1].kind != WIDE_AXES]
    auto = methods == methods_named(methods[0].task, "auto")
    if not auto:
        chosen = [(method, replace(setting, most_labels=np.inf)) for method, setting in chosen]
    plan = [*_given_plan(given or {}, chosen, methods[0].task), *_plan(X)]
    steps = _spaces_for(chosen, X, random_state, plan)
    for method in methods:
        if method.build is not None and method.build_seconds is not None and not (method.dense and sp.issparse(X)):
            build = partial(method.build, X, random_state, auto)
            steps.insert(min(method.place, len(steps)), Step(method.step, build, method.build_seconds))
    if also:
        steps.append(Step("your own classifiers", partial(own_candidates, also, X, random_state), lambda l, k: 0.0))
    if not steps:
        names = ", ".join(method.name for method in methods)
        raise InputError(f"{names} cannot read sparse rows. Add 'lssvm' to the methods, or use 'auto'.")
    return steps


def slow_methods(task: str) -> tuple[str, ...]:
    """Return the names of the methods that fast fits omit, classifiers of the user included."""
    return (*(method.name for method in methods_of(task).values() if method.slow), METHOD)


def _given_plan(given: Mapping[str, GivenBuilder], chosen: list[tuple[Method, Setting]], task: str) -> Plan:
    """Return the spaces that users give, which come first."""
    plan: Plan = []
    for name, build in given.items():
        cost, kinds, how = (
            ("graph", _HEAT, _links) if name == "links" else ("rbf", IN_KERNEL | {"joined"}, _similarities)
        )
        if not any(one.kind in kinds for _, one in chosen):
            able = [name for name, one in methods_of(task).items() if any(s.kind in kinds for s in one.settings)]
            raise InputError(
                f"None of these methods uses the {name} that were given. Add one of {', '.join(able)} to methods, or "
                'use "auto".'
            )
        plan.append((Builder(cost, f"given {name}", kinds, partial(how, build)), AsGiven(), None))
    return plan


def _spaces_for(chosen: list[tuple[Method, Setting]], X: Rows, seed: int, plan: Plan) -> list[Step]:
    """Return the feature spaces of a plan that the chosen settings use."""
    kinds = {setting.kind for _, setting in chosen}
    plan = [one for one in plan if not one[0].kinds.isdisjoint(kinds)]
    most: dict[int, int] = {}
    for builder, view, value in plan:
        if builder is GRAPH and value is not None:
            most[id(view)] = max(most.get(id(view), 0), int(value))
    shared = PlanCache(X, seed, most)
    return [
        Step(
            f"{builder.title} ({view.name}{'' if value is None else f', {value:g}'})",
            partial(_candidates_in, builder, view, value, chosen, kinds, shared),
            partial(_seconds, builder, X.shape, [method for method, one in chosen if one.kind in builder.kinds]),
        )
        for builder, view, value in plan
    ]


def _seconds(builder: Builder, shape: tuple[int, int], methods: list[Method], l: int, k: int) -> float:
    return build_seconds(builder.cost, *shape) + sum(method.cost(shape[0], l, k) for method in methods)


def _candidates_in(
    builder: Builder,
    view: View,
    value: object,
    chosen: list[tuple[Method, Setting]],
    kinds: set[str],
    shared: PlanCache,
) -> list[Candidate]:
    begun = time.perf_counter()
    spaces = builder.build(shared.rows(view), view, value, kinds, shared)
    pairs = [(method, own, space) for method, own in chosen for space in spaces.get(own.kind, [])]
    seconds = (time.perf_counter() - begun) / max(len(pairs), 1)
    return [
        LinearCandidate(
            f"{method.name}{' ' if own.shown else ': '}{settings}",
            method.name,
            space,
            own.model,
            settings=settings,
            seconds=seconds,
            most_labels=own.most_labels,
        )
        for method, own, space in pairs
        for settings in [_settings(own, space)]
    ]


def _settings(own: Setting, space: Space) -> str:
    """Return the parameter that the report shows, if there is one, and the space."""
    shown = "" if own.shown is None else f"{own.shown}={getattr(own.model, own.shown):g}: "
    return f"{shown}{space.name}"


def _plan(X: Rows) -> Plan:
    """Return the plan with the most useful spaces first, so that a time budget cuts the least useful."""
    n, d = X.shape
    sparse = sp.issparse(X)
    raw: View = UnitNorm() if sparse else AsGiven()
    most = min(n, d) - 1
    if n > sizes.SIZES.large_rows:
        view = LeadingComponents(30) if most >= 30 and d > 50 else raw
        other = LeadingComponents(8) if most >= 8 and d > 50 else Standardized() if not sparse else raw
        linear, second = (LINEAR, view, None), (GRAPH, other, 10)
        return [
            (GRAPH, view, 10),
            (RBF_KERNEL, view, 1.0),
            *([second, linear] if isinstance(other, Standardized) else [linear, second]),
            (NARROW, view, 0.35),
            *([] if sparse else [(ADDITIVE, HingeColumns(), None)]),
        ]
    eight = LeadingComponents(8) if most >= 8 else raw
    scaled: View | None = None if sparse else raw if equally_spread(X) else Standardized()
    plan: list[tuple[Builder, View | None, float | None]] = [
        (GRAPH, raw, 10),
        (RBF_KERNEL, raw, 1.0),
        (RBF_KERNEL, scaled, 1.0),
        (GRAPH, scaled, 10),
        (LINEAR, raw, None),
        (LINEAR, scaled, None),
        (GRAPH, eight, 10),
        (GRAPH, raw, 5),
        (GRAPH, raw, 20),
        (NARROW, raw, 0.35),
    ]
    plan += [(NARROW, scaled, 0.35), (CITY_BLOCK, scaled, 1.0), (ADDITIVE, None if sparse else HingeColumns(), None)]
    seen: set[tuple[Builder, int, float | None]] = set()
    unique: Plan = []
    for build, seen_as, value in plan:
        value = min(value, max(n // 3, 1)) if build is GRAPH and value is not None else value  # few rows
        if seen_as is not None and (build, id(seen_as), value) not in seen:
            seen.add((build, id(seen_as), value))
            unique.append((build, seen_as, value))
    return unique


def _graph(rows: Rows, view: View, n_neighbors: int, kinds: set[str], shared: PlanCache) -> Spaces:
    base = shared.graph(f"{n_neighbors} neighbors, {view.name}", rows, view, n_neighbors)
    found: Spaces = {f"heat {time}": [diffused(base, float(time))] for time in (10, 30, 100)}
    shared.heats.setdefault("neighbors", found["heat 30"][0])
    spectrum = transducer(base) if n_neighbors == 10 else None
    return found | ({} if spectrum is None else {"spectrum": [spectrum]})


def _links(build: GivenBuilder, rows: Rows, view: View, _: None, kinds: set[str], shared: PlanCache) -> Spaces:
    base = build(view, rows, shared.seed)
    found: Spaces = {f"heat {time}": [diffused(base, float(time))] for time in (10, 30, 100)}
    shared.heats["links"] = found["heat 30"][0]
    spectrum = transducer(base)
    return found | ({} if spectrum is None else {"spectrum": [spectrum]})


def _similarities(build: GivenBuilder, rows: Rows, view: View, _: None, kinds: set[str], shared: PlanCache) -> Spaces:
    base = build(view, rows, shared.seed)
    return _in_kernel(base, kinds) | {"joined": _joined(base, shared)}


def _rbf(rows: Rows, view: View, factor: float, kinds: set[str], shared: PlanCache) -> Spaces:
    base = KernelSpace(*_rbf_kernel(view, factor, shared), rows, shared.seed)
    found = _in_kernel(base, kinds)
    found["joined"] = _joined(base, shared)
    return found


def _joined(base: Space, shared: PlanCache) -> list[Space]:
    return [JoinedSpace(f"{base.name} and {heat.name}", base, heat) for heat in shared.heats.values()]


def _narrow(rows: Rows, view: View, factor: float, kinds: set[str], shared: PlanCache) -> Spaces:
    return {"narrow kernel": [KernelSpace(*_rbf_kernel(view, factor, shared), rows, shared.seed)]}


def _city_block(rows: Rows, view: View, factor: float, kinds: set[str], shared: PlanCache) -> Spaces:
    kernel = Laplacian(factor * bandwidth_of(rows, order=1))
    return {"narrow kernel": [KernelSpace(f"city-block kernel, {view.name}", view, kernel, rows, shared.seed)]}


def _linear(rows: Rows, view: View, _: None, kinds: set[str], shared: PlanCache) -> Spaces:
    return _in_kernel(KernelSpace(f"linear, {view.name}", view, Linear(), rows, shared.seed), kinds)


def _additive(rows: Rows, view: View, _: None, kinds: set[str], shared: PlanCache) -> Spaces:
    return {"additive": [KernelSpace(f"linear, {view.name}", view, Linear(), rows, shared.seed)]}


def _rbf_kernel(view: View, factor: float, shared: PlanCache) -> tuple[str, View, RBF]:
    """(name, view, kernel) of a space."""
    return f"RBF of {factor:g} median, {view.name}", view, RBF(factor * shared.width(view))


def _in_kernel(base: BaseSpace, kinds: set[str]) -> Spaces:
    found: Spaces = {"kernel": [base]}
    if not kinds.isdisjoint(IN_KERNEL - {"kernel"}):
        axes = principal(base)
        few = components(axes, (1, 2, 4, 8, 16))
        if few:  # there are none if all rows are the same row
            found |= {"axes": [axes], WIDE_AXES: [axes], "components": [*few]}
            found["several axes"] = [axes] if axes.Z.shape[1] > 1 else []
    return found


_HEAT = frozenset(("heat 10", "heat 30", "heat 100", "spectrum", "joined"))
GRAPH = Builder("graph", "neighbor graph", _HEAT, _graph)
RBF_KERNEL = Builder("rbf", "RBF kernel", IN_KERNEL | {"joined"}, _rbf)
NARROW = Builder("narrow", "RBF kernel", frozenset(("narrow kernel",)), _narrow)
CITY_BLOCK = Builder("city_block", "city-block kernel", frozenset(("narrow kernel",)), _city_block)
LINEAR = Builder("linear", "linear kernel", IN_KERNEL, _linear)
ADDITIVE = Builder("additive", "additive model", frozenset(("additive",)), _additive)
