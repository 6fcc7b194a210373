"""Reliability diagrams, which compare confidence with the fraction of correct predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..evidence.accuracy import jeffreys
from ..inputs.labels import encode
from ..inputs.sampling import with_labels
from ..types import ColumnLike, Estimator, Rows
from .display import RIGHT, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(Display):
    """Fraction of correct predictions by confidence, with 95% intervals. Calibrated probabilities are on the diagonal.

    Parameters
    ----------
    confidence : array of shape (b,)
        Mean probability of the predictions in each bin.
    right : list of b `mercer.evidence.accuracy.Rate`
        Fractions of correct predictions with their intervals.
    what : str, default="predictions"
        Source of the predictions, for the legend.

    Attributes
    ----------
    line_ : matplotlib's line.
    ax_, figure_ : matplotlib's axes and figure.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plots import ReliabilityDisplay
    >>> P = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> ReliabilityDisplay.from_predictions(P, ["a", "b", "b", "b"], classes=["a", "b"], n_bins=1).confidence
    array([0.75])
    """

    def __init__(self, confidence, right, *, what="predictions"):
        self.confidence = np.asarray(confidence, dtype=float)
        self.right = right
        self.what = what

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Rows = None,
        y: ColumnLike = None,
        *,
        n_bins: int = 5,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "ReliabilityDisplay":
        """Draw the reliability of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier.
        X : array-like of shape (n, d) or None
            Rows that are not in the training set. None uses the held-out predictions of a `FewLabelClassifier`.
        y : array-like of shape (n,) or None
            True classes of these rows. Rows without a label are ignored.
        n_bins : int
            Number of bins with equal numbers of predictions.
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure. Further arguments go to `plot`.
        """
        check_is_fitted(estimator)
        if X is not None and y is not None:
            X, y, _ = with_labels(X, y, "classes", getattr(estimator, "missing_label", "auto"), None)
            known = encode(y, estimator.classes_) >= 0
            P, y = estimator.predict_proba(X)[known], np.asarray(y, dtype=object)[known]
            what = "rows with known labels"
        elif hasattr(estimator, "left_out_probabilities_"):
            labels = estimator.labels_
            P, y = estimator.left_out_probabilities_, estimator.classes_[labels.codes[labels.labeled[labels.testable]]]
            what = "labels, each held out in turn"
        else:
            raise InputError(
                f"{type(estimator).__name__} has no predictions for held-out labels. Pass X and y of rows with known "
                "labels, or use FewLabelClassifier."
            )
        return cls.from_predictions(P, y, classes=estimator.classes_, n_bins=n_bins, what=what, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, P, y, *, classes, n_bins=5, what="predictions", ax=None, **kwargs
    ) -> "ReliabilityDisplay":
        """Draw the reliability of class probabilities P (n, k) against the classes y (n,).

        Parameters
        ----------
        P : array of shape (n, k)
            Class probabilities.
        y : array-like of shape (n,)
            True classes.
        classes : list of k class names
            Classes of the columns of P.
        n_bins : int
            Number of bins with equal numbers of predictions.
        what : str
            Source of the predictions, for the legend.
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure. Further arguments go to `plot`.
        """
        P, codes = np.asarray(P, dtype=float), encode(y, classes)
        if len(P) != len(codes) or not len(P):
            raise InputError(f"P has {len(P)} rows and y has {len(codes)} entries. Give one class for each row of P.")
        top, right = P.max(axis=1), P.argmax(axis=1) == codes
        order = np.argsort(top, kind="stable")
        bins = [some for some in np.array_split(order, min(n_bins, len(order))) if len(some)]
        rates = [jeffreys(float(right[some].mean()), len(some)) for some in bins]
        return cls([top[some].mean() for some in bins], rates, what=what).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> "ReliabilityDisplay":
        """Draw into `ax`. Further arguments go to matplotlib's `plot`."""
        ax = self.axes(ax)
        least = float(min(0.5, self.confidence.min() - 0.05, min(rate.value for rate in self.right)))
        ax.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=(0, (4, 3)), label="perfectly calibrated")
        low, high = np.array([rate.low for rate in self.right]), np.array([rate.high for rate in self.right])
        ax.vlines(self.confidence, low, high, color=RIGHT, alpha=0.35, linewidth=4)
        style = {"marker": "o", "color": RIGHT, "label": self.what} | kwargs
        (self.line_,) = ax.plot(self.confidence, [rate.value for rate in self.right], **style)
        ax.set(
            xlabel="confidence",
            ylabel="fraction of correct predictions",
            xlim=(least, 1.01),
            ylim=(min(least, low.min()), 1.02),
        )
        ax.legend(frameon=False, loc="lower right", fontsize="small")
        return self
