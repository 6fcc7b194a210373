"""cleanlab: what it requests from a fitted model, and what it found read back as `Suspicious`.

    from cleanlab.filter import find_label_issues
    from mercer.bridges.cleanlab import for_cleanlab, from_cleanlab
    given = for_cleanlab(model)
    found = from_cleanlab(model, find_label_issues(given["labels"], given["pred_probs"]))

Nothing of cleanlab is imported here.
"""

from typing import Any

import numpy as np

from ..advice.suspicious import Suspicious
from ..errors import InputError
from ..evidence.label_errors import wrong_probability
from ..types import Estimator


def for_cleanlab(model: Estimator) -> dict:
    """{"labels": (l,) class numbers, "pred_probs": (l, k), "rows": (l,) row numbers} of a fitted `FewLabelClassifier`.

    The probabilities are those of fits without the label of the row. The only label of its class is left out.
    """
    labels = model.labels_
    rows = labels.labeled[labels.testable]
    if not len(rows):
        raise InputError("No label could be held out: every class has one label only. Label a second row of each.")
    return {"labels": labels.codes[rows], "pred_probs": model.left_out_probabilities_, "rows": rows}


def from_cleanlab(model: Estimator, issues: Any) -> Suspicious:
    """cleanlab's finding as `mercer.suspicious` gives its own: rows of the data, most suspicious first.

    Parameters
    ----------
    model : the fitted `FewLabelClassifier` that `for_cleanlab` was asked about.
    issues : what `find_label_issues` returned, a mask or ranked numbers; or a frame with the column "is_label_issue",
        ranked by "label_quality" where it has it.
    """
    given = for_cleanlab(model)
    codes, P, l = given["labels"], given["pred_probs"], len(given["rows"])
    if hasattr(issues, "columns"):
        if len(issues) != l or "is_label_issue" not in issues.columns:
            raise InputError(f"The frame of issues has {len(issues)} rows; expected {l} and the column is_label_issue.")
        quality = np.asarray(issues["label_quality"]) if "label_quality" in issues.columns else np.zeros(l)
        found = np.flatnonzero(np.asarray(issues["is_label_issue"], dtype=bool))
        found = found[np.argsort(quality[found], kind="stable")]
    else:
        found = np.asarray(issues)
        if found.dtype == bool:
            own = P[np.arange(l), codes] if found.shape == (l,) else np.zeros(0)
            found = np.flatnonzero(found)
            found = found[np.argsort(own[found], kind="stable")] if len(own) else np.array([l])
    if found.size and not (found.dtype.kind in "iu" and found.min() >= 0 and found.max() < l):
        raise InputError(f"The issues do not fit the {l} labels that for_cleanlab gave. Pass what cleanlab returned.")
    found = found.astype(int)
    others = np.log(np.maximum(P[found], 1e-300))
    own = others[np.arange(len(found)), codes[found]]
    others[np.arange(len(found)), codes[found]] = -np.inf
    proposed = others.argmax(axis=1)
    names = model.classes_
    wrong = wrong_probability(P, codes)[found]
    return Suspicious(given["rows"][found], own - others.max(axis=1), wrong, names[codes[found]], names[proposed])
