"""Annotators with habits: is the certificate of `mercer studio` true, whatever a person does?

    python -m benchmarks.studio.behaviors [--runs 60] [--together 400] [--jobs 2] [--habits honest skips …]

Each run labels a small table through the ledger, the draw of random checks and the certificate of the studio itself,
without a server, and with one candidate model, so that many runs take minutes. The annotator knows the true classes,
and has habits:

- skips: passes over nine of ten random checks that look hard (confidence below 80%), by S or by going on; when one
  comes back it is answered half of the time, called "cannot tell" now and then, or passed over again;
- lassoes: labels 30 to 60 neighbors of a row at once, without looking, as what most of them are taken for;
- picks: lists the rows that are taken for a class, picks the 40 most certain at once, and labels them as that class;
- accepts: now and then accepts all guesses with a confidence of at least 95%, without looking;
- reviews: accepts what Review proposes for labels of checks that the model contradicts, right or wrong;
- offline: answers all questions of a queue before the server hears of the first;
- together: all of these.

After each round the certificate is looked at, and the run stops when it is given, or at 160 labels. It is true if at
least the certified fraction of the labels is correct among the rows that no one looked at. The same labels are also
counted as they were before (skips leave no trace, lassoed rows are left out, a changed label changes its check).
Goals are drawn from 70, 80 and 90%, tables from four sets of which one has overlapping classes. Writes
benchmarks/results/studio_behaviors.{csv,md}.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification

from benchmarks.harness import arguments, machine, markdown, publish, write_csv
from mercer import FewLabelClassifier, suggest
from mercer.advice.checks import Checks
from mercer.studio import changes
from mercer.studio.answering import answer_of, checks_of, queue_of
from mercer.studio.drawing import Draw
from mercer.studio.ledger import CANNOT, Ledger
from mercer.studio.task import task_of

ROWS, BATCH, MOST, ROUNDS, HARD, SHARE, SHOWN = 240, 10, 160, 40, 0.8, 0.25, 40
GOALS = (0.7, 0.8, 0.9)
LEAST = 40  # runs of each habit that are published
PART = 50  # tables after which the results are written
SETS = ("digits", "wdbc", "wine", "overlap")
HABITS = ("honest", "skips", "lassoes", "accepts", "reviews", "offline", "together", "picks")


def table(name, seed):
    """(rows, true classes), at most 240 drawn at random."""
    if name == "overlap":  # about 85% can be had
        X, t = make_classification(ROWS, 6, n_informative=3, n_classes=3, class_sep=0.9, random_state=seed)
        return X, t
    X, t = {"digits": load_digits, "wdbc": load_breast_cancer, "wine": load_wine}[name](return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(t))[:ROWS]
    X = X[rows] if name == "digits" else (X[rows] - X.mean(axis=0)) / X.std(axis=0)
    return X, t[rows]


class Person:
    """One run: a ledger, the model it teaches, and somebody with habits."""

    def __init__(self, prepared, coverage, X, t, habit, seed, goal):
        self.prepared, self.coverage, self.X, self.t, self.habit = prepared, coverage, X, t, habit
        self.rng = np.random.default_rng([seed, HABITS.index(habit)])
        self.ledger, self.events = Ledger(settings={"goal": goal, "random_share": SHARE, "abstain": None}), []
        self.draw, self.model, self.labels = Draw(len(t), seed), None, 0
        self.add(changes.begin("", [str(c) for c in np.unique(t)], [], [], []))

    def has(self, habit):
        """Whether this person has a habit."""
        return self.habit in (habit, "together")

    def add(self, change):
        """One more event."""
        self.events.append({"rev": len(self.events) + 1, **change})
        self.ledger.take(self.events[-1])

    def label(self, rows, value, via, **more):
        """As the page requests it."""
        body = {"rows": [int(row) for row in rows], "class": value, "via": via, **more}
        self.add(changes.label(self.ledger, body, len(self.t), self.draw, str))

    def task(self):
        """The present labeling."""
        return task_of(self.ledger, self.draw, len(self.events))

    def learn(self):
        """Teach the labels, as the learner does."""
        task = self.task()
        if task.ready:
            drawn = np.array(task.drawn)
            self.model = self.prepared.taught(task.rows, task.ids, drawn=drawn, tier="fast")

    def work(self):
        """One round: questions, then perhaps a lasso and a review."""
        items = queue_of(self.model, self.task(), self.coverage, [str(row) for row in range(len(self.t))])["items"]
        for item in items[: len(items) if self.has("offline") else BATCH]:
            self.answer(item["row"], item["via"])
        self.learn()
        if self.model is not None and self.has("lassoes") and self.rng.random() < 0.3:
            self.lasso()
            self.learn()
        if self.model is not None and self.has("picks") and self.rng.random() < 0.2:
            self.pick()
            self.learn()
        if self.model is not None and self.has("accepts") and self.rng.random() < 0.15:
            self.accept()
        if self.model is not None and self.has("reviews"):
            self.review()
            self.learn()

    def answer(self, row, via):
        """One question."""
        hard = self.model is not None and self.model.confidence_[row] < HARD
        if via == "random" and hard and self.has("skips"):
            again, luck = row in self.ledger.skipped, self.rng.random()
            if luck < (0.4 if again else 0.6):
                self.add(changes.skip(self.ledger, {"rows": [row], "via": via}, len(self.t), self.draw, str))
                return
            if luck < (0.5 if again else 0.9):
                return  # goes on to the next question without a word
            if again and luck < 0.6:
                self.label([row], CANNOT, via)
                return
        self.label([row], int(self.t[row]), via)
        self.labels += 1

    def lasso(self):
        """Many neighbors at once, as what most of them are taken for."""
        middle = self.rng.integers(len(self.t))
        near = np.argsort(np.linalg.norm(self.X - self.X[middle], axis=1))[: self.rng.integers(30, 61)]
        free = [int(row) for row in near if row not in self.ledger.labels]
        if len(free) > 12:
            taken_for = np.bincount(self.model.predicted_[free]).argmax()
            self.label_unseen(free, taken_for, "lasso", near)

    def pick(self):
        """The first page of a list of one class, without checks that wait for an answer."""
        code = self.rng.integers(len(self.model.classes_))
        hidden = set(self.draw.waiting(self.ledger))
        free = np.array([row not in self.ledger.labels and row not in hidden for row in range(len(self.t))])
        listed = np.flatnonzero(free & (self.model.predicted_ == code))
        shown = listed[np.argsort(-self.model.confidence_[listed], kind="stable")][:SHOWN]
        if len(shown):
            self.label_unseen(shown, code, "list", shown)

    def label_unseen(self, rows, code, via, around):
        """Many rows at once, without a look."""
        value, near = int(self.model.classes_[code]), [int(row) for row in around]
        try:
            self.label(rows, value, via, unseen=True, around=near)
        except changes.Refused:  # all of them are checks
            return

    def accept(self):
        """All sure guesses at once."""
        body, answer = {"rows": None, "class": None, "above": 0.95}, answer_of(self.model, len(self.events), "fast")
        try:
            hidden = self.draw.offered(self.ledger)
            self.add(changes.accept(self.ledger, body, len(self.t), str, answer, hidden))
        except changes.Refused:  # there is none
            return

    def review(self):
        """Accept what the model proposes for the labels of checks that it contradicts."""
        labels = self.model.labels_
        tested = labels.labeled[labels.testable]
        for row, code in zip(tested.tolist(), self.model.left_out_probabilities_.argmax(axis=1)):
            proposed = int(self.model.classes_[code])
            if row in self.ledger.checks and self.ledger.value(row) != proposed and self.rng.random() < 0.5:
                self.label([row], proposed, "review")

    def as_before(self):
        """The checks as they were counted before."""
        bulk = {row for row, _, label in self.ledger.outcomes() if label is not None}
        labels, cannot = self.model.labels_, sum(first == CANNOT for _, first, _ in self.ledger.outcomes())
        tested = labels.labeled[labels.testable]
        answers = dict(zip(tested.tolist(), self.model.left_out_probabilities_.argmax(axis=1)))
        rows = [row for row in labels.labeled.tolist() if row in self.ledger.checks and row not in bulk]
        return Checks(sum(answers.get(row) == labels.codes[row] for row in rows), len(rows) + cannot, cannot)

    def truth(self):
        """(fraction of correct labels among rows that no one looked at, and in the whole table)."""
        answers = np.array([int(one) for one in self.model.classes_])[self.model.predicted_]
        for row, given in self.ledger.labels.items():
            if given.value != CANNOT:
                answers[row] = given.value
        right = answers == self.t
        free = [row for row in range(len(self.t)) if row not in self.ledger.labels or self.ledger.unseen(row)]
        return (float(right[free].mean()) if free else 1.0), float(right.mean())


def run(name, seed, habits):
    """One row of results for each habit."""
    X, t = table(name, seed)
    prepared = FewLabelClassifier(["lssvm"], missing_label=[], random_state=0).prepare(X)
    coverage = suggest(prepared, 40).rows.tolist()
    goal = GOALS[seed % len(GOALS)]
    return [
        {"set": name, "seed": seed, "goal": goal} | sitting(prepared, coverage, X, t, h, seed, goal) for h in habits
    ]


def sitting(prepared, coverage, X, t, habit, seed, goal):
    """Work until the certificate is given."""
    person, before = Person(prepared, coverage, X, t, habit, seed, goal), {}
    for _ in range(ROUNDS):
        person.work()
        if person.model is None:
            continue
        checks, (among, whole) = checks_of(person.model, person.task()), person.truth()
        if not before and person.as_before().reached(goal):
            before = {"before": 1, "before_right": round(among, 4), "before_table": round(whole, 4)}
        if checks.reached(goal) or person.labels >= min(MOST, len(t) - 40):
            break
    return {
        "habit": habit,
        "labels": person.labels,
        "checks": checks.number,
        "waiting": checks.waiting,
        "certified": int(checks.reached(goal)),
        "right": round(among, 4),
        "table": round(whole, 4),
        "low": round(checks.rate.low, 4),
        "before": 0,
    } | before


def main():
    options = arguments(
        __doc__,
        runs={"type": int, "default": 400, "help": "runs of each single habit, at least 40 (default %(default)s)"},
        together={"type": int, "default": 400, "help": "runs with all habits (default %(default)s)"},
        habits={"nargs": "*", "default": HABITS, "choices": HABITS, "help": "which habits"},
        jobs={"type": int, "default": 2, "help": "processes (default %(default)s)"},
    )
    if options.runs < LEAST and not options.quick:
        raise SystemExit(f"--runs {options.runs} is too few to publish; expected at least {LEAST}.")
    most = {habit: options.together if habit == "together" else options.runs for habit in options.habits}
    if options.quick:
        most = dict.fromkeys(most, 4)
    jobs = [
        (SETS[i % len(SETS)], i, [habit for habit, number in most.items() if i < number])
        for i in range(max(most.values()))
    ]
    rows: list = []
    for begin in range(0, len(jobs), PART):  # what is done so far is published
        found = Parallel(options.jobs, verbose=1)(delayed(run)(*job) for job in jobs[begin : begin + PART])
        rows += [row for one in found for row in one]
        if not options.quick:
            write_csv("studio_behaviors", rows)
        publish("studio_behaviors", page(rows), options.quick)


def page(rows):
    """The results as a page."""
    lines = []
    for habit in dict.fromkeys(row["habit"] for row in sorted(rows, key=lambda row: HABITS.index(row["habit"]))):
        some = [row for row in rows if row["habit"] == habit]
        claims, before = [row for row in some if row["certified"]], [row for row in some if row["before"]]
        true = [row["right"] >= row["goal"] for row in claims]
        lines.append(
            {
                "habit": habit,
                "runs": len(some),
                "certified": len(claims),
                "true": f"{sum(true)} of {len(true)} ({np.mean(true):.1%})" if true else "–",
                "false certificates per run": f"{(len(true) - sum(true)) / len(some):.1%}",
                "labels (median)": f"{np.median([row['labels'] for row in some]):.0f}",
                "checks without an answer (mean)": f"{np.mean([row['waiting'] for row in some]):.1f}",
                "as counted before: certified": len(before),
                "true before": f"{sum(row['before_right'] >= row['goal'] for row in before)} of {len(before)}",
            }
        )
    text = """A certificate is true if at least the certified fraction (70, 80 or 90%) of the labels is correct among
the rows that no one looked at, at the moment when it is given. It is looked at after every round, and the run stops
when it is given. "As counted before" is the same run with the earlier count. In it, skipped checks leave no trace,
lassoed rows are left out, and a label that is changed in Review changes its check."""
    return f"# Annotators with habits\n\n{machine()}\n\n{markdown(lines)}\n\n{text}\n"


if __name__ == "__main__":
    main()
