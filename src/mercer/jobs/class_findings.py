"""The findings of a report on classes."""

from pathlib import Path

import numpy as np

from ..advice.doubt import doubt
from ..advice.stop import expected_change
from ..advice.suggest import suggest
from ..advice.why import SAME, heaviest, similar_labeled, why
from ..errors import InputError
from ..events import OnEvent, Progress, ignore
from ..evidence.choice import accuracy_interval
from ..few_label.catalog import methods_of
from ..few_label.classifier import FewLabelClassifier
from ..few_label.sizes import SIZES, Sizes
from ..few_label.summary import accuracy_sentence, unseen_sentence
from ..report import Findings, Points
from ..report.findings import Row
from ..report.picture import SENTENCE, positions
from ..types import Facts
from .classes import ClassAnswers, ClassFit, rankings
from .corrections import added
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
from .options import AnswerOptions
from .quality import (
    answered,
    contradicted_sentence,
    contradictions,
    coverage,
    doubtful_labels,
    per_class,
    unlike_labeled,
    wrong_labels_sentence,
)
from .ranking import SHOWN, Ranking

SHOWN_ROWS = 12


def findings(
    dataset: Dataset,
    fitted: ClassFit,
    answers: ClassAnswers,
    options: AnswerOptions,
    out: str | Path,
    save: str | Path | None = None,
    seed: int = 0,
    on_event: OnEvent = ignore,
    sizes: Sizes = SIZES,
) -> Findings:
    """Return everything that the report shows. `out` and `save` are the files of the table and of the model."""
    model, abstain, codes = fitted.model, options.abstain, answers.codes
    given = answers.given
    n, n_given, n_left = len(dataset.names), int(given.sum()), int(answers.left.sum())
    classes = [str(name) for name in model.classes_]
    tested = int(model.labels_.testable.sum())
    low, high = model.estimate_.accuracy.low, model.estimate_.accuracy.high
    on_event(Progress("choosing rows to label next", 0.0))
    following, effect = _next(dataset, fitted, classes, seed)
    on_event(Progress("looking for doubtful labels and predictions", 0.3))
    suspect, doubted = doubtful_labels(dataset, fitted)[:SHOWN_ROWS], _doubtful(dataset, fitted, answers)
    unseen = [(pictured(dataset, i), reason) for i, reason in unlike_labeled(dataset, fitted, SHOWN_ROWS)]
    on_event(Progress("drawing the rows", 0.4))
    points = _points(dataset, fitted, answers, seed, sizes.points)
    on_event(Progress("weighing the columns", 0.8))
    columns = columns_of(dataset.encoder, effects_of(dataset, model, seed))
    on_event(Progress("making the page", 0.95))
    return Findings(
        title=f"{_rows(n - n_given - n_left)} labeled from {_count(n_given)}",
        subtitle=f"{dataset.data.name}, column {dataset.target}",
        warnings=_warnings(dataset, model),
        tiles=_tiles(n, n_given, n_left, tested, model, low, high, answers),
        facts=[
            ("table", dataset.data.name),
            ("labels in", dataset.target),
            ("rows", _count(n)),
            ("labels given", f"{_count(n_given)} of {len(classes)} classes"),
            ("learned from", dataset.encoder.sentence_),
            ("left unlabeled", f"below confidence {abstain:g}" if abstain else "no row: --abstain sets a threshold"),
            *([("sets of classes", answers.sets.sentence)] if answers.sets else []),
            *([("accepted", " ".join(answers.promise.sentences))] if answers.promise else []),
            ("written to", str(out)),
        ],
        marks="Each mark is a row. Nearby rows are similar. Faint rows have a low confidence.",
        classes=classes,
        points=points,
        n_rows=n,
        axes=SENTENCE,
        confidence=answers.confidence[~given],
        abstain=abstain,
        coverage=coverage(model),
        majority=(model.majority_.name, model.majority_.share) if tested else None,
        recall=per_class(model) if tested else [],
        candidates=_candidates(model, tested),
        n_candidates=len(model.report_.candidates),
        balance=[
            (name, int(np.sum(given & (codes == k))), int(np.sum(~given & ~answers.left & (codes == k))))
            for k, name in enumerate(classes)
        ],
        n_abstained=n_left,
        suggestions=following,
        effect=effect,
        suspicious=[(pictured(dataset, i), label, other, reason) for i, label, other, reason in suspect],
        confirmed=contradicted_sentence(*contradictions(model)) if suspect else "",
        doubtful=doubted,
        unseen=unseen,
        rankings=[_ranked(dataset, one) for one in rankings(fitted, answers)],
        unseen_share=unseen_sentence(model.estimate_) if unseen else "",
        groups=portraits(dataset, np.where(answers.left, -1, codes), classes),
        grouping=("What each class looks like", GROUPING_NOTE),
        columns=columns,
        reasons=_reasons(model),
        notes=[*dataset.notes, *fitted.notes, *answers.notes],
        code=code(
            dataset, out, save, added(dataset.target), "model.predict(rows), model.predict_proba(rows)", answers.sets
        ),
    )


