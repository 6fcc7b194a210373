"""Plots of fitted models in scikit-learn's Display style (``from_estimator``, ``plot(ax=...)``). Needs matplotlib."""

from .left_out import LeftOutDisplay
from .levels import LevelDisplay
from .map import MapDisplay
from .reliability import ReliabilityDisplay
from .spectrum import SpectrumDisplay

__all__ = ["LeftOutDisplay", "LevelDisplay", "MapDisplay", "ReliabilityDisplay", "SpectrumDisplay"]
