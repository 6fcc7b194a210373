"""A plot of the variance of the components."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..types import Estimator, Facts
from .display import GRAY, RIGHT, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SpectrumDisplay(Display):
    """Eigenvalues on a logarithmic axis, and the cumulative fraction of the variance that they explain.

    Parameters
    ----------
    eigenvalues : array of shape (s,)
        Eigenvalues, largest first. Those that are not above 0 are not drawn.
    explained : array of shape (s,) or None, default=None
        Fraction of the total variance of each component.

    Attributes
    ----------
    line_, share_line_ : matplotlib's lines.
    share_ax_ : the second axis.
    ax_, figure_ : matplotlib's axes and figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> from mercer.plots import SpectrumDisplay
    >>> model = KernelPCA(10, kernel="rbf").fit(load_iris().data)
    >>> SpectrumDisplay.from_estimator(model).line_.get_xdata().tolist()[:3]
    [1, 2, 3]
    """

    def __init__(self, eigenvalues, explained=None):
        self.eigenvalues = np.asarray(eigenvalues, dtype=float)
        self.explained = explained

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: "Axes | None" = None, **kwargs: Any) -> "SpectrumDisplay":
        """Draw the `eigenvalues_` of a fitted model, such as `KernelPCA` or `SemiKPCA`."""
        check_is_fitted(estimator)
        if not hasattr(estimator, "eigenvalues_"):
            raise InputError(
                f"{type(estimator).__name__} has no eigenvalues_. Use KernelPCA and its relatives, SemiKPCA or "
                "KPCANovelty."
            )
        explained = getattr(estimator, "explained_variance_ratio_", None)
        return cls(estimator.eigenvalues_, explained).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> "SpectrumDisplay":
        """Draw into `ax`. Further arguments go to matplotlib's `plot`."""
        ax = self.axes(ax)
        place = np.arange(1, len(self.eigenvalues) + 1)
        there = self.eigenvalues > 0
        style: Facts = {"marker": "o", "markersize": 3.5, "color": RIGHT} | kwargs
        (self.line_,) = ax.plot(place[there], self.eigenvalues[there], **style)
        ax.set(xlabel="component", ylabel="eigenvalue", yscale="log" if there.any() else "linear")
        ax.locator_params(axis="x", integer=True)
        self.share_ax_ = self.share_line_ = None
        if self.explained is not None:
            self.share_ax_ = ax.twinx()
            shares = 100 * np.cumsum(self.explained)
            (self.share_line_,) = self.share_ax_.plot(place, shares, color=GRAY, linewidth=1.5)
            self.share_ax_.set(ylim=(0, 102), ylabel="variance explained so far (%)")
            self.share_ax_.spines["top"].set_visible(False)
            self.share_ax_.yaxis.label.set_color("#6b7280")
        return self
