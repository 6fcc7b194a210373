"""Open a session folder and serve it until Ctrl-C."""

import asyncio
import contextlib
import os
import signal
import socket
import uuid
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..backend import need
from ..inputs.tables import NumberTarget, Target
from ..inputs.tables.formats import located
from ..jobs.usage import UsageError
from .folder import ENDING, Folder, fingerprint
from .process import Process
from .security import Guard
from .teacher import Teacher

if TYPE_CHECKING:
    from .session import Session

ANSWERS = "odd", ("odd", "ordinary")  # with `outliers`: name of the column and its classes, unless others are given
WATCHED = 2.0  # seconds between two looks at the table
REMEMBERED = (
    *("id", "image", "text", "exclude", "show", "delimiter", "encoding", "sheet", "header", "table", "missing"),
    *("embed", "text_model", "image_model", "no_cache", "hint", "protect", "outliers", "kind", "targets"),
)


def open_session(
    data: str | Path,
    target: str | None,
    options: dict,
    settings: dict,
    demo: bool = False,
    classes: Sequence[str] = (),
    process: Process | None = None,
    annotator: str | None = None,
    place: Path | None = None,
) -> "Session":
    """A `Session` on a table, or on the folder of an earlier session, whose options are then the default.

    In `process`, if there is one, the learner reads the table while it is read here. `place` is the folder of the
    session if it is not that of the table. Its learner is started later.
    """
    table = Path(data)
    folder_path = place or folder_of(table)
    if not _is_session(table):
        source = located(table)[1]
        if source.path is None or not source.path.exists():
            raise UsageError(f"There is no file {table}. Check the name and the folder.")
    folder, teacher = Folder(folder_path), None
    try:
        known = folder.settings
        if _is_session(table):
            table = folder_path.parent / known.get("data", folder_path.name.removesuffix(ENDING))
            if not table.exists():
                raise UsageError(f"The table {table} of this session is not there. Bring it back, or move the folder.")
        target = target or known.get("target") or (ANSWERS[0] if options.get("outliers") else None)
        if target is None:
            raise UsageError("Give the column of labels: --target COLUMN. It need not be in the table yet.")
        if known.get("target", target) != target:
            raise UsageError(
                f"{folder_path} contains labels of {known['target']!r}, not of {target!r}. Move it away to begin "
                "another."
            )
        options = {name: known.get("options", {}).get(name) for name in REMEMBERED} | {
            name: value for name, value in options.items() if value is not None
        }
        options |= _kind(folder, target, options.get("kind"))
        options = {name: value for name, value in options.items() if value is not None}
        sha256 = fingerprint(table)
        if known.get("sha256") != sha256 or known.get("options") != options:
            for file in (folder_path / "cache").iterdir():
                file.unlink()
        arguments = (table, target, options, known.get("seed", 0), folder_path / "cache")
        if process and not folder.journal.damage:
            teacher = Teacher(process, arguments)
        elif process:
            process.end()
        from .annotators import named
        from .session import Session  # imported while the learner works already
        from .table import TableRows

        rows = TableRows(table, target, options)
        options["kind"] = [f"{target}={'number' if rows.labels.numeric else 'class'}"]
        defaults: dict = {"goal": 0.9, "random_share": 0.25, "abstain": None, "double_share": 0.1, "tolerance": None}
        defaults |= known.get("settings", {})
        asked = {name: value for name, value in settings.items() if value is not None}
        settings, demo = defaults | asked, demo or known.get("demo", False)
        session = Session(folder, table, rows, target, options, settings, demo, teacher, named(annotator))
        if options.get("outliers") and isinstance(rows.labels, NumberTarget):
            raise UsageError(f"--outliers is for the classes odd and ordinary, and {target!r} contains numbers.")
        if options.get("outliers") and isinstance(rows.labels, Target) and not len(rows.labels.classes):
            classes = classes or ANSWERS[1]
        session.begin(sha256, list(classes))
        if not folder.journal.damage and (teacher or place):
            session.start_teacher = lambda: Teacher(Process(), arguments)
            session.waits = teacher is None
        if session.problem is None and session.ledger.settings != session.ledger.settings | asked:
            session.change_settings(asked)
        folder.write_settings(
            session=known.get("session") or str(uuid.uuid4()),
            data=table.name,
            sha256=sha256,
            target=target,
            options=options,
            settings=settings,
            seed=known.get("seed", 0),
            demo=session.demo,
        )
        return session
    except BaseException:
        if teacher:
            teacher.close()
        folder.close()
        folder.discard()
        raise


def _kind(folder: Folder, target: str, asked: list[str] | None) -> dict:
    """The option that reads the target as classes or numbers, as at the beginning of the session or by request."""
    begun = next((event for event in folder.journal.events if event["op"] == "begin"), None)
    words = [word.rpartition("=") for word in asked or []]
    wanted = next((kind for column, _, kind in reversed(words) if column in ("", target)), None)
    if begun is None and wanted in (None, "number", "class"):
        return {"kind": [f"{target}={wanted}"] if wanted else None}
    if begun is None:
        raise UsageError(f"Invalid --as {wanted}; expected number, class, or COLUMN=number for one --target.")
    kind = begun.get("kind", "class")
    if wanted not in (None, kind):
        raise UsageError(
            f"{folder.path} contains labels of {target!r} as {kind}, not as {wanted}. Move it away to begin another."
        )
    return {"kind": [f"{target}={kind}"]}


def folder_of(data: Path) -> Path:
    """The folder of the session of a table, or this folder itself."""
    return data if _is_session(data) else data.with_name(data.name + ENDING)


def _is_session(path: Path) -> bool:
    return path.is_dir() and (path / "journal.jsonl").exists()


