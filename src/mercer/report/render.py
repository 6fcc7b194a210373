"""Fill the template."""

import base64
import hashlib
import json
from importlib import resources

import numpy as np

from .. import __version__
from ..backend import need
from .figures import confidence_histogram, coverage_curve, predicted_and_given
from .picture import on_grid

GRID = 10_000  # positions are whole numbers from 0 to here
COLOURS = 12
SHAPES = 5  # of the marks of further classes: each shape in all colours
TIPS = 1_000_000  # characters of cells for the tooltips


def render(*findings):
    """The report as the text of one HTML file, with a part for each of the findings.

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
    environment.filters["percent"] = lambda share: f"{100 * share:.0f}%"
    environment.filters["count"] = lambda number: f"{number:,}".replace(",", "\u202f")
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("theme.css", "style.css"))
    template = environment.from_string((folder / "template.html").read_text(encoding="utf-8"))
    script = (folder / "scatter.js").read_text(encoding="utf-8")
    page = template.render(
        parts=[_part(one) for one in findings],
        version=__version__,
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        allowed=jinja2.utils.markupsafe.Markup(_hash(script)),
        colours=COLOURS,
        shapes=SHAPES,
    )
    return page.encode("utf-8", "replace").decode()  # names of files may hold bytes that are no letters


def _hash(script):
    """The name of a script in a content security policy, which lets this one run and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _part(findings):
    """The findings with what is drawn from them."""
    points = findings.points
    shown = 0 if points is None else len(points.codes)
    return {
        "f": findings,
        "data": None if points is None else _data(points, findings.classes),
        "shown": shown,
        "n_points": max(findings.n_rows, shown),
        "histogram": _figure(confidence_histogram, findings.confidence, findings.abstain),
        "answers": _figure(predicted_and_given, *(findings.withheld or [None])),
        "curve": _figure(coverage_curve, findings.coverage, findings.majority),
        "most": max([given + predicted for _, given, predicted in findings.balance], default=1) or 1,
    }


def _figure(draw, values, *rest):
    from markupsafe import Markup

    if values is None or len(values) == 0:
        return None
    return Markup(draw(values, *rest))


def _data(points, classes):
    """The points for the script: whole numbers, so that ten thousand are small; safe in a script element."""
    from markupsafe import Markup

    placed, sure = on_grid(points.xy, GRID), points.confidence
    data = {
        "x": placed[:, 0].tolist(),
        "y": placed[:, 1].tolist(),
        "code": np.asarray(points.codes).tolist(),
        "given": np.asarray(points.given).astype(int).tolist(),
        "confidence": None if sure is None else np.round(100 * np.asarray(sure)).astype(int).tolist(),
        "names": [str(name)[:40] for name in points.names],
        "cells": {str(name)[:40]: _cut(values, TIPS // len(points.cells)) for name, values in points.cells.items()},
        "classes": [str(name) for name in classes],
        "grid": GRID,
        "colours": COLOURS,
        "shapes": SHAPES,
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _cut(cells, characters):
    """Cells as text: whole where all fit into so many characters, else none longer than its share."""
    cells = [str(cell) for cell in cells]
    if sum(map(len, cells)) <= characters:
        return cells
    longest = max(24, characters // len(cells))
    return [cell if len(cell) <= longest else cell[: longest - 1] + "…" for cell in cells]
