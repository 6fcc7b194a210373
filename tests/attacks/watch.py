"""Record files opened, commands run and connections made by the interpreter."""

import sys
from collections.abc import Callable
from typing import ClassVar


class Watch:
    """Within the block, notes audit events that begin with one of `events`, but those that are harmless.

    Parameters
    ----------
    harmless : function of an event and its first argument as text.
    """

    active: ClassVar["Watch | None"] = None
    installed: ClassVar[bool] = False

    def __init__(self, events: tuple[str, ...], harmless: Callable[[str, str], bool] = lambda event, told: False):
        self.events, self.harmless, self.seen = events, harmless, []

    def __enter__(self):
        if not Watch.installed:
            sys.addaudithook(_hear)  # it cannot be taken out again
            Watch.installed = True
        Watch.active = self
        return self

    def __exit__(self, *_):
        Watch.active = None


def _hear(event, arguments):
    watch = Watch.active
    if watch is None or not event.startswith(watch.events):
        return
    told = str(arguments[0]) if arguments else ""
    if not watch.harmless(event, told):
        watch.seen.append((event, str(arguments)[:200]))
