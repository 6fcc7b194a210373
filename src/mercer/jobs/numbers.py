"""Numbers: the model fitted to a table, its answer for every row, and what is written, said and reported of it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..advice.suggest import suggest as suggest_rows
from ..advice.why import why
from ..few_label.number_report import number_sentences
from ..few_label.numbers import FAMILIES
from ..few_label.regressor import FewLabelRegressor
from ..inputs.tables import TableRegressor
from ..report import Findings, Points
from ..report.picture import SENTENCE, positions
from .answers import NUMBERS, added
from .findings import SHOWN_CANDIDATES, TOLD, cells_of, code, columns_of, effects_of, row_of, sample_of, settings
from .job import others, search

COVERAGE = 0.9  # of the intervals
RANGES = 5  # of equally many rows, by which the map is coloured
MARKS = "Each mark is a row; nearby rows are similar. The colours are ranges of the numbers, with equally many rows."


@dataclass
class NumberFit:
    """A regressor fitted to the rows `rows` of the table, and its answer for all of them."""

    model: FewLabelRegressor
    rows: np.ndarray
    predicted: np.ndarray
    wide: np.ndarray  # (n,) how many times wider the interval is than among the training rows


@dataclass
class NumberAnswer:
    """What was decided about every row."""

    numbers: np.ndarray  # the given one where there is one
    columns: dict  # to be written
    coverage: float  # of the intervals


def fit(screen, job, methods, seconds, seed):
    """Fit to all rows, or to a sample of very many with the others predicted. Ctrl-C keeps what was tried."""
    model = FewLabelRegressor(methods, time_budget=seconds, random_state=seed)
    rows = search(screen, job, model, {key: words[1] for key, words in FAMILIES.items()})
    predicted, wide = np.empty(len(job.names)), np.ones(len(job.names))
    predicted[rows] = model.predicted_
    for block in others(screen, job, rows):
        predicted[block], wide[block] = model.predict(job.X[block]), 1 / np.sqrt(model.trust(job.X[block]))
    return NumberFit(model, rows, predicted, wide)


def answer(screen, job, fitted, abstain=None, probabilities=False, coverage=None, by_class=False):
    """Given and predicted numbers, with the columns to write; `coverage` of the intervals is 0.9 if not given."""
    asked = {"--abstain": abstain is not None, "--probabilities": probabilities, "--by-class": by_class}
    for option, wanted in asked.items():
        if wanted:
            screen.note(f"{option} is for classes; {job.target!r} holds numbers, which have an interval instead.")
    given, model = job.labels.given, fitted.model
    coverage = coverage or COVERAGE
    reach = model.reach(coverage) * fitted.wide
    ends = np.column_stack([fitted.predicted - reach, fitted.predicted + reach])
    columns = new_columns(job.target, ends, model, np.zeros(len(given), dtype=bool))
    for name, cells in zip(added(job.target, *NUMBERS), columns.values()):
        columns[name] = np.where(given, "given" if cells.dtype.kind == "U" else job.labels.numbers, cells)
    return NumberAnswer(np.where(given, job.labels.numbers, fitted.predicted), columns, coverage)


def new_columns(target, ends, model, novel):
    """Columns that are added to the table: number, ends of its interval, source."""
    low, high = rounded(ends, model).T
    source = np.where(novel, "novel", "predicted")
    return dict(zip(added(target, *NUMBERS), (rounded(ends.mean(axis=1), model), low, high, source)))


def rounded(numbers, model):
    """Numbers with five digits beyond the size of the spread of the given ones."""
    return np.round(numbers, 5 - int(np.floor(np.log10(model.labels_.scale))))


def saved(job, fitted):
    """What --save keeps."""
    return TableRegressor(job.encoder, fitted.model, job.target)


def summary(job, fitted, decided):
    """What --json says."""
    given, model, coverage = job.labels.given, fitted.model, decided.coverage
    return {
        "kind": "number",
        "rows": len(job.names),
        "given": int(given.sum()),
        "predicted": int((~given).sum()),
        "left_out_r2": model.left_out_r2_,
        "r2_interval": list(model.r2_interval_),
        "left_out_mae": model.left_out_mae_,
        "mae_interval": list(model.mae_interval_),
        "coverage": coverage,
        "half_width": model.reach(coverage),
        "reasons": model.report_.sentences,
        "sentences": number_sentences(model, coverage),
    }


def tell(screen, facts, of):
    """Say it on the screen."""
    rows = f"{facts['predicted']} row{'' if facts['predicted'] == 1 else 's'}"
    screen.say(f"{of}{rows} predicted from {facts['given']} numbers.")
    for sentence in facts["sentences"]:
        screen.say(sentence)


def reasons(job, fitted, found):
    """A sentence for each suggested row: what its number would do, which given ones are most like it."""
    names = [job.names[i] for i in fitted.rows]
    alike = [one.like(names) for one in why(fitted.model, found.rows)]
    return [f"{reason}; {like}" for reason, like in zip(found.reasons, alike)]


def findings(screen, job, fitted, answer, abstain, out, save, seed):
    """Everything the report shows."""
    model, given = fitted.model, job.labels.given
    n, n_given = len(given), int(given.sum())
    screen.step("choosing rows to label next", 0.0)
    following = _next(job, fitted, seed)
    screen.step("drawing the rows", 0.3)
    codes, ranges = _ranges(answer.numbers)
    shown = sample_of(n, given, seed)
    points = Points(
        xy=positions(job.X[shown], seed),
        codes=codes[shown],
        given=given[shown],
        confidence=None,
        names=[job.names[i] for i in shown],
        cells={job.target: [f"{x:.6g}" for x in answer.numbers[shown]]} | cells_of(job.telling, shown),
    )
    screen.step("weighing the columns", 0.8)
    told = job.telling.of_groups(codes, len(ranges))
    (low, high), (least, most) = model.r2_interval_, model.mae_interval_
    return Findings(
        title=f"{n - n_given} numbers predicted from {n_given}",
        subtitle=f"{job.data.name}, column {job.target}",
        tiles=[
            (f"{model.left_out_r2_:.2f}", f"R² of withheld numbers ({low:.2f} to {high:.2f})"),
            (f"{model.left_out_mae_:.3g}", f"mean absolute error of withheld numbers ({least:.3g} to {most:.3g})"),
            (f"± {model.reach(answer.coverage):.3g}", f"holds {100 * answer.coverage:g} % of the numbers"),
        ],
        facts=[
            ("table", job.data.name),
            ("numbers in", job.target),
            ("rows", str(n)),
            ("numbers given", str(n_given)),
            ("learnt from", job.encoder.sentence_),
            ("written to", str(out)),
        ],
        marks=MARKS,
        classes=ranges,
        points=points,
        n_rows=n,
        axes=SENTENCE,
        withheld=(model.labels_.given, model.left_out_, model.reach(answer.coverage)),
        suggestions=following,
        groups=[
            {"name": name, "size": int(np.sum(codes == k)), "telling": phrases, "rows": []}
            for k, (name, phrases) in enumerate(zip(ranges, told))
            if phrases
        ],
        grouping=("What low and high numbers look like", TOLD),
        columns=columns_of(job.encoder, effects_of(job, model, seed)),
        candidates=[
            row | {"name": FAMILIES[row["method"]][1], "settings": settings(row)}
            for row in model.report_.candidates[:SHOWN_CANDIDATES]
        ],
        n_candidates=len(model.report_.candidates),
        reasons=model.report_.sentences,
        notes=job.notes,
        code=code(job, out, save, added(job.target, *NUMBERS), "model.predict(rows), model.predict_interval(rows)"),
    )


def _next(job, fitted, seed):
    """Rows to label next; none where no candidate is linear in the numbers."""
    if fitted.model.linear_ is None:
        return []
    free = int((~job.labels.given[fitted.rows]).sum())
    found = suggest_rows(fitted.model, min(10, free), random_state=seed)
    chosen = fitted.rows[found.rows]
    guesses = rounded(fitted.predicted[chosen], fitted.model)
    return [
        (row_of(job, i), f"{guess:g}", None, reason)
        for i, guess, reason in zip(chosen, guesses, reasons(job, fitted, found))
    ]


def _ranges(numbers):
    """(range of each row, names of the ranges): as many rows in each, unless numbers are repeated."""
    edges = np.unique(np.quantile(numbers, np.arange(1, RANGES) / RANGES))
    words = [f"{edge:.3g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return np.searchsorted(edges, numbers, side="left"), [f"up to {words[0]}", *between, f"above {words[-1]}"]
