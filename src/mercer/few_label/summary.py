"""Report of a few-label classification with the candidates, their weights and the accuracy, as table and sentences."""

from dataclasses import dataclass, field

import numpy as np

from ..backend import need
from ..evidence.accuracy import Estimate
from ..types import Estimator, Facts, Frame

NOT_TESTED = "Every class has one label only, so the accuracy cannot be estimated. Label a second row of each."


@dataclass(frozen=True)
class CandidateReport:
    """Sentences, and the candidates as records, heaviest first."""

    sentences: list[str]
    candidates: list[Facts] = field(repr=False)

    @classmethod
    def of(cls, model: Estimator) -> "CandidateReport":
        """The report of a fitted model."""
        raise NotImplementedError

    def to_frame(self) -> Frame:
        """The candidates as a pandas DataFrame."""
        frame: Frame = need("pandas").DataFrame(self.candidates)
        return frame

    def __str__(self) -> str:
        first = ", ".join(f"{row['candidate']} ({row['weight']:.0%})" for row in self.candidates[:3])
        last = f"Largest weights: {first}. All {len(self.candidates)} candidates are in `report_.table`."
        return "\n".join([*self.sentences, last])


class Report(CandidateReport):
    """Sentences, and candidates with held-out accuracy, its standard error, mean log loss, weight and seconds.

    The heaviest candidate comes first.
    """

    @classmethod
    def of(cls, model: Estimator) -> "Report":
        """Return the report of a fitted `FewLabelClassifier`."""
        fit = model.answers_.fit
        lines = _sentences(model, len(fit.tried), int(fit.labels.testable.sum()), fit.pool.why)
        if fit.pool.uninformative:
            how = f"Every row is predicted to be {model.majority_.name!r}, the most frequent class among the labels."
            if model.hints_ is not None:
                how = "Rows are predicted from their hints and the class frequencies alone."
            why = "because held-out labels are predicted as well without them"
            lines.insert(0, f"The columns do not predict the classes, {why}. {how}")
        return cls(lines, fit.tried)

    @property
    def table(self) -> str:
        """All candidates as text, heaviest first."""
        lines = [f"{'weight':>6}  {'held-out accuracy':>17}  {'loss':>5}  {'time':>6}  candidate"]
        for row in self.candidates:
            accuracy = f"{row['accuracy']:.0%} ± {row['standard_error']:.0%}"
            lines.append(
                f"{row['weight']:6.1%}  {accuracy:>17}  {row['loss']:5.2f}  {row['seconds']:5.1f}s  {row['candidate']}"
            )
        return "\n".join(lines)


def left_out_sentences(model: Estimator) -> list[str]:
    """Return sentences on columns and feature spaces that were not used, and why."""
    lines = []
    if model.encoder_ is not None and model.encoder_.ignored_:
        lines.append(f"Columns not used: {', '.join(f'{k} ({v})' for k, v in model.encoder_.ignored_.items())}.")
    if model.skipped_:
        why = "The search was interrupted, which" if model.interrupted_ else "The time budget"
        lines.append(f"{why} left out: {', '.join(model.skipped_)}.")
    return lines


def _sentences(model: Estimator, n_candidates: int, n_tested: int, why: str | None) -> list[str]:
    used = model.weights_[model.weights_ > 0]
    n_labels = len(model.labels_.labeled)
    lines = [f"{n_labels:,} labels of {len(model.labels_.codes):,} rows, {len(model.classes_)} classes."]
    if model.stability_ is not None:
        lines.append(model.dask_.sentence)
    library = model.library_
    if library.extension is not None:
        found = "" if library.recall == 1 else f", of whose neighbors {library.recall:.1%} are found"
        lines.append(
            f"A sample of {len(library.core)} rows was decomposed. The others are predicted through their places among "
            f"these{found}."
        )
    if why is not None:
        lines.append(f"One candidate was picked: {why}")
    elif n_tested == 0:
        lines.append(
            f"No label could be held out (one label per class), so all {n_candidates} candidates are averaged."
        )
    else:
        effective = float(np.exp(-np.sum(used * np.log(used))))
        lines.append(
            f"{len(used)} of {n_candidates} candidates are averaged, as many as {effective:.0f} of equal weight: "
            + ("the labels cannot distinguish them." if effective > n_candidates / 4 else "the labels prefer these.")
        )
    lines += estimate_sentences(model.estimate_, model.classes_)
    if not model.answers_.fit.pool.uninformative or model.hints_ is not None:
        lines.append(majority_sentence(model))
    lines += hint_sentences(model)
    prior = ", ".join(f"{name} {rate:.0%}" for name, rate in zip(model.classes_.tolist(), model.prior_))
    how = {
        type(None): "among the labels with one added to each, without adjusting the scores",
        str: "among the labels, imposed on all rows" if model.prior == "labels" else "estimated from all rows",
    }.get(type(model.prior), "as given, imposed on all rows")
    return [*lines, f"Class frequencies ({how}): {prior}.", *left_out_sentences(model)]


