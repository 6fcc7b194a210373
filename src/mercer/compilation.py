"""Loops compiled by numba: kept on the disk, never interrupted halfway, and reported when a user waits for them."""

import contextlib
import contextvars
import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from .backend import uninterrupted
from .events import Progress

Loop = TypeVar("Loop", bound=Callable[..., object])


def compiled(*signature: str, **options: object) -> Callable[[Loop], Loop]:
    """Decorator: `numba.njit`, with the machine code kept on the disk where some folder for it can be written.

    Ctrl-C waits until a function is compiled: numba stopped halfway refuses that function from then on.
    """
    with uninterrupted():
        njit = importlib.import_module("numba").njit
        _listen()

    def decorate(function: Loop) -> Loop:
        with uninterrupted():
            try:
                loop = njit(*signature, cache=True, no_cfunc_wrapper=True, **options)(function)
            except RuntimeError:  # numba looks for a folder here
                loop = njit(*signature, **options)(function)
        loop.compile = uninterrupted()(loop.compile)
        return loop

    return decorate


_told: contextvars.ContextVar = contextvars.ContextVar("told of compilation", default=None)


@functools.cache
def _listen():
    """Let numba report each compilation. Code that comes from the disk is not one."""
    event: Any = importlib.import_module("numba.core.event")

    class Listener(event.Listener):
        def on_start(self, event):
            tell = _told.get()
            if tell is not None:
                _told.set(None)  # once
                tell()

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())


@contextlib.contextmanager
def compilation_reported(on_event):
    """Context that gives an `on_event` function, which also gets one event before the first compilation in it."""
    done = 0.0

    def report(event):
        nonlocal done
        done = event.fraction if isinstance(event, Progress) else done
        on_event(event)

    token = _told.set(lambda: report(Progress("compiling, once for each installation", done)))
    try:
        yield report
    finally:
        _told.reset(token)