def effect_of_more(model: FewLabelClassifier, n: int = 20) -> str:
    """Return a sentence on how many predictions n more labels would change. A small number is a sign to stop."""
    n = min(n, int(np.sum(model.labels_.codes < 0)))
    more = "1 more label is" if n == 1 else f"{n} more labels are"
    return f"{more} expected to change about {expected_change(model, n):.1%} of the predictions."


def _next(
    dataset: Dataset, fitted: ClassFit, classes: list[str], seed: int
) -> tuple[list[tuple[Row, str, float, str]], str]:
    """Return the rows to label next, and a sentence on the effect of labels. Both are empty if it is not known."""
    free = int((~dataset.labels.given).sum())
    try:
        found = suggest(fitted.model, min(10, free), random_state=seed)
        effect = effect_of_more(fitted.model)
    except InputError:  # the effect of a label is known only for methods that are linear in the labels
        return [], ""
    return [
        (
            pictured(dataset, i),
            classes[fitted.codes[i]],
            float(fitted.confidence[i]),
            one.sentence(dataset.names, first=False),
        )
        for i, one in zip(found.rows, why(fitted.model, found.rows))
    ], effect


def _doubtful(dataset: Dataset, fitted: ClassFit, answers: ClassAnswers) -> list[tuple[Row, str, float, str]]:
    """Return the predicted rows with the most reasons for doubt. Rows left unlabeled are not predictions."""
    found = doubt(fitted.model)
    kept = ~(answers.given | answers.left)[found.rows]
    first = np.flatnonzero(kept)[:SHOWN_ROWS]
    reasons = [one.sentence(dataset.names, first=False) for one in why(fitted.model, found.rows[first])]
    return [
        (
            pictured(dataset, found.rows[j]),
            str(found.labels[j]),
            float(found.confidence[j]),
            f"{', '.join(found.reasons[j])}: {reason}",
        )
        for j, reason in zip(first, reasons)
    ]


def _warnings(dataset: Dataset, model: FewLabelClassifier) -> list[str]:
    """Return what to know before any number is read."""
    first = model.report_.sentences[:1] if model.answers_.fit.pool.uninformative else []
    if dataset.selected is not None:
        first = [*first, accuracy_sentence(model.estimate_, dataset.why_not_drawn, dataset.draws)]
    return [*first, *filter(None, [wrong_labels_sentence(*contradictions(model))])]


def _ranked(dataset: Dataset, found: Ranking) -> Facts:
    """Return the rows that are most likely of a class, for the report."""
    first = zip(found.rows[:SHOWN].tolist(), found.probability.tolist())
    rows = [(pictured(dataset, i), p) for i, p in first]
    return {"name": found.name, "sentence": found.sentence, "within": found.within(SHOWN), "rows": rows}


