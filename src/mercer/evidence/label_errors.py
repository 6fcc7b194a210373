"""How likely a given label is wrong, when the fraction of wrong labels is not known."""

import numpy as np
from scipy.special import logsumexp, softmax
from scipy.stats import beta, norm

# Measured on sixteen tables, `benchmarks.accuracy.label_errors`: with these, what is claimed is true to ten points.
NO_ERRORS = 0.1  # prior probability that no label is wrong
SHARE_PRIOR = 1.0, 5.0  # Beta prior of the fraction of wrong labels, if there are any
SPREAD = 1.0  # of the prior of log s: wrong labels make calibrated probabilities blunt


def wrong_probability(P: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(l,) posterior probability that each label is wrong.

    With q = P^s (rows rescaled) the distribution of the true class and ε the fraction of wrong labels, the given label
    g has probability (1 − ε) q_g + ε (1 − q_g) / (k − 1). Both are integrated out on a grid: log s ~ N(0, 1), and
    ε is 0 with probability 0.1, else Beta(1, 5). Few labels without a contradiction are then taken for right.

    Parameters
    ----------
    P : (l, k) probabilities of each label by fits that did not know it.
    codes : (l,) the given labels.
    """
    l, k = P.shape
    if l == 0:
        return np.zeros(0)
    powers = np.linspace(-3.0, 3.0, 25) * SPREAD
    shares = np.concatenate([[0.0], np.linspace(0.01, 0.6, 40)])
    prior = np.concatenate([[NO_ERRORS], beta.pdf(shares[1:], *SHARE_PRIOR)])
    prior[1:] *= (1 - NO_ERRORS) / prior[1:].sum()
    L = np.log(np.maximum(P, 1e-12))
    weights = np.empty((len(powers), len(shares)))
    wrong = np.empty((len(powers), len(shares), l))
    for a, log_s in enumerate(powers):
        q = softmax(np.exp(log_s) * L, axis=1)[np.arange(l), codes]
        right, other = (1 - shares[:, None]) * q, shares[:, None] * (1 - q) / (k - 1)
        likelihood = np.maximum(right + other, 1e-300)
        weights[a] = np.log(likelihood).sum(axis=1) + norm.logpdf(log_s, 0, SPREAD) + np.log(prior)
        wrong[a] = other / likelihood
    return np.einsum("as,asl->l", np.exp(weights - logsumexp(weights)), wrong)
