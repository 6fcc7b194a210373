"""Choose a graph kernel, then how much of a Gaussian kernel to mix in (Walder et al. 2010, §7.2)."""

from typing import Any

from sklearn.base import clone

from ..errors import InputError
from ..kernels import RBF, Diffusion, bandwidth_of
from ..types import ColumnLike, Estimator, Rows


def select_mixed_kernel(
    model: Estimator,
    X: Rows,
    y: ColumnLike,
    n_neighbors=(5, 10, 20),
    times=(3.0, 10.0, 30.0, 100.0),
    widths=(0.5, 1.0, 4.0),
    mix=(0.1, 0.5),
    **grid: Any,
):
    """Choose neighbors and diffusion time by held-out labels, then weight and width of an additional Gaussian kernel.

    Parameters
    ----------
    model : estimator
        A classifier with `select`, such as `LeastSquaresKPCA`. Its kernel is replaced.
    X, y : array-like
        As in `model.fit`.
    n_neighbors : tuple of int, default=(5, 10, 20)
        Candidates for the number of neighbors of `Diffusion`.
    times : tuple of float, default=(3.0, 10.0, 30.0, 100.0)
        Candidates for the time of `Diffusion`.
    widths : tuple of float, default=(0.5, 1.0, 4.0)
        Gaussian widths, in medians of the pairwise distance.
    mix : tuple of float, default=(0.1, 0.5)
        Weights w in (0, 1) of the Gaussian kernel in w · RBF + (1 − w) · Diffusion. w = 0 is a candidate, too.
    **grid : lists
        Further candidates, such as ``label_weight=[...]`` and ``variance=[...]``.

    Returns
    -------
    estimator
        A new fitted classifier. Its ``selection_`` is that of the second stage.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import LeastSquaresKPCA, select_mixed_kernel
    >>> X, y = make_moons(60, noise=0.05, random_state=0)
    >>> given = [label if i < 10 else None for i, label in enumerate(y)]
    >>> model = select_mixed_kernel(LeastSquaresKPCA(10.0), X, given, n_neighbors=[5], times=[3.0, 10.0])
    >>> "Diffusion" in repr(model.kernel)
    True
    """
    for w in mix:
        if not 0 < w < 1:
            raise InputError(
                f"mix={list(mix)!r} contains {w!r}. Accepted: weights of the Gaussian kernel between 0 and 1."
            )
    graphs = [Diffusion(k, time) for k in n_neighbors for time in times]
    pure = clone(model).set_params(kernel=graphs[len(graphs) // 2]).select(X, y, kernel=graphs, **grid)
    median = bandwidth_of(X)
    mixes = [w * RBF(factor * median) + (1 - w) * pure.kernel for w in mix for factor in widths]
    return pure.select(X, y, kernel=mixes, **grid)
