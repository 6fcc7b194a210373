"""The report: one HTML file that needs nothing else, from plain findings."""

from .findings import MOST_POINTS, Findings, Points
from .render import render
