"""The search of the few-label choice: space after space, until all that fits the budget is tried or the user stops."""

from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError
from .cost import affordable


@dataclass
class Search:
    """What was tried.

    Attributes
    ----------
    everything : list of `Candidate`, as planned.
    candidates, fitted : those of them that suit the number of labels, and the same fitted, in the same order.
    skipped : names of the spaces that were left out, or not gone through to the end.
    interrupted : whether the user ended the search.
    """

    everything: list = field(default_factory=list)
    candidates: list = field(default_factory=list)
    fitted: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    interrupted: bool = False


def search(plan, labels, time_budget, tell, rough=None):
    """Build the spaces of a plan (see `planned`) and fit the candidates in each.

    Parameters
    ----------
    labels : `Labels`, or None to build the spaces only.
    time_budget : seconds of work (see `mercer.few_label.cost`; no clock is asked), or None.
    tell : function of (stage, fraction): what begins now, and how much of the work is done, from 0 to 1.
    rough : function of the `Search` so far, called when the first step is done and when the work has doubled, or None.

    A KeyboardInterrupt ends the search, or goes on upwards when nothing has been fitted yet.
    """
    sizes = (0, 2) if labels is None else (len(labels.labelled), labels.n_classes)
    costs = np.array([step.seconds(*sizes) for step in plan])
    taken = affordable(costs.tolist(), time_budget or np.inf)
    begin = np.cumsum(np.where(taken, costs, 0.0)) - costs
    total = max(costs[taken].sum(), 1e-9)
    found, due = Search(), 0.0
    for step, fits, before, cost in zip(plan, taken, begin, costs):
        if found.interrupted or not fits:
            found.skipped.append(step.name)
            continue
        try:
            tell(f"building {step.name}", before / total)
            built = step.build()
            new = suited(built, labels)
            for i, candidate in enumerate(new):
                tell(f"trying {candidate.name}", (before + cost * (i + 1) / (len(new) + 1)) / total)
                fitted = candidate if labels is None else candidate.solve(labels)
                found.candidates.append(candidate)
                found.fitted.append(fitted)
            found.everything += built
            if rough is not None and found.fitted and before + cost >= due:
                rough(found)
                due = 2.0 * (before + cost)
        except KeyboardInterrupt:
            if not found.fitted:
                raise
            found.interrupted = True
            found.skipped.append(step.name)
    if not found.candidates:
        raise InputError("None of these methods can be fitted to so few rows. Name other methods, or give more rows.")
    tell("weighing the candidates", 1.0)
    return found


def suited(candidates, labels):
    """The candidates that are tried with so many labels; all of them without labels."""
    return [one for one in candidates if labels is None or len(labels.labelled) <= one.most_labels]
