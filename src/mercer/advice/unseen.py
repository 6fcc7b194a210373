"""Which rows may belong to a class that no label names."""

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..few_label.kernel_rows import KernelRows
from ..few_label.views import Standardized, UnitNorm, View
from ..graphs.neighbors import Neighbors
from ..inputs.tables import as_pandas, is_frame
from ..types import Estimator, Rows

LEAST = 0.1  # of the typical distance to them: copies of a row are not infinitely dense


def unseen_rows(model: Estimator, X: Rows, n: int = 10) -> np.ndarray:
    """The rows that the labeled ones support least: where to look for classes without any label.

    A row is the less supported the farther its nearest labeled row is, next to the mean distance to its twenty nearest
    rows: dense groups without a label come first, and not single outliers. Every row that is named counts as labeled
    for the next one, so that each group is named once. `model.estimate_.unseen` estimates how many such rows there are.

    Parameters
    ----------
    model : fitted `FewLabelClassifier`.
    X : the rows of its fit.
    n : how many rows to name.

    Returns
    -------
    (n,) row numbers, the least supported first.

    Notes
    -----
    Cost: the nearest neighbors of all rows in standardized columns (sparse rows: by direction), and n distances each.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FewLabelClassifier, unseen_rows
    >>> X = np.arange(30.0)[:, None] + 100 * np.repeat([0, 1, 2], 10)[:, None]  # three groups, one without a label
    >>> y = np.full(30, -1)
    >>> y[[2, 7, 12, 17]] = 0, 0, 1, 1
    >>> int(unseen_rows(FewLabelClassifier().fit(X, y), X, 1)[0]) >= 20
    True
    """
    if not hasattr(model, "labels_"):
        raise InputError(f"unseen_rows needs a fitted FewLabelClassifier, not {type(model).__name__}.")
    labels = model.labels_
    X = model.encoder_.transform(X) if isinstance(model.encoder_, KernelRows) else X
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=float)
    if X.shape[0] != len(labels.codes):
        raise InputError(
            f"X has {X.shape[0]} rows and the model was fitted on {len(labels.codes)}. Give the same rows."
        )
    free = labels.codes < 0
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"n={n!r} is not accepted: give how many rows to name, at least 1.")
    if is_frame(X):
        X = as_pandas(X).to_numpy(dtype=float) if model.encoder_ is None else model.encoder_.transform(X)
    view: View = UnitNorm() if sp.issparse(X) else Standardized()
    rows = view.fit(X)
    # 20: rows that show how dense it is around a row
    near = Neighbors(rows).find(rows, min(20 + 1, len(free)))[0][:, 1:].mean(axis=1)
    near = near + max(LEAST * float(np.median(near)), 1e-300)
    far = Neighbors(rows[labels.labeled]).find(rows, 1)[0][:, 0]
    found: list[int] = []
    for _ in range(min(int(n), int(free.sum()))):
        found.append(int(np.argmax(np.where(free, far / near, -1.0))))
        free[found[-1]] = False
        far = np.minimum(far, Neighbors(rows[found[-1:]]).find(rows, 1)[0][:, 0])
    return np.array(found, dtype=int)
