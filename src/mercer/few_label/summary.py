"""What the few-label choice tried and what it made of it, as a table and a few sentences."""

from dataclasses import dataclass, field

import numpy as np

from ..backend import need
from .weights import right_and_error

NOT_TESTED = "Every class has one label only, so the accuracy cannot be estimated. Label a second row of each."


@dataclass(frozen=True)
class Report:
    """Candidates, heaviest first (left-out accuracy ± standard error, mean log loss, weight, seconds); sentences."""

    sentences: list
    candidates: list = field(repr=False)

    @classmethod
    def of(cls, model, rows, why):
        """The report of a fitted `FewLabelClassifier`, which tried these candidates."""
        return cls(_sentences(model, len(rows), int(model.labels_.testable.sum()), why), rows)

    def to_frame(self):
        """The candidates as a pandas DataFrame."""
        return need("pandas").DataFrame(self.candidates)

    def __str__(self):
        lines = [*self.sentences, "", f"{'weight':>6}  {'left-out accuracy':>17}  {'loss':>5}  {'time':>6}  candidate"]
        for row in self.candidates:
            accuracy = f"{row['accuracy']:.0%} ± {row['standard_error']:.0%}"
            lines.append(
                f"{row['weight']:6.1%}  {accuracy:>17}  {row['loss']:5.2f}  {row['seconds']:5.1f}s  {row['candidate']}"
            )
        return "\n".join(lines)


def tried(fitted, found, labels):
    """(candidates as records, heaviest first; why one was picked, if so) for candidates pooled as `found`."""
    tested = labels.testable
    left_out = np.array([candidate.left_out[tested] for candidate in fitted])
    rate, error = right_and_error(left_out, labels.codes[labels.labelled[tested]])
    mean = found.losses.mean(axis=1) if found.losses.shape[1] else np.full(len(fitted), np.nan)
    rows = [
        {
            "candidate": candidate.name,
            "method": candidate.method,
            "accuracy": float(rate[m]),
            "standard_error": float(error[m]),
            "loss": float(mean[m]),
            "weight": float(found.weights[m]),
            "seconds": float(candidate.seconds),
        }
        for m, candidate in enumerate(fitted)
    ]
    return [rows[m] for m in np.lexsort((mean, -found.weights))], found.why


def _sentences(model, n_candidates, n_tested, why):
    used = model.weights_[model.weights_ > 0]
    n_labels = len(model.labels_.labelled)
    lines = [f"{n_labels} labels of {len(model.labels_.codes)} rows, {len(model.classes_)} classes."]
    if model.sample_sentence_ is not None:
        lines.append(model.sample_sentence_)
    if model.outside_ is not None:
        beside = model.outside_
        found = "" if beside.recall == 1 else f", of whose neighbours {beside.recall:.1%} are found"
        lines.append(
            f"A sample of {len(beside.core)} rows was decomposed; the others are answered through their places among "
            f"these{found}."
        )
    if why is not None:
        lines.append(f"One candidate was picked: {why}")
    elif n_tested == 0:
        lines.append(f"No label could be withheld (one label a class), so all {n_candidates} candidates are averaged.")
    else:
        effective = float(np.exp(-np.sum(used * np.log(used))))
        lines.append(
            f"{len(used)} of {n_candidates} candidates are averaged, as many as {effective:.0f} of equal weight: "
            + ("the labels cannot tell them apart." if effective > n_candidates / 4 else "the labels prefer these.")
        )
    lines += estimate_sentences(model.estimate_, model.classes_)
    lines.append(model.majority_.sentence(model.estimate_.accuracy.low))
    shares = ", ".join(f"{name} {share:.0%}" for name, share in zip(model.classes_.tolist(), model.prior_))
    how = {
        type(None): "among the labels, one added to each; the scores were left alone",
        str: "among the labels, imposed on all rows" if model.prior == "labels" else "estimated from all rows",
    }.get(type(model.prior), "as given, imposed on all rows")
    lines.append(f"Class shares ({how}): {shares}.")
    if model.encoder_ is not None and model.encoder_.ignored_:
        lines.append(f"Columns left out: {', '.join(f'{k} ({v})' for k, v in model.encoder_.ignored_.items())}.")
    if model.skipped_:
        why = "The search was interrupted, which" if model.interrupted_ else "The time budget"
        lines.append(f"{why} left out: {', '.join(model.skipped_)}.")
    return lines


def accuracy_sentence(found):
    """How often the answers are right, and whether that holds for all rows."""
    rate = found.accuracy
    if not np.isfinite(rate.value):
        return NOT_TESTED
    share = f"{rate.value:.0%}", f"(95 % interval {rate.low:.0%} to {rate.high:.0%})"
    if not found.for_all_rows:
        return (
            "Not an estimate for all rows: every labelled row was chosen, and chosen rows may be harder or easier than "
            f"others. Of them {share[0]} {share[1]} come out right when withheld in folds. Label some rows drawn at "
            "random: suggest with an audit of 0.2 mixes them in."
        )
    on = f"{found.n_drawn} labels of rows drawn at random" if found.n_drawn < found.n_labels else "labels"
    return (
        f"About {share[0]} of the answers are right {share[1]}, as {on} show that were withheld in folds, everything "
        "fitted again without them."
    )


def unseen_sentence(found):
    """How many rows belong to classes that no label names; "" where no class was seen once only."""
    rate, once = found.unseen, round(found.unseen.value * found.n_labels)
    if not once:
        return ""
    classes = "1 class has" if once == 1 else f"{once} classes have"
    return (
        f"About {rate.value:.0%} of the rows ({rate.low:.0%} to {rate.high:.0%}) may belong to classes that no label "
        f"names, for {classes} one label only."
    )


def estimate_sentences(found, classes):
    """An `Estimate` in words."""
    lines = [accuracy_sentence(found), *filter(None, [unseen_sentence(found)])]
    known = [(name, rate) for name, rate in zip(classes.tolist(), found.recall) if np.isfinite(rate.value)]
    if 2 < len(known) <= 12 or (len(known) == 2 and found.n_labels >= 20):
        lines.append("Found of each class: " + ", ".join(f"{name} {rate}" for name, rate in known) + ".")
    return lines
