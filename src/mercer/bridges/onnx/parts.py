"""Parts of fitted models in an ONNX graph, which are expansions, maps, neighbors, trees and views of the rows."""

from functools import reduce, singledispatch
from operator import add
from typing import Any

import numpy as np

from ...errors import InputError
from ...few_label.views import AsGiven, HingeColumns, LeadingComponents, OrdinalColumns, Standardized, UnitNorm
from ...geometry.expansion import Expansion
from ...geometry.maps import FourierMap, GraphMap, LandmarkMap
from ...graphs.nearest import squares
from ...kernels import Precomputed
from ...kernels.base import Kernel
from ...kernels.forest import Forest
from ...kernels.graph import AMONG, GraphKernel
from ...linalg import precision
from ...types import Rows
from .graph import Value
from .kernels import dense, own, similarities, squared_distances, unit

# Functions z(x) · W and k(x, centers) · coef


def values(expansion: Expansion, X: Value, coef: Any = None) -> Value:
    """(n, k) values of an `Expansion`."""
    coef = np.asarray(expansion.coef if coef is None else coef, dtype=np.float64)
    coef = coef[:, None] if coef.ndim == 1 else coef
    if expansion.map is not None:
        return along(expansion.map, X, coef)
    return on_centers(expansion.kernel, X, expansion.centers, coef)


def on_centers(kernel: Kernel, X: Value, centers: Rows, coef: np.ndarray) -> Value:
    """k(x, centers) · coef."""
    if isinstance(kernel, Forest):  # trees whose leaves contain the sums of the coefficients of their centers
        leaves = kernel.trees_.leaves(centers)
        sums = np.zeros((len(kernel.trees_.left), coef.shape[1]))
        for places in leaves.T:
            np.add.at(sums, places, coef / kernel.n_estimators)
        return trees(kernel.trees_, sums, X)
    return similarities(kernel, X, centers) @ coef


def diagonal(expansion: Expansion, X: Value) -> Value:
    """(n, 1) result of `Expansion.diag`."""
    if isinstance(expansion.kernel, Precomputed):
        if np.isnan(expansion.diagonal):
            raise InputError(
                "This needs k(x, x) of new rows, which a precomputed kernel matrix does not contain. Fit on the rows "
                "themselves with a kernel object."
            )
        return (X * 0.0).reduce("Sum", keep=True) + float(expansion.diagonal)
    found = own(expansion.kernel, X)
    if expansion.map is not None and expansion.map.negative_mass_ > 0:
        Z = along(expansion.map, X, np.eye(expansion.map.rank_))
        found = X.graph.xp.maximum(found, (Z * Z).reduce("Sum", keep=True))
    return found


@singledispatch
def along(fitted: Any, X: Value, W: np.ndarray) -> Value:
    """z(x) · W of a fitted map."""
    raise InputError(f"{type(fitted).__name__} cannot be exported to ONNX. Use LandmarkMap or FourierMap.")


@along.register
def _(fitted: LandmarkMap, X: Value, W: np.ndarray) -> Value:
    centers, coef = fitted.on_landmarks(W)  # type: ignore[misc]  # without a limit there is always one
    return on_centers(fitted.kernel_, X, centers, coef)


@along.register
def _(fitted: FourierMap, X: Value, W: np.ndarray) -> Value:
    half, xp = fitted.rank_ // 2, X.graph.xp
    phase = X @ fitted.frequencies_
    return (xp.cos(phase) @ W[:half] + xp.sin(phase) @ W[half:]) / np.sqrt(half)


@along.register
def _(fitted: GraphMap, X: Value, W: np.ndarray) -> Value:
    parts, begin = [], 0
    for weight, kernel in fitted.graphs_:
        end = begin + kernel.factor_.shape[1]
        parts.append(carried(kernel, X, np.sqrt(weight) * kernel.factor_ @ W[begin:end]))
        begin = end
    return reduce(add, parts if fitted.other_ is None else [*parts, along(fitted.other_, X, W[begin:])])


