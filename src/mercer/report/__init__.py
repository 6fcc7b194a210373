"""The report: one HTML file that needs nothing else, from plain findings."""

from .findings import Findings as Findings
from .findings import Points as Points
from .render import render as render
