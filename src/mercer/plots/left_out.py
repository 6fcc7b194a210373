"""Held-out predictions for each label."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..evidence.calibration import probabilities
from ..types import ColumnLike, Estimator, Facts, Rows
from .display import RIGHT, WRONG, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LeftOutDisplay(Display):
    """Held-out predictions compared with the labels.

    For classification, points show the probability of the given class, in one line for each class. A point is orange if
    another class is more likely. For regression, points show the given number against the prediction, with the
    prediction interval.

    Parameters
    ----------
    given : array of shape (l,)
        The labels.
    answers : array of shape (l,)
        Probability of the given class, or the predicted numbers.
    right : array of shape (l,) or None
        Whether the prediction is the given class. None for numbers.
    reach : float, array of shape (l,) or None
        Half the width of the interval for numbers, one for all or one for each.

    Attributes
    ----------
    scatter_ : matplotlib's points.
    ax_, figure_ : matplotlib's axes and figure.

    Examples
    --------
    >>> from mercer import LSSVMRegressor
    >>> from mercer.plots import LeftOutDisplay
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> model = LSSVMRegressor(100.0, kernel="linear").fit(X, [1.0, 3.0, 5.0, 7.0, 9.0])
    >>> LeftOutDisplay.from_estimator(model, X, [1.0, 3.0, 5.0, 7.0, 9.0]).answers.round(1)
    array([1., 3., 5., 7., 9.])
    """

    def __init__(self, given, answers, right=None, *, reach=None):
        self.given = np.asarray(given)
        self.answers = np.asarray(answers, dtype=float)
        self.right = right
        self.reach = reach

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Rows = None, y: ColumnLike = None, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "LeftOutDisplay":
        """Draw the held-out predictions of a fitted model of this library.

        Parameters
        ----------
        estimator : estimator
            A fitted few-label classifier or regressor.
        X : array-like of shape (n, d) or None
            The rows of the fit, for other models than `FewLabelClassifier` and `FewLabelRegressor`.
        y : array-like of shape (n,) or None
            The labels of the fit, for the same models.
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure. Further arguments go to `plot`.
        """
        check_is_fitted(estimator)
        found = _classes(estimator, X, y) if hasattr(estimator, "classes_") else _numbers(estimator, y)
        return found.plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> "LeftOutDisplay":
        """Draw into `ax`. Further arguments go to matplotlib's `scatter`."""
        ax = self.axes(ax)
        if self.right is None:
            both = np.concatenate([self.given, self.answers]).astype(float)
            ends = np.array([np.nanmin(both), np.nanmax(both)])
            if self.reach is not None:
                order = np.argsort(self.answers)
                at, half = (self.answers[order], self.reach[order]) if np.ndim(self.reach) else (ends, self.reach)
                ax.fill_between(at, at - half, at + half, color=RIGHT, alpha=0.15, linewidth=0)
            ax.plot(ends, ends, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
            style: Facts = {"s": 14, "color": RIGHT} | kwargs
            self.scatter_ = ax.scatter(self.answers, self.given.astype(float), **style)
            ax.set(xlabel="prediction without the number", ylabel="given number")
            return self
        names = sorted(set(self.given.tolist()), key=str)
        place = np.array([names.index(name) for name in self.given.tolist()])
        jitter = 0.12 * (np.arange(len(place)) % 5 - 2) / 2
        colors = np.where(np.asarray(self.right), RIGHT, WRONG)
        self.scatter_ = ax.scatter(self.answers, place + jitter, c=colors, **({"s": 16} | kwargs))
        wrong = int(np.sum(~np.asarray(self.right)))
        ax.set(xlabel="probability of the given class, predicted without its label", xlim=(-0.02, 1.02))
        ax.set(yticks=range(len(names)), yticklabels=[str(name) for name in names], ylim=(-0.5, len(names) - 0.5))
        ax.set_title(f"{wrong} of {len(place)} labels contradicted (orange)", fontsize="medium")
        return self


def _classes(model, X, y):
    if hasattr(model, "left_out_probabilities_"):
        labels, known, P = model.labels_, model.labels_.testable, model.left_out_probabilities_
    elif hasattr(model, "left_out_table") and X is not None and y is not None:
        _, table, labels = model.left_out_table(X, y)
        known = labels.testable & np.isfinite(table[0]).all(axis=1)
        P = probabilities(table[0][known], *model.calibration_)
    else:
        raise InputError(f"{type(model).__name__} needs X and y of its fit here. Pass these rows and labels.")
    codes = labels.codes[labels.labeled[known]]
    return LeftOutDisplay(model.classes_[codes], P[np.arange(len(codes)), codes], P.argmax(axis=1) == codes)


def _numbers(model, y):
    if not hasattr(model, "left_out_"):
        raise InputError(
            f"{type(model).__name__} has no held-out predictions. Use few-label classifiers and regressors of mercer."
        )
    if hasattr(model, "reach"):
        reach = model.reach(0.9, model.left_out_) if model.answers_.widths.power else model.reach()
        return LeftOutDisplay(model.labels_.given, model.left_out_, reach=reach)
    if y is None:
        raise InputError(f"{type(model).__name__} does not keep the numbers of its fit. Please pass y.")
    y = np.array([np.nan if value is None else value for value in np.asarray(y, dtype=object)], dtype=float)
    return LeftOutDisplay(y[~np.isnan(y)], model.left_out_)
