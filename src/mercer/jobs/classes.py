"""Fit a classifier to a dataset, predict every row, and name the columns to write.

`label`, `predict`, folders and the web app all predict through `decide` and write through `columns`.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ..advice.accept import Accepted, accept
from ..events import Note, OnEvent, ignore
from ..few_label.answers import Answers
from ..few_label.classifier import FewLabelClassifier
from ..few_label.sizes import SIZES, Sizes
from ..few_label.summary import NOT_TESTED, accuracy_sentence, hint_sentences, majority_sentence, unseen_sentence
from ..inputs.tables import TableClassifier
from ..types import Estimator, Facts, Frame
from . import quality
from .corrections import PROBABILITY, added, alike
from .dataset import Dataset
from .fitting import FAMILIAR, fit_model, in_blocks
from .options import DEFAULTS, AnswerOptions, SearchOptions
from .ranking import Ranking, ranked, rare_classes
from .sets import Sets


@dataclass(frozen=True)
class ClassFit:
    """A classifier fitted to a dataset, with the probabilities and confidence of all rows."""

    model: FewLabelClassifier
    P: np.ndarray  # (n, k)
    confidence: np.ndarray
    notes: list[str] = field(default_factory=list)  # sentences for the report

    @property
    def codes(self) -> np.ndarray:
        """(n,) the most likely class."""
        return np.asarray(self.P.argmax(axis=1))


@dataclass(frozen=True)
class ClassAnswers:
    """The prediction for every row. It is the given label or, if its confidence suffices, the most likely class.

    Attributes
    ----------
    target : the column of labels. values : the classes as the table has them.
    P : (n, k) probabilities of the classes. Given labels are certain.
    confidence : (n,) largest probability of each row.
    given : (n,) rows with a label. left : (n,) rows left unlabeled. novel : (n,) rows unlike all training rows.
    sets : sets of classes, on request. ranking : rows by the probability of a class, on request.
    abstain : the least confidence of a prediction. notes : sentences for the report.
    promise : which predictions are accepted, on request.
    """

    target: str
    values: list[object]
    P: np.ndarray
    confidence: np.ndarray
    given: np.ndarray
    left: np.ndarray
    novel: np.ndarray
    sets: Sets | None = None
    ranking: Ranking | None = None
    abstain: float | None = None
    notes: list[str] = field(default_factory=list)
    promise: Accepted | None = None

    @property
    def codes(self) -> np.ndarray:
        """(n,) number of the class of each row, which is that of the given label if there is one."""
        return np.asarray(self.P.argmax(axis=1))

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows of each class, by name."""
        codes = np.bincount(self.codes[~self.left], minlength=len(self.values))
        return dict(zip(map(str, self.values), codes.tolist()))


def fit(dataset: Dataset, search: SearchOptions, on_event: OnEvent = ignore, known: ClassFit | None = None) -> ClassFit:
    """Fit a classifier to a dataset. Ctrl-C keeps what was tried.

    known : a fit to other labels of the same rows, whose spaces are used again.
    """
    new = FewLabelClassifier(search.methods, time_budget=search.seconds, missing_label=[], random_state=search.seed)
    model = new if known is None else copy(known.model)
    notes = fit_model(dataset, model, on_event)
    return ClassFit(model, model.probabilities_, model.confidence_, notes)


def decide(
    target: str,
    values: Sequence[object],
    P: np.ndarray,
    confidence: np.ndarray,
    labels: Mapping[int, np.ndarray] | None = None,
    options: AnswerOptions = DEFAULTS,
    novel: np.ndarray | None = None,
    model: Estimator = None,
) -> ClassAnswers:
    """Return the prediction for every row from probabilities, given labels and a threshold.

    Parameters
    ----------
    P, confidence : (n, k) and (n,) of the model. labels : {row: (k,) probabilities of the given label}.
    novel : (n,) rows unlike all training rows. model : fitted classifier, for sets of classes.
    """
    given, predicted = np.zeros(len(P), dtype=bool), P
    if labels:
        given[list(labels)] = True
        P, confidence = P.copy(), confidence.copy()
        P[list(labels)] = np.array(list(labels.values()))
        confidence[given] = P[given].max(axis=1)
    left = ~given & Answers.abstained(confidence, options.abstain)
    novel = np.zeros(len(P), dtype=bool) if novel is None else novel & ~given
    sets = None
    if options.coverage is not None:
        sets = Sets(target, model, predicted, given, options.coverage, options.by_class)
    ranking = None if options.rank is None else ranked(model, predicted, given, options.rank)
    return ClassAnswers(target, list(values), P, confidence, given, left, novel, sets, ranking, options.abstain)


