"""Level lines of a fitted function in the plane, with the decision boundary and the rows."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_clusterer
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..inputs.labels import encode
from ..types import ColumnLike, Estimator, Facts, Rows
from .display import COLORS, GRAY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LevelDisplay(Display):
    """Level lines of a function on a grid in the plane, with its zero line and the rows as points.

    Parameters
    ----------
    first, second : array of shape (m,) or (k,)
        Coordinates of the grid.
    values : array of shape (k, m)
        Values of the function, or codes of classes if `classes` has more than two names.
    positions : array of shape (n, 2) or None
        Rows to draw.
    codes : array of shape (n,) or None
        Number of each row's class in `classes`, -1 for none.
    classes : list of class names
        The classes.
    boundary : bool
        Whether the values have a decision boundary at 0.

    Attributes
    ----------
    levels_ : the level lines (a matplotlib contour set).
    boundary_ : the lines between the classes, or None.
    ax_, figure_ : matplotlib's axes and figure.

    Examples
    --------
    >>> from mercer import LSSVMClassifier
    >>> from mercer.plots import LevelDisplay
    >>> X = [[0.0, 0.0], [0.2, 1.0], [2.0, 0.0], [2.2, 1.0]]
    >>> model = LSSVMClassifier().fit(X, ["a", None, None, "b"])
    >>> LevelDisplay.from_estimator(model, X, ["a", None, None, "b"], grid=20).values.shape
    (20, 20)
    """

    def __init__(self, first, second, values, *, positions=None, codes=None, classes=(), boundary=True):
        self.first, self.second, self.values = (np.asarray(a, dtype=float) for a in (first, second, values))
        self.positions = None if positions is None else np.asarray(positions, dtype=float)
        self.codes = codes
        self.classes = classes
        self.boundary = boundary

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Rows, y: ColumnLike = None, *, grid: int = 100, margin: float = 0.15,
        response: object = "auto", ax: "Axes | None" = None, **kwargs: Any,
    ) -> "LevelDisplay":  # fmt: skip
        """Draw a fitted model over the plane that the rows X span.

        Parameters
        ----------
        estimator : estimator
            A model that is fitted on rows of two columns.
        X : array-like of shape (n, 2)
            Rows. They set the region and are drawn.
        y : array-like of shape (n,) or None
            Class names, with markers for rows without one, which are gray.
        grid : int
            Points per axis.
        margin : float
            How much of the range of X is added on each side.
        response : "auto", a method name, a component number, or a function of rows
            "auto" draws `decision_function`, else `predict` of a classifier, regressor or clusterer, else the first
            component of `transform`. A number draws that component.
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure. Further arguments go to `plot`.
        """
        check_is_fitted(estimator)
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != 2:
            raise InputError(
                f"X has the shape {X.shape}, and level lines need rows of two columns. Fit the model on two columns."
            )
        low, high = X.min(axis=0), X.max(axis=0)
        pad = margin * np.where(high > low, high - low, 1.0)
        first, second = (np.linspace(a, b, grid) for a, b in zip(low - pad, high + pad))
        points = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        values, boundary = _response(estimator, response, points)
        classes = _names(estimator)
        codes = None
        if y is not None:
            known = np.asarray([v for v in np.asarray(y, dtype=object) if v is not None and v == v])
            classes = classes if len(classes) else np.unique(known)
            codes = encode(y, classes)
        shaped = values.reshape(len(second), len(first))
        found = cls(first, second, shaped, positions=X, codes=codes, classes=classes, boundary=boundary)
        return found.plot(ax=ax, **kwargs)

    def plot(self, *, ax: "Axes | None" = None, levels: int = 10, **kwargs: Any) -> "LevelDisplay":
        """Draw the level lines and the rows. Further arguments go to matplotlib's `contour`.

        Parameters
        ----------
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure.
        levels : int
            Number of level lines.
        """
        ax = self.axes(ax)
        several = self.boundary and len(self.classes) > 2
        grid = (self.first, self.second, self.values)
        edges = np.arange(len(self.classes) + 1) - 0.5
        ax.contourf(*grid, levels=edges if several else levels, cmap="RdBu_r" if not several else "Pastel1", alpha=0.5)
        style: Facts = {"levels": levels, "colors": GRAY, "linewidths": 0.6} | kwargs
        self.levels_ = ax.contour(*grid, **style)
        self.boundary_ = None
        at = edges[1:-1] if several else [0.0]
        if self.boundary and self.values.min() < at[-1] and self.values.max() > at[0]:
            self.boundary_ = ax.contour(*grid, levels=at, colors="black", linewidths=1.5)
        if self.positions is not None:
            codes = np.full(len(self.positions), -1) if self.codes is None else np.asarray(self.codes)
            first, second = self.positions.T
            ax.scatter(first[codes < 0], second[codes < 0], s=8, color=GRAY, zorder=2)
            for code in np.unique(codes[codes >= 0]):
                color, name = COLORS[code % len(COLORS)], str(self.classes[code])
                at = codes == code
                ax.scatter(first[at], second[at], s=28, color=color, edgecolor="black", label=name, zorder=3)
            if (codes >= 0).any():
                ax.legend(frameon=False)
        return self


def _response(estimator, response, points):
    """(values at the points, whether they have a decision boundary)."""
    if callable(response):
        return np.asarray(response(points), dtype=float), False
    if isinstance(response, (int, np.integer)) and not isinstance(response, bool):
        return np.asarray(estimator.transform(points), dtype=float)[:, response], False
    names = ("decision_function", "predict", "transform") if response == "auto" else (response,)
    name = next((name for name in names if hasattr(estimator, name)), None)
    if name is None:
        raise InputError(
            f"{type(estimator).__name__} has none of {', '.join(map(str, names))}. Use response='auto', the name of a "
            "method, a component number, or a function of rows."
        )
    values = np.asarray(getattr(estimator, name)(points))
    classes = _names(estimator)
    if name == "transform":
        return values[:, 0].astype(float), False
    if name == "predict" and len(classes):
        codes = np.searchsorted(classes, values)
        return (codes - 0.5 if len(classes) == 2 else codes).astype(float), True
    if values.ndim == 2:
        return values.argmax(axis=1).astype(float), True
    return values.astype(float), name == "decision_function"


def _names(estimator: Any) -> np.ndarray:
    """Names of the classes, or numbers of the clusters, that `predict` returns. Empty for other estimators."""
    names = getattr(estimator, "classes_", None)
    if names is None and is_clusterer(estimator):
        names = np.unique(estimator.labels_)
    return np.zeros(0) if names is None else names