def serve(
    screen,
    process,
    data=None,
    target=None,
    *,
    demo=False,
    port=0,
    no_browser=False,
    goal=None,
    random_share=None,
    abstain=None,
    double_share=None,
    tolerance=None,
    annotator=None,
    id=None,
    image=None,
    text=None,
    exclude=None,
    protect=False,
    outliers=False,
    **source,
):
    """Serve the page until the user ends it, with the learner in `process`."""
    uvicorn = need("uvicorn")
    need("starlette")
    options: dict = {"id": id, "image": image, "text": text, "exclude": exclude, **source, "protect": protect or None}
    options |= {"outliers": outliers or None}
    classes: list = []
    if demo:
        from .demo import write_demo

        data, target, more, classes = write_demo(data)
        options |= more
    if data is None:
        raise UsageError("Give a table, or --demo to try it with handwritten digits.")
    settings = {"goal": goal, "random_share": random_share, "abstain": abstain, "double_share": double_share}
    for name, value in settings.items():
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"Invalid --{name.replace('_', '-')} {value:g}; expected a fraction from 0 to 1.")
    if tolerance is not None and not tolerance > 0:
        raise UsageError(f"Invalid --tolerance {tolerance:g}; expected an error above 0.")
    settings["tolerance"] = tolerance
    from .targets import open_sessions

    wanted = [target] if isinstance(target, str) else list(target or [])
    session, *others = open_sessions(data, wanted, options, settings, demo, classes, process, annotator)
    listening = listen(port or session.folder.settings.get("port", 0), fixed=bool(port))
    session.folder.write_settings(port=listening.getsockname()[1])
    sessions = [session, *others]
    notes = [sentence for one in sessions for sentence in [*one.rows.notes, one.journal.repaired] if sentence]
    for sentence in dict.fromkeys(notes):
        screen.note(sentence)
    served = Served(session, listening, uvicorn, others=others, first=wanted[0] if wanted else None)
    session.folder.tell(served.guard.url)
    for one in sessions:
        screen.say(f"{one.data.name}, labels of {one.target!r}: {len(one.ledger.labels)} of {len(one.rows)} rows")
    screen.say(served.guard.url)
    for one in sessions:
        if one.problem:
            screen.note(one.problem["text"])
    screen.say("Press Ctrl-C to end. Every label is on disk already.")
    screen.flush()
    if not no_browser:
        webbrowser.open(session.folder.door(served.guard.url).absolute().as_uri())
    served.run()
    screen.say(f"{sum(len(one.ledger.labels) for one in sessions)} labels in {session.folder.path}.")


def listen(port: int, fixed: bool) -> socket.socket:
    """A socket of this machine alone. If the port is taken, it has another port, unless the port is `fixed`."""
    # asyncio turns off the delay of small packets (40 ms per request) only if the protocol is named
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        if fixed:
            raise UsageError(f"--port {port} cannot be used: {error.strerror}. Give another, or none.") from None
        listening.bind(("127.0.0.1", 0))
    listening.listen(128)  # requests before the server is up wait
    return listening


class Served:
    """A session and the server that it is served by. `others` are those of further targets, `first` is shown first."""

    def __init__(
        self,
        session: "Session",
        listening: socket.socket,
        uvicorn: Any,
        embedded: bool = False,
        others: Sequence["Session"] = (),
        first: str | None = None,
    ) -> None:
        from .app import application
        from .targets import TargetSwitch

        self.session, self.listening, self._sessions = session, listening, [session, *others]
        self._loop: asyncio.AbstractEventLoop | None = None
        apps = {one.target: (one, application(one, self.end)) for one in self._sessions}
        app = TargetSwitch(apps, first or session.target)
        self.guard = Guard(app, listening.getsockname()[1], self._used, embedded)
        config = uvicorn.Config(
            self.guard,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
            server_header=False,
        )
        self.server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until the end."""
        asyncio.run(self._serve())

    def end(self) -> None:
        """Stop listening, and close open streams."""
        for session in self._sessions:
            session.hub.close()
        self.server.should_exit = True

    def end_soon(self) -> None:
        """Call `end` from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.end)

    def _used(self, url):
        """Keep the next address for a second start, and delete the file that led the browser to this one."""
        self.session.folder.tell(url)
        self.session.folder.closed_door()

    async def _serve(self):
        loop = self._loop = asyncio.get_running_loop()
        for name in ("SIGINT", "SIGTERM"):
            with contextlib.suppress(NotImplementedError, AttributeError):
                loop.add_signal_handler(getattr(signal, name), self.end)
        self.server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        self.server.capture_signals = contextlib.nullcontext  # the handlers above inform the tabs first
        self.session.listen()
        watching = [asyncio.create_task(self._watch(session)) for session in self._sessions]
        try:
            await self.server.serve(sockets=[self.listening])
        finally:
            for task in watching:
                task.cancel()
            for session in reversed(self._sessions):
                session.close()

    async def _watch(self, session: "Session") -> None:
        """Notice when the table changes. Learning stops until the earlier table is back, and no label is lost."""
        from .recovery import check_journal, table_changed, table_restored

        path, seen = session.data, _state(session.data)
        while True:
            await asyncio.sleep(WATCHED)
            check_journal(session)
            now = _state(path)
            if now == seen:
                continue
            seen, same = now, False
            with contextlib.suppress(OSError):
                same = now is not None and await asyncio.to_thread(fingerprint, path) == session.ledger.sha256
            if not same:
                await table_changed(session)
            elif session.problem is not None and session.problem["code"] == "file_changed":
                await table_restored(session)


def _state(path: str | Path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
