"""The base of the displays."""

from typing import TYPE_CHECKING

from ..backend import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Colors that color-blind readers can distinguish
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
GRAY, RIGHT, WRONG = "#b8bec6", "#0072b2", "#d55e00"


class Display:
    """An object that contains the data of a plot and can draw it several times.

    Attributes
    ----------
    ax_, figure_ : the axes of the last drawing, and their figure.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def axes(self, ax: "Axes | None" = None) -> "Axes":
        """The given axes, or new ones."""
        need("matplotlib")
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return ax
