"""Events that a long job reports while it runs.

A function that can take long has a parameter `on_event`, a function of one event. It does not depend on a screen. The
console, the web app and JSON output each show events in their own way. `ignore` is the default and drops them.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A stage begins.

    Attributes
    ----------
    text : current work, such as "reading the table".
    end : fraction of the whole job that is done when the stage ends.
    counted : whether the stage reports its own progress.
    """

    text: str
    end: float
    counted: bool = True


@dataclass(frozen=True)
class Progress:
    """A step within the current stage.

    Attributes
    ----------
    text : current work.
    fraction : fraction of the stage that is done, from 0 to 1.
    method : name of the few-label method that is being fitted, if any (see `mercer.few_label.catalog`).
    """

    text: str
    fraction: float
    method: str | None = None


@dataclass(frozen=True)
class Note:
    """A sentence that the user should read, such as that a column is not used."""

    text: str


@dataclass(frozen=True)
class Fact:
    """A named result for machine-readable output."""

    name: str
    value: Any


Event = Stage | Progress | Note | Fact
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Drop an event."""


_LISTENER: ContextVar[OnEvent] = ContextVar("listener", default=ignore)


@contextlib.contextmanager
def reporting_to(on_event: OnEvent) -> Iterator[None]:
    """Context in which `reporting` reports to `on_event`, for work deep inside functions that pass no events on."""
    token = _LISTENER.set(on_event)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def reporting(what: str, begun: int, total: int) -> Callable[[int], None]:
    """A function of the number done after the first `begun`. It reports the fraction of `total` that is done."""
    listener = _LISTENER.get()
    return lambda done: listener(Progress(what, (begun + done) / max(total, 1)))
