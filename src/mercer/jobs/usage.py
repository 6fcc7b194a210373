"""Mistakes in what was requested, as opposed to mistakes in the data."""

from collections.abc import Sequence


class UsageError(Exception):
    """A mistake in the command itself, such as an unknown column or a file that exists already."""


def did_you_mean(word: str, accepted: Sequence[str]) -> str:
    """Return a sentence that offers the nearest of the accepted words, or all of them."""
    import difflib

    close = difflib.get_close_matches(word.lower(), accepted, n=1)
    return f"Did you mean {close[0]}?" if close else f"Accepted: {', '.join(accepted)}."
