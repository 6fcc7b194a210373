"""Search trees of scikit-learn. They are not stored, but built again from their rows."""

from typing import Any

import numpy as np

from ..types import Estimator


def tree_state(value: Estimator) -> dict | None:
    """The rows, weights and parameters of a fitted `KernelDensity`. None for anything else."""
    if type(value).__name__ != "KernelDensity" or type(value) is not _class():
        return None
    rows, _, _, _ = value.tree_.get_arrays()
    weight = getattr(value.tree_, "sample_weight", None)
    weight = None if weight is None else np.asarray(weight)
    return {"parameters": value.get_params(), "rows": np.asarray(rows), "weight": weight}


def grown(state: dict) -> Any:
    """The `KernelDensity` of a state."""
    return _class()(**state["parameters"]).fit(state["rows"], sample_weight=state["weight"])


def _class():
    from sklearn.neighbors import KernelDensity  # slow to import

    return KernelDensity
