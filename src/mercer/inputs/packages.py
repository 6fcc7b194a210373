"""Packages that are not among the extras."""

import importlib
from typing import Any

from ..errors import InputError


def installed(name: str, why: str) -> Any:
    """A package that is not among the extras, or a sentence on how to go without it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        name = name.replace("_", "-")
        raise InputError(f"{why} needs the package {name}, which is not installed: pip install {name}.") from None
