"""The findings of a report on numbers."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..advice.suggest import Suggestion, suggest
from ..advice.why import why
from ..events import OnEvent, Progress, ignore
from ..few_label.catalog import methods_of
from ..few_label.sizes import SIZES, Sizes
from ..inputs.numerals import short
from ..report import Findings, Points
from ..report.findings import Row
from ..report.picture import SENTENCE, positions
from .corrections import NUMBERS, added
from .dataset import Dataset
from .findings import (
    GROUPING_NOTE,
    SHOWN_CANDIDATES,
    cells_of,
    code,
    columns_of,
    effects_of,
    pictured,
    portraits,
    sample_of,
)
from .numbers import NumberFit, NumberPredictions, decimals
from .options import AnswerOptions


def findings(
    dataset: Dataset,
    fitted: NumberFit,
    answers: NumberPredictions,
    options: AnswerOptions,
    out: str | Path,
    save: str | Path | None = None,
    seed: int = 0,
    on_event: OnEvent = ignore,
    sizes: Sizes = SIZES,
) -> Findings:
    """Return everything that the report shows. `out` and `save` are the files of the table and of the model."""
    model, given = fitted.model, answers.given
    n, n_given = len(given), int(given.sum())
    on_event(Progress("choosing rows to label next", 0.0))
    following = _next(dataset, fitted, seed)
    on_event(Progress("drawing the rows", 0.3))
    codes, ranges = _ranges(answers.numbers)
    shown = sample_of(n, given, seed, sizes.points)
    points = Points(
        xy=positions(dataset.X[shown], seed),
        codes=codes[shown],
        given=given[shown],
        confidence=None,
        names=[dataset.names[i] for i in shown],
        cells={dataset.target: [short(x, 6) for x in answers.numbers[shown]]} | cells_of(dataset.distinctive, shown),
    )
    on_event(Progress("weighing the columns", 0.8))
    found, titles = model.estimate_, methods_of("numbers")
    (low, high), (least, most) = found.r2_interval, found.mae_interval
    wider = ", for predictions of medium size" if model.answers_.widths.power else ""
    return Findings(
        title=f"{n - n_given:,} numbers predicted from {n_given:,}",
        subtitle=f"{dataset.data.name}, column {dataset.target}",
        warnings=[f"This is not an estimate for all rows, because {dataset.why_not_drawn}."]
        if dataset.selected
        else [],
        tiles=[
            (f"{found.r2:.2f}", f"R² of held-out numbers ({low:.2f} to {high:.2f})"),
            (
                f"{short(found.mae)}",
                f"mean absolute error of held-out numbers ({short(least)} to {short(most)})",
            ),
            (f"± {short(answers.reach)}", f"contains {100 * answers.coverage:g}% of the numbers{wider}"),
        ],
        facts=[
            ("table", dataset.data.name),
            ("numbers in", dataset.target),
            ("rows", str(n)),
            ("numbers given", str(n_given)),
            ("learned from", dataset.encoder.sentence_),
            ("written to", str(out)),
        ],
        marks="Each mark is a row. Nearby rows are similar. The colors are ranges of the numbers, from low to high, "
        "with equally many rows in each.",
        classes=ranges,
        sequential=True,
        points=points,
        n_rows=n,
        axes=SENTENCE,
        withheld=(model.labels_.given, model.left_out_, partial(model.reach, answers.coverage)),
        suggestions=following,
        groups=portraits(dataset, codes, ranges),
        grouping=("What low and high numbers look like", GROUPING_NOTE),
        columns=columns_of(dataset.encoder, effects_of(dataset, model, seed)),
        candidates=[
            row | {"name": titles[row["method"]].title, "rmse": short(row["rmse"]), "mae": short(row["mae"])}
            for row in model.report_.candidates[:SHOWN_CANDIDATES]
        ],
        n_candidates=len(model.report_.candidates),
        reasons=model.report_.sentences,
        notes=[*dataset.notes, *fitted.notes, *answers.notes],
        code=code(
            dataset, out, save, added(dataset.target, *NUMBERS), "model.predict(rows), model.predict_interval(rows)"
        ),
    )


def reasons(dataset: Dataset, fitted: NumberFit, found: Suggestion) -> list[str]:
    """Return a sentence for each suggested row, on the effect of its number and on the most similar given ones."""
    alike = [one.like(dataset.names) for one in why(fitted.model, found.rows)]
    return [f"{reason}; {like}" for reason, like in zip(found.reasons, alike)]


def _next(dataset: Dataset, fitted: NumberFit, seed: int) -> list[tuple[Row, str, float | None, str]]:
    """Return the rows to label next. [] if no candidate is linear in the numbers."""
    if fitted.model.linear_ is None:
        return []
    free = int((~dataset.labels.given).sum())
    found = suggest(fitted.model, min(10, free), random_state=seed)
    chosen = found.rows
    guesses = np.round(fitted.predicted[chosen], decimals(fitted.model))
    return [
        (pictured(dataset, i), short(guess, 6), None, reason)
        for i, guess, reason in zip(chosen, guesses, reasons(dataset, fitted, found))
    ]


def _ranges(numbers: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the range of each row and the names of the ranges, for five ranges of about equally many rows.

    If numbers are repeated, the ranges may be fewer and of different sizes.
    """
    edges = np.unique(np.quantile(numbers, np.arange(1, 5) / 5))
    words = [f"{short(edge)}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return np.searchsorted(edges, numbers, side="left"), [f"up to {words[0]}", *between, f"above {words[-1]}"]
