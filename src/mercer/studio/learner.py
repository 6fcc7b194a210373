"""The process that learns: it takes the newest labeling, skips those that were overtaken, and ends with its parent.

A small first model predicts as soon as possible. In idle time the model of the standard sizes is prepared. From then on
it predicts, so that the predictions equal those of Python and of the command. Exports wait for it.
"""

import contextlib
import copy
from pathlib import Path
from typing import Any

import numpy as np

from ..advice.suggest import suggest
from ..errors import InputError
from ..few_label.fit import Stopped
from ..few_label.sizes import SIZES, Sizes
from ..jobs.dataset import read
from ..report.picture import PlaneEmbedding, on_grid
from ..types import Estimator, Rows
from .answering import LearnerTask, accuracy_of, answer_of, no_accuracy, no_why, queue_of, suspicious_of, why_of
from .exports import write_export
from .preparation import Preparation, standard_model
from .promise import promise_of
from .table import read_options
from .unusual import UnusualFirst

COVERED = 60  # rows of the queue before there are two classes
KEPT = 8  # labelings whose models are kept, so that undo answers at once
GRID = 65_535
AHEAD = 3  # rows of the queue whose labels are tried in idle time
PAUSE = 2.0  # seconds without a label after which the model of the standard sizes is prepared
TICK = 0.1  # seconds between looks whether it is there


def warm() -> None:
    """Place some rows on a map: what is imported and compiled is then there when the table comes."""
    PlaneEmbedding(0).fit(np.random.default_rng(0).normal(size=(300, 3)))


