"""Compile loops with numba. The code is cached on disk, not interrupted halfway, and reported if a user waits."""

import contextlib
import contextvars
import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from .backend import uninterrupted
from .events import Progress

Loop = TypeVar("Loop", bound=Callable[..., object])
# `fastmath` for loops whose sums may be reordered, so that they vectorize. Infinities and NaN keep their meaning.
FAST = {"contract", "reassoc", "nsz", "arcp"}


def compiled(*signature: str, **options: object) -> Callable[[Loop], Loop]:
    """Decorator `numba.njit` that caches the machine code on disk if a folder for it can be written.

    Ctrl-C waits until a function is compiled, because numba refuses a function whose compilation was stopped halfway.
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


_on_compile: contextvars.ContextVar = contextvars.ContextVar("report of a compilation", default=None)


@functools.cache
def _listen():
    """Let numba report each compilation. Loading code from disk is not one."""
    event: Any = importlib.import_module("numba.core.event")

    class Listener(event.Listener):
        def on_start(self, event):
            report = _on_compile.get()
            if report is not None:
                _on_compile.set(None)  # once
                report()

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())


@contextlib.contextmanager
def compilation_reported(on_event):
    """Context that returns an `on_event` function, which also receives an event before the first compilation."""
    done = 0.0

    def report(event):
        nonlocal done
        done = event.fraction if isinstance(event, Progress) else done
        on_event(event)

    token = _on_compile.set(lambda: report(Progress("compiling, once for each installation", done)))
    try:
        yield report
    finally:
        _on_compile.reset(token)
