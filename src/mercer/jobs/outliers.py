"""Outliers of a table: which rows to flag, how sure that is, and why. Nothing is printed."""

from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote

import numpy as np

from ..advice.unusual import COMBINATION, Unusual, unusual
from ..errors import InputError
from ..estimators.outlier_detector import OutlierDetector
from ..events import Note, OnEvent, ignore
from ..evidence.conformal import UNKNOWN, Reference, discoveries, fraction_of_answers, outlier_fraction
from ..evidence.groups import mean_of_equal
from ..inputs.tables import DistinctiveCells
from ..types import Estimator
from . import unlabeled
from .corrections import added, how_words
from .dataset import Dataset, keeping
from .options import ReadOptions
from .tables import Data, open_table, refuse_similar

ODD = {"odd", "outlier", "yes", "true", "1", "-1"}
ORDINARY = {"ordinary", "normal", "inlier", "no", "false", "0"}
COLUMNS = ("novelty", "novel")  # that are written
SHOWN = 4  # columns of a row that are shown with their parts
EXPLAINED = 30  # rows explained in a report
MOST_CLASSES = 20  # of a column that may contain labels
BEYOND = 0.5  # fraction of the rows beyond the values of the ordinary rows, from which a column is reported


@dataclass(frozen=True)
class Outliers:
    """Unusual rows of a table.

    Attributes
    ----------
    model : fitted detector.
    scores : (n,) how unusual each row is in the detector's units. probability : (n,) its `outlier_probability`.
    flagged : (n,) which rows are called outliers. order : (n,) rows, the most unusual first.
    sentence : how the threshold was set. fraction : what is known of the fraction of outliers.
    own : whether the model was fitted to the rows themselves, and not to other rows that are ordinary.
    """

    model: Estimator
    scores: np.ndarray
    probability: np.ndarray
    flagged: np.ndarray
    order: np.ndarray
    sentence: str
    fraction: str
    own: bool


@dataclass(frozen=True)
class Reason:
    """Why a row of a table is unusual, in its cells.

    Attributes
    ----------
    row : its number. sentence : the main columns in words.
    columns : [(column, part as a fraction of the score, cell, what similar ordinary rows have)], largest part first.
    nearest : numbers of the nearest ordinary rows.
    """

    row: int
    sentence: str
    columns: list[tuple[str, float, str, str]]
    nearest: list[int]


def find_outliers(
    X: np.ndarray,
    answers: np.ndarray | None = None,
    fraction: float | None = None,
    false_alarms: float | None = None,
    discovery_rate: float | None = None,
    seed: int | None = None,
    detector: Estimator = None,
    ordinary: np.ndarray | None = None,
    drawn: np.ndarray | None = None,
) -> Outliers:
    """Fit an `OutlierDetector` to a table and flag rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows of the table.
    answers : array of shape (n,) or None, default=None
        −1 outlier, +1 ordinary, 0 no answer.
    fraction : float or None, default=None
        Flag this fraction of the rows. Without any of the three thresholds it is 0.05.
    false_alarms : float or None, default=None
        Flag rows with a p-value up to it.
    discovery_rate : float or None, default=None
        Flag by Benjamini and Hochberg so that at most this fraction of the flagged rows is ordinary; needs `ordinary`.
    seed : int or None, default=None
        Seed of the detector.
    detector : estimator or None, default=None
        Another outlier detector, not fitted yet. It takes no answers.
    ordinary : array of shape (m, d) or None, default=None
        Rows that are known to be ordinary. The detector is fitted to them in place of X.
    drawn : array of shape (n,) or None, default=None
        Which rows were answered because they were drawn at random. None: all, if the user states this.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[3] = 9.0
    >>> int(find_outliers(X, fraction=0.01).order[0])
    3
    """
    _check(fraction, false_alarms, discovery_rate, ordinary)
    if detector is not None and answers is not None:
        raise InputError("Answers need the method auto. Leave out the method, or the column of answers.")
    if ordinary is not None and answers is not None:
        raise InputError("Answers and a table of ordinary rows cannot be used together. Give one of them.")
    model = OutlierDetector(random_state=seed) if detector is None else detector
    if ordinary is None:
        model = model.fit(X) if answers is None else model.fit(X, answers)
        scores = mean_of_equal(X, -model.held_out_scores_)  # equal rows may be in different folds
        probability = 1 - Reference.of(scores).p_values(scores)  # over all rows, not within a fold
    else:
        model = model.fit(ordinary)
        scores, probability = -model.score_samples(X), model.outlier_probability(X)
    p, order = np.round(1 - probability, 12), np.lexsort((-scores, -probability))
    flagged = np.zeros(X.shape[0], dtype=bool)
    if false_alarms is not None:
        flagged = p <= false_alarms
        among = "rows of the table" if ordinary is None else "ordinary rows"
        sentence = f"Rows are flagged if at most {100 * false_alarms:.3g}% of the {among} are as unusual."
    elif discovery_rate is not None:
        flagged = discoveries(p, discovery_rate)
        sentence = (
            f"On average at most {100 * discovery_rate:.3g}% of the flagged rows are ordinary (Benjamini-Hochberg)."
        )
    else:
        fraction = 0.05 if fraction is None else fraction
        flagged[order[: max(1, int(fraction * len(order)))]] = True
        sentence = f"The {100 * fraction:.3g}% most unusual rows are flagged."
    if not flagged.any():
        sentence = f"{sentence} {_too_few(X.shape[0], ordinary, false_alarms, discovery_rate)}".rstrip()
    known = _known(answers, ordinary, p, drawn)
    return Outliers(model, scores, probability, flagged, order, sentence, known, ordinary is None)


