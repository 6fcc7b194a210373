"""What the model says of each label when it does not know it."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..evidence.calibration import probabilities
from .display import RIGHT, WRONG, Display


class LeftOutDisplay(Display):
    """Answers to labels that were withheld, beside the labels themselves.

    For classes: the probability of the given class, a line of points for each class; a point is orange where another
    class was likelier. For numbers: the given number against the answer, with the prediction interval.

    Parameters
    ----------
    given : (l,) the labels. answers : (l,) probability of the given class, or the numbers answered.
    right : (l,) bool, whether the answer is the given class; None for numbers.
    reach : half the width of the interval for numbers, or None.

    Attributes
    ----------
    scatter_ : matplotlib's points. ax_, figure_ : axes and figure.

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
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None, **kwargs: Any
    ) -> "LeftOutDisplay":
        """Draw the left-out answers of a fitted model of this library.

        X, y : the rows and labels of the fit, for models other than `FewLabelClassifier` and `FewLabelRegressor`.
        """
        check_is_fitted(estimator)
        found = _classes(estimator, X, y) if hasattr(estimator, "classes_") else _numbers(estimator, y)
        return found.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> "LeftOutDisplay":
        """Draw into `ax`; further arguments go to matplotlib's `scatter`."""
        ax = self.axes(ax)
        if self.right is None:
            both = np.concatenate([self.given, self.answers]).astype(float)
            ends = np.array([np.nanmin(both), np.nanmax(both)])
            if self.reach is not None:
                ax.fill_between(ends, ends - self.reach, ends + self.reach, color=RIGHT, alpha=0.15, linewidth=0)
            ax.plot(ends, ends, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
            self.scatter_ = ax.scatter(self.answers, self.given.astype(float), **({"s": 14, "color": RIGHT} | kwargs))
            ax.set(xlabel="answer without the number", ylabel="given number")
            return self
        names = sorted(set(self.given.tolist()), key=str)
        place = np.array([names.index(name) for name in self.given.tolist()])
        jitter = 0.12 * (np.arange(len(place)) % 5 - 2) / 2
        colours = np.where(np.asarray(self.right), RIGHT, WRONG)
        self.scatter_ = ax.scatter(self.answers, place + jitter, c=colours, **({"s": 16} | kwargs))
        wrong = int(np.sum(~np.asarray(self.right)))
        ax.set(xlabel="probability of the given class, its label withheld", xlim=(-0.02, 1.02))
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
        raise InputError(
            f"{type(model).__name__} needs X and y of its fit here: pass the rows and labels it was given."
        )
    codes = labels.codes[labels.labelled[known]]
    return LeftOutDisplay(model.classes_[codes], P[np.arange(len(codes)), codes], P.argmax(axis=1) == codes)


def _numbers(model, y):
    if not hasattr(model, "left_out_"):
        raise InputError(
            f"{type(model).__name__} has no left-out answers. Accepted: few-label classifiers and regressors of mercer."
        )
    if hasattr(model, "reach"):
        return LeftOutDisplay(model.labels_.given, model.left_out_, reach=model.reach())
    if y is None:
        raise InputError(f"{type(model).__name__} does not keep the numbers of its fit: pass y.")
    y = np.array([np.nan if value is None else value for value in np.asarray(y, dtype=object)], dtype=float)
    return LeftOutDisplay(y[~np.isnan(y)], model.left_out_)
