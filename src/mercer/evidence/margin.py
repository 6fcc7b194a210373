"""Choose among candidates by how clearly, not only how often, they predict held-out labels correctly.

With l labels the held-out accuracy moves in steps of 1/l and ties dozens of candidates. The hinge loss of the held-out
margins, in units of each candidate's own typical score, separates them and does not favor large functions.
"""

import numpy as np

from ..solvers.result import Result
from .choice import accuracy_of_choice, explained, hits


def relative_hinge(left_out: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(m, l) hinge losses max(0, 1 − margin/scale) of m candidates, scale the root mean square of its margins.

    left_out : (m, l, k') scores, k' = 1 for two classes. The margin is ± the score, else the true class's less the best
    other's. A candidate whose margins are all 0 loses 1 everywhere.
    """
    left_out = np.asarray(left_out, float)
    if left_out.shape[2] == 1:
        margin = left_out[:, :, 0] * np.where(codes == 1, 1.0, -1.0)
    else:
        own = np.take_along_axis(left_out, np.broadcast_to(codes[None, :, None], left_out.shape[:2] + (1,)), 2)[:, :, 0]
        others = left_out.copy()
        others[:, np.arange(len(codes)), codes] = -np.inf
        margin = own - others.max(axis=2)
    scale = np.sqrt(np.mean(margin**2, axis=1, keepdims=True))
    return np.clip(1.0 - margin / np.maximum(scale, np.finfo(float).tiny), 0.0, None)


def choose_by_margin(left_out: np.ndarray, codes: np.ndarray, default: int | None = None) -> Result:
    """The candidate of smallest mean relative hinge loss on the held-out labels.

    `default` is a candidate fixed without looking at labels. It is kept unless the best one's losses are lower by more
    than one standard error of their difference over the labels.

    Returns a `Result` like :func:`mercer.evidence.choice.choose`. Info also contains `loss`, (m,).
    """
    chosen, best, mean = _clearest(left_out, codes, default)
    m, total = left_out.shape[:2]
    why = f"the clearest of {m} candidates"
    if chosen != best:
        why = f"the label-free default, because {total} labels do not distinguish it from the best of {m} candidates"
    right = hits(left_out, codes)
    corrected = accuracy_of_choice(right, lambda known: _clearest(left_out[:, known], codes[known], default)[0])
    return explained(chosen, why, right, mean, corrected, best=best, loss=mean)


def _clearest(left_out: np.ndarray, codes: np.ndarray, default: int | None) -> tuple[int, int, np.ndarray]:
    """(the chosen candidate, the one of smallest mean loss, the mean losses)."""
    losses = relative_hinge(left_out, codes)
    mean, total = losses.mean(axis=1), losses.shape[1]
    best = int(np.argmin(mean))
    if default is None or best == default:
        return best, best, mean
    gain = losses[default] - losses[best]
    return int(default) if gain.mean() <= gain.std() / np.sqrt(max(total, 1)) else best, best, mean