def majority_sentence(model: Estimator) -> str:
    """Return a sentence on how often always predicting the most frequent class is correct.

    If no label was drawn at random, it only states how many labels are of this class.
    """
    most, found = model.majority_, model.estimate_
    if found.for_all_rows:
        return str(most.sentence(found.accuracy.low))
    return f"{most.share:.0%} of the labels are {most.name!r}."


def hint_sentences(model: Estimator) -> list[str]:
    """Return sentences on how much each source of hints counts, and on words of hints that no label names."""
    hints, found = model.hints_, model.answers_.fit.calibration.hints
    if hints is None:
        return []
    own, *each = found.exponents
    parts = ", ".join(f"{name} with exponent {t:.2f}" for name, t in zip(hints.names, each))
    lines = [f"Hints are used as P(hint | class): {parts}. The rows' own columns have exponent {own:.2f}."]
    return lines + unnamed_sentences(model)


def unnamed_sentences(model: Estimator) -> list[str]:
    """Return sentences on classes that the sources of hints contain and no label names."""
    hints, lines = model.hints_, []
    labeled = np.isin(np.arange(len(model.classes_)), model.labels_.codes[model.labels_.labeled])
    for name, words, codes in zip(hints.names, hints.words, hints.classes(model.classes_)):
        classes = [word for word, code in zip(words.tolist(), codes) if code >= 0 and not labeled[code]]
        others = [word for word, code in zip(words.tolist(), codes) if code < 0]
        for strange, advice in (
            (classes, "It counts as a class without labels. Label some of these rows to check it."),
            (others, "Label such rows if that is a class of its own."),
        ):
            if strange:
                shown = ", ".join(map(repr, strange[:5])) + (" …" if len(strange) > 5 else "")
                lines.append(f"{name} contains {shown}, which no label names. {advice}")
    return lines


CHOSEN = "the labeled rows were chosen, not drawn at random, and may be harder or easier than others"


def accuracy_sentence(found: Estimate, why: str = CHOSEN, draws: str = "suggest(model, audit=1.0)") -> str:
    """Return a sentence on how often the predictions are correct, and whether that is valid for all rows.

    why : why it is not. draws : a command or code that draws rows at random.
    """
    rate = found.accuracy
    if not np.isfinite(rate.value):
        return NOT_TESTED
    value, interval = f"{rate.value:.0%}", f"(95% interval {rate.low:.0%} to {rate.high:.0%})"
    if not found.for_all_rows:
        return (
            f"This is not an estimate for all rows, because {why}. Of the labels, {value} are predicted correctly "
            f"when held out in folds. Label some rows drawn at random: `{draws}` lists them."
        )
    chosen = found.n_drawn < found.n_labels
    on = f"{found.n_drawn} held-out labels of rows drawn at random" if chosen else "held-out labels"
    return f"About {value} of the predictions are correct {interval}, estimated from {on}."


def unseen_sentence(found: Estimate) -> str:
    """Return a sentence on how many rows belong to classes that no label names. "" if every class has two labels."""
    rate, once = found.unseen, round(found.unseen.value * found.n_labels)
    if not once:
        return ""
    classes = "1 class has" if once == 1 else f"{once} classes have"
    return (
        f"About {rate.value:.0%} of the rows ({rate.low:.0%} to {rate.high:.0%}) may belong to classes that no label "
        f"names, because {classes} only one label."
    )


def estimate_sentences(found: Estimate, classes: np.ndarray) -> list[str]:
    """Return sentences on an `Estimate`."""
    lines = [accuracy_sentence(found), *filter(None, [unseen_sentence(found)])]
    known = [(name, rate) for name, rate in zip(classes.tolist(), found.recall) if np.isfinite(rate.value)]
    if 2 < len(known) <= 12 or (len(known) == 2 and found.n_labels >= 20):
        lines.append("Found of each class: " + ", ".join(f"{name} {rate}" for name, rate in known) + ".")
    return lines