def carried(kernel: GraphKernel, X: Value, scores: np.ndarray) -> Value:
    """(n, k) weighted means of the scores of neighbors among the training rows, as in `GraphKernel.features`."""
    rows, xp = dense(kernel.finder_.rows), X.graph.xp
    k = min(int(kernel.n_neighbors), len(rows))
    index = xp.smallest(squared_distances(X, rows), min(AMONG * k, len(rows)))
    gap = X.against(X.graph.constant(rows).take(index))
    squared = (gap * gap).reduce("Sum")
    size = xp.sqrt((X * X).reduce("Sum", keep=True)) + float(np.median(np.sqrt(squares(rows))))
    same = squared <= (size * (32 * precision(kernel.finder_.rows.dtype))) ** 2.0
    alike = same.cast(np.float64)
    squared = xp.where(same, 0.0, squared)
    beyond = np.where(np.arange(min(AMONG * k, len(rows))) < k, np.inf, 0.0)
    joined = (squared <= X.graph.constant(kernel.reach_**2).take(index) + beyond).cast(np.float64)
    squared = squared / (2.0 * float(kernel.edge_bandwidth_) ** 2)
    weight = xp.exp(squared.reduce("Min", keep=True) - squared) * X.graph.constant(kernel.pull_).take(index) * joined
    weight = xp.where(alike.reduce("Max", keep=True) > 0.0, alike, weight)
    weight = weight / weight.reduce("Sum", keep=True)
    return (weight.column() * X.graph.constant(scores).take(index)).reduce("Sum", axis=1)


# Trees


def trees(nodes: Any, leaf_values: np.ndarray, X: Value) -> Value:
    """(n, k) sums over the trees of the values at the leaves that the rows reach."""
    graph, number = X.graph, len(nodes.left)
    tree = np.searchsorted(nodes.roots, np.arange(number), side="right") - 1
    inside = np.arange(number) - nodes.roots[tree]
    leaf = nodes.left < 0
    start = nodes.roots[tree]
    k = leaf_values.shape[1]
    at = np.flatnonzero(leaf)
    tensor = graph.numpy.from_array
    found = graph.add(
        "TreeEnsembleRegressor",
        X.cast(np.float32).cast(np.float64),  # trees compare in single precision
        domain="ai.onnx.ml",
        n_targets=k,
        nodes_treeids=tree.tolist(),
        nodes_nodeids=inside.tolist(),
        nodes_featureids=np.where(leaf, 0, nodes.feature).tolist(),
        nodes_values_as_tensor=tensor(np.where(leaf, 0.0, nodes.threshold).astype(np.float64), "thresholds"),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(leaf, 0, nodes.left - start).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, nodes.right - start).tolist(),
        nodes_missing_value_tracks_true=[0] * number,
        target_treeids=np.repeat(tree[at], k).tolist(),
        target_nodeids=np.repeat(inside[at], k).tolist(),
        target_ids=np.tile(np.arange(k), len(at)).tolist(),
        target_weights_as_tensor=tensor(leaf_values[at].astype(np.float64).ravel(), "leaves"),
    )
    return found.cast(np.float64)


# Views of the rows


@singledispatch
def seen(view: Any, X: Value) -> Value:
    """The rows transformed by a view of the few-label models."""
    raise InputError(f"The view {type(view).__name__} cannot be exported to ONNX.")


@seen.register
def _(view: AsGiven, X: Value) -> Value:
    return X


@seen.register
def _(view: Standardized, X: Value) -> Value:
    return (X - view.mean_) / view.spread_


@seen.register
def _(view: UnitNorm, X: Value) -> Value:
    return unit(X)


@seen.register
def _(view: HingeColumns, X: Value) -> Value:
    columns = np.concatenate([np.full(len(knots) + 1, j) for j, knots in enumerate(view.knots_)])
    least = np.concatenate([[-np.inf, *np.zeros(len(knots))] for knots in view.knots_])
    knots = np.concatenate([[0.0, *knots] for knots in view.knots_])
    bent = X.graph.xp.maximum(X.take(columns, axis=1) - knots, least)
    return seen(view.scaled_, bent) * view.weight_


@seen.register
def _(view: OrdinalColumns, X: Value) -> Value:
    return X @ view.codes


@seen.register
def _(view: LeadingComponents, X: Value) -> Value:
    return (X - view.mean_) @ view.components_
