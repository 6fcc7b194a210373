"""Which rows may belong to a class that no label names."""

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..few_label.kernel_rows import KernelRows
from ..few_label.views import Standardized, UnitNorm, View
from ..graphs.neighbors import Neighbors
from ..inputs.tables import as_pandas, is_frame
from ..types import Estimator, Rows


def unseen_rows(model: Estimator, X: Rows, n: int = 10) -> np.ndarray:
    """Return the rows that the labeled ones support least. Classes without any label are probably among them.

    The criterion is the distance to the nearest labeled row, divided by the mean distance to the twenty nearest rows.
    Dense groups without a label therefore come first, and not single outliers. Every returned row counts as labeled for
    the next one, so that each group appears once. `model.estimate_.unseen` estimates the probability that a row's class
    has no label.

    Parameters
    ----------
    model : estimator
        A fitted `FewLabelClassifier`.
    X : array-like
        The rows of its fit.
    n : int, default=10
        Number of rows to return.

    Returns
    -------
    array of shape (n,)
        Row numbers, the least supported first.

    Notes
    -----
    The columns are standardized, and sparse rows are scaled to length 1. The function finds the nearest neighbors of
    all rows once, and computes n distances per row.

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
        raise InputError(f"n={n!r} is not accepted. Give the number of rows to return, at least 1.")
    if is_frame(X):
        X = as_pandas(X).to_numpy(dtype=float) if model.encoder_ is None else model.encoder_.transform(X)
    view: View = UnitNorm() if sp.issparse(X) else Standardized()
    rows = view.fit(X)
    # the density around a row is measured by its 20 nearest rows
    near = Neighbors(rows).find(rows, min(20 + 1, len(free)))[0][:, 1:].mean(axis=1)
    near = near + max(0.1 * float(np.median(near)), 1e-300)  # copies of a row are not infinitely dense
    far = Neighbors(rows[labels.labeled]).find(rows, 1)[0][:, 0]
    found: list[int] = []
    for _ in range(min(int(n), int(free.sum()))):
        found.append(int(np.argmax(np.where(free, far / near, -1.0))))
        free[found[-1]] = False
        far = np.minimum(far, Neighbors(rows[found[-1:]]).find(rows, 1)[0][:, 0])
    return np.array(found, dtype=int)
