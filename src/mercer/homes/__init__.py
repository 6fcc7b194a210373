"""Array backends for tall matrices, with one module and one object of class `Home` each, chosen by `home_of`."""

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
]  # the host comes last because it accepts everything


def home_of(A: Rows) -> Home:
    """The `Home` of an array, found without importing torch or Dask."""
    return next(home for home in HOMES if home.owns(A))
