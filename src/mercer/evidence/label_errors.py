"""Probability that a given label is wrong, if the fraction of wrong labels is not known."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax
from scipy.stats import beta, norm


class ErrorPrior(NamedTuple):
    """Prior of wrong labels. Measured on sixteen tables (`benchmarks.accuracy.label_errors`).

    With the defaults the probabilities differ from the observed fractions by at most ten points.

    Attributes
    ----------
    none : probability that no label is wrong.
    fraction : parameters of the Beta prior of the fraction of wrong labels, if there are any.
    spread : of the prior of log s. Wrong labels make calibrated probabilities less extreme.
    """

    none: float = 0.1
    fraction: tuple[float, float] = (1.0, 5.0)
    spread: float = 1.0


def wrong_probability(P: np.ndarray, codes: np.ndarray, prior: ErrorPrior | None = None) -> np.ndarray:
    """(l,) posterior probability that each label is wrong.

    With q = P^s (rows rescaled) the distribution of the true class and ε the fraction of wrong labels, the given label
    g has probability (1 − ε) q_g + ε (1 − q_g) / (k − 1). Both are integrated out on a grid. The prior of log s is
    N(0, 1). ε is 0 with probability 0.1, else Beta(1, 5). A few labels without a contradiction then count as correct.

    Parameters
    ----------
    P : (l, k) probabilities of each label by fits that did not know it.
    codes : (l,) the given labels.
    prior : of wrong labels. None is the default one.
    """
    l, k = P.shape
    if l == 0:
        return np.zeros(0)
    prior = prior or ErrorPrior()
    powers = np.linspace(-3.0, 3.0, 25) * prior.spread
    shares = np.concatenate([[0.0], np.linspace(0.01, 0.6, 40)])
    before = np.concatenate([[prior.none], beta.pdf(shares[1:], *prior.fraction)])
    before[1:] *= (1 - prior.none) / before[1:].sum()
    L = np.log(np.maximum(P, 1e-12))
    weights = np.empty((len(powers), len(shares)))
    wrong = np.empty((len(powers), len(shares), l))
    for a, log_s in enumerate(powers):
        q = softmax(np.exp(log_s) * L, axis=1)[np.arange(l), codes]
        right, other = (1 - shares[:, None]) * q, shares[:, None] * (1 - q) / (k - 1)
        likelihood = np.maximum(right + other, 1e-300)
        weights[a] = np.log(likelihood).sum(axis=1) + norm.logpdf(log_s, 0, prior.spread) + np.log(before)
        wrong[a] = other / likelihood
    return np.einsum("as,asl->l", np.exp(weights - logsumexp(weights)), wrong)
