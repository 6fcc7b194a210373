"""Predictions of each kind of model, as values of an ONNX graph."""

from functools import singledispatch
from typing import Any

import numpy as np

from ...errors import InputError
from ...estimators.classifier import NO_SIMILARITY, KernelClassifier
from ...estimators.components import KernelComponents
from ...estimators.kernel_cmeans import KernelCMeans
from ...estimators.kernel_density_novelty import KernelDensityNovelty
from ...estimators.kpca_novelty import KPCANovelty
from ...estimators.lssvm_regressor import LSSVMRegressor
from ...estimators.max_margin_clustering import MaxMarginClustering
from ...estimators.minimum_variance_kpca import MinimumVarianceKPCA
from ...estimators.novelty import NoveltyDetector
from ...estimators.svdd import SVDD
from ...few_label.candidates.forest import ForestPart
from ...few_label.classifier import FewLabelClassifier
from ...few_label.predictor import GraphPart, KernelPart
from ...few_label.regressor import FewLabelRegressor
from ...geometry.maps import FeatureMap
from ...types import Block, Estimator
from .graph import Value
from .kernels import dense, squared_distances
from .parts import along, carried, diagonal, seen, trees, values

Outputs = dict  # by method (value, type of its entries, number of columns or None for one entry per row)


@singledispatch
def outputs(model: Estimator, X: Value) -> Outputs:
    """The results of the model's methods for the rows X, by the names of the methods."""
    raise InputError(
        f"{type(model).__name__} cannot be exported to ONNX. Use fitted estimators and maps of mercer. Export other "
        "steps of a pipeline with the converter of their own library, such as skl2onnx."
    )


# Maps, components, numbers, clusters


@outputs.register
def _(model: FeatureMap, X: Value) -> Outputs:
    return {"transform": (along(model, X, np.eye(model.rank_)), float, model.rank_)}


@outputs.register
def _(model: KernelComponents, X: Value) -> Outputs:
    coef = np.asarray(model.coefficients_)
    scores = values(model.expansion_, X, coef) - (model.shift_ + model.location_)
    return {"transform": (scores, float, coef.shape[1])}


@outputs.register
def _(model: MinimumVarianceKPCA, X: Value) -> Outputs:
    k = model.components_.shape[1]
    return {"transform": (along(model.map_, X, model.components_) - model.mean_, float, k)}


@outputs.register
def _(model: LSSVMRegressor, X: Value) -> Outputs:
    found = values(model.expansion_, X) + np.atleast_1d(model.intercept_)
    several = np.ndim(model.expansion_.coef) > 1
    width = model.expansion_.coef.shape[1] if several else None
    return {"predict": (found if several else found.flat(), float, width)}


@outputs.register
def _(model: KernelCMeans, X: Value) -> Outputs:
    xp = X.graph.xp
    shifts = values(model.expansion_, X) * -2.0 + np.where(model.empty_, np.inf, model.center_sq_)
    far = xp.sqrt(xp.maximum(shifts + diagonal(model.expansion_, X), 0.0))
    return {"predict": (xp.argmax(-shifts), np.int64, None), "transform": (far, float, model.n_clusters)}


@outputs.register
def _(model: MaxMarginClustering, X: Value) -> Outputs:
    scores = along(model.map_, X, model.coef_) - model.center_ @ model.coef_
    if model.n_clusters == 2:
        scores = scores.flat()
        return {
            "predict": ((scores > 0.0).cast(np.int64), np.int64, None),
            "decision_function": (scores, float, None),
        }
    return {
        "predict": (X.graph.xp.argmax(scores), np.int64, None),
        "decision_function": (scores, float, model.n_clusters),
    }


# Novelty


@outputs.register
def _(model: NoveltyDetector, X: Value) -> Outputs:
    score = novelty(model, X).flat()
    decision = score - float(model.offset_)
    outside = (decision < 0.0).cast(np.int64)
    return {
        "predict": (outside * -2 + 1, np.int64, None),
        "decision_function": (decision, float, None),
        "score_samples": (score, float, None),
    }


@singledispatch
def novelty(model: Estimator, X: Value) -> Value:
    """(n, 1) scores, which are high for normal rows."""
    raise InputError(f"The scores of {type(model).__name__} cannot be exported to ONNX.")


