"""The search of the few-label choice: space after space, until all is tried, time is up or the user has enough."""

import time
from dataclasses import dataclass, field

import numpy as np

ALWAYS = 3  # spaces that are built whatever the time budget


@dataclass
class Search:
    """What was tried.

    Attributes
    ----------
    candidates, fitted : lists of `Candidate`, in the same order: as planned, and fitted to the labels.
    skipped : names of the spaces that were left out, or not gone through to the end.
    interrupted : whether the user ended the search.
    """

    candidates: list = field(default_factory=list)
    fitted: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    interrupted: bool = False


def search(plan, labels, time_budget, tell):
    """Build the spaces of a plan (see `planned`) and fit the candidates in each.

    Parameters
    ----------
    time_budget : seconds after which no further space is begun, or None.
    tell : function of (stage, fraction): what begins now, and how much is done, in spaces or in time, from 0 to 1.

    A KeyboardInterrupt ends the search, or goes on upwards when nothing has been fitted yet.
    """
    start, budget = time.perf_counter(), time_budget or np.inf
    found = Search()

    def begin(stage, done):
        tell(stage, max(done / len(plan), min((time.perf_counter() - start) / budget, 1.0)))

    for number, (name, build) in enumerate(plan):
        if found.interrupted or (number >= ALWAYS and time.perf_counter() - start > budget):
            found.skipped.append(name)
            continue
        try:
            begin(f"building {name}", number)
            new = build()
            for i, candidate in enumerate(new):
                begin(f"trying {candidate.name}", number + (i + 1) / (len(new) + 1))
                fitted = candidate.solve(labels)
                found.candidates.append(candidate)
                found.fitted.append(fitted)
        except KeyboardInterrupt:
            if not found.fitted:
                raise
            found.interrupted = True
            found.skipped.append(name)
    tell("weighing the candidates", 1.0)
    return found