def _too_few(n: int, ordinary: np.ndarray | None, false_alarms: float | None, rate: float | None) -> str:
    """Return how many rows a threshold needs, if no row of n can reach it with those that there are."""
    wanted = false_alarms or (rate or 1.0) / n  # a single discovery among n rows
    rows, ties = (n, 2) if ordinary is None else (len(ordinary), 1)  # a row of the table is compared with itself too
    if ties / (rows + 1) <= wanted:
        return ""
    what = "rows" if ordinary is None else "ordinary rows"
    return (
        f"No row can be: with {rows} {what} the smallest p-value is {ties}/({rows} + 1) = {ties / (rows + 1):.2g}, and "
        f"{wanted:.2g} is needed{'' if false_alarms else ' for a single row'}. "
        f"Give at least {int(np.ceil(ties / wanted - 1e-9)) - 1} {what}."
    )


def _check(
    fraction: float | None, false_alarms: float | None, discovery_rate: float | None, ordinary: np.ndarray | None
) -> None:
    given = [value for value in (fraction, false_alarms, discovery_rate) if value is not None]
    if len(given) > 1:
        raise InputError("Only one of fraction, false alarms and discoveries can set the threshold. Give one of them.")
    if given and not 0 < given[0] <= 0.5:
        raise InputError(f"Invalid threshold {given[0]:g}; expected a number above 0 and up to 0.5.")
    if discovery_rate is not None and ordinary is None:
        raise InputError(
            "A discovery rate needs rows that are known to be ordinary: the p-values of a table's own rows are ranks, "
            "and the rule of Benjamini and Hochberg never flags any. Give a table of ordinary rows (--ordinary FILE)."
        )


def _known(answers: np.ndarray | None, ordinary: np.ndarray | None, p: np.ndarray, drawn: np.ndarray | None) -> str:
    """Estimate of the fraction of outliers."""
    if ordinary is not None:
        return outlier_fraction(p).sentence
    if answers is None or not np.any(answers):
        return UNKNOWN
    if drawn is not None:
        answers = np.where(drawn, answers, 0)
    found = fraction_of_answers(int(np.sum(answers == -1)), int(np.sum(answers != 0)))
    if drawn is not None or not found.known:
        return found.sentence
    return f"If the answered rows are random: {found.sentence.replace('randomly drawn', 'answered')}"


def columns(found: Outliers) -> dict[str, np.ndarray]:
    """The columns to write: how unusual each row is, and whether it is flagged."""
    return dict(zip(COLUMNS, (np.round(found.probability, 4), np.where(found.flagged, "yes", "no"))))


def reasons(dataset: Dataset, found: Outliers, rows: np.ndarray) -> list[Reason]:
    """Explain some rows of a table in its cells. A column whose cell is an ordinary one is not named."""
    scores = None if found.own and hasattr(found.model, "changed_scores") else found.scores
    explained = unusual(found.model, dataset.X, rows, dataset.encoder.slices_, scores=scores)
    return [_in_cells(dataset.distinctive, one) for one in explained]


