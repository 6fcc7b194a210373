"""A map of the rows in the plane, with their classes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..backend import need
from ..errors import InputError
from ..few_label.answers import confidence as confidence_of
from ..inputs.labels import encode
from ..report.picture import PlaneEmbedding
from ..types import ColumnLike, Estimator, Facts, Rows
from .display import COLORS, GRAY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MapDisplay(Display):
    """Rows as points, colored by class. Given labels have a dark rim, and predictions of low confidence are pale.

    Parameters
    ----------
    positions : array of shape (n, 2)
        Positions of the rows.
    codes : array of shape (n,) or None
        Number of each row's class in `classes`, −1 for none. None draws all rows alike.
    classes : list of class names
        The classes.
    given : array of shape (n,) or None
        Which rows have a given label.
    confidence : array of shape (n,) or None
        Confidence of each prediction, from 0 to 1.
    axes_names : tuple of two str
        Names of the two axes.

    Attributes
    ----------
    scatter_ : list of matplotlib's points, one for each class among the rows.
    ax_, figure_ : matplotlib's axes and figure.

    Examples
    --------
    >>> from mercer import FewLabelClassifier
    >>> from mercer.plots import MapDisplay
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> model = FewLabelClassifier().fit(X, ["low", None, None, None, None, None, None, "high"])
    >>> MapDisplay.from_estimator(model, X).ax_.get_legend_handles_labels()[1]
    ['high', 'low']
    """

    def __init__(self, positions, codes=None, *, classes=(), given=None, confidence=None, axes_names=("", "")):
        self.positions = np.asarray(positions, dtype=float)
        self.codes = codes
        self.classes = classes
        self.given = given
        self.confidence = confidence
        self.axes_names = axes_names

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Rows, y: ColumnLike = None, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "MapDisplay":
        """Draw the rows X with the components or predictions of a fitted model.

        Parameters
        ----------
        estimator : estimator
            With `transform`, its first two components are the axes, and the classes are those of y. With `predict`, the
            positions are a neighbor embedding of the rows, and the classes are its predictions.
        X : array-like of shape (n, d)
            Rows.
        y : array-like of shape (n,) or None
            Class names, with markers for rows without one. Given labels have a rim. The default for a
            `FewLabelClassifier` that was fitted on X are its labels.
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure. Further arguments go to `plot`.
        """
        check_is_fitted(estimator)
        classes: np.ndarray = np.zeros(0)
        codes: np.ndarray | None = None
        given: np.ndarray | None = None
        confidence: np.ndarray | None = None
        if hasattr(estimator, "transform"):
            components = np.asarray(estimator.transform(X), dtype=float)
            if components.shape[1] < 2:
                raise InputError("A map needs two components, and the model has one. Fit it with n_components=2.")
            positions, names = components[:, :2], ("first component", "second component")
            if y is not None:
                classes = np.unique(np.asarray([v for v in np.asarray(y, dtype=object) if v is not None and v == v]))
                codes = encode(y, classes)
        else:
            rows = getattr(estimator, "encoder_", None)
            rows = np.asarray(X, dtype=float) if rows is None else rows.transform(X)
            positions, names = PlaneEmbedding().fit(rows).positions_, ("", "")
            predicted = estimator.predict(X)
            classes = getattr(estimator, "classes_", np.unique(predicted))
            codes = encode(predicted, classes)
            if hasattr(estimator, "predict_proba"):
                confidence = confidence_of(estimator, estimator.predict_proba(X))
            if y is None and hasattr(estimator, "labels_") and hasattr(estimator.labels_, "codes"):
                known = estimator.labels_.codes
                y = np.array([*classes.tolist(), None], dtype=object)[known] if len(known) == len(codes) else None
            if y is not None:
                known = encode(y, classes)
                given, codes = known >= 0, np.where(known >= 0, known, codes)
        shown = cls(positions, codes, classes=classes, given=given, confidence=confidence, axes_names=names)
        return shown.plot(ax, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, legend: bool = True, size: float | None = None, **kwargs: Any
    ) -> "MapDisplay":
        """Draw the rows. Further arguments go to matplotlib's `scatter`.

        Parameters
        ----------
        ax : matplotlib axes or None
            Axes to draw in. None makes a new figure.
        legend : bool
            Draw a legend of the classes.
        size : float or None
            Size of a point. None depends on the number of rows.
        """
        ax, n, to_rgb = self.axes(ax), len(self.positions), need("matplotlib.colors").to_rgb
        most = 20_000  # larger tables are drawn as a sample
        some = np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        size = float(np.clip(6000 / len(some), 4, 40)) if size is None else size
        codes = np.full(n, -1) if self.codes is None else np.asarray(self.codes)
        given = np.zeros(n, dtype=bool) if self.given is None else np.asarray(self.given)
        sure = np.ones(n) if self.confidence is None else np.asarray(self.confidence, dtype=float)
        self.scatter_, markers = [], ("o", "^", "s", "D")
        for code in np.unique(codes[some]):
            at = some[codes[some] == code]
            color = GRAY if code < 0 else COLORS[code % len(COLORS)]
            label = None if code < 0 else str(self.classes[code])
            pale = [(*to_rgb(color), alpha) for alpha in np.clip(0.25 + 0.75 * sure[at], 0.25, 1.0)]
            marker = markers[max(code, 0) // len(COLORS) % len(markers)]  # colors are reused with another shape
            style: Facts = {"s": size, "color": pale, "linewidths": 0, "marker": marker} | kwargs
            self.scatter_.append(ax.scatter(*self.positions[at].T, **style))
            if label is not None:
                ax.scatter([], [], color=color, marker=marker, label=label)
            if given[at].any():
                rim: Facts = {
                    "s": 2.2 * size,
                    "facecolors": color,
                    "edgecolors": "black",
                    "linewidths": 1.0,
                    "zorder": 3,
                }
                ax.scatter(*self.positions[at[given[at]]].T, marker=marker, **rim)
        ax.set(xlabel=self.axes_names[0], ylabel=self.axes_names[1], xticks=[], yticks=[])
        if legend and 0 < len(self.classes) <= 12:
            ax.legend(frameon=False, loc="best", fontsize="small")
        return self