def columns(answers: ClassAnswers, probabilities: bool = False) -> Facts:
    """Return the columns to write. Probabilities, sets and ranks are added on request."""
    words = [None if gone else answers.values[code] for code, gone in zip(answers.codes, answers.left)]
    unlabeled = np.where(answers.left, "abstained", np.where(answers.novel, "novel", "predicted"))
    source = np.where(answers.given, "given", unlabeled)
    if answers.promise is not None:
        source[answers.promise.rows[~answers.left[answers.promise.rows]]] = "accepted"
    found = dict(zip(added(answers.target), (words, np.round(answers.confidence, 4), source)))
    if probabilities:
        names = added(answers.target, *(f"{PROBABILITY}{value}" for value in answers.values))
        found |= dict(zip(names, np.round(answers.P, 4).T))
    if answers.sets is not None:
        found |= answers.sets.columns(answers.values, answers.codes)
    if answers.ranking is not None:
        found |= dict(zip(added(answers.target, "rank"), [answers.ranking.column(len(answers.P))]))
    return found


def answer(dataset: Dataset, fitted: ClassFit, options: AnswerOptions, on_event: OnEvent = ignore) -> ClassAnswers:
    """Return the predictions of a fit for all rows of its dataset. Given labels are kept."""
    labels, classes = dataset.labels, [str(name) for name in fitted.model.classes_]
    rows = np.flatnonzero(labels.given)
    if labels.shares is not None:
        known = dict(zip(rows.tolist(), labels.shares[rows]))
    else:
        place, each = {name: code for code, name in enumerate(classes)}, np.eye(len(classes))
        known = {row: each[place[labels.labels[row]]] for row in rows.tolist()}
    values = [labels.values.get(name, name) for name in classes]
    found = decide(dataset.target, values, fitted.P, fitted.confidence, known, options, model=fitted.model)
    if options.wrong_at_most is not None:
        found = replace(found, promise=accept(fitted.model, options.wrong_at_most))
    earlier, given, left = dataset.earlier, found.given, found.left
    if earlier is not None:
        was = (
            np.isin(earlier["source"], ["predicted", "accepted", "novel"])
            & ~given
            & ~left
            & (earlier["predicted"] != "")
        )
        now = np.array(classes, dtype=object)[found.codes]
        other = sum(not alike(*pair) for pair in zip(earlier["predicted"][was], now[was]))
        if other:
            predicted, _, source = added(dataset.target)
            found.notes.append(
                f"{other} of the predictions in {predicted!r} of the earlier run are replaced by other ones. To "
                f"correct a prediction, type the class into {dataset.target!r}, or into {predicted!r} with 'given' "
                f"next to it in {source!r}."
            )
    if left.any() and (left | given).all():
        most = fitted.confidence[~given].max()
        found.notes.append(f"No row reaches --abstain {options.abstain:g}. The highest confidence is {most:.2f}.")
    for sentence in found.notes:
        on_event(Note(sentence))
    return found


def answer_table(
    model: TableClassifier,
    frame: Frame,
    options: AnswerOptions,
    labels: Mapping[int, str] | None = None,
    on_event: OnEvent = ignore,
    sizes: Sizes = SIZES,
) -> ClassAnswers:
    """Return the predictions of a saved model for the rows of a table. Classes in `labels`, by row, are kept."""
    P, sure, trust = in_blocks(model.answer, frame, on_event, sizes)
    classes = [str(name) for name in model.classes_]
    place, each = {name: code for code, name in enumerate(classes)}, np.eye(len(classes))
    known = {row: each[place[word]] for row, word in (labels or {}).items() if word in place}
    values = [model.values.get(name, name) for name in classes]
    return decide(model.target, values, P, sure, known, options, trust < FAMILIAR, model.classifier)


def table_model(dataset: Dataset, fitted: ClassFit) -> TableClassifier:
    """Return the model that --save writes."""
    hints = None if dataset.hints is None else list(dataset.hints)
    return TableClassifier(dataset.encoder, fitted.model, dataset.target, dataset.labels.values, hints, dataset.marks)