def _in_cells(distinctive: DistinctiveCells, one: Unusual) -> Reason:
    told, shown = list[str](), list[tuple[str, float, str, str]]()
    for column in one.columns:
        odd = distinctive.compared(column.name, one.row, column.like) if column.part > 0 else ""
        if not odd or len(shown) == SHOWN:
            continue
        usual = distinctive.ordinary(column.name, column.like)
        cell = distinctive.cell(column.name, one.row) if column.name in distinctive.shown else ""
        shown.append((str(column.name), min(column.part / max(one.score, column.part), 1.0), cell, usual))
        if column in one.main():
            told.append(f"{odd}; similar ordinary rows have {usual}" if usual else odd)
    return Reason(one.row, ". ".join(told) or COMBINATION, shown, one.nearest)


def read(
    data: Data, options: ReadOptions, scale: str | bool, target: str | None = None, on_event: OnEvent = ignore
) -> tuple[Dataset, np.ndarray | None, np.ndarray | None]:
    """(table without labels, answers or None, which rows were drawn at random or None).

    target : column of answers. If the table lacks it, there are no answers yet. What an earlier run wrote is dropped if
    there is a target, so that its output can be filled in and read again.
    """
    if target is None:
        dataset = unlabeled.read(data, options, scale, COLUMNS, on_event)
        for name in _like_labels(dataset):
            what = f"Column {name!r} is filled in few rows and has few values, as labels do, and is used as a feature"
            keeping(dataset.notes, on_event)(Note(f"{what}: --ignore {quote(name)} leaves it out."))
        return dataset, None, None
    notes = list[str]()
    unused = [options.id, *(options.ignore or [])]
    table = open_table(data, options, unused, keeping(notes, on_event))
    if set(COLUMNS) <= set(table.frame.columns):
        table.drop(COLUMNS)
        on_event(Note("The columns novelty and novel of an earlier run are replaced."))
    if target not in table.frame.columns:
        refuse_similar(target, table, data)
    there = target in table.frame.columns
    answers = read_answers(table.frame[target]) if there else np.zeros(len(table), dtype=int)
    how = how_words(table, target) if there else None
    own = [name for name in (target, *added(target, "how")) if name in table.frame.columns]
    read = unlabeled.encoded(data, table, options, scale, [*unused, *own], COLUMNS, notes, on_event)
    return read, answers, None if how is None else how == "random"


def _like_labels(dataset: Dataset) -> list[str]:
    """Names of the features that may be labels: categories that most rows lack."""
    used = [one for one in dataset.encoder.columns_ if one.kind in ("category", "ordered") and one.use != "left out"]
    frame = dataset.table.frame
    return [one.name for one in used if one.missing > 0.5 and frame[one.name].nunique() <= MOST_CLASSES]


def read_ordinary(data: Data, options: ReadOptions, dataset: Dataset, on_event: OnEvent = ignore) -> np.ndarray:
    """The matrix of a table of ordinary rows, encoded like the rows of the dataset."""
    table = open_table(data, options, dataset.encoder.slices_, on_event)
    matrix = np.asarray(dataset.encoder.transform(table.frame))
    for name, part in dataset.encoder.slices_.items():
        low, high = matrix[:, part].min(axis=0), matrix[:, part].max(axis=0)
        fraction = np.mean(np.any((dataset.X[:, part] < low) | (dataset.X[:, part] > high), axis=1))
        if fraction > BEYOND:
            on_event(
                Note(
                    f"In column {name!r} {fraction:.0%} of the rows are beyond the values of the ordinary rows, "
                    f"which makes these rows unusual: --ignore {quote(name)} leaves it out."
                )
            )
    return matrix


def read_answers(cells: Iterable[object]) -> np.ndarray:
    """(n,) −1, +1 or 0 from the cells of a column with answers, such as "odd" and "ordinary". Empty cells are 0."""
    codes = []
    for cell in cells:
        text = "" if cell is None or cell != cell else str(cell).strip().lower().removesuffix(".0")
        if text and text not in ODD | ORDINARY:
            raise InputError(f"Invalid answer {cell!r}; expected odd or ordinary (or yes/no), or an empty cell.")
        codes.append(-1 if text in ODD else 1 if text in ORDINARY else 0)
    return np.array(codes, dtype=int)
