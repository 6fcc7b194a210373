"""Weigh candidates for numbers by their held-out squared errors, and predict held-out numbers by their average.

    w_m ∝ π_m (Σ_i e_mi² / l)^(−t l/2),   e_mi the error of candidate m on held-out number i,

is Bayes' rule with a Gaussian likelihood whose variance is the candidate's own. The exponent t is 1/4, because the
held-out errors of one candidate are not independent. The prior π gives every family of candidates (kernels, graphs,
curves, trees, the mean) the same weight, however many candidates it has. The weights without number i are those of fits
without it. There e_mj is the error of a fit that knows neither i nor j, so that number i does not affect its own
held-out prediction.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from scipy.stats import t as student

from ..inputs.numerals import short
from .weights import cut

FEWEST = 5  # given numbers from which the error is estimated


def prior_of(families: list[str]) -> np.ndarray:
    """Return the (m,) prior weights. Each family has the same weight, divided evenly among its candidates."""
    return np.array([1.0 / families.count(family) for family in families]) / len(set(families))


def weigh_errors(errors: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return (m,) weights from the held-out errors (m, l), cut to the candidates with 99% of the weight."""
    return cut(_weights(np.sum(errors**2, axis=1), errors.shape[1], prior))


def left_out_mean(left_out: np.ndarray, sums: np.ndarray, others: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the (l,) predictions of the average for each held-out number, with weights that do not know it.

    left_out : (m, l) held-out predictions of the candidates.
    sums : (m, l) sums of the squared errors of the other numbers, each by a fit without number i too.
    others : (l,) number of other numbers.
    """
    weights = _weights(sums, np.maximum(others, 1), prior[:, None])
    found: np.ndarray = np.einsum("ml,ml->l", weights, left_out)
    return found


def _weights(sums: np.ndarray, number: int | np.ndarray, prior: np.ndarray) -> np.ndarray:
    least = 1e-8  # candidates with a smaller mean squared error, relative to the variance, are equally good
    found: np.ndarray = softmax(np.log(prior) - 0.25 * number / 2 * np.log(sums / number + least), axis=0)
    return found


@dataclass(frozen=True)
class Accuracy:
    """Accuracy of the predictions for other rows, estimated from held-out numbers.

    Attributes
    ----------
    r2 : fraction of the variance of the numbers that is explained. The variance has l − 1 in its denominator, so that
        predicting the mean gives an R² below 0.
    mae : mean absolute error.
    r2_interval, mae_interval : 95% intervals. Unbounded with fewer than 5 numbers.
    """

    r2: float
    r2_interval: tuple[float, float]
    mae: float
    mae_interval: tuple[float, float]

    def __str__(self) -> str:
        (r_low, r_high), (m_low, m_high) = self.r2_interval, self.mae_interval
        return (
            f"R² of held-out numbers {self.r2:.2f} (95% interval {r_low:.2f} to {r_high:.2f}), mean absolute error "
            f"{short(self.mae)} ({short(m_low)} to {short(m_high)})."
        )


def accuracy_of(error: np.ndarray, given: np.ndarray) -> Accuracy:
    """Return the `Accuracy` from the held-out errors of the l given numbers.

    The intervals are those of the logarithm of a mean, or of the ratio of two, by the delta method with Student's
    quantile. The standard errors are too small, because the fits of the held-out errors have nearly all numbers in
    common, and because the largest errors are the rarest. They are multiplied by 1.75 (R²) and 1.5 (mean absolute
    error). With these factors the intervals contain the truth in 95% of the draws of 17 real tables.
    """
    l = len(error)
    if l < FEWEST:
        ratio = float(np.sum(error**2) / max(np.sum((given - given.mean()) ** 2) * l / (l - 1), 1e-300))
        return Accuracy(1.0 - ratio, (-np.inf, 1.0), float(np.abs(error).mean()), (0.0, np.inf))
    square, spread = error**2, (given - given.mean()) ** 2 * l / (l - 1)
    if spread.sum() == 0.0:
        mae = float(np.abs(error).mean())
        return Accuracy(float("nan"), (float("nan"), float("nan")), mae, (mae, mae))
    ratio = float(square.mean() / spread.mean())
    influence = square / max(square.mean(), 1e-300) - spread / spread.mean()
    low, high = _log_interval(ratio, influence, 1.75)
    mae = float(np.abs(error).mean())
    size = np.abs(error) / max(mae, 1e-300)
    return Accuracy(1.0 - ratio, (1.0 - high, 1.0 - low), mae, _log_interval(mae, size - 1.0, 1.5))


def _log_interval(value: float, influence: np.ndarray, wider: float) -> tuple[float, float]:
    """Return exp(log value ± quantile · standard error). Each number changes the logarithm by its influence / l."""
    l = len(influence)
    error = wider * float(np.std(influence, ddof=1)) / np.sqrt(l)
    reach = np.exp(float(student.ppf(0.975, l - 1)) * error)
    return value / reach, value * reach


def half_width(error: np.ndarray, coverage: float) -> float:
    """Return half the width of a prediction interval, which is the conformal quantile of the held-out errors' sizes.

    With l numbers it is the (l + 1) · coverage-th smallest size, interpolated. If there are too few numbers, it is that
    of Student's interval, which assumes Gaussian errors, or the largest size if that is larger.
    """
    size, l = np.sort(np.abs(error)), len(error)
    place = (l + 1) * coverage
    if place > l:
        spread = np.sqrt(np.mean(size**2) * (1.0 + 1.0 / l))
        return float(max(student.ppf((1.0 + coverage) / 2.0, max(l - 1, 1)) * spread, size[-1]))
    return float(np.interp(place, np.arange(1, l + 1), size))
