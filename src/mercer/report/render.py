"""Fill the template."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence, Sized
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..backend import need
from ..types import Facts
from .figures import confidence_histogram, coverage_curve, predicted_and_given
from .findings import Findings, Points
from .picture import on_grid

if TYPE_CHECKING:
    from markupsafe import Markup

COLORS = 24
HUES = 8  # the next colors are darker and then lighter, each time with another shape
SHAPES = 5


def render(*findings: Findings) -> str:
    """Return the report as the text of one HTML file, with a part for each of the findings.

    Examples
    --------
    >>> from mercer.report import Findings, render
    >>> page = render(Findings("Twenty labels", classes=["<b>", "cat"], balance=[("<b>", 1, 2), ("cat", 3, 4)]))
    >>> "&lt;b&gt;" in page and "<b>" not in page
    True
    """
    jinja2 = need("jinja2")
    folder = resources.files(__package__)
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["percent"] = lambda fraction: f"{100 * fraction:.0f}%"
    environment.filters["count"] = lambda number: f"{number:,}"
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("theme.css", "style.css"))
    template = environment.from_string((folder / "template.html").read_text(encoding="utf-8"))
    script = (folder / "scatter.js").read_text(encoding="utf-8")
    page: str = template.render(
        parts=[_part(one) for one in findings],
        version=__version__,
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        allowed=jinja2.utils.markupsafe.Markup(_hash(script)),
        colors=COLORS,
        hues=HUES,
        shapes=SHAPES,
    )
    return page.encode("utf-8", "replace").decode()  # names of files may contain bytes that are not letters


def _hash(script: str) -> str:
    """Return the name of a script in a content security policy, which lets this one run and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _part(findings: Findings) -> Facts:
    """Return the findings with what is drawn from them."""
    points = findings.points
    shown = 0 if points is None else len(points.codes)
    return {
        "f": findings,
        "data": None if points is None else _data(points, findings),
        "palette": _palette(findings),
        "shown": shown,
        "n_points": max(findings.n_rows, shown),
        "histogram": _figure(confidence_histogram, findings.confidence, findings.abstain),
        "answers": _figure(predicted_and_given, *(findings.withheld or [None])),
        "curve": _figure(coverage_curve, findings.coverage, findings.majority),
        "most": max([given + predicted for _, given, predicted in findings.balance], default=1) or 1,
    }


def _figure(draw: Callable[..., str], values: Sized | None, *rest: object) -> "Markup | None":
    from markupsafe import Markup

    if values is None or len(values) == 0:
        return None
    return Markup(draw(values, *rest))


def _palette(findings: Findings) -> list[tuple[str, int]]:
    """Return the color of each class, a variable of the style sheet, and the number of its shape."""
    if findings.sequential:
        return [(f"--s{k}", 0) for k in range(len(findings.classes))]
    numbers = findings.palette or range(max(len(findings.classes), len(findings.balance)))
    return [(f"--c{k % COLORS}", k // HUES % SHAPES) for k in numbers]


def _data(points: Points, findings: Findings) -> "Markup":
    """Return the points as text that is safe in a script element. Whole numbers keep ten thousand points small."""
    from markupsafe import Markup

    grid, characters = 10_000, 1_000_000  # the largest coordinate, and the length of all tooltips together
    placed, sure = on_grid(points.xy, grid), points.confidence
    data = {
        "x": placed[:, 0].tolist(),
        "y": placed[:, 1].tolist(),
        "code": np.asarray(points.codes).tolist(),
        "given": np.asarray(points.given).astype(int).tolist(),
        "confidence": None if sure is None else np.round(100 * np.asarray(sure)).astype(int).tolist(),
        "names": [str(name)[:40] for name in points.names],
        "cells": {
            str(name)[:40]: _cut(values, characters // len(points.cells)) for name, values in points.cells.items()
        },
        "classes": [str(name) for name in findings.classes],
        "palette": _palette(findings),
        "grid": grid,
        "many": not findings.sequential and len(findings.classes) > HUES,
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _cut(cells: Sequence[object], characters: int) -> list[str]:
    """Return cells as text, with at most so many characters in all. Long cells are cut if they do not fit."""
    texts = [str(cell) for cell in cells]
    if sum(map(len, texts)) <= characters:
        return texts
    longest = max(24, characters // len(texts))
    return [text if len(text) <= longest else text[: longest - 1] + "…" for text in texts]
