"""What the few-label choice for numbers tried and what it made of it, as a table and a few sentences."""

from dataclasses import dataclass, field

import numpy as np

from ..backend import need
from .numbers import FAMILIES
from .squared_error import FEWEST


@dataclass(frozen=True)
class NumberReport:
    """Candidates, heaviest first (left-out root mean squared and mean absolute error, weight, seconds); sentences."""

    sentences: list
    candidates: list = field(repr=False)

    @classmethod
    def of(cls, model, rows):
        """The report of a fitted `FewLabelRegressor`, which tried these candidates."""
        return cls(_sentences(model, rows), rows)

    def to_frame(self):
        """The candidates as a pandas DataFrame."""
        return need("pandas").DataFrame(self.candidates)

    def __str__(self):
        lines = [*self.sentences, "", f"{'weight':>6}  {'rmse':>9}  {'mae':>9}  {'time':>6}  candidate"]
        for row in self.candidates:
            errors = f"{row['rmse']:9.4g}  {row['mae']:9.4g}"
            lines.append(f"{row['weight']:6.1%}  {errors}  {row['seconds']:5.1f}s  {row['candidate']}")
        return "\n".join(lines)


def tried_for_numbers(fitted, errors, weights):
    """Candidates as records, heaviest first; errors : (m, l) their left-out errors, weights : (m,)."""
    rows = [
        {
            "candidate": candidate.name,
            "method": candidate.method,
            "rmse": float(np.sqrt(np.mean(errors[m] ** 2))),
            "mae": float(np.mean(np.abs(errors[m]))),
            "weight": float(weights[m]),
            "seconds": float(candidate.seconds),
        }
        for m, candidate in enumerate(fitted)
    ]
    return [rows[m] for m in np.lexsort(([row["rmse"] for row in rows], -weights))]


def _sentences(model, rows):
    targets = model.labels_
    l, low, high = len(targets.labelled), float(targets.given.min()), float(targets.given.max())
    shares: dict = {}
    for row in rows:
        name = FAMILIES[row["method"]][0]
        shares[name] = shares.get(name, 0.0) + row["weight"]
    order = sorted(shares, key=lambda name: -shares[name])
    lines = [
        f"{l} numbers from {low:.4g} to {high:.4g}, of {len(targets.values)} rows.",
        f"{np.count_nonzero(model.weights_)} of {len(rows)} candidates are averaged; weights by family: "
        f"{', '.join(f'{name} {shares[name]:.0%}' for name in order)}.",
        *number_sentences(model),
    ]
    if model.encoder_ is not None and model.encoder_.ignored_:
        lines.append(f"Columns left out: {', '.join(f'{k} ({v})' for k, v in model.encoder_.ignored_.items())}.")
    if model.skipped_:
        why = "The search was interrupted, which" if model.interrupted_ else "The time budget"
        lines.append(f"{why} left out: {', '.join(model.skipped_)}.")
    return lines


def number_sentences(model, coverage=0.9):
    """What withheld numbers say of the answers, with intervals of this coverage."""
    l, drawn = len(model.labels_.labelled), int(model.drawn_[model.labels_.labelled].sum())
    if np.isnan(model.left_out_r2_):
        return ["All numbers are the same, so nothing is known about the errors for other numbers."]
    if l < FEWEST:
        return [f"{l} numbers say nothing of the error for other rows: give at least {FEWEST}."]
    (r_low, r_high), (m_low, m_high) = model.r2_interval_, model.mae_interval_
    lines = [
        f"Left-out R² {model.left_out_r2_:.2f} (95 % interval {r_low:.2f} to {r_high:.2f}) and mean absolute error "
        f"{model.left_out_mae_:.3g} ({m_low:.3g} to {m_high:.3g}); every number was withheld from the candidates and "
        "from their weights.",
    ]
    if drawn < FEWEST:
        lines.append(
            "Fewer than five of the rows were drawn at random, so this is not an estimate for all rows: rows that were "
            "chosen may be harder or easier than others."
        )
    elif drawn < l:
        lines.append(f"It rests on the {drawn} numbers of rows that were drawn at random, of {l}.")
    judged = drawn if drawn >= FEWEST else l
    gaussian = ", taking the errors for Gaussian: there are fewer than 9 numbers." if judged < 9 else "."
    lines.append(f"{100 * coverage:g} % intervals are the answer ± {model.reach(coverage):.3g}{gaussian}")
    if r_low <= 0.0:
        lines.append("The numbers do not show that the columns say anything about them: R² may be 0.")
    return lines
