"""A session: the journal is what counts, the ledger follows it, and the learner and all tabs follow the ledger."""

import asyncio
import contextlib
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError
from . import changes, recovery
from .annotators import Doubles
from .answering import Answer, LearnerTask, no_why, task_of
from .changes import Refused
from .drawing import Draw
from .exports import facts_of, file_name, write_labels
from .folder import Folder
from .history import event_message
from .hub import Hub
from .journal import Damaged
from .ledger import CANNOT, MOST_CLASSES, Ledger
from .recovery import WAITS
from .table import TableRows
from .teacher import Teacher

KEPT = ("from", "to")  # null means something there: no label
EXPORT_SECONDS = 3600.0  # an export waits for the model of the standard sizes


class Session:
    """The state that the requests of the page act on; everything runs in one event loop, one thing after the other.

    Parameters
    ----------
    folder : `Folder`. data : path of the table. rows : `TableRows`. target : name of the label column.
    options : of `TableRows`; settings : goal, random_share, abstain. demo : whether this is the demonstration.
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
        self.answer: Answer | None = None
        self.queue: dict | None = None
        self.accuracy: dict | None = None
        self.promise: dict | None = None
        self.suspicious: dict = {"rev": 0, "items": [], "text": ""}
        self.draw = Draw(len(rows), folder.settings.get("seed", 0))
        self.doubles = Doubles(len(rows), folder.settings.get("seed", 0))
        self.teacher, self.annotator = teacher, annotator
        self.start_teacher: Callable[[], Teacher] | None = None  # makes another one when it ends
        self.sent: LearnerTask | None = None  # what the learner is at
        self.ended: dict = {}  # {labels: how often the learner ended with them}
        if self.journal.damage:
            self.has_problem("journal_damaged", self.journal.damage)

    def begin(self, sha256: str, classes: list) -> None:
        """The first events of a new session, or those of a session whose table is another one now."""
        if self.problem:
            return
        given = self.rows.labels
        names = list(map(str, [*classes, *(one for one in given.classes if one not in classes)]))
        if len(names) > MOST_CLASSES:
            raise InputError(
                f"{self.target!r} has {len(names)} classes; the studio can show {MOST_CLASSES} at most. Merge rare "
                "classes in the table, or use `mercer label`, which has no such limit."
            )
        if self.ledger.sha256 is None:
            rows = [int(row) for row in given.given.nonzero()[0]]
            ids = [names.index(str(given.labels[row])) for row in rows]
            self._write(changes.begin(sha256, names, rows, ids, [self.rows.key(row) for row in rows]))
        elif self.ledger.sha256 != sha256:
            self.rematch(sha256)

    def rematch(self, sha256: str) -> None:
        """Find the rows of all labels again in a table that was changed. Those that are not there are kept aside."""
        rows = sorted({*self.ledger.labels, *self.ledger.checks, *self.ledger.skipped, *self.ledger.notes})
        lost = [one["key"] for one in self.ledger.lost]
        places = self.rows.places([self.ledger.keys.get(row) for row in rows] + lost)
        found = [{"key": key, "row": row} for key, row in zip(lost, places[len(rows) :]) if row is not None]
        self._write({"op": "file", "sha256": sha256, "rows": rows, "places": places[: len(rows)], "found": found})

    def listen(self) -> None:
        """Hear what the learner says, in the running event loop."""
        if self.teacher:
            self.teacher.listen(self.heard)
            self.send_task()

    def close(self) -> None:
        """End everything. All labels are on the disk already."""
        self.hub.close()
        if self.teacher:
            self.teacher.close()
        self.folder.close()

    # What the learner says

    def heard(self, kind: str, *content: Any) -> None:
        """Keep what the learner says and pass it on to the tabs."""
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
        self.has_problem("learner_gone", f"Nothing can be learned: {sentence} Labels are kept all the same.")

    def _heard_fault(self, rev: int, sentence: str) -> None:
        recovery.fault(self, rev, sentence)

    def _heard_gone(self) -> None:
        self._restarting = recovery.gone(self)

    def _stage(self, stage: dict) -> None:
        self.stage = stage
        self.hub.tell("stage", stage)

    def has_problem(self, code: str, text: str, **more: object) -> None:
        """Show a sentence on the page. Nothing is learned any more, unless it is a problem that waits."""
        self.problem = {"code": code, "text": text, **more}
        self.hub.tell("problem", self.problem)
        if code not in WAITS:
            self._stage({"name": "stopped", "text": text, "share": None, "cancellable": False})

    def task(self) -> LearnerTask:
        """The present labeling."""
        return task_of(self.ledger, self.draw, self.journal.rev)

    def send_task(self) -> None:
        """Let the learner take up the present labeling."""
        if self.teacher and (self.problem is None or self.problem["code"] in WAITS):
            task = self.task()
            if self.ended.get(task.same, 0) < recovery.TRIES:
                self.sent = task
                self.teacher.send("task", task)

    # What the page requests

    def label(self, body: dict) -> dict:
        """Give rows a class, "cannot", or none. Refused where somebody else gave another label in the meantime."""
        done = self._once(
            body, lambda: changes.label(self.ledger, body, len(self.rows), self.draw, self.rows.key, self._second(body))
        )
        event = self.journal.events[done["rev"] - 1]
        if event["op"] == "disagree":
            names = {one["id"]: one["name"] for one in self.ledger.classes} | {CANNOT: "cannot tell"}
            other = "other classes" if isinstance(event["found"], list) else f"{names[event['found']]!r}"
            raise Refused(
                409,
                f"Somebody else labeled {self.rows.name(event['rows'][0])} as {other} before you did. Their label "
                "stays and yours is in the history; label the row again to change it.",
            )
        return done

    def accept(self, body: dict) -> dict:
        """Give rows that no one looked at the class that is predicted for them."""
        answer, hidden = self.answer, self.hidden(body.get("annotator"))
        key, promise = self.rows.key, self.promise

        def change() -> dict:
            if body.get("promise") is True:
                return changes.keep_promise(self.ledger, body, key, promise, hidden)
            return changes.accept(self.ledger, body, len(self.rows), key, answer, hidden)

        done = self._once(body, change)
        return done | {"accepted": len(self.journal.events[done["rev"] - 1].get("rows", []))}

    def skip(self, body: dict) -> dict:
        """Go on without an answer."""
        return self._once(
            body, lambda: changes.skip(self.ledger, body, len(self.rows), self.draw, self.rows.key, self._second(body))
        )

    def note(self, body: dict) -> dict:
        """Write a note on a row."""
        return self._once(body, lambda: changes.note(self.ledger, body, len(self.rows), self.rows.key))

    def several(self, body: dict) -> dict:
        """Labels, skips and undos that a page sends at once when it is closed, in order. Each counts once."""
        acts: dict = {f"/api/{name}": getattr(self, name) for name in ("label", "accept", "skip", "undo", "redo")}
        items = body.get("items")
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            raise Refused(400, "items are not accepted: give a list of objects with path and body.")
        for one in items:
            if one.get("path") not in acts or not isinstance(one.get("body"), dict):
                raise Refused(400, f"items are not accepted: give one of {', '.join(acts)} as path, and a body.")
            with contextlib.suppress(Refused):  # no one is there to read why
                acts[one["path"]](self.signed(one["body"], body.get("annotator")))
        return {"rev": self.journal.rev}

    def undo(self, body: dict) -> dict:
        """Take an event back, by default the newest one that can be."""
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
        """Another goal, fraction of random rows or confidence below which rows are left unlabeled."""
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
            text = (self.problem or {}).get("text", "the table is not read.")
            raise Refused(409, f"Only the labels can be exported now: {text}")
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
            return no_why(row) | {"reason": "This row is a random check: its prediction is shown after your answer."}
        try:
            found = await self.teacher.ask("why", row, seconds=30.0)
            return found | {"near": [one for one in found["near"] if one["row"] not in hidden]}
        except InputError as error:
            raise Refused(409, str(error)) from None

    def signed(self, body: dict, annotator: str | None) -> dict:
        """A request with the name of its annotator, who is one person in all browsers."""
        body = {name: value for name, value in body.items() if name != "annotator"}
        return body | ({"annotator": annotator, "who": annotator} if annotator else {})

    def _second(self, body: dict) -> list:
        return self.doubles.waiting(self.ledger, body.get("annotator"))

    def hidden(self, annotator: str | None) -> set:
        """Rows that are checks without an answer of this annotator: what is known of them is shown nowhere."""
        ledger, asked = (
            self.ledger,
            {one["row"] for one in (self.queue or {}).get("items", []) if one["via"] == "random"},
        )
        doubles = self.doubles.waiting(ledger, annotator)
        return {*self.draw.waiting(ledger), *(asked & self.draw.offered(ledger)), *doubles}

    # Events

    def _once(self, body, change):
        """Do something for a request, or answer as before where the same request comes again."""
        name = body.get("id") if isinstance(body.get("id"), str) else None
        if name is not None and name in self.ledger.answered:
            return {"rev": self.ledger.answered[name]}
        if self.problem and self.problem["code"] in ("file_changed", "journal_damaged"):
            raise Refused(409, self.problem["text"])
        person = {name: body[name] for name in ("tab", "who", "annotator") if isinstance(body.get(name), str)}
        event = self._write({"id": name, **person, **change()})
        return {"rev": event["rev"]}

    def _write(self, change: dict) -> dict:
        """Put an event on the disk, then let everybody know."""
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
        """Take the sentence of a problem away."""
        if self.problem and self.problem["code"] == code:
            self.problem = None
            self.hub.tell("problem", {"code": None, "text": ""})
