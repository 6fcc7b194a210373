"""Weigh candidates by their left-out labels, and say what their average answers with a label left out.

Ten labels cannot tell eighty candidates apart, and whoever picks the best of them picks luck. The average with weights

    w_m ∝ exp(−t Σ_i ℓ_mi),   ℓ_mi the Brier score of candidate m on left-out label i,   t = 1 / (1 + l/100),

is Bayes' rule with exp(−ℓ) as likelihood: without evidence it is the plain average, and the more labels there are the
more it becomes a choice. t takes back some of the evidence of many labels: the left-out answers of one candidate are
not independent, for they share nearly all of their labels. Scores are averaged in units of each candidate's root mean
square over all rows.

The weights without label i need no further fit: drop ℓ_mi from the sum. So the average has left-out answers too, in
which label i had a part neither in a candidate's answer nor in its weight (only in the two scales, of the losses and of
the scores).
"""

import numpy as np
from scipy.special import softmax

from ..evidence.choice import hits
from ..evidence.margin import choose_by_margin, relative_hinge

KEPT = 0.995  # of the weight; the candidates beyond it cost time in every prediction and change nothing


def evidence(left_out, codes):
    """(m, l) Brier scores of the candidates on left-out labels: 0 clearly right, 1/2 no answer, 2 clearly wrong.

    Σ_c (p_c − [c is right])² = 2 (1 − p)² for two classes, where p = (1 + margin/scale) / 2 within [0, 1] is how much a
    candidate believes the label, its scale the root mean square of its left-out margins. An answer that is missing
    counts like no answer.
    """
    if not len(codes):
        return np.zeros(left_out.shape[:2])
    missing = ~np.isfinite(left_out).all(axis=2)
    doubt = np.minimum(relative_hinge(np.where(missing[:, :, None], 0.0, left_out), codes), 2.0) / 2  # 1 − p
    return np.where(missing, 0.5, 2 * doubt**2)


def weigh(losses):
    """(m,) weights from the losses (m, l), cut to the candidates that hold 99.5 % of the weight."""
    weight = softmax(-_temper(losses) * losses.sum(axis=1))
    order = np.argsort(-weight, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(weight[order]), KEPT)) + 1]
    out = np.zeros_like(weight)
    out[kept] = weight[kept] / weight[kept].sum()
    return out


def pick(left_out, codes):
    """(m,) all weight on one candidate: the first, the label-free default, unless another is clearly better."""
    if not len(codes):
        return np.eye(1, len(left_out))[0], "the label-free default, since no label could be withheld."
    choice = choose_by_margin(np.nan_to_num(left_out), codes, default=0)
    weight = np.zeros(len(left_out))
    weight[choice.value] = 1.0
    return weight, choice.reason


def left_out_average(left_out, losses, weight, scale):
    """(l, k') answers of the average for each left-out label, with the weights that do not know it.

    left_out : (m, l, k') of the tested labels; losses : (m, l); weight, scale : (m,) of all candidates.
    """
    used = np.flatnonzero(weight)
    # The label's own loss is taken out of the weights again.
    own = softmax(np.log(weight[used])[:, None] + _temper(losses) * losses[used], axis=0)
    return np.einsum("ml,mlk->lk", own, np.nan_to_num(left_out[used]) / scale[used, None, None])


def _temper(losses):
    return 1.0 / (1.0 + losses.shape[1] / 100.0)


def right_and_error(left_out, codes):
    """(m,) left-out accuracy of each candidate and its standard error (with one right and one wrong added)."""
    right = hits(np.nan_to_num(left_out), codes)
    l = right.shape[1]
    rate = right.mean(axis=1) if l else np.full(len(right), np.nan)
    modest = (right.sum(axis=1) + 1) / (l + 2)
    return rate, np.sqrt(modest * (1 - modest) / max(l, 1))
