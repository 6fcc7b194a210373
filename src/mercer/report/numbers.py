"""The report on predicted numbers: short, and apart from that on classes."""

from dataclasses import dataclass, field
from importlib import resources

from .. import __version__
from ..backend import need
from .figures import predicted_and_given


@dataclass
class NumberFindings:
    """What the report on numbers shows.

    Attributes
    ----------
    tiles : (value, caption) pairs. answers : (given numbers, left-out answers, half width of the interval) or None.
    suggestions : (row, predicted number, reason) rows.
    candidates : dicts with name, settings, rmse, mae, weight and seconds. reasons, notes : sentences.
    """

    title: str
    subtitle: str = ""
    tiles: list = field(default_factory=list)
    answers: tuple | None = None
    suggestions: list = field(default_factory=list)
    candidates: list = field(default_factory=list)
    reasons: list = field(default_factory=list)
    notes: list = field(default_factory=list)


def render_numbers(findings):
    """The report as the text of one HTML file.

    Examples
    --------
    >>> from mercer.report import NumberFindings, render_numbers
    >>> "&lt;b&gt;" in render_numbers(NumberFindings("<b>"))
    True
    """
    jinja2 = need("jinja2")
    folder, markup = resources.files(__package__), jinja2.utils.markupsafe.Markup
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "numbers.html").read_text(encoding="utf-8"))
    style = markup((folder / "style.css").read_text(encoding="utf-8"))
    figure = None if findings.answers is None else markup(predicted_and_given(*findings.answers))
    return template.render(f=findings, version=__version__, style=style, figure=figure)
