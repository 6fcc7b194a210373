"""The process that learns. It takes the newest labeling, skips older ones, and ends with its parent.

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
from .answering import no_accuracy, no_why
from .exports import write_export
from .kinds import kind_of
from .preparation import Preparation
from .table import as_numbers, read_options, targets_of
from .task import LearnerTask
from .unusual import UnusualFirst

COVERED = 60  # rows of the queue before there are two classes
KEPT = 8  # labelings whose models are kept, so that undo needs no fit
GRID = 65_535
AHEAD = 3  # rows of the queue whose labels are tried in idle time
PAUSE = 2.0  # seconds without a label after which the model of the standard sizes is prepared
TICK = 0.1  # seconds between looks whether it is ready


def warm() -> None:
    """Place some rows on a map, so that everything is imported and compiled before the table comes."""
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
        self.cache, self.kind = cache, kind_of(False)
        self.unusual: UnusualFirst | None = None  # an order of the questions by a detector, or None
        self.wanted: LearnerTask | None = None
        self.asked: list = []  # requests not served yet
        self.model: Estimator = None  # the newest snapshot, and its task
        self.fast: Estimator = None
        self.task: Any = None
        self.known: dict = {}  # models of earlier labelings
        self.ahead: dict = {}  # (rev, row) → what its label would change
        self.cancelled = False
        self.failed: InputError | None = None  # why there is no model of the standard sizes

    def run(self) -> None:
        """Prepare the table, then predict and serve requests until the pipe is closed."""
        try:
            self.prepare()
        except (EOFError, OSError):  # the server has ended
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
        """Send a message to the server."""
        self.pipe.send((kind, *content))

    def stage(self, name: str, text: str, share=None, cancellable: bool = False) -> None:
        """Report the current stage."""
        self.say("stage", {"name": name, "text": text, "share": share, "cancellable": cancellable})

    def listen(self, wait: bool = False) -> None:
        """Take in what the server sent. EOFError is raised if the server has ended."""
        if wait and self.preparation:
            if self.asked or not self.pipe.poll(PAUSE):  # a request that cannot be served is an export
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
        targets = targets_of(self.target, self.options)
        self.job, *_ = read(self.data, targets, read_options(self.options), need_labels=False, new_target=True)
        self.kind = kind_of(as_numbers(self.job.labels, self.target, self.options).numeric)
        X, n = self.job.X, len(self.job.names)
        self.listen()
        order = np.random.default_rng([self.seed, 1]).permutation(n)
        core = np.sort(order[: self.sizes.first_rows])
        self.stage("preparing", "placing the rows on the map", 0.1)
        self.say("map", self.placed(X, core))

        def tell(event) -> None:
            self.listen()
            self.stage("preparing", event.text, 0.2 + 0.7 * event.fraction)

        model: Estimator = self.kind.model().set_params(time_budget=self.sizes.first_seconds)
        more = {} if self.job.hints is None else {"hints": self.job.hints}
        self.prepared = model.prepare(X, core if len(core) < n else None, on_event=tell, **more)
        if len(core) < n or self.prepared.skipped_:
            self.preparation = Preparation(self.kind.model(), X, more)
        self.listen()
        if self.options.get("outliers"):
            self.stage("preparing", "finding unusual rows", 0.95)
            self.unusual = UnusualFirst(X)
        self.coverage = suggest(self.prepared, min(COVERED, len(self.prepared.advice_rows()))).rows.tolist()

    def placed(self, X: Rows, core):
        """The uint16 positions of all rows as bytes, from the cache of this table if they are there."""
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
        """Whether the predictions that are being computed are outdated. Quick requests are served meanwhile."""
        self.listen()
        for request in [one for one in self.asked if one[0] == "why"]:
            self.asked.remove(request)
            self.serve(request)
        return self.cancelled or self.wanted is not None

    def answer(self, task) -> None:
        """Compute fast predictions and then full ones, unless newer labels come."""
        self.wanted = None
        try:
            self._answer(task)
        except Stopped:
            if self.cancelled:
                self.stage("idle", "cancelled until the next label")
            return
        except InputError as error:
            self.stage("idle", str(error))
            return
        except (EOFError, OSError):  # the server has ended
            raise
        except Exception as error:  # the page names the event, and the next labels are tried
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
            if task is not self.task:  # otherwise the full predictions of the first model are shown until the next ones
                self.model = self.fast = fast
                self.task = task
                self.say("answer", self.kind.answer_of(fast, task.rev, "fast"), task.rev)
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
        self.say("answer", self.kind.answer_of(self.model, task.rev, "full"), task.rev)
        if self.overtaken():
            raise Stopped
        self.facts(task, full=True)

    def same(self, task) -> tuple:
        """The values that determine the predictions for a task. With hints they include the class names."""
        return task.same if self.job.hints is None else (task.same, tuple(task.names.items()))

    def numbered(self, task) -> Estimator:
        """The prepared model, with class numbers instead of names in its hints."""
        if self.job.hints is None:
            return self.prepared
        model: Estimator = copy.copy(self.prepared)
        model.hints_ = model.hints_.renamed({name: str(number) for number, name in task.names.items()})
        return model

    def facts(self, task, full) -> None:
        """Send the queue, the accuracy and the doubtful labels of the present model."""
        names = self.job.names
        unusual = self.unusual.rows(task) if self.unusual else None
        queue = self.kind.queue_of(self.model, task, self.coverage, names, unusual)
        if self.model is None:
            self.say("facts", queue, no_accuracy(task), {"rev": task.rev, "items": [], "text": ""})
            return
        accuracy = self.kind.accuracy_of(self.model, task, full)
        self.say("promise", self.kind.promise_of(self.model, task) if full else None)
        self.say("facts", queue, accuracy, self.kind.suspicious_of(self.model, task, names))
        self.queue = [item["row"] for item in queue["items"] if item["via"] == "queue"]

    def change_model(self, preparation: Preparation) -> None:
        """Go on with the model of the standard sizes, which is taught the present labeling."""
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
        """The first request that can be served now. Exports wait for the model of the standard sizes."""
        return next((one for one in self.asked if one[0] != "export" or self.preparation is None), None)

    def serve(self, request):
        """Serve one request. A failure is reported, and the process goes on."""
        kind, number, *content = request
        try:
            value = getattr(self, f"reply_{kind}")(*content)
            self.say("reply", number, value, None)
        except (InputError, OSError) as error:
            self.say("reply", number, None, str(error))
        except Exception as error:
            self.say("reply", number, None, f"This is a fault in mercer. {type(error).__name__}: {error}.")

    def reply_why(self, row):
        """The reasons for the prediction of a row."""
        if self.model is None:
            return no_why(row, "There is no prediction yet.")
        found = self.kind.why_of(self.model, self.task, row, self.job.names, self.job.distinctive)
        if self.task.numeric:
            return found
        key = (self.task.rev, row)
        if key not in self.ahead and row not in self.task.labeled:
            self.ahead[key] = None
        return found | {"if": self.ahead.get(key)}

    def reply_export(self, what, path: str | Path, facts, task):
        """Write a file from the full model of a labeling, taught with class names."""
        if not task.ready:
            raise InputError(f"There is no prediction to export yet. {task.missing}")
        if self.failed:
            raise self.failed
        if self.same(task) in self.known:
            facts |= {"digest": self.kind.answer_of(self.known[self.same(task)][1], task.rev, "full").digest}
        words = task.ids if task.numeric else [task.names[c] for c in task.ids]
        model = self.prepared.taught(task.rows, words, drawn=np.array(task.drawn))
        write_export(what, Path(path), self.job, model, task, facts, self.kind.writers)
        return Path(path).name

    # Idle time

    def pending_ahead(self):
        """Rows whose look-ahead was requested, or is next in the queue."""
        if self.fast is None or self.task is None or self.task.numeric or self.cancelled:
            return []
        rev = self.task.rev
        rows = [row for (r, row), value in self.ahead.items() if r == rev and value is None]
        return rows + [row for row in getattr(self, "queue", [])[:AHEAD] if (rev, row) not in self.ahead]

    def look_ahead(self, row) -> None:
        """Count the predictions that each likely label of a row would change, by teaching it to a copy."""
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
        except (EOFError, OSError):  # the server has ended
            raise
        except Exception:  # a fault of the same labels is reported when they are learned
            found = []
        self.ahead = {key: value for key, value in self.ahead.items() if key[0] == rev} | {(rev, row): found}
        self.say("ahead", rev, row)