class Learner:
    """The work of the learning process.

    Parameters
    ----------
    pipe : to the server. data, target, options : of the table. seed : of all that is drawn. cache : a folder.
    sizes : of the first model.
    """

    def __init__(
        self, pipe: Any, data: Path, target: str, options: dict, seed: int, cache: Path, sizes: Sizes = SIZES
    ) -> None:
        self.sizes = sizes
        self.preparation: Preparation | None = None  # of the model of the standard sizes
        self.pipe, self.data, self.target, self.options, self.seed = pipe, data, target, options, seed
        self.cache = cache
        self.unusual: UnusualFirst | None = None  # the order of the questions, if it is that of a detector
        self.wanted: LearnerTask | None = None
        self.asked: list = []  # requests not served yet
        self.model: Estimator = None  # the newest snapshot, and the task it answers
        self.fast: Estimator = None
        self.task: Any = None
        self.known: dict = {}  # models of earlier labelings
        self.ahead: dict = {}  # (rev, row) → what its label would change
        self.cancelled = False
        self.failed: InputError | None = None  # why there is no model of the standard sizes

    def run(self) -> None:
        """Prepare, then answer until the pipe is closed."""
        try:
            self.prepare()
        except (EOFError, OSError):  # the server is gone
            raise
        except Exception as error:
            fault = "" if isinstance(error, InputError) else f"This is a fault in mercer. {type(error).__name__}: "
            self.say("failed", f"{fault}{error}")
            return
        self.say("ready")
        self.stage("idle", "ready")
        while True:
            self.listen(wait=not (self.wanted or self.request() or self.pending_ahead()))
            if self.wanted:
                self.answer(self.wanted)
            elif self.preparation and self.preparation.done:
                self.change_model(self.preparation)
            elif request := self.request():
                self.asked.remove(request)
                self.serve(request)
            elif self.pending_ahead():
                self.look_ahead(self.pending_ahead()[0])

    def say(self, kind, *content: object) -> None:
        """To the server."""
        self.pipe.send((kind, *content))

    def stage(self, name: str, text: str, share=None, cancellable: bool = False) -> None:
        """Report the current stage."""
        self.say("stage", {"name": name, "text": text, "share": share, "cancellable": cancellable})

    def listen(self, wait: bool = False) -> None:
        """Take in what the server sent. EOFError when it is gone."""
        if wait and self.preparation:
            if self.asked or not self.pipe.poll(PAUSE):  # what is asked and cannot be served is an export
                with self.preparation.going_on():
                    while not (self.preparation.done or self.pipe.poll(TICK)):
                        pass
            wait = False
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
                if kind == "export" and self.preparation:
                    self.stage("idle", "the file follows when the model of all rows is prepared")

    # Before any label

    def prepare(self) -> None:
        """Read, encode, place and decompose the rows."""
        self.stage("reading", "reading the table", 0.0)
        (self.job,) = read(self.data, [self.target], read_options(self.options), need_labels=False, new_target=True)
        X, n = self.job.X, len(self.job.names)
        self.listen()
        order = np.random.default_rng([self.seed, 1]).permutation(n)
        core = np.sort(order[: self.sizes.first_rows])
        self.stage("preparing", "placing the rows on the map", 0.1)
        self.say("map", self.placed(X, core))

        def tell(event) -> None:
            self.listen()
            self.stage("preparing", event.text, 0.2 + 0.7 * event.fraction)

        model = standard_model().set_params(time_budget=self.sizes.first_seconds)
        self.prepared = model.prepare(X, core if len(core) < n else None, on_event=tell, hints=self.job.hints)
        if len(core) < n or self.prepared.skipped_:
            self.preparation = Preparation(X, self.job.hints)
        self.listen()
        if self.options.get("outliers"):
            self.stage("preparing", "finding unusual rows", 0.95)
            self.unusual = UnusualFirst(X)
        self.coverage = suggest(self.prepared, min(COVERED, len(self.prepared.advice_rows()))).rows.tolist()

    def placed(self, X: Rows, core):
        """uint16 positions of all rows as bytes. Kept in the cache, which belongs to this table."""
        file = self.cache / "map.npy"
        if file.exists():
            with contextlib.suppress(ValueError, OSError):
                old = np.load(file, allow_pickle=False)
                if old.shape == (X.shape[0], 2) and old.dtype == np.uint16:
                    return old.tobytes()
        model = PlaneEmbedding(0).fit(X[core])
        xy = np.empty((X.shape[0], 2))
        xy[core] = model.positions_
        others = np.setdiff1d(np.arange(len(xy)), core)
        for begin in range(0, len(others), self.sizes.block_rows):
            self.listen()
            some = others[begin : begin + self.sizes.block_rows]
            xy[some] = model.transform(X[some])
        found = on_grid(xy, GRID).astype("<u2")
        with contextlib.suppress(OSError):
            np.save(file, found)
        return found.tobytes()

    # Labels

    def overtaken(self):
        """Whether the answer being made is not wanted any more. Quick requests are served meanwhile."""
        self.listen()
        for request in [one for one in self.asked if one[0] == "why"]:
            self.asked.remove(request)
            self.serve(request)
        return self.cancelled or self.wanted is not None

    def answer(self, task) -> None:
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
        except (EOFError, OSError):  # the server is gone
            raise
        except Exception as error:  # named on the page with its event; the next labels are tried
            self.say("fault", task.rev, f"{type(error).__name__}: {error}.")
        self.stage("idle", "ready")

    def _answer(self, task) -> None:
        if not task.ready:
            self.task, self.model, self.fast = task, None, None
            self.say("answer", None, task.rev)
            self.facts(task, full=True)
            return
        same = self.same(task)
        kept = self.known.get(same)
        if kept is None:
            self.stage("answering", f"learning from {len(task.rows)} labels", 0.0, cancellable=True)
            teach: Any = {"drawn": np.array(task.drawn), "stop": self.overtaken}
            fast = self.numbered(task).taught(task.rows, task.ids, tier="fast", **teach)
            if task is not self.task:  # else the full answer of the first model is shown, and stays until the next one
                self.model = self.fast = fast
                self.task = task
                self.say("answer", answer_of(fast, task.rev, "fast"), task.rev)
                if self.overtaken():
                    raise Stopped
                self.facts(task, full=False)

            def tell(event) -> None:
                self.stage("answering", event.text, event.fraction, cancellable=True)

            full = fast.taught([], [], on_event=tell, stop=self.overtaken)
            kept = self.known[same] = fast, full
            while len(self.known) > KEPT:
                self.known.pop(next(iter(self.known)))
        self.fast, self.model = kept
        self.task = task
        self.say("answer", answer_of(self.model, task.rev, "full"), task.rev)
        if self.overtaken():
            raise Stopped
        self.facts(task, full=True)

    def same(self, task) -> tuple:
        """The values that the predictions for a task depend on. A new class name changes the meaning of hints."""
        return task.same if self.job.hints is None else (task.same, tuple(task.names.items()))

    def numbered(self, task) -> Estimator:
        """The prepared model, whose hints name class numbers as the labels of a task do."""
        if self.job.hints is None:
            return self.prepared
        model: Estimator = copy.copy(self.prepared)
        model.hints_ = model.hints_.renamed({name: str(number) for number, name in task.names.items()})
        return model

    def facts(self, task, full) -> None:
        """Queue, accuracy and doubtful labels for the model that there is now."""
        names = self.job.names
        queue = queue_of(self.model, task, self.coverage, names, self.unusual.rows(task) if self.unusual else None)
        if self.model is None:
            self.say("facts", queue, no_accuracy(task), {"rev": task.rev, "items": [], "text": ""})
            return
        accuracy = accuracy_of(self.model, task, full)
        self.say("promise", promise_of(self.model, task) if full else None)
        self.say("facts", queue, accuracy, suspicious_of(self.model, task, names))
        self.queue = [item["row"] for item in queue["items"] if item["via"] == "queue"]

    def change_model(self, preparation: Preparation) -> None:
        """Go on with the model of the standard sizes: the present labeling is one more lesson."""
        self.preparation = None
        try:
            self.prepared = preparation.model
        except InputError as error:
            self.failed = error
            self.stage("idle", str(error))
            return
        self.known, self.ahead = {}, {}
        if self.task is not None and self.task.ready:
            self.answer(self.task)

    # Questions

    def request(self):
        """The first request that can be served now: exports wait for the model of the standard sizes."""
        return next((one for one in self.asked if one[0] != "export" or self.preparation is None), None)

    def serve(self, request):
        """Answer one request. What fails is said, and the process goes on."""
        kind, number, *content = request
        try:
            value = getattr(self, f"reply_{kind}")(*content)
            self.say("reply", number, value, None)
        except (InputError, OSError) as error:
            self.say("reply", number, None, str(error))
        except Exception as error:
            self.say("reply", number, None, f"This is a fault in mercer. {type(error).__name__}: {error}.")

    def reply_why(self, row):
        """Reasons for the answer in a row."""
        if self.model is None:
            return no_why(row)
        found = why_of(self.model, self.task, row, self.job.names, self.job.distinctive)
        key = (self.task.rev, row)
        if key not in self.ahead and row not in self.task.labeled:
            self.ahead[key] = None
        return found | {"if": self.ahead.get(key)}

    def reply_export(self, what, path: str | Path, facts, task):
        """Write a file from the full model of a labeling, whose classes have their names."""
        if not task.ready:
            raise InputError("There is no answer to export yet: label rows of two classes first.")
        if self.failed:
            raise self.failed
        if self.same(task) in self.known:
            facts |= {"digest": answer_of(self.known[self.same(task)][1], task.rev, "full").digest}
        words = [task.names[c] for c in task.ids]
        model = self.prepared.taught(task.rows, words, drawn=np.array(task.drawn))
        write_export(what, Path(path), self.job, model, task, facts)
        return Path(path).name

    # Idle time

    def pending_ahead(self):
        """Rows whose look-ahead was requested, or is next in the queue."""
        if self.fast is None or self.task is None or self.cancelled:
            return []
        rev = self.task.rev
        rows = [row for (r, row), value in self.ahead.items() if r == rev and value is None]
        return rows + [row for row in getattr(self, "queue", [])[:AHEAD] if (rev, row) not in self.ahead]

    def look_ahead(self, row) -> None:
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
                other[before.labels_.labeled] = False
                found.append({"class": int(name), "changes": int(other.sum())})
        except Stopped:
            return
        except (EOFError, OSError):  # the server is gone
            raise
        except Exception:  # the same labels are reported where they are learned from
            found = []
        self.ahead = {key: value for key, value in self.ahead.items() if key[0] == rev} | {(rev, row): found}
        self.say("ahead", rev, row)
