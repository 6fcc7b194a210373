"""Open a session folder and serve it until Ctrl-C."""

import asyncio
import contextlib
import os
import signal
import socket
import uuid
import webbrowser
from pathlib import Path
from typing import Any

from ..backend import need
from ..inputs.tables.formats import located
from ..jobs.usage import UsageError
from .folder import ENDING, Folder, fingerprint
from .process import Process
from .security import Guard
from .teacher import Teacher

ANSWERS = "odd", ("odd", "ordinary")  # with `outliers`: name of the column and its classes, unless others are given
WATCHED = 2.0  # seconds between two looks at the table
REMEMBERED = (
    *("id", "image", "text", "exclude", "show", "delimiter", "encoding", "sheet", "header", "table", "missing"),
    *("embed", "text_model", "image_model", "no_cache", "hint", "protect", "outliers"),
)


def open_session(
    data: Any,
    target: str | None,
    options: dict,
    settings: dict,
    demo: bool = False,
    classes=(),
    process: Process | None = None,
    annotator: str | None = None,
):
    """A `Session` on a table, or on the folder of an earlier one, with what was requested then as the default.

    In `process`, if there is one, the learner reads the table while it is read here.
    """
    data = Path(data)
    folder_path = data if _is_session(data) else data.with_name(data.name + ENDING)
    if not _is_session(data):
        source = located(data)[1]
        if source.path is None or not source.path.exists():
            raise UsageError(f"There is no file {data}. Check the name and the folder.")
    folder, teacher = Folder(folder_path), None
    try:
        known = folder.settings
        if _is_session(data):
            data = folder_path.parent / known.get("data", folder_path.name.removesuffix(ENDING))
            if not data.exists():
                raise UsageError(f"The table {data} of this session is not there. Bring it back, or move the folder.")
        target = target or known.get("target") or (ANSWERS[0] if options.get("outliers") else None)
        if target is None:
            raise UsageError("Give the column of labels: --target COLUMN. It need not be in the table yet.")
        if known.get("target", target) != target:
            raise UsageError(
                f"{folder_path} holds labels of {known['target']!r}, not of {target!r}. Move it away to begin another."
            )
        options = {name: known.get("options", {}).get(name) for name in REMEMBERED} | {
            name: value for name, value in options.items() if value is not None
        }
        options = {name: value for name, value in options.items() if value is not None}
        sha256 = fingerprint(data)
        if known.get("sha256") != sha256 or known.get("options") != options:
            for file in (folder_path / "cache").iterdir():
                file.unlink()
        arguments = (data, target, options, known.get("seed", 0), folder_path / "cache")
        if process and not folder.journal.damage:
            teacher = Teacher(process, arguments)
        elif process:
            process.end()
        from .annotators import named
        from .session import Session  # these take their time, in which the learner is at work already
        from .table import TableRows

        rows = TableRows(data, target, options)
        defaults = {"goal": 0.9, "random_share": 0.25, "abstain": None, "double_share": 0.1} | known.get("settings", {})
        asked = {name: value for name, value in settings.items() if value is not None}
        settings, demo = defaults | asked, demo or known.get("demo", False)
        session = Session(folder, data, rows, target, options, settings, demo, teacher, named(annotator))
        if options.get("outliers") and not len(rows.labels.classes):
            classes = classes or ANSWERS[1]
        session.begin(sha256, list(classes))
        if teacher:
            session.start_teacher = lambda: Teacher(Process(), arguments)
        if session.problem is None and session.ledger.settings != session.ledger.settings | asked:
            session.change_settings(asked)
        folder.write_settings(
            session=known.get("session") or str(uuid.uuid4()),
            data=data.name,
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
    annotator=None,
    id=None,
    image=None,
    text=None,
    exclude=None,
    protect=False,
    outliers=False,
    **source,
):
    """Serve the page, with the learner in `process`. Returns when the user ends it."""
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
            raise UsageError(f"--{name.replace('_', '-')} {value:g} is not accepted: give a fraction from 0 to 1.")
    session = open_session(data, target, options, settings, demo, classes, process, annotator)
    listening = listen(port or session.folder.settings.get("port", 0), fixed=bool(port))
    session.folder.write_settings(port=listening.getsockname()[1])
    for sentence in [*session.rows.notes, *filter(None, [session.journal.repaired])]:
        screen.note(sentence)
    served = Served(session, listening, uvicorn)
    session.folder.tell(served.guard.url)
    screen.say(
        f"{session.data.name}, labels of {session.target!r}: {len(session.ledger.labels)} of {len(session.rows)} rows"
    )
    screen.say(served.guard.url)
    if session.problem:
        screen.note(session.problem["text"])
    screen.say("Ctrl-C ends; every label is on the disk already.")
    screen.flush()
    if not no_browser:
        webbrowser.open(session.folder.door(served.guard.url).absolute().as_uri())
    served.run()
    screen.say(f"{len(session.ledger.labels)} labels in {session.folder.path}.")


def listen(port: int, fixed: bool) -> socket.socket:
    """A socket of this machine alone. Of another port where this one is taken, unless it is fixed."""
    # asyncio turns the delay of small packets off (40 ms a request) only where the protocol is named
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        if fixed:
            raise UsageError(f"--port {port} cannot be used: {error.strerror}. Give another, or none.") from None
        listening.bind(("127.0.0.1", 0))
    listening.listen(128)  # who opens the address before the server is up waits
    return listening


class Served:
    """A session and the server that it is served by."""

    def __init__(self, session: Any, listening: socket.socket, uvicorn: Any, embedded: bool = False) -> None:
        from .app import application

        self.session, self.listening = session, listening
        self._loop: Any = None
        self.guard = Guard(application(session, self.end), listening.getsockname()[1], self._used, embedded)
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
        """Until the end."""
        asyncio.run(self._serve())

    def end(self) -> None:
        """Stop listening. Open streams are closed."""
        self.session.hub.close()
        self.server.should_exit = True

    def end_soon(self) -> None:
        """The same from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.end)

    def _used(self, url):
        """The address was opened: the next one is for a second start, and the file for the browser is not needed."""
        self.session.folder.tell(url)
        self.session.folder.closed_door()

    async def _serve(self):
        loop = self._loop = asyncio.get_running_loop()
        for name in ("SIGINT", "SIGTERM"):
            with contextlib.suppress(NotImplementedError, AttributeError):
                loop.add_signal_handler(getattr(signal, name), self.end)
        self.server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        self.server.capture_signals = contextlib.nullcontext  # ours say goodbye to the tabs first
        self.session.listen()
        watching = asyncio.create_task(self._watch())
        try:
            await self.server.serve(sockets=[self.listening])
        finally:
            watching.cancel()
            self.session.close()

    async def _watch(self) -> None:
        """Notice when the table is changed: nothing is learned until it is as before, and nothing is lost."""
        from .recovery import check_journal, table_changed, table_restored

        path, seen = self.session.data, _state(self.session.data)
        while True:
            await asyncio.sleep(WATCHED)
            check_journal(self.session)
            now = _state(path)
            if now == seen:
                continue
            seen, same = now, False
            with contextlib.suppress(OSError):
                same = now is not None and await asyncio.to_thread(fingerprint, path) == self.session.ledger.sha256
            if not same:
                await table_changed(self.session)
            elif self.session.problem is not None and self.session.problem["code"] == "file_changed":
                await table_restored(self.session)


def _state(path: str | Path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