def _tiles(
    n: int,
    n_given: int,
    n_left: int,
    tested: int,
    model: FewLabelClassifier,
    low: float,
    high: float,
    answers: ClassAnswers,
) -> list[tuple[str, str]]:
    filled, found, sets = n - n_given - n_left, model.estimate_, answers.sets
    tiles = [(_count(filled), f"row{_s(filled)} filled in"), (_count(n_given), f"label{_s(n_given)} given")]
    if tested:
        source = (
            f"{found.n_drawn} held-out labels of rows drawn at random" if found.n_drawn < n_given else "held-out labels"
        )
        caption = f"of the predictions are correct, estimated from {source} ({low:.0%} to {high:.0%})"
        caption += ", if all rows were predicted" if n_left else ""
        if not found.for_all_rows:
            caption = "of the labels are predicted correctly when held out. This is not an estimate for all rows, "
            caption += "because the labeled rows were not drawn at random"
        tiles.append((f"{found.accuracy.value:.0%}", caption))
        if n_left and filled and np.isfinite((rate := answered(model, answers, answers.abstain or 0.0)).value):
            caption = f"of the {_rows(filled)} that were predicted are correct ({rate.low:.0%} to {rate.high:.0%})"
            tiles.append((f"{rate.value:.0%}", caption))
    most = model.majority_
    worse = "" if not tested or most.beaten_by(low) else ", not shown to be worse than the model"
    caption = f"accuracy of always predicting {most.name} ({most.low:.0%} to {most.high:.0%}){worse}"
    caption = caption if found.for_all_rows else f"of the labels are {most.name}"
    tiles.append((f"{most.share:.0%}", caption))
    if sets:
        each = " of each class" if sets.by_class else ""
        caption = f"of {len(model.classes_)} classes per cell of {sets.name} on average. About {sets.coverage:.0%} of "
        caption += f"the cells{each} contain the true class"
        if sets.mean_size >= len(model.classes_):
            caption = f"classes in every cell of {sets.name}, which are all, because the labels are too few"
        tiles.append((f"{sets.mean_size:.1f}".removesuffix(".0"), caption))
    if n_left:
        tiles.append((_count(n_left), f"row{_s(n_left)} left unlabeled"))
    return tiles


def _reasons(model: FewLabelClassifier) -> list[str]:
    """Return the classifier's own sentences, and the heaviest candidates by name."""
    heavy = [row for row in model.report_.candidates if row["weight"] > 0.1][:3]
    found: list[str] = model.report_.sentences
    if not heavy:
        return found
    titles = methods_of("classes")
    names = "; ".join(f"{titles[row['method']].title} ({row['settings']}), {row['weight']:.0%}" for row in heavy)
    return [*found, f"The largest weights: {names}."]


def _candidates(model: FewLabelClassifier, tested: int) -> list[Facts]:
    rows = []
    for row in model.report_.candidates[:SHOWN_CANDIDATES]:
        low, high = accuracy_interval(row["accuracy"] * tested, tested) if tested else (0.0, 1.0)
        right = row["accuracy"] if tested else float("nan")
        rows.append(
            {
                "name": methods_of("classes")[row["method"]].title,
                "settings": row["settings"],
                "right": right,
                "low": low,
                "high": high,
                "weight": row["weight"],
                "seconds": row["seconds"],
            }
        )
    return rows if tested else []


def _points(dataset: Dataset, fitted: ClassFit, answers: ClassAnswers, seed: int, most: int) -> Points:
    rows = sample_of(len(dataset.names), answers.given, seed, most)
    return Points(
        xy=positions(dataset.X[rows], seed),
        codes=np.where(answers.left, -1, answers.codes)[rows],
        given=answers.given[rows],
        confidence=answers.confidence[rows],
        names=[dataset.names[i] for i in rows],
        cells=cells_of(dataset.distinctive, rows) | {"most like": _alike(dataset, fitted, rows)},
    )


def _alike(dataset: Dataset, fitted: ClassFit, rows: np.ndarray) -> list[str]:
    """Return the labeled row that is most like each row, and its label. "" for labeled rows."""
    model = fitted.model
    labeled = model.labels_.labeled
    named = [f"{dataset.names[i]} ({model.classes_[model.labels_.codes[i]]})" for i in labeled]
    words: list[str] = []
    for begin in range(0, len(rows), 4096):
        cosines = similar_labeled(model, rows[begin : begin + 4096], heaviest(model))
        more = np.sum(cosines >= cosines.max(axis=1, keepdims=True) - SAME, axis=1) - 1
        words += [named[i] + (f" and {n} more" if n else "") for i, n in zip(cosines.argmax(axis=1), more)]
    return ["" if own >= 0 else word for own, word in zip(model.labels_.codes[rows], words)]


def _rows(number: int) -> str:
    return f"{_count(number)} row{_s(number)}"


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _count(number: int) -> str:
    return f"{number:,}"
