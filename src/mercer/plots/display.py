"""What the displays share."""

from typing import Any

from ..backend import need

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")  # told apart by all
GREY, RIGHT, WRONG = "#b8bec6", "#0072b2", "#d55e00"


class Display:
    """An object that holds what is drawn, and draws it as often as it is asked to.

    Attributes
    ----------
    ax_, figure_ : the axes drawn into last, and their figure.
    """

    ax_: Any
    figure_: Any

    def axes(self, ax: Any = None) -> Any:
        """The axes to draw into: the given ones, or new ones."""
        need("matplotlib")
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return ax
