"""Figures as SVG that take their colors from the page, so that they follow its light or dark scheme."""

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..backend import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, SERIES, BAND = "#010203", "#010204", "#010205", "#010206"  # placeholders, replaced by the page's variables


def _figure(width: float = 4.2, height: float = 2.6) -> tuple["Figure", "Axes"]:
    """Return a small figure, which the page enlarges. Its text is therefore legible on a phone and on paper."""
    need("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axis = figure.subplots()
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(FAINT)
    axis.tick_params(colors=INK, labelsize=9, color=FAINT)
    axis.xaxis.label.set_color(INK)
    axis.yaxis.label.set_color(INK)
    axis.grid(axis="y", color=FAINT, linewidth=0.6)
    axis.set_axisbelow(True)
    return figure, axis


def _svg(figure: "Figure", description: str) -> str:
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "mercer", "font.family": "sans-serif"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    variables = {INK: "var(--ink)", FAINT: "var(--line)", SERIES: "var(--accent)", BAND: "var(--accent-soft)"}
    for placeholder, variable in variables.items():
        text = text.replace(placeholder, variable)
    text = re.sub(r"font: ([^;]*?)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg", f'<svg role="img" aria-label="{description}" class="figure"', 1)


def confidence_histogram(confidence: np.ndarray, abstain: float | None = None) -> str:
    """Return a histogram of the confidence of the predicted rows."""
    figure, axis = _figure()
    steps = 20 - int(20 * min(0.5, float(np.min(confidence))))  # twentieths, from 0.5 or below up to 1
    counts, edges = np.histogram(np.clip(confidence, 0, 1), 1 - np.arange(steps, -1, -1) / 20)
    axis.bar(edges[:-1], counts, width=np.diff(edges) * 0.92, align="edge", color=SERIES)
    if abstain is not None:
        axis.axvline(abstain, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
        left = abstain > edges.mean()  # the text is on the side with more space, above the bars
        axis.annotate(
            f"abstain below {abstain:g}",
            (abstain, 1.08 * counts.max()),
            color=INK,
            fontsize=9,
            xytext=(-5 if left else 5, 0),
            textcoords="offset points",
            ha="right" if left else "left",
        )
        axis.set_ylim(0, 1.2 * counts.max())
    axis.locator_params(axis="y", integer=True)
    axis.set(xlabel="confidence", ylabel="rows", xlim=(edges[0], 1))
    return _svg(figure, "Histogram of the confidence of the filled-in rows")


def coverage_curve(coverage: Sequence[tuple[float, ...]], majority: tuple[str, float] | None = None) -> str:
    """Return a plot of the accuracy on held-out labels if only the most confident ones are predicted.

    It shows 95% intervals. A dashed line is the accuracy of always predicting the most frequent class, which is
    `majority` = (class, its fraction of the labels).
    """
    fraction, accuracy, low, high = np.array(coverage, dtype=float).T
    figure, axis = _figure()
    axis.fill_between(100 * fraction, 100 * low, 100 * high, color=BAND, linewidth=0)
    axis.plot(100 * fraction, 100 * accuracy, color=SERIES, linewidth=2, marker="o", markersize=3.5)
    if majority is not None:
        axis.axhline(100 * majority[1], color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
        axis.annotate(
            "always the most frequent class",
            (0, 100 * majority[1]),
            color=INK,
            fontsize=9,
            xytext=(2, 3),
            textcoords="offset points",
            ha="left",
        )
    axis.set(xlabel="fraction predicted, most confident first (%)", ylabel="correct (%)", xlim=(0, 101), ylim=(0, 102))
    return _svg(figure, "Accuracy on held-out labels against the fraction of rows predicted")


def predicted_and_given(given: np.ndarray, left_out: np.ndarray, reach: Callable[[np.ndarray], np.ndarray]) -> str:
    """Return a plot of given numbers against the predictions without them, with the band of the prediction interval."""
    figure, axis = _figure()
    ends = np.array([min(given.min(), left_out.min()), max(given.max(), left_out.max())])
    at = np.linspace(ends[0], ends[1], 100)
    axis.fill_between(at, at - reach(at), at + reach(at), color=BAND, linewidth=0)
    axis.plot(ends, ends, color=FAINT, linewidth=1)
    axis.plot(left_out, given, "o", color=SERIES, markersize=3.5)
    axis.set(xlabel="prediction without the number", ylabel="given number")
    return _svg(figure, "Given numbers against the predictions of fits without them")
