"""Several targets of one table, with a session for each in one server.

The first target has the folder of the table. Each other one has a folder in it, with its own journal. Its learner is
started when the page first shows this target.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from ..jobs.usage import UsageError
from .process import Process
from .recovery import restart
from .session import Session
from .start import folder_of, open_session

HEADER = b"x-mercer-target"


def place_of(folder: Path, target: str) -> Path:
    """The folder of a further target within that of the first one."""
    return folder / "targets" / quote(target, safe="")


def targets_to_open(folder: Path, wanted: list[str]) -> list[str]:
    """The targets of a session folder, those that it knows and those that are wanted, the first of the folder first.

    Refused if the folder is that of other targets only, since this may be a slip.
    """
    try:
        settings = json.loads((folder / "session.json").read_text(encoding="utf-8"))
        known = settings["options"].get("targets") or [settings["target"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return wanted
    if wanted and known[0] not in wanted and not set(wanted) <= set(known):
        raise UsageError(
            f"{folder} contains labels of {', '.join(map(repr, known))}, not of {wanted[0]!r}. Give --target "
            f"{known[0]} too, to label both, or move it away to begin another."
        )
    return list(dict.fromkeys([*known, *wanted]))


def open_sessions(
    data: str | Path,
    targets: list[str],
    options: dict,
    settings: dict,
    demo: bool = False,
    classes: Sequence[str] = (),
    process: Process | None = None,
    annotator: str | None = None,
) -> list[Session]:
    """A `Session` for each target of a table, with the arguments of `open_session`."""
    folder = folder_of(Path(data))
    targets = targets_to_open(folder, list(targets))
    if len(targets) < 2:
        target = targets[0] if targets else None
        return [open_session(data, target, options, settings, demo, classes, process, annotator)]
    if options.get("outliers"):
        raise UsageError("--outliers takes one --target.")
    options = options | {"targets": targets}
    sessions = [open_session(data, targets[0], options, settings, demo, classes, process, annotator)]
    try:
        (folder / "targets").mkdir(exist_ok=True)
        for target in targets[1:]:
            place = place_of(folder, target)
            sessions.append(
                open_session(sessions[0].data, target, options, settings, demo, annotator=annotator, place=place)
            )
    except BaseException:
        for session in sessions:
            session.close()
        raise
    return sessions


class TargetSwitch:
    """The applications of several sessions as one. A header or a query parameter names the target of a request.

    Parameters
    ----------
    apps : {target: (session, application)}. first : target of requests that name none.
    """

    def __init__(self, apps: dict[str, tuple[Session, Starlette]], first: str) -> None:
        self._apps, self._first = apps, first
        self._starting: dict[str, asyncio.Task] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = dict(scope["headers"]).get(HEADER, b"").decode("latin-1")
        word = unquote(named) or parse_qs(scope["query_string"].decode("latin-1")).get("target", [""])[0]
        target = word if word in self._apps else self._first
        session, application = self._apps[target]
        if session.waits and target not in self._starting:
            session.waits = False
            self._starting[target] = asyncio.create_task(restart(session))
        await application(scope, receive, send)
