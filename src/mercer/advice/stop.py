"""When to stop labeling."""

import numpy as np

from ..errors import InputError
from ..evidence.calibration import two_columns
from ..types import ColumnLike, Estimator, Rows
from .suggest import batch
from .surrogate import surrogate_of


def expected_change(model: Estimator, n: int = 20, *, X: Rows = None, y: ColumnLike = None) -> float:
    """Return the fraction of predictions that n more labels are expected to change. Use it to decide when to stop.

    The n rows that `suggest` names are labeled in turn with classes drawn from the model's own probabilities. The exact
    effect of each label on the scores is followed. The result is the mean over five such draws. "Twenty more labels
    would change fewer than 1% of the predictions" is ``expected_change(model, 20) < 0.01``. The estimate relies on the
    model's probabilities. It misses whole groups that the model predicts wrongly with high confidence.

    Parameters
    ----------
    model : estimator
        A fitted model, as in `suggest`. There must be labels.
    n : int, default=20
        Number of additional labels.
    X, y : array-like or None, default=None
        The arguments of the fit, for models that do not keep them.

    Returns
    -------
    float
        The fraction of the rows without a label, in [0, 1].

    Examples
    --------
    >>> from mercer import FewLabelClassifier, expected_change
    >>> X = [[i / 10] for i in range(20)] + [[5 + i / 10] for i in range(20)]
    >>> model = FewLabelClassifier().fit(X, [0] * 10 + [-1] * 20 + [1] * 10)
    >>> expected_change(model, 3) < 0.01  # labeling may stop
    True
    """
    now = surrogate_of(model, X, y, "expected_change", number=int(n) if isinstance(n, (int, np.integer)) else 0)
    if now.numeric:
        raise InputError(
            "The stop rule counts changed classes, and this model predicts numbers. See its mae_interval_ and the "
            "gains of suggest."
        )
    if now.P is None:
        raise InputError("A stop rule needs a fitted model. Label a few rows and fit first.")
    rows = batch(now, now.number(n), "informative", np.random.default_rng(0)).rows
    before = two_columns(now.scores)
    rng = np.random.default_rng(0)
    effect, steps = now.effect, []
    for j in rows:  # how a label moves the scores does not depend on the labels before it, only on their rows
        steps.append(effect.step(np.array([j])))
        effect = effect if effect.penalty is None else effect.after(j)
    changed = []
    for _ in range(5):  # five ways the new labels may come out
        scores = now.linear_scores.copy()
        for j, step in zip(rows, steps):
            drawn = rng.choice(before.shape[1], p=now.P[j] / now.P[j].sum())
            scores += step * effect.surprise(now.target(drawn), scores[j])
        after = before + two_columns(scores - now.linear_scores) / now.unit
        changed.append(np.mean(after.argmax(axis=1)[now.free] != before.argmax(axis=1)[now.free]))
    return float(np.mean(changed))
