"""Which columns the predictions of a model depend on."""

import numpy as np
from sklearn.base import is_regressor

from ..types import Estimator


def effects(model: Estimator, X: np.ndarray, parts: dict, random_state: int = 0) -> dict:
    """Return how much the predictions change when one column's cells are exchanged between rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier with `predict_proba`, or a fitted regressor.
    X : array of shape (n, d)
        Rows, of which a sample is used.
    parts : dict
        The columns of X that belong together, by name.
    random_state : int, default=0
        Seed of the sample and of the exchanges.

    Returns
    -------
    dict
        The effect of each part, by name. For a classifier it is half the sum of |changes of the class probabilities|,
        averaged over the sample. It is between 0 and 1. For a regressor it is the mean |change| divided by the standard
        deviation of the predictions.

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
    n = min(len(X), int(np.clip(20_000 // max(len(parts), 1), 20, 200)))  # about 20,000 predictions in all
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