@novelty.register
def _(model: SVDD, X: Value) -> Value:
    distance = diagonal(model.expansion_, X) - 2.0 * values(model.expansion_, X) + float(model.center_sq_)
    return -X.graph.xp.maximum(distance, 0.0)


@novelty.register
def _(model: KPCANovelty, X: Value) -> Value:
    k, own = model.n_components_, diagonal(model.expansion_, X)
    found = values(model.expansion_, X)
    projection = found.take(np.arange(k), axis=1) - model.shift_
    centered = own - 2.0 * found.take(np.array([k]), axis=1) + float(model.grand_mean_)
    error = centered - (projection * projection).reduce("Sum", keep=True)
    xp = X.graph.xp
    least = (xp.abs(own) + float(model.grand_mean_)) * float(model.rounding_)
    return -xp.where(error > least, error, 0.0)


@novelty.register
def _(model: KernelDensityNovelty, X: Value) -> Value:
    if model.window != "gaussian":
        raise InputError("The counts of a uniform window cannot be exported to ONNX. Use window='gaussian'.")
    if model.tree_ is None:
        mean = X.graph.xp.maximum(values(model.expansion_, X), float(np.finfo(float).tiny))
        return X.graph.xp.log(mean) + float(model.log_peak_)
    tree = model.tree_.tree_  # scikit-learn's tree, with the rows and their weights
    rows, weight = np.asarray(tree.data), np.asarray(tree.sample_weight if tree.sample_weight is not None else 1.0)
    share = np.log(np.broadcast_to(weight / np.sum(np.broadcast_to(weight, len(rows))), len(rows)))
    exponents = squared_distances(X, rows) * (-0.5 / model.bandwidth_**2) + share
    return exponents.reduce("LogSumExp", keep=True) + float(model.log_peak_)


# Classifiers and the pool of few-label candidates


@outputs.register
def _(method: KernelClassifier, X: Value) -> Outputs:
    xp, k, one = X.graph.xp, len(method.classes_), method.coef_.shape[1] == 1
    bias = np.broadcast_to(np.asarray(method.intercept_, dtype=float), method.coef_.shape[1:])
    scores = along(method.map_, X, method.coef_) + bias
    slack = 1e-3 * method.margin_
    low, high = scores < np.minimum(bias, 0) - slack, scores > np.maximum(bias, 0) + slack
    spoken = low.cast(np.float64) + high.cast(np.float64)
    similar = along(method.map_, X, method.labeled_features_.T)
    bound = float(NO_SIMILARITY * method.similarity_scale_)
    unlike = xp.sqrt((similar * similar).reduce("Sum", keep=True)) <= bound
    alone = (spoken.reduce("Max", keep=True) <= 0.0) & unlike
    P = xp.where(alone, method.prior_[None], softened(scores, one, k, *method.calibration_))
    code = (scores.flat() > 0.0).cast(np.int64) if one else xp.argmax(scores)
    code = xp.where(alone.flat(), np.int64(np.argmax(method.prior_)), code)
    return classified(method.classes_, code, P, scores, k)


@outputs.register
def _(model: FewLabelClassifier, X: Value) -> Outputs:
    if model.answers_.fit.calibration.hints is not None:
        raise InputError("A model with hints cannot be exported to ONNX. Fit without hints, or predict in Python.")
    xp, k = X.graph.xp, len(model.classes_)
    one = k == 2
    answers_, fit = model.answers_, model.answers_.fit
    scores = xp.log(xp.maximum(pooled(fit.predictor, X, k), 1e-300))
    scores = scores.take(np.array([1]), axis=1) - scores.take(np.array([0]), axis=1) if one else scores
    b, slope = fit.calibration.offsets, fit.calibration.power
    shifted = scores + (b[1:] - b[:1] if one else b) / slope
    P = capped(softened(shifted, one, k, slope, 0.0), k, float(fit.calibration.most))
    trust = trusted(fit.library.support, X)
    P = P if trust is None else answers_.mixed(P, trust)
    names, code = model.classes_, xp.argmax(P)
    if model.abstain:
        names = np.append(names, answers_.mark)
        doubtful = answers_.abstained(P.reduce("Max") * float(fit.calibration.seen), model.abstain)
        code = xp.where(doubtful, np.int64(k), code)
    return classified(names, code, P, scores, k)


