"""Write plain findings as a report in one HTML file without external resources."""

from .findings import Findings as Findings
from .findings import Points as Points
from .render import render as render
