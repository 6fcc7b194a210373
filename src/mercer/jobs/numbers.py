"""Fit a regressor to a dataset, predict every row, and name the columns to write."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..events import Note, OnEvent, ignore
from ..few_label.number_report import number_sentences
from ..few_label.regressor import FewLabelRegressor
from ..few_label.sizes import SIZES, Sizes
from ..inputs.tables import TableRegressor
from ..types import Facts, Frame
from .corrections import NUMBERS, added
from .dataset import Dataset
from .fitting import FAMILIAR, fit_model, in_blocks
from .options import AnswerOptions, SearchOptions

COVERAGE = 0.9  # of the intervals


@dataclass(frozen=True)
class NumberFit:
    """A regressor fitted to a dataset, with the predictions for all rows."""

    model: FewLabelRegressor
    predicted: np.ndarray
    notes: list[str] = field(default_factory=list)  # sentences for the report


@dataclass(frozen=True)
class NumberPredictions:
    """The number of every row, given or predicted, with an interval.

    Attributes
    ----------
    numbers : (n,) given or predicted. ends : (n, 2) of the predicted interval. given : (n,) rows with a number.
    novel : (n,) rows unlike all training rows.
    coverage, reach : coverage of the intervals, and their half width for predictions of medium size.
    decimals : decimals to write.
    """

    target: str
    numbers: np.ndarray
    ends: np.ndarray
    given: np.ndarray
    novel: np.ndarray
    coverage: float
    reach: float
    decimals: int
    notes: list[str] = field(default_factory=list)


def fit(
    dataset: Dataset, search: SearchOptions, on_event: OnEvent = ignore, known: NumberFit | None = None
) -> NumberFit:
    """Fit a regressor to a dataset. Ctrl-C keeps what was tried.

    known : a fit to other numbers of the same rows, whose spaces are used again.
    """
    new = FewLabelRegressor(search.methods, time_budget=search.seconds, random_state=search.seed)
    model = new if known is None else copy(known.model)
    notes = fit_model(dataset, model, on_event)
    return NumberFit(model, model.predicted_, notes)


def answer(
    dataset: Dataset, fitted: NumberFit, options: AnswerOptions, on_event: OnEvent = ignore
) -> NumberPredictions:
    """Return the predictions of a fit for all rows of its dataset. Given numbers are kept."""
    unused = {"--abstain": options.abstain is not None, "--probabilities": options.probabilities}
    for option, wanted in (unused | {"--by-class": options.by_class}).items():
        if wanted:
            what = f"{dataset.target!r} contains numbers, which have an interval instead"
            on_event(Note(f"{option} is for classes, and {what}."))
    given, model, coverage = dataset.labels.given, fitted.model, options.coverage or COVERAGE
    half = model.reach(coverage)
    reach = model.reach(coverage, fitted.predicted) / np.sqrt(model.answers_.trust)
    ends = np.column_stack([fitted.predicted - reach, fitted.predicted + reach])
    numbers = np.where(given, dataset.labels.numbers, fitted.predicted)
    novel = np.zeros(len(given), dtype=bool)
    return NumberPredictions(dataset.target, numbers, ends, given, novel, coverage, half, decimals(model))


def answer_table(
    model: TableRegressor,
    frame: Frame,
    options: AnswerOptions,
    labels: Mapping[int, str] | None = None,
    on_event: OnEvent = ignore,
    sizes: Sizes = SIZES,
) -> NumberPredictions:
    """Return the predictions of a saved model for the rows of a table."""
    coverage = options.coverage or COVERAGE
    ends, trust = in_blocks(partial(model.answer, coverage=coverage), frame, on_event, sizes)
    none, found = np.zeros(len(ends), dtype=bool), model.regressor
    reach = found.reach(coverage)
    return NumberPredictions(
        model.target, ends.mean(axis=1), ends, none, trust < FAMILIAR, coverage, reach, decimals(found)
    )


def columns(answers: NumberPredictions, probabilities: bool = False) -> Facts:
    """Return the columns to write, which are the number, the ends of its interval and its source."""
    low, high = np.round(answers.ends, answers.decimals).T
    middle = np.round(answers.ends.mean(axis=1), answers.decimals)
    numbers = [np.where(answers.given, answers.numbers, one) for one in (middle, low, high)]
    whole = np.flatnonzero(answers.given & (answers.numbers == np.round(answers.numbers)))
    if len(whole):  # written as given, without a .0
        numbers = [one.astype(object) for one in numbers]
        for one in numbers:
            one[whole] = [int(number) for number in answers.numbers[whole]]
    source = np.where(answers.given, "given", np.where(answers.novel, "novel", "predicted"))
    return dict(zip(added(answers.target, *NUMBERS), [*numbers, source]))


def decimals(model: FewLabelRegressor) -> int:
    """Return how many decimals are written, which is five digits beyond the spread of the given numbers."""
    return 5 - int(np.floor(np.log10(model.labels_.scale)))


def table_model(dataset: Dataset, fitted: NumberFit) -> TableRegressor:
    """Return the model that --save writes."""
    return TableRegressor(dataset.encoder, fitted.model, dataset.target)


def facts(dataset: Dataset, fitted: NumberFit, answers: NumberPredictions) -> Facts:
    """Return what --json prints."""
    given, model, coverage = answers.given, fitted.model, answers.coverage
    found = model.estimate_
    return {
        "kind": "number",
        "rows": len(dataset.names),
        "given": int(given.sum()),
        "predicted": int((~given).sum()),
        "left_out_r2": found.r2,
        "r2_interval": list(found.r2_interval),
        "left_out_mae": found.mae,
        "mae_interval": list(found.mae_interval),
        "coverage": coverage,
        "half_width": answers.reach,
        "reasons": model.report_.sentences,
        "sentences": number_sentences(model, coverage, dataset.why_not_drawn),
        "not_drawn": dataset.selected and dataset.selected.sentence,
    }


def sentences(facts: Facts) -> list[str]:
    """Return the sentences that the command prints on a fit and its predictions."""
    rows = f"{facts['predicted']} row{'' if facts['predicted'] == 1 else 's'}"
    return [f"{rows} predicted from {facts['given']} numbers.", *facts["sentences"]]
