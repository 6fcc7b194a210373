"""Report of a few-label regression, with the candidates, their weights and the accuracy as a table and sentences."""

import numpy as np

from ..inputs.numerals import short
from ..types import Estimator, Facts
from .catalog import methods_of
from .squared_error import FEWEST
from .summary import CHOSEN, CandidateReport, left_out_sentences


class NumberReport(CandidateReport):
    """Sentences, and candidates with held-out root mean squared and mean absolute error, weight and seconds.

    The heaviest candidate comes first.
    """

    @classmethod
    def of(cls, model: Estimator) -> "NumberReport":
        """The report of a fitted `FewLabelRegressor`."""
        rows = model.answers_.fit.tried
        return cls(_sentences(model, rows), rows)

    @property
    def table(self) -> str:
        """All candidates as text, heaviest first."""
        lines = [f"{'weight':>6}  {'rmse':>9}  {'mae':>9}  {'time':>6}  candidate"]
        for row in self.candidates:
            errors = f"{short(row['rmse'], 4):>9}  {short(row['mae'], 4):>9}"
            lines.append(f"{row['weight']:6.1%}  {errors}  {row['seconds']:5.1f}s  {row['candidate']}")
        return "\n".join(lines)


def _sentences(model: Estimator, rows: list[Facts]) -> list[str]:
    targets = model.labels_
    l, low, high = len(targets.labeled), float(targets.given.min()), float(targets.given.max())
    weights: dict[str, float] = {}
    families = methods_of("numbers")
    for row in rows:
        name = families[row["method"]].family
        weights[name] = weights.get(name, 0.0) + row["weight"]
    order = sorted(weights, key=lambda name: -weights[name])
    return [
        f"{l} numbers from {short(low, 4)} to {short(high, 4)}, of {len(targets.values)} rows.",
        f"{np.count_nonzero(model.weights_)} of {len(rows)} candidates are averaged. Weights by family: "
        f"{', '.join(f'{name} {weights[name]:.0%}' for name in order)}.",
        *number_sentences(model),
        *left_out_sentences(model),
    ]


def interval_sentence(model: Estimator, coverage: float = 0.9) -> str:
    """Return a text on the half width of the intervals, without a period.

    It contains two half widths if they depend on the size of the number.
    """
    first = f"{100 * coverage:g}% intervals are the prediction ±"
    if model.answers_.widths.power == 0.0:
        return f"{first} {short(model.reach(coverage))}"
    ends = np.quantile(model.left_out_, [0.25, 0.75])
    low, high = (f"{short(half)} for {short(at)}" for at, half in zip(ends, model.reach(coverage, ends)))
    return f"{first} {low} and ± {high}, because the held-out errors depend on the size of the number"


def number_sentences(model: Estimator, coverage: float = 0.9, why: str = CHOSEN) -> list[str]:
    """Return sentences on the accuracy, estimated from held-out numbers, and on intervals of this coverage.

    why : why this is not an estimate for all rows, if no number counts as drawn at random.
    """
    l, drawn = len(model.labels_.labeled), int(model.drawn_[model.labels_.labeled].sum())
    if np.isnan(model.left_out_r2_):
        return ["All numbers are the same, so nothing is known about the errors for other numbers."]
    if l < FEWEST:
        return [f"{l} numbers are too few to estimate the error for other rows. Give at least {FEWEST}."]
    (r_low, r_high), (m_low, m_high) = model.r2_interval_, model.mae_interval_
    lines = [
        f"Held-out R² {model.left_out_r2_:.2f} (95% interval {r_low:.2f} to {r_high:.2f}) and mean absolute error "
        f"{short(model.left_out_mae_)} ({short(m_low)} to {short(m_high)}). Every number was held out from the "
        "candidates and from their weights.",
    ]
    if drawn < FEWEST:
        few = "" if not drawn else f"only {drawn} of the rows were drawn at random, and "
        lines.append(f"This is not an estimate for all rows, because {few}{why}.")
    elif drawn < l:
        lines.append(f"It rests on the {drawn} numbers of rows that were drawn at random, of {l}.")
    number = drawn if drawn >= FEWEST else l
    gaussian = " (taking the errors for Gaussian, because there are fewer than 9 numbers)." if number < 9 else "."
    lines.append(f"{interval_sentence(model, coverage)}{gaussian}")
    if r_low <= 0.0:
        lines.append("The numbers do not show that the columns help to predict them, because R² may be 0.")
    return lines
