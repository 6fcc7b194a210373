"""What the few-label choice tried and what it made of it, as a table and a few sentences."""

from dataclasses import dataclass, field

import numpy as np

from ..backend import need
from .weights import right_and_error


@dataclass(frozen=True)
class Report:
    """Candidates, heaviest first (left-out accuracy ± standard error, mean Brier score, weight, seconds); sentences."""

    sentences: list
    candidates: list = field(repr=False)

    @classmethod
    def of(cls, model, fitted, left_out, losses, codes, why):
        """The report of a fitted `FewLabelClassifier`."""
        rate, error = right_and_error(left_out, codes)
        mean = losses.mean(axis=1) if losses.shape[1] else np.full(len(losses), np.nan)
        rows = [
            {
                "candidate": candidate.name,
                "method": candidate.method,
                "accuracy": float(rate[m]),
                "standard_error": float(error[m]),
                "loss": float(mean[m]),
                "weight": float(model.weights_[m]),
                "seconds": float(candidate.seconds),
            }
            for m, candidate in enumerate(fitted)
        ]
        order = np.lexsort((mean, -model.weights_))
        return cls(_sentences(model, len(fitted), len(codes), why), [rows[m] for m in order])

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


def _sentences(model, n_candidates, n_tested, why):
    used = model.weights_[model.weights_ > 0]
    n_labels = len(model.labels_.labelled)
    low, high = model.accuracy_interval_
    lines = [f"{n_labels} labels of {len(model.labels_.codes)} rows, {len(model.classes_)} classes."]
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
    if n_tested:
        lines.append(
            f"Left-out accuracy {model.left_out_accuracy_:.0%} of {n_tested} labels (95 % interval {low:.0%} to "
            f"{high:.0%}); every label was withheld from the candidates and from their weights."
        )
    lines.append(model.majority_.sentence(low if n_tested else None))
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
