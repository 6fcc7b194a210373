"""Feature maps, which compute rows z(x) with z(x) · z(y) ≈ k(x, y)."""

from .base import FeatureMap
from .fourier import FourierMap
from .graph import GraphMap
from .landmark import LandmarkMap
from .row import RowMap
from .rows import MappedRows, SampledRows, mapped
