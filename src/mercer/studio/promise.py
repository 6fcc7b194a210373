"""Accept predictions in the studio with the promise that at most 5% of them are wrong, with 95% certainty.

The checks are those of the certificate. The first label of a check counts, even if it changes later. A check that was
skipped, or that cannot be classified, counts as a wrong prediction with the confidence of its row.
"""

import numpy as np

from ..advice.accept import accepted, held_out
from ..few_label.classifier import FewLabelClassifier
from .ledger import CANNOT
from .task import LearnerTask

WRONG_AT_MOST, CERTAINTY = 0.05, 0.95


def promise_of(model: FewLabelClassifier, task: LearnerTask) -> dict:
    """The rows whose predictions can be accepted now, or the checks that are missing.

    Returns a dict with `rows` and `classes` to accept, `around` (the predicted class of each check among them), and
    `facts` for the page.
    """
    ids = [int(name) for name in model.classes_]
    confidence, codes, given = model.answers_.confidence, model.predicted_, model.answers_.given
    sure, predicted = held_out(model)
    known = {int(row): (float(p), int(c)) for row, p, c in zip(model.labels_.labeled, sure, predicted)}
    judged: list = []
    for row, first, bulk in task.checks:
        p, code = known.get(row, (float(confidence[row]), int(codes[row])))
        value = ids[code] if code >= 0 else None
        if bulk is None or row in task.as_predicted:  # otherwise its label is not a prediction
            judged.append((row, p, value, first == CANNOT or value != first))
    judged += [(row, float(confidence[row]), ids[codes[row]], True) for row in task.passed]
    closed = {row for row, first, _ in task.checks if first == CANNOT} | set(task.passed) | set(task.unknown)
    free = np.setdiff1d(np.flatnonzero(given < 0), sorted(closed))
    pair = np.array([p for _, p, _, _ in judged]), np.array([bad for *_, bad in judged], dtype=bool)
    found = accepted(model, WRONG_AT_MOST, CERTAINTY, pair, free)
    rows = [int(row) for row in found.rows]
    least = 0.0 if len(rows) == len(free) else found.threshold
    facts = {
        "rows": len(rows),
        "free": len(free),
        "new": sum(task.accepted.get(row) != ids[codes[row]] for row in rows),
        "wrong_at_most": WRONG_AT_MOST,
        "certainty": CERTAINTY,
        "threshold": found.threshold if rows else None,
        "checks": found.checks,
        "wrong": found.wrong,
        "missing": found.missing_drawn,
        "missing_among": found.missing_among,
    }
    return {
        "rev": task.rev,
        "rows": rows,
        "classes": [ids[codes[row]] for row in rows],
        "around": {row: value for row, p, value, _ in judged if rows and p >= least and value is not None},
        "facts": facts | {"text": sentence(facts)},
    }


def sentence(facts: dict) -> str:
    """A sentence on how many rows can be accepted, and how many more checks would allow more."""
    rate, sure = f"{100 * facts['wrong_at_most']:.3g}%", f"{100 * facts['certainty']:.3g}%"
    if facts["rows"]:
        said = f"{facts['rows']:,} of {facts['free']:,} predictions can be accepted. At most {rate} of them are wrong, "
        said += f"with {sure} certainty: {facts['wrong']} of {facts['checks']} random checks of such rows were wrong."
    else:
        said = f"No prediction can be accepted yet with at most {rate} wrong and {sure} certainty."
    if facts["missing"]:
        more = f"{facts['missing']:,} more random check{'' if facts['missing'] == 1 else 's'}"
        return f"{said} About {more} would allow to accept {facts['missing_among']:,}."
    return said if facts["rows"] else f"{said} The predictions are not accurate enough so far. Give more labels."
