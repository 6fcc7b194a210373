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
    def of(cls, model, fitted, errors):
        """The report of a fitted `FewLabelRegressor`; errors : (m, l) left-out errors of the candidates."""
        rows = [
            {
                "candidate": candidate.name,
                "method": candidate.method,
                "rmse": float(np.sqrt(np.mean(errors[m] ** 2))),
                "mae": float(np.mean(np.abs(errors[m]))),
                "weight": float(model.weights_[m]),
                "seconds": float(candidate.seconds),
            }
            for m, candidate in enumerate(fitted)
        ]
        order = np.lexsort(([row["rmse"] for row in rows], -model.weights_))
        return cls(_sentences(model, fitted), [rows[m] for m in order])

    def to_frame(self):
        """The candidates as a pandas DataFrame."""
        return need("pandas").DataFrame(self.candidates)

    def __str__(self):
        lines = [*self.sentences, "", f"{'weight':>6}  {'rmse':>9}  {'mae':>9}  {'time':>6}  candidate"]
        for row in self.candidates:
            errors = f"{row['rmse']:9.4g}  {row['mae']:9.4g}"
            lines.append(f"{row['weight']:6.1%}  {errors}  {row['seconds']:5.1f}s  {row['candidate']}")
        return "\n".join(lines)


def _sentences(model, fitted):
    targets = model.targets_
    l, low, high = len(targets.labelled), float(targets.given.min()), float(targets.given.max())
    shares: dict = {}
    for candidate, weight in zip(fitted, model.weights_):
        name = FAMILIES[candidate.method][0]
        shares[name] = shares.get(name, 0.0) + weight
    order = sorted(shares, key=lambda name: -shares[name])
    lines = [
        f"{l} numbers from {low:.4g} to {high:.4g}, of {len(targets.values)} rows.",
        f"{np.count_nonzero(model.weights_)} of {len(fitted)} candidates are averaged; weights by family: "
        f"{', '.join(f'{name} {shares[name]:.0%}' for name in order)}.",
    ]
    if np.isnan(model.left_out_r2_):
        lines.append("All numbers are the same, so nothing is known about the errors for other numbers.")
    elif l < FEWEST:
        lines.append(f"{l} numbers say nothing of the error for other rows: give at least {FEWEST}.")
    else:
        (r_low, r_high), (m_low, m_high) = model.r2_interval_, model.mae_interval_
        lines += [
            f"Left-out R² {model.left_out_r2_:.2f} (95 % interval {r_low:.2f} to {r_high:.2f}) and mean absolute error "
            f"{model.left_out_mae_:.3g} ({m_low:.3g} to {m_high:.3g}) over {l} numbers; every number was withheld from "
            "the candidates and from their weights.",
            f"90 % intervals are the answer ± {model.reach(0.9):.3g}"
            + (", taking the errors for Gaussian: there are fewer than 9 numbers." if l < 9 else "."),
        ]
        if r_low <= 0.0:
            lines.append("The numbers do not show that the columns say anything about them: R² may be 0.")
    if model.encoder_ is not None and model.encoder_.ignored_:
        lines.append(f"Columns left out: {', '.join(f'{k} ({v})' for k, v in model.encoder_.ignored_.items())}.")
    if model.skipped_:
        why = "The search was interrupted, which" if model.interrupted_ else "The time budget"
        lines.append(f"{why} left out: {', '.join(model.skipped_)}.")
    return lines
