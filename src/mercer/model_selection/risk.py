"""A bound on the error over the unlabeled rows that is valid for any labels (Walder et al. 2010, §5)."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..types import Estimator


@dataclass(frozen=True)
class RiskBound:
    """The bound and its four parts.

    Attributes
    ----------
    value : the sum of the parts. If it is at least 1, the bound is not informative.
    labeled_risk : mean over the labels of the margin loss min(1, max(0, 1 − t f)).
    complexity : √(2 q s² / (l u)), q the rank, s² the variance times n.
    sampling : c₀ r₀ √min(l, u), from drawing l of the l + u rows.
    confidence : √(2 r₀ ln 1/δ).
    """

    value: float
    labeled_risk: float
    complexity: float
    sampling: float
    confidence: float

    @property
    def informative(self):
        """Whether the bound is below 1, so that it restricts the error."""
        return self.value < 1.0


def risk_bound(model: Estimator, delta: float = 0.05) -> RiskBound:
    """Bound the mean margin loss over the unlabeled rows with probability 1 − delta over the choice of labeled rows.

    .. math:: R_u \\le R_l + \\sqrt{\\frac{2 q s^2}{l u}} + c_0 r_0 \\sqrt{\\min(l, u)} + \\sqrt{2 r_0 \\ln(1/\\delta)}

    with c₀ = √(32 ln(4e)/3), r₀ = 1/l + 1/u, q the rank and s² = n · variance. The margin loss is at least the error
    rate. With few labels the bound is usually above 1. It is useful for comparisons, not as a guarantee.

    Parameters
    ----------
    model : estimator
        A fitted `LeastSquaresKPCA` or `SpectralGraphTransducer` of two classes, with center=False.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).

    Returns
    -------
    RiskBound
        The bound and its parts.

    Examples
    --------
    >>> from mercer import LeastSquaresKPCA
    >>> X = [[i / 10] for i in range(20)]
    >>> y = ["low"] * 5 + [None] * 10 + ["high"] * 5
    >>> bound = risk_bound(LeastSquaresKPCA(10.0, 1.0, center=False).fit(X, y))
    >>> bound.informative
    False
    """
    check_is_fitted(model)
    if not 0 < delta < 1:
        raise InputError(f"delta={delta!r} is not accepted. Give a probability between 0 and 1, such as 0.05.")
    if not hasattr(model, "labeled_decisions_"):
        accepted = "LeastSquaresKPCA and SpectralGraphTransducer"
        raise InputError(f"There is no risk bound for {type(model).__name__}. Accepted: {accepted}.")
    if model.labeled_decisions_.shape[1] != 1:
        k = len(model.classes_)
        raise InputError(f"The risk bound is for two classes, and this model has {k}. Fit one class against the rest.")
    if model.center:
        raise InputError("The risk bound is proved for the uncentered variance. Fit with center=False.")
    l, u = model.n_labels_, model.n_rows_ - model.n_labels_
    if u == 0:
        raise InputError("Every row is labeled, so there is no unlabeled row to bound the error on.")
    margins = model.labeled_targets_ * model.labeled_decisions_
    rate = 1.0 / l + 1.0 / u
    labeled_risk = float(np.mean(np.clip(1.0 - margins, 0.0, 1.0)))
    complexity = float(np.sqrt(2.0 * model.rank_ * model.variance * model.n_rows_ / (l * u)))
    sampling = float(np.sqrt(32.0 * np.log(4.0 * np.e) / 3.0) * rate * np.sqrt(min(l, u)))
    parts = labeled_risk, complexity, sampling, float(np.sqrt(2.0 * rate * np.log(1.0 / delta)))
    return RiskBound(sum(parts), *parts)
