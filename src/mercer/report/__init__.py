"""The report: one HTML file that needs nothing else, from plain findings."""

from .findings import MOST_POINTS, Findings, Points
from .numbers import NumberFindings, render_numbers
from .render import render

__all__ = ["MOST_POINTS", "Findings", "NumberFindings", "Points", "render", "render_numbers"]
