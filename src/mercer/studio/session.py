"""A session: the journal is what counts, the ledger follows it, and the learner and all tabs follow the ledger."""

import asyncio
import datetime
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..jobs.usage import UsageError
from . import changes
from .answering import Answer, Task
from .changes import Refused
from .exports import file_name
from .folder import Folder
from .hub import Hub
from .journal import Damaged
from .ledger import CANNOT, Ledger
from .table import Rows
from .teacher import Teacher

FEW = 4  # rows in the queue below which it is filled up
KEPT = ("from", "to")  # null means something there: no label


class Session:
    """What the requests of the page act on; everything runs in one event loop, one thing after the other.

    Parameters
    ----------
    folder : `Folder`. data : path of the table. rows : `Rows`. target : name of the label column.
    options : of `Rows`; settings : goal, random_share, abstain; demo : whether this is the demonstration.
    teacher : the learner, or None for a session that only keeps labels.
    """

    def __init__(
        self,
        folder: Folder,
        data: Path,
        rows: Rows,
        target: str,
        options: dict,
        settings: dict,
        demo: bool,
        teacher: Teacher | None = None,
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
        self.suspicious: dict = {"rev": 0, "items": [], "text": ""}
        self.offered: set = set()
        self.skipped: set = set()
        self.teacher = teacher
        if self.journal.damage:
            self._has_problem("journal_damaged", self.journal.damage)

    # Beginning and end

    def begin(self, sha256: str, classes: list) -> None:
        """The first events of a new session, or those of a session whose table is another one now."""
        if self.problem:
            return
        if self.ledger.sha256 is None:
            self._write({"op": "file", "sha256": sha256, "rows": [], "places": []})
            given = self.rows.labels
            for name in [*classes, *(one for one in given.classes if one not in classes)]:
                self._write(changes.new_class(self.ledger, name, "import"))
            for one in self.ledger.classes if given.given.any() else []:
                rows = [int(row) for row in (given.labels == one["name"]).nonzero()[0]]
                if rows:
                    self._write(changes.labelled(self.ledger, rows, one["id"], "import", self.rows.key))
        elif self.ledger.sha256 != sha256:
            self.rematch(sha256)

    def rematch(self, sha256: str) -> None:
        """Find the rows of all labels again in a table that was changed; those that are not there are kept aside."""
        rows = sorted(self.ledger.labels)
        lost = [one["key"] for one in self.ledger.lost]
        places = self.rows.places([self.ledger.keys.get(row) for row in rows] + lost)
        found = [{"key": key, "row": row} for key, row in zip(lost, places[len(rows) :]) if row is not None]
        self._write({"op": "file", "sha256": sha256, "rows": rows, "places": places[: len(rows)], "found": found})

    async def table_changed(self) -> None:
        """Stop learning: the rows may be others now. Say which labels would be found again."""
        if self.teacher:
            teacher, self.teacher = self.teacher, None
            await asyncio.to_thread(teacher.close)
        labelled, name = sorted(self.ledger.labels), self.data.name
        try:
            new = await asyncio.to_thread(Rows, self.data, self.target, self.options)
            keys = [self.ledger.keys.get(row) for row in labelled]
            places = await asyncio.to_thread(new.places, keys)
        except (InputError, OSError, UsageError) as error:
            text = f"{name} was changed and cannot be read now: {error} No label is lost."
            self._has_problem("file_changed", text, matched=0, unmatched=[])
            return
        lost = [self.rows.name(row) for row, place in zip(labelled, places) if place is None]
        text = f"{name} was changed on the disk, so nothing is learnt from it. {len(labelled) - len(lost)} of "
        text += f"{len(labelled)} labelled rows are in the new file. Start `mercer studio` again to go on with it; "
        text += "labels of rows that are gone are kept."
        self._has_problem("file_changed", text, matched=len(labelled) - len(lost), unmatched=lost[:100])

    def listen(self) -> None:
        """Hear what the learner says, in the running event loop."""
        if self.teacher:
            self.teacher.listen(self.heard)
            self.send_task()

    def close(self) -> None:
        """End everything; all labels are on the disk already."""
        self.hub.close()
        if self.teacher:
            self.teacher.close()
        self.folder.close()

    # What the learner says

    def heard(self, kind: str, *content: Any) -> None:
        """Keep what the learner says and pass it on to the tabs."""
        getattr(self, f"_heard_{kind}")(*content)

    def _heard_stage(self, stage):
        if not (self.problem and self.problem["code"] == "file_changed"):
            self._stage(stage)

    def _heard_ready(self):
        pass

    def _heard_map(self, positions):
        self.map = positions
        self.hub.tell("map", {})

    def _heard_answer(self, answer, rev):
        self.answer = answer
        tier, digest = ("none", "") if answer is None else (answer.tier, answer.digest)
        self.hub.tell("answer", {"rev": rev, "tier": tier, "digest": digest})

    def _heard_facts(self, queue, accuracy, suspicious):
        self.queue, self.accuracy, self.suspicious = queue, accuracy, suspicious
        self.offered |= {item["row"] for item in queue["items"] if item["via"] == "random"}
        self.hub.tell("queue", {"rev": queue["rev"]})
        self.hub.tell("accuracy", {"rev": accuracy["rev"]})

    def _heard_ahead(self, rev, row):
        self.hub.tell("why", {"rev": rev, "row": row})

    def _heard_failed(self, sentence):
        self._has_problem("learner_gone", f"Nothing can be learnt: {sentence} Labels are kept all the same.")

    def _heard_gone(self):
        if self.problem is None:
            text = "The process that learns has ended. Labels are kept; start `mercer studio` again to learn from them."
            self._has_problem("learner_gone", text)

    def _stage(self, stage):
        self.stage = stage
        self.hub.tell("stage", stage)

    def _has_problem(self, code, text, **more):
        self.problem = {"code": code, "text": text, **more}
        self.hub.tell("problem", self.problem)
        if code != "disk_full":
            self._stage({"name": "stopped", "text": text, "share": None, "cancellable": False})

    def task(self) -> Task:
        """The present labelling."""
        ledger = self.ledger
        rows, ids, drawn = ledger.labelling()
        asked = [given.via for given in ledger.labels.values() if given.via in ("queue", "random")]
        return Task(
            self.journal.rev,
            rows,
            ids,
            drawn,
            sorted(self.skipped.union(ledger.labels)),
            ledger.cannot_tell(),
            {one["id"]: one["name"] for one in ledger.classes},
            ledger.settings["goal"],
            ledger.settings["random_share"],
            asked.count("random"),
            len(asked),
        )

    def send_task(self) -> None:
        """Let the learner take up the present labelling."""
        if self.teacher and not (self.problem and self.problem["code"] != "disk_full"):
            self.teacher.send("task", self.task())

    def skip(self, rows: set, left: int) -> None:
        """Rows not to ask for; with few left in the queue another one is made."""
        new, self.skipped = rows - self.skipped, rows
        if new and left < FEW:
            self.send_task()

    # What the page asks for

    def label(self, body: dict) -> dict:
        """Give rows a class, "cannot", or none."""
        return self._once(body, lambda: changes.label(self.ledger, body, len(self.rows), self.offered, self.rows.key))

    def undo(self, body: dict) -> dict:
        """Take an event back, by default the newest one that can be."""
        return self._once(body, lambda: changes.back(self.ledger, self.journal.events, "undo", body.get("rev")))

    def redo(self, body: dict) -> dict:
        """Take the last undo back."""
        return self._once(body, lambda: changes.back(self.ledger, self.journal.events, "redo", None))

    def change_class(self, body: dict) -> dict:
        """Add, rename, merge, hide or show a class."""
        return self._once(body, lambda: changes.classes(self.ledger, body)) | {"classes": self.ledger.classes}

    def change_settings(self, body: dict) -> dict:
        """Another goal, share of random rows or confidence below which rows are left unlabelled."""
        return self._once(body, lambda: changes.settings(self.ledger, body)) | self.ledger.settings

    async def export(self, body: dict) -> dict:
        """Write a file into the folder of the session."""
        try:
            name = file_name(self.data.stem, str(body.get("what")), body.get("format") or "csv")
        except InputError as error:
            raise Refused(400, str(error)) from None
        if self.teacher is None:
            raise Refused(409, "Nothing can be exported: " + (self.problem or {}).get("text", "the table is not read."))
        path = self.folder.path / "exports" / name
        times = {event["rev"]: event["t"] for event in self.journal.events}
        facts = {
            "labels": {
                row: [given.via, times[given.rev], given.rev]
                for row, given in self.ledger.labels.items()
                if given.value != CANNOT
            },
            "hash": self.journal.hash,
            "rev": self.journal.rev,
            "digest": self.answer.digest if self.answer else None,
            "abstain": self.ledger.settings["abstain"],
            "sha256": self.ledger.sha256,
        }
        try:
            await self.teacher.ask("export", body["what"], str(path), facts)
        except InputError as error:
            raise Refused(409, str(error)) from None
        return {"file": name, "path": f"{self.folder.path.name}/exports/{name}"}

    async def why(self, row: int) -> dict:
        """What the answer in a row goes by."""
        if self.teacher is None:
            raise Refused(409, "Nothing is learnt now.")
        try:
            return await self.teacher.ask("why", row, seconds=30.0)
        except InputError as error:
            raise Refused(409, str(error)) from None

    # Events

    def _once(self, body, change):
        """Do something for a request, or answer as before where the same request comes again."""
        name = body.get("id") if isinstance(body.get("id"), str) else None
        if name is not None and name in self.ledger.answered:
            return {"rev": self.ledger.answered[name]}
        if self.problem and self.problem["code"] in ("file_changed", "journal_damaged"):
            raise Refused(409, self.problem["text"])
        event = self._write({"id": name, "tab": body.get("tab"), **change()})
        return {"rev": event["rev"]}

    def _write(self, change: dict) -> dict:
        """Put an event on the disk, then let everybody know."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        body = {"t": now, **change, "model_rev": self.answer.rev if self.answer else None}
        body = {name: value for name, value in body.items() if value is not None or name in KEPT}
        try:
            event = self.journal.append(body)
        except OSError as error:
            text = f"The label was not written: {error.strerror}. Make room on the disk and try again."
            self._has_problem("disk_full", text)
            raise Refused(507, text) from None
        except Damaged as error:
            raise Refused(409, str(error)) from None
        if self.problem and self.problem["code"] == "disk_full":
            self.problem = None
            self.hub.tell("problem", {"code": None, "text": ""})
        self.ledger.take(event)
        self.hub.tell(*told(event), rev=event["rev"])
        if "class" in event:
            self.hub.tell("classes", {"classes": self.ledger.classes})
        if "settings" in event:
            self.hub.tell("settings", self.ledger.settings)
        self.send_task()
        return event


def told(event: dict) -> tuple[str, dict]:
    """An event as the tabs are told of it."""
    names = ("rev", "op", "rows", "to", "via", "id", "tab", "undoes")
    return "label", {name: event[name] for name in names if name in event}