@outputs.register
def _(model: FewLabelRegressor, X: Value) -> Outputs:
    predictor = model.answers_.fit.predictor
    total: Block = float(predictor.constant.sum())
    for weight, part in [*((1.0, part) for part in predictor.parts), *predictor.forests]:
        total = _scores(part, seen(part.view, X)) * float(weight) + total
    found = total.flat() * float(model.labels_.scale) + float(model.labels_.center)  # type: ignore[attr-defined]
    return {"predict": (found, float, None)}


def classified(names: np.ndarray, code: Value, P: Value, scores: Value, k: int) -> Outputs:
    """The outputs of a classifier of k classes. Two classes have one score."""
    return {
        "predict": (P.graph.constant(names).take(code), names.dtype, None),
        "predict_proba": (P, float, k),
        "decision_function": (scores.flat(), float, None) if k == 2 else (scores, float, k),
    }


def pooled(predictor: Estimator, X: Value, k: int) -> Value:
    """(n, k) result of `Predictor.probabilities`."""
    views = {id(part.view): part.view for part in [*predictor.parts, *predictor.forests]}
    rows = {key: seen(view, X) for key, view in views.items()}
    one, m, total = k == 2, len(predictor.weights) - len(predictor.forests), None
    weights, slopes, floor = predictor.weights, predictor.slopes, float(predictor.floor)
    if m:
        scores = X.graph.constant(predictor.constant[None])
        for part in predictor.parts:
            scores = scores + _scores(part, rows[id(part.view)])
        scores = X.graph.add("Reshape", scores, np.array([0, m, 1 if one else k]))
        P = softened(scores, one, k, slopes[:m, None], floor)
        total = (P * weights[:m, None]).reduce("Sum", axis=1)
    for part, weight, slope in zip(predictor.forests, weights[m:], slopes[m:]):
        votes = _scores(part, rows[id(part.view)])
        votes = votes.take(np.array([1]), axis=1) - votes.take(np.array([0]), axis=1) if one else votes
        P = softened(votes, one, k, float(slope), floor) * float(weight)
        total = P if total is None else total + P
    return total  # type: ignore[return-value]


@singledispatch
def _scores(part: Any, rows: Value) -> Value:
    raise InputError(
        f"The part {type(part).__name__} of a predictor cannot be exported to ONNX. Fit the model without also=."
    )


@_scores.register
def _(part: KernelPart, rows: Value) -> Value:
    return values(part.expansion, rows)


@_scores.register
def _(part: GraphPart, rows: Value) -> Value:
    return carried(part.kernel, rows, part.kernel.factor_)


@_scores.register
def _(part: ForestPart, rows: Value) -> Value:
    return trees(part.trees, part.trees.value / len(part.trees.roots), rows)


def softened(scores: Value, one: bool, k: int, slope: Block, floor: float) -> Value:
    """(…, k) probabilities from scores, as in `mercer.evidence.calibration`. `one` column represents two classes."""
    scores = scores.graph.xp.concatenate([scores * -0.5, scores * 0.5], axis=-1) if one else scores
    P = scores.graph.xp.softmax(scores * slope) * (1 - k * floor) + floor
    return P / P.reduce("Sum", keep=True)


def capped(P: Value, k: int, most: float) -> Value:
    """P with no probability above `most`, as in `mercer.evidence.calibration.capped`."""
    top = P.reduce("Max", keep=True) - 1.0 / k
    a = P.graph.xp.minimum(1.0, (most - 1 / k) / P.graph.xp.maximum(top, 1e-300))
    return a * P + (1.0 - a) / float(k)


def trusted(support: Any, X: Value) -> Value | None:
    """(n, 1) trust in each prediction by its distance to the training rows. None if it is 1 everywhere."""
    if support.finder is None:
        return None
    squared = squared_distances(seen(support.view, X), dense(support.finder.rows)).reduce("Min", keep=True)
    return support.reach**2 / X.graph.xp.maximum(squared, support.reach**2)
