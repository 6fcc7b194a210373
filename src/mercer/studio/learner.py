"""The process that learns: it takes the newest labelling, skips those that were overtaken, and ends with its parent."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from ..advice.suggest import suggest
from ..errors import InputError
from ..few_label.classifier import FewLabelClassifier
from ..few_label.teaching import Stopped
from ..jobs.job import open_jobs
from ..report.picture import RowMap, on_grid
from .answering import Task, accuracy_of, answer_of, no_accuracy, no_why, queue_of, suspicious_of, why_of
from .exports import write_export
from .table import Quiet, reading_of

CORE = 6_000  # rows that are decomposed; the others are answered through them
COVERED = 60  # rows of the queue before there are two classes
KEPT = 8  # labellings whose models are kept, so that undo answers at once
GRID = 65_535
BUDGET = 12.0  # seconds of one core for all spaces, as estimated from the sizes: the person waits for them
AHEAD = 3  # rows of the queue whose labels are tried in idle time


def warm():
    """Place some rows on a map: what is imported and compiled is then there when the table comes."""
    RowMap(0).fit(np.random.default_rng(0).normal(size=(300, 3)))


class Learner:
    """What the process does.

    Parameters
    ----------
    pipe : to the server. data, target, options : of the table. seed : of all that is drawn. cache : a folder.
    """

    def __init__(self, pipe: Any, data: Path, target: str, options: dict, seed: int, cache: Path):
        self.pipe, self.data, self.target, self.options, self.seed = pipe, data, target, options, seed
        self.cache = cache
        self.wanted: Task | None = None
        self.asked: list = []  # requests not served yet
        self.model: Any = None  # the newest snapshot, and the task it answers
        self.fast: Any = None
        self.task: Any = None
        self.known: dict = {}  # models of earlier labellings
        self.ahead: dict = {}  # (rev, row) → what its label would change
        self.cancelled = False

    def run(self):
        """Prepare, then answer until the pipe is closed."""
        try:
            self.prepare()
        except InputError as error:
            self.say("failed", str(error))
            return
        self.say("ready")
        self.stage("idle", "ready")
        while True:
            self.listen(wait=not (self.wanted or self.asked or self.pending_ahead()))
            if self.wanted:
                self.answer(self.wanted)
            elif self.asked:
                self.serve(self.asked.pop(0))
            elif self.pending_ahead():
                self.look_ahead(self.pending_ahead()[0])

    def say(self, kind, *content):
        """To the server."""
        self.pipe.send((kind, *content))

    def stage(self, name, text, share=None, cancellable=False):
        """What is being done now."""
        self.say("stage", {"name": name, "text": text, "share": share, "cancellable": cancellable})

    def listen(self, wait=False):
        """Take in what the server sent; EOFError when it is gone."""
        while self.pipe.poll(None if wait else 0):
            wait = False
            kind, *content = self.pipe.recv()
            if kind == "task":
                self.wanted, self.cancelled = content[0], False
            elif kind == "cancel":
                self.cancelled = True
            elif kind == "quit":
                raise EOFError
            else:
                self.asked.append((kind, *content))

    # Before any label

    def prepare(self):
        """Read, encode, place and decompose the rows."""
        self.stage("reading", "reading the table", 0.0)
        screen = Quiet()
        (self.job,) = open_jobs(
            screen, self.data, [self.target], need_labels=False, new_target=True, **reading_of(self.options)
        )
        self.screen, X, n = screen, self.job.X, len(self.job.names)
        self.listen()
        order = np.random.default_rng([self.seed, 1]).permutation(n)
        self.order = np.random.default_rng([self.seed, 2]).permutation(n)  # of the random checks
        core = np.arange(n) if n <= CORE else np.sort(order[:CORE])
        self.stage("preparing", "placing the rows on the map", 0.1)
        self.say("map", self.placed(X, core))

        def tell(text, share):
            self.listen()
            self.stage("preparing", text, 0.2 + 0.7 * share)

        model = FewLabelClassifier(time_budget=BUDGET, missing_label=[], random_state=0, verbose=tell)
        self.prepared = model.prepare(X, core if len(core) < n else None)
        self.listen()
        self.prepared.verbose = False
        self.coverage = suggest(self.prepared, min(COVERED, len(core))).rows.tolist()

    def placed(self, X, core):
        """uint16 positions of all rows as bytes; kept in the cache, which belongs to this table."""
        file = self.cache / "map.npy"
        if file.exists():
            with contextlib.suppress(ValueError, OSError):
                old = np.load(file, allow_pickle=False)
                if old.shape == (X.shape[0], 2) and old.dtype == np.uint16:
                    return old.tobytes()
        model = RowMap(0).fit(X[core])
        xy = np.empty((X.shape[0], 2))
        xy[core] = model.positions_
        others = np.setdiff1d(np.arange(len(xy)), core)
        for begin in range(0, len(others), 10_000):
            self.listen()
            some = others[begin : begin + 10_000]
            xy[some] = model.transform(X[some])
        found = on_grid(xy, GRID).astype("<u2")
        with contextlib.suppress(OSError):
            np.save(file, found)
        return found.tobytes()

    # Labels

    def overtaken(self):
        """Whether the answer being made is not wanted any more; quick requests are served meanwhile."""
        self.listen()
        while self.asked and self.asked[0][0] == "why":
            self.serve(self.asked.pop(0))
        return self.cancelled or self.wanted is not None

    def answer(self, task):
        """The fast answer, then the full one, unless newer labels come."""
        self.wanted = None
        try:
            self._answer(task)
        except Stopped:
            if self.cancelled:
                self.stage("idle", "cancelled; the next label starts again")
            return
        except InputError as error:
            self.stage("idle", str(error))
            return
        self.stage("idle", "ready")

    def _answer(self, task):
        if not task.ready:
            self.task, self.model, self.fast = task, None, None
            self.say("answer", None, task.rev)
            self.facts(task, full=True)
            return
        kept = self.known.get(task.same)
        if kept is None:
            self.stage("answering", f"learning from {len(task.rows)} labels", 0.0, cancellable=True)
            teach: Any = {"drawn": np.array(task.drawn), "stop": self.overtaken}
            self.fast = self.prepared.taught(task.rows, task.ids, tier="fast", **teach)
            self.model, self.task = self.fast, task
            self.say("answer", answer_of(self.fast, task.rev, "fast"), task.rev)
            if self.overtaken():
                raise Stopped
            self.facts(task, full=False)

            def tell(text, share):
                self.stage("answering", text, share, cancellable=True)

            full = self.fast.taught([], [], stop=self.overtaken)
            kept = self.known[task.same] = self.fast, full
            while len(self.known) > KEPT:
                self.known.pop(next(iter(self.known)))
        self.fast, self.model = kept
        self.task = task
        self.say("answer", answer_of(self.model, task.rev, "full"), task.rev)
        if self.overtaken():
            raise Stopped
        self.facts(task, full=True)

    def facts(self, task, full):
        """Queue, accuracy and doubtful labels for the model that there is now."""
        names = self.job.names
        queue = queue_of(self.model, task, self.order, self.coverage, names)
        if self.model is None:
            self.say("facts", queue, no_accuracy(task), {"rev": task.rev, "items": [], "text": ""})
            return
        accuracy = accuracy_of(self.model, task, full)
        self.say("facts", queue, accuracy, suspicious_of(self.model, task, names))
        self.queue = [item["row"] for item in queue["items"] if item["via"] == "queue"]

    # Questions

    def serve(self, request):
        """Answer one request; what fails is said, and the process goes on."""
        kind, number, *content = request
        try:
            value = getattr(self, f"reply_{kind}")(*content)
            self.say("reply", number, value, None)
        except (InputError, OSError) as error:
            self.say("reply", number, None, str(error))

    def reply_why(self, row):
        """Reasons for the answer in a row."""
        if self.model is None:
            return no_why(row)
        found = why_of(self.model, self.task, row, self.job.names, self.job.telling)
        key = (self.task.rev, row)
        if key not in self.ahead and row not in self.task.labelled:
            self.ahead[key] = None
        return found | {"if": self.ahead.get(key)}

    def reply_export(self, what, path, facts):
        """Write a file from the full model, whose classes have their names."""
        if self.task is None or not self.task.ready:
            raise InputError("There is no answer to export yet: label rows of two classes first.")
        words = [self.task.names[c] for c in self.task.ids]
        model = self.prepared.taught(self.task.rows, words, drawn=np.array(self.task.drawn))
        write_export(what, Path(path), self.job, model, self.task, facts)
        return Path(path).name

    # Idle time

    def pending_ahead(self):
        """Rows whose look-ahead was asked for, or is next in the queue."""
        if self.fast is None or self.task is None or self.cancelled:
            return []
        rev = self.task.rev
        rows = [row for (r, row), value in self.ahead.items() if r == rev and value is None]
        return rows + [row for row in getattr(self, "queue", [])[:AHEAD] if (rev, row) not in self.ahead]

    def look_ahead(self, row):
        """How many other answers each likely class of a row would change, by teaching it to a copy."""
        rev, before = self.task.rev, self.fast
        likely = np.argsort(-self.model.probabilities_[row], kind="stable")[:3]
        found = []
        try:
            for c in likely:
                name = self.model.classes_[c]
                after = before.taught([row], [name], drawn=False, tier="fast", stop=self.overtaken)
                other = after.classes_[after.predicted_] != before.classes_[before.predicted_]
                other[row] = False
                other[before.labels_.labelled] = False
                found.append({"class": int(name), "changes": int(other.sum())})
        except Stopped:
            return
        self.ahead = {key: value for key, value in self.ahead.items() if key[0] == rev} | {(rev, row): found}
        self.say("ahead", rev, row)
