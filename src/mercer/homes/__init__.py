"""Where tall matrices live: one module and one object of class `Home` for each place, chosen by `home_of`."""

from typing import Any

from ..types import Rows
from . import computed, dask, host, objects, torch
from .base import Home
from .computed import Computed
from .objects import Objects

HOMES: list[Home] = [
    computed.HOME,
    torch.HOME,
    dask.HOME,
    objects.HOME,
    host.HOME,
]  # the host, which owns everything, is last


def home_of(A: Rows) -> Home:
    """The home of an array, decided without importing torch or Dask."""
    return next(home for home in HOMES if home.owns(A))
