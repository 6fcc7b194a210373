"""The report: one HTML file that needs nothing else, from plain findings."""

from .findings import Findings, Points
from .render import render

__all__ = ["Findings", "Points", "render"]
