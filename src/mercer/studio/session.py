"""A session. The ledger follows the journal, and the learner and all tabs follow the ledger."""

import asyncio
import contextlib
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..inputs.tables import NumberTarget, Target
from . import changes, recovery
from .annotators import Doubles
from .answering import Answer, no_why
from .changes import Refused
from .drawing import Draw
from .exports import facts_of, file_name, write_labels
from .folder import Folder
from .history import event_message
from .hub import Hub
from .journal import Damaged
from .ledger import Ledger, named
from .number_answers import PredictedNumbers
from .recovery import WAITS
from .table import TableRows, class_numbers
from .task import LearnerTask, task_of
from .teacher import Teacher

KEPT = ("from", "to")  # parts of an event in which null means no label
EXPORT_SECONDS = 3600.0  # an export waits for the model of the standard sizes


class Session:
    """The state that the requests of the page change. Everything runs in one event loop.

    Parameters
    ----------
    folder : `Folder`. data : path of the table. rows : `TableRows`. target : name of the label column.
    options : of `TableRows`. settings : goal, random_share, abstain, double_share, tolerance.
    demo : whether this is the demonstration.
    teacher : the learner, or None for a session that only keeps labels.
    annotator : name of the person who labels, unless the page gives another one.
    """

    def __init__(
        self,
        folder: Folder,
        data: Path,
        rows: TableRows,
        target: str,
        options: dict,
        settings: dict,
        demo: bool,
        teacher: Teacher | None = None,
        annotator: str | None = None,
    ):
        self.folder, self.journal, self.rows, self.hub = folder, folder.journal, rows, Hub()
        self.data, self.target, self.options, self.demo = data, target, options, demo
        self.ledger = Ledger(settings=settings)
        for event in self.journal.events:
            self.ledger.take(event)
        self.problem: dict | None = None
        self.stage = {"name": "reading", "text": "reading the table", "share": 0.0, "cancellable": False}
        self.map: bytes | None = None
        self.answer: Answer | PredictedNumbers | None = None
        self.queue: dict | None = None
        self.accuracy: dict | None = None
        self.promise: dict | None = None
        self.suspicious: dict = {"rev": 0, "items": [], "text": ""}
        self.draw = Draw(len(rows), folder.settings.get("seed", 0))
        self.doubles = Doubles(len(rows), folder.settings.get("seed", 0))
        self.teacher, self.annotator = teacher, annotator
        self.waits = False  # whether the learner is started with the first request
        self.start_teacher: Callable[[], Teacher] | None = None  # starts another learner when one has ended
        self.sent: LearnerTask | None = None  # the task that the learner works on
        self.ended: dict = {}  # {labels: number of times that the learner ended with them}
        if self.journal.damage:
            self.has_problem("journal_damaged", self.journal.damage)

    def begin(self, sha256: str, classes: list) -> None:
        """Write the first event of a new session, or that of a session whose table has changed."""
        if self.problem:
            return
        given = self.rows.labels
        rows = [int(row) for row in given.given.nonzero()[0]]
        keys = [self.rows.key(row) for row in rows] if self.ledger.sha256 is None else []
        if self.ledger.sha256 not in (None, sha256):
            self.rematch(sha256)
        elif self.ledger.sha256 is None and isinstance(given, NumberTarget):
            self._write(changes.begin_numbers(sha256, rows, given.of(given.given).tolist(), keys))
        elif self.ledger.sha256 is None and isinstance(given, Target):
            names, numbers = class_numbers(given, list(map(str, classes)), self.target)
            self._write(changes.begin(sha256, names, rows, numbers, keys))

    def rematch(self, sha256: str) -> None:
        """Find the rows of all labels in a table that has changed. Labels of rows that are gone are kept aside."""
        rows = sorted({*self.ledger.labels, *self.ledger.checks, *self.ledger.skipped, *self.ledger.notes})
        lost = [one["key"] for one in self.ledger.lost]
        places = self.rows.places([self.ledger.keys.get(row) for row in rows] + lost)
        found = [{"key": key, "row": row} for key, row in zip(lost, places[len(rows) :]) if row is not None]
        self._write({"op": "file", "sha256": sha256, "rows": rows, "places": places[: len(rows)], "found": found})

    def listen(self) -> None:
        """Receive the messages of the learner, in the running event loop."""
        if self.teacher:
            self.teacher.listen(self.heard)
            self.send_task()

    def close(self) -> None:
        """Close the streams, the learner and the folder. All labels are on disk already."""
        self.hub.close()
        if self.teacher:
            self.teacher.close()
        self.folder.close()

    # Messages of the learner

    def heard(self, kind: str, *content: Any) -> None:
        """Keep a message of the learner and pass it on to the tabs."""
        getattr(self, f"_heard_{kind}")(*content)

    def _heard_stage(self, stage: dict) -> None:
        if not (self.problem and self.problem["code"] == "file_changed"):
            self._stage(stage)

    def _heard_ready(self) -> None: ...

    def _heard_map(self, positions) -> None:
        self.map = positions
        self.hub.tell("map", {})

    def _heard_answer(self, answer, rev) -> None:
        self.answer = answer
        self.solved("learner_fault")
        tier, digest = ("none", "") if answer is None else (answer.tier, answer.digest)
        self.hub.tell("answer", {"rev": rev, "tier": tier, "digest": digest})

    def _heard_facts(self, queue: dict, accuracy: dict, suspicious: dict) -> None:
        self.queue, self.accuracy, self.suspicious = queue, accuracy, suspicious
        self.hub.tell("queue", {"rev": queue["rev"]})
        self.hub.tell("accuracy", {"rev": accuracy["rev"]})

    def _heard_promise(self, promise: dict) -> None:
        self.promise = promise

    def _heard_ahead(self, rev: int, row: int) -> None:
        self.hub.tell("why", {"rev": rev, "row": row})

    def _heard_failed(self, sentence: str) -> None:
        self.has_problem("learner_gone", f"Nothing can be learned. {sentence} Labels are kept.")

    def _heard_fault(self, rev: int, sentence: str) -> None:
        recovery.fault(self, rev, sentence)

    def _heard_gone(self) -> None:
        self._restarting = recovery.gone(self)

    def _stage(self, stage: dict) -> None:
        self.stage = stage
        self.hub.tell("stage", stage)

    def has_problem(self, code: str, text: str, **more: object) -> None:
        """Show a sentence on the page. Learning stops, unless the problem can end by itself."""
        self.problem = {"code": code, "text": text, **more}
        self.hub.tell("problem", self.problem)
        if code not in WAITS:
            self._stage({"name": "stopped", "text": text, "share": None, "cancellable": False})

    def task(self) -> LearnerTask:
        """The present labeling."""
        return task_of(self.ledger, self.draw, self.journal.rev)

    def send_task(self) -> None:
        """Send the present labeling to the learner."""
        if self.teacher and (self.problem is None or self.problem["code"] in WAITS):
            task = self.task()
            if self.ended.get(task.same, 0) < recovery.TRIES:
                self.sent = task
                self.teacher.send("task", task)

    # Requests of the page

    def label(self, body: dict) -> dict:
        """Give rows a class, a number, "cannot", or none. Refused if another person gave another label meanwhile."""
        done = self._once(
            body, lambda: changes.label(self.ledger, body, len(self.rows), self.draw, self.rows.key, self._second(body))
        )
        event = self.journal.events[done["rev"] - 1]
        if event["op"] == "disagree":
            names = {one["id"]: one["name"] for one in self.ledger.classes}
            other = "other classes" if isinstance(event["found"], list) else repr(named(event["found"], names))
            raise Refused(
                409,
                f"Somebody else labeled {self.rows.name(event['rows'][0])} as {other} before you did. Their label "
                "stays and yours is in the history. Label the row again to change it.",
            )
        return done

    def accept(self, body: dict) -> dict:
        """Accept predictions as the labels of rows that no one looked at."""
        changes.refuse_numbers(self.ledger, "Give each row its own number.")
        answer, hidden = self.answer, self.hidden(body.get("annotator"))
        key, promise = self.rows.key, self.promise

        def change() -> dict:
            if body.get("promise") is True:
                return changes.keep_promise(self.ledger, body, key, promise, hidden)
            return changes.accept(self.ledger, body, len(self.rows), key, answer, hidden)

        done = self._once(body, change)
        return done | {"accepted": len(self.journal.events[done["rev"] - 1].get("rows", []))}

    def skip(self, body: dict) -> dict:
        """Skip rows."""
        return self._once(
            body, lambda: changes.skip(self.ledger, body, len(self.rows), self.draw, self.rows.key, self._second(body))
        )

    def note(self, body: dict) -> dict:
        """Write a note on a row."""
        return self._once(body, lambda: changes.note(self.ledger, body, len(self.rows), self.rows.key))

    def several(self, body: dict) -> dict:
        """Apply the requests that a page sends together when it is closed, in order. Each counts once."""
        acts: dict = {f"/api/{name}": getattr(self, name) for name in ("label", "accept", "skip", "undo", "redo")}
        items = body.get("items")
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            raise Refused(400, "Invalid items; expected a list of objects with path and body.")
        for one in items:
            if one.get("path") not in acts or not isinstance(one.get("body"), dict):
                raise Refused(400, f"Invalid items; expected one of {', '.join(acts)} as path, and a body.")
            with contextlib.suppress(Refused):  # no one is there to read why
                acts[one["path"]](self.signed(one["body"], body.get("annotator")))
        return {"rev": self.journal.rev}

    def undo(self, body: dict) -> dict:
        """Take an event back, by default the newest one that can be undone."""
        return self._back(body, "undo", body.get("rev"))

    def redo(self, body: dict) -> dict:
        """Take the last undo back."""
        return self._back(body, "redo", None)

    def _back(self, body, op, rev):
        return self._once(body, lambda: changes.back(self.ledger, self.journal.events, op, rev, body.get("who")))

    def change_class(self, body: dict) -> dict:
        """Add, rename, merge, hide or show a class."""
        return self._once(body, lambda: changes.classes(self.ledger, body)) | {"classes": self.ledger.classes}

    def change_settings(self, body: dict) -> dict:
        """Change the goal, the fraction of random rows, the lowest confidence of a prediction, or the tolerance."""
        return self._once(body, lambda: changes.settings(self.ledger, body)) | self.ledger.settings

    async def export(self, body: dict) -> dict:
        """Write a file into the folder of the session."""
        try:
            name = file_name(self.data.stem, str(body.get("what")), body.get("format") or "csv")
        except InputError as error:
            raise Refused(400, str(error)) from None
        path = self.folder.path / "exports" / name
        times = {event["rev"]: event["t"] for event in self.journal.events}
        written = {"file": name, "path": f"{self.folder.path.name}/exports/{name}"}
        protect = bool(self.options.get("protect"))
        if body["what"] == "labels":
            try:
                await asyncio.to_thread(write_labels, path, self.rows, self.ledger, times, protect)
            except OSError as error:
                raise Refused(507, f"{name} was not written: {error.strerror}. Make room on the disk.") from None
            return written
        if self.teacher is None:
            text = (self.problem or {}).get("text", "The table is not read.")
            raise Refused(409, f"Only the labels can be exported now. {text}")
        task = self.task()
        facts = facts_of(self.ledger, self.journal, task.accepted, times, self.answer) | {"protect": protect}
        try:
            await self.teacher.ask("export", body["what"], str(path), facts, task, seconds=EXPORT_SECONDS)
        except InputError as error:
            raise Refused(409, f"{error} The labels alone can be exported.") from None
        return written

    async def why(self, row: int, annotator: str | None) -> dict:
        """The reasons for the prediction of a row."""
        if self.teacher is None:
            raise Refused(409, "Nothing is learned now.")
        hidden = self.hidden(annotator)
        if row in hidden:
            return no_why(row, "This row is a random check. Its prediction is shown after your label.")
        try:
            found = await self.teacher.ask("why", row, seconds=30.0)
            return found | {"near": [one for one in found["near"] if one["row"] not in hidden]}
        except InputError as error:
            raise Refused(409, str(error)) from None

    def signed(self, body: dict, annotator: str | None) -> dict:
        """A request with the name of its annotator, which is the same in all browsers."""
        body = {name: value for name, value in body.items() if name != "annotator"}
        return body | ({"annotator": annotator, "who": annotator} if annotator else {})

    def _second(self, body: dict) -> list:
        return self.doubles.waiting(self.ledger, body.get("annotator"))

    def hidden(self, annotator: str | None) -> set:
        """Rows that are checks without a label of this annotator. Their labels and predictions are hidden."""
        items = (self.queue or {}).get("items", [])
        shown = {one["row"] for one in items if one["via"] == "random"} & self.draw.offered(self.ledger)
        return {*self.draw.waiting(self.ledger), *shown, *self.doubles.waiting(self.ledger, annotator)}

    # Events

    def _once(self, body, change):
        """Write the event of a request. A request that comes again returns the first event."""
        name = body.get("id") if isinstance(body.get("id"), str) else None
        if name is not None and name in self.ledger.answered:
            return {"rev": self.ledger.answered[name]}
        if self.problem and self.problem["code"] in ("file_changed", "journal_damaged"):
            raise Refused(409, self.problem["text"])
        person = {name: body[name] for name in ("tab", "who", "annotator") if isinstance(body.get(name), str)}
        event = self._write({"id": name, **person, **change()})
        return {"rev": event["rev"]}

    def _write(self, change: dict) -> dict:
        """Write an event to disk, then inform all tabs and the learner."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        body = {"t": now, "annotator": self.annotator, **change, "model_rev": self.answer.rev if self.answer else None}
        body = {name: value for name, value in body.items() if value is not None or name in KEPT}
        recovery.check_journal(self)
        if self.problem and self.problem["code"] == "journal_gone":
            raise Refused(507, self.problem["text"])
        try:
            event = self.journal.append(body)
        except OSError as error:
            text = f"The label was not written: {error.strerror}. Make room on the disk and try again."
            self.has_problem("disk_full", text)
            raise Refused(507, text) from None
        except Damaged as error:
            raise Refused(409, str(error)) from None
        self.solved("disk_full")
        self.ledger.take(event)
        self.hub.tell(*event_message(event), rev=event["rev"])
        if "class" in event:
            self.hub.tell("classes", {"classes": self.ledger.classes})
        if "settings" in event:
            self.hub.tell("settings", self.ledger.settings)
        self.send_task()
        return event

    def solved(self, code: str) -> None:
        """Remove a problem from the page."""
        if self.problem and self.problem["code"] == code:
            self.problem = None
            self.hub.tell("problem", {"code": None, "text": ""})
