"""Packages that are not among the extras."""

import importlib
from typing import Any

from ..errors import InputError


def installed(name: str, why: str) -> Any:
    """Import a package that is not among the extras. Raises an error that names it if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        name = name.replace("_", "-")
        raise InputError(
            f"{why} needs the package {name}, which is not installed. Install it with: pip install {name}."
        ) from None
