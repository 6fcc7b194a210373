"""Which columns the predictions of a model depend on."""

import numpy as np
from sklearn.base import is_regressor

from ..types import Estimator

ROWS = 20_000  # rows predicted in all


def effects(model: Estimator, X: np.ndarray, parts: dict, random_state: int = 0) -> dict:
    """How much the predictions change when one column's cells are exchanged between rows.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`, or a regressor.
    X : (n, d) rows, of which a sample is looked at. parts : {name: columns of X that belong together}.

    Returns
    -------
    {name: mean over the sample of half the sum of |changes of the class probabilities|}, from 0 to 1. For numbers the
    mean |change| over the standard deviation of the predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FewLabelClassifier
    >>> from mercer.advice.column_effects import effects
    >>> X = np.column_stack([np.r_[np.zeros(20), np.ones(20)], np.tile([0.0, 0.1], 20)])
    >>> model = FewLabelClassifier().fit(X, [0] * 5 + [-1] * 30 + [1] * 5)
    >>> found = effects(model, X, {"step": slice(0, 1), "noise": slice(1, 2)})
    >>> found["step"] > 10 * found["noise"]
    True
    """
    rng = np.random.default_rng(random_state)
    n = min(len(X), int(np.clip(ROWS // max(len(parts), 1), 20, 200)))
    sample = X[rng.permutation(len(X))[:n]]
    ask = model.predict if is_regressor(model) else model.predict_proba
    before = ask(sample)
    unit = (float(np.std(before)) or 1.0) if is_regressor(model) else 2.0
    found = {}
    for name, part in parts.items():
        exchanged = sample.copy()
        exchanged[:, part] = X[rng.integers(0, len(X), n)][:, part]
        found[name] = float(np.abs(ask(exchanged) - before).reshape(n, -1).sum(axis=1).mean() / unit)
    return found
