"""Held-out probabilities of a fitted model for cleanlab, and cleanlab's findings as `Suspicious` rows.

    from cleanlab.filter import find_label_issues
    from mercer.bridges.cleanlab import for_cleanlab, from_cleanlab
    given = for_cleanlab(model)
    found = from_cleanlab(model, find_label_issues(given["labels"], given["pred_probs"]))

This module does not import cleanlab.
"""

from typing import Any

import numpy as np

from ..advice.suspicious import Suspicious
from ..errors import InputError
from ..evidence.label_errors import wrong_probability
from ..types import Estimator


def for_cleanlab(model: Estimator) -> dict:
    """Labels and held-out probabilities of a fitted `FewLabelClassifier`.

    Parameters
    ----------
    model : FewLabelClassifier
        Fitted model.

    Returns
    -------
    dict
        "labels" with the (l,) class numbers, "pred_probs" with the (l, k) held-out probabilities, and "rows" with the
        (l,) row numbers. A label that is the only one of its class is not included.
    """
    labels = model.labels_
    rows = labels.labeled[labels.testable]
    if not len(rows):
        raise InputError("No label can be held out, because every class has only one. Label a second row of each.")
    return {"labels": labels.codes[rows], "pred_probs": model.left_out_probabilities_, "rows": rows}


def from_cleanlab(model: Estimator, issues: Any) -> Suspicious:
    """cleanlab's findings in the format of `mercer.suspicious`, with the most suspicious rows of the data first.

    Parameters
    ----------
    model : FewLabelClassifier
        The fitted model that was passed to `for_cleanlab`.
    issues : array or data frame
        The mask or ranked numbers that `find_label_issues` returned, or a frame with the column "is_label_issue", which
        is ranked by the column "label_quality" if it has one.
    """
    given = for_cleanlab(model)
    codes, P, l = given["labels"], given["pred_probs"], len(given["rows"])
    if hasattr(issues, "columns"):
        if len(issues) != l or "is_label_issue" not in issues.columns:
            raise InputError(f"The frame of issues has {len(issues)} rows. It needs {l} and the column is_label_issue.")
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
        raise InputError(f"The issues do not fit the {l} labels of for_cleanlab. Pass the result of cleanlab.")
    found = found.astype(int)
    others = np.log(np.maximum(P[found], 1e-300))
    own = others[np.arange(len(found)), codes[found]]
    others[np.arange(len(found)), codes[found]] = -np.inf
    proposed = others.argmax(axis=1)
    names = model.classes_
    wrong = wrong_probability(P, codes)[found]
    return Suspicious(given["rows"][found], own - others.max(axis=1), wrong, names[codes[found]], names[proposed])