def facts(dataset: Dataset, fitted: ClassFit, answers: ClassAnswers) -> Facts:
    """Return what --json prints."""
    given, model = answers.given, fitted.model
    found, tested = model.estimate_.accuracy, int(model.labels_.testable.sum())
    codes, left = answers.codes, answers.left
    return {
        "rows": len(dataset.names),
        "given": int(given.sum()),
        "predicted": int((~given & ~left).sum()),
        "abstained": int(left.sum()),
        "left_out_accuracy": found.value if tested else None,
        "left_out_interval": [found.low, found.high],
        "tested_labels": tested,
        "labels_drawn": model.estimate_.n_drawn,
        "accuracy_sentence": accuracy_sentence(model.estimate_, dataset.why_not_drawn, dataset.draws),
        "not_drawn": dataset.selected and dataset.selected.sentence,
        **_answered(model, answers),
        "if_wrong_labels": quality.wrong_labels_sentence(*quality.contradictions(model)),
        "rankings": [one.facts(dataset.names) for one in rankings(fitted, answers)],
        "ranked": None if answers.ranking is None else answers.ranking.name,
        "unseen_sentence": unseen_sentence(model.estimate_),
        "unseen_rows": [(dataset.names[i], reason) for i, reason in quality.unlike_labeled(dataset, fitted)],
        "sets": answers.sets and answers.sets.facts,
        "classes": {str(c): int(np.sum((codes == k) & ~left)) for k, c in enumerate(model.classes_)},
        "coverage": quality.coverage(model),
        "majority": asdict(model.majority_) | {"sentence": majority_sentence(model)},
        "uninformative": model.report_.sentences[:1] if model.answers_.fit.pool.uninformative else [],
        "hints": hint_sentences(model),
        "promise": answers.promise and promise_facts(answers.promise),
        "reasons": model.report_.sentences,
    }


def sentences(facts: Facts) -> list[str]:
    """Return the sentences that the command prints on a fit and its predictions."""
    rows = f"{facts['predicted']:,} row{'' if facts['predicted'] == 1 else 's'}"
    constant = facts["uninformative"] and not facts["hints"]
    found = [
        *facts["uninformative"],
        f"{rows} labeled from {facts['given']:,} labels, {facts['abstained']:,} left unlabeled.",
    ]
    if facts["tested_labels"]:
        found += filter(None, [facts["answered_sentence"], facts["accuracy_sentence"]])
        if not constant:  # else all predictions are the most frequent class already
            found += filter(None, [facts["if_wrong_labels"], facts["majority"]["sentence"]])
    else:
        found.append(NOT_TESTED)
    if facts["unseen_rows"]:
        names = ", ".join(name for name, _ in facts["unseen_rows"])
        found.append(f"{facts['unseen_sentence']} Least like any labeled row: {names}.")
    found += [one["sentence"] for one in facts["rankings"] if facts["ranked"] or not constant]
    found += facts["hints"][1:]
    found += [facts["sets"]["sentence"]] if facts["sets"] else []
    return found + (facts["promise"]["sentences"] if facts["promise"] else [])


def rankings(fitted: ClassFit, answers: ClassAnswers) -> list[Ranking]:
    """Return the ranking that was requested, or one for each rare class."""
    if answers.ranking is not None:
        return [answers.ranking]
    return [ranked(fitted.model, fitted.P, answers.given, name) for name in rare_classes(fitted.model)]


def _answered(model: FewLabelClassifier, answers: ClassAnswers) -> Facts:
    """Return facts on the rows that were predicted, if others were left unlabeled."""
    if not answers.left.any():
        return {"answered_sentence": ""}
    rate, threshold = quality.answered(model, answers, answers.abstain or 0.0), answers.abstain or 0.0
    number = int((~answers.given & ~answers.left).sum())
    sentence = quality.answered_sentence(rate, number, threshold)
    return {
        "answered_accuracy": rate.value,
        "answered_interval": [rate.low, rate.high],
        "answered_sentence": sentence,
    }


def promise_facts(promise: Accepted) -> Facts:
    """Return what --json prints of --wrong-at-most."""
    names = ("wrong_at_most", "certainty", "threshold", "checks", "wrong", "missing", "missing_among", "missing_drawn")
    return {"accepted": len(promise.rows), "sentences": promise.sentences} | {n: getattr(promise, n) for n in names}
