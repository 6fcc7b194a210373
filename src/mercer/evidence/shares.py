"""The fraction of each class among the unlabeled rows, from the scores of held-out labels.

Whatever function f is, its mean over the unlabeled rows is Σ_c b_c m_c, with m_c its mean over the rows of class c and
b_c their fraction. Fits that do not know a label treat its row like an unlabeled one, so the held-out rows of class c
estimate m_c, with an error that is small where f distinguishes the classes. With the pooled covariance S of the scores
within the classes and l_c held-out rows of each

    mean f ~ N(Σ_c b_c m_c, S Σ_c b_c² / l_c)        counts of the labels ~ multinomial(b)

and b maximizes the product of the two. The numbers of labels that were not drawn at random are not used. `counts` is
then left out, or counts for less.
"""

import numpy as np
from scipy.linalg import null_space


def class_shares(
    scores: np.ndarray, codes: np.ndarray, mean: np.ndarray, n_classes: int, counts=None, steps: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    """Fractions (k,) of the classes and their standard errors (k,).

    Parameters
    ----------
    scores : (m, k') scores of rows by fits that did not know their label. NaN rows are ignored.
    codes : (m,) the class 0 … k−1 of those rows.
    mean : (k',) mean score of the unlabeled rows by the same fits.
    counts : (k,) labels of each class that were drawn at random, or None.
    steps : most iterations.
    """
    known = np.isfinite(scores).all(axis=1)
    scores, codes = scores[known], codes[known]
    member = np.eye(n_classes)[codes]
    number = member.sum(axis=0)
    # Jeffreys' half row of each class is added to the counts, so no fraction becomes 0.
    prior = 0.5 + (np.zeros(n_classes) if counts is None else np.asarray(counts, dtype=np.float64))
    basis = null_space(np.ones((1, n_classes)))  # directions in which fractions may move
    means, precision = np.zeros((n_classes, scores.shape[1])), np.zeros((scores.shape[1],) * 2)
    if number.min() >= 1 and len(scores) > n_classes:  # else only the counts are known
        means = member.T @ scores / number[:, None]
        within = scores - means[codes]
        S = within.T @ within / max(len(scores) - n_classes - 2, 1)  # the variance of Student's t, for S is estimated
        precision = np.linalg.pinv(S + 1e-9 * max(np.trace(S), 1e-300) * np.eye(len(S)), hermitian=True)
    shares = prior / prior.sum()
    for _ in range(steps):
        weight = precision / np.sum(shares**2 / np.maximum(number, 1))
        gradient = means @ weight @ (mean - means.T @ shares) + prior / shares
        information = means @ weight @ means.T + np.diag(prior / shares**2)
        step = basis @ np.linalg.solve(basis.T @ information @ basis, basis.T @ gradient)
        falling = step < 0
        limit = 0.9 * np.min(-shares[falling] / step[falling]) if falling.any() else 1.0
        shares = shares + min(1.0, limit) * step
        if np.abs(step).max() < 1e-10:
            break
    covariance = basis @ np.linalg.inv(basis.T @ information @ basis) @ basis.T
    return shares / shares.sum(), np.sqrt(np.diag(covariance))
