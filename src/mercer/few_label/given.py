"""Spaces that users give in addition to the columns, from links between the rows or similarities of all pairs."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..backend import moved
from ..errors import InputError
from ..geometry.open import open_gram
from ..graphs.given import KnownRows, as_graph
from ..kernels import Precomputed
from ..kernels.graph import Diffusion
from ..rows import dot, host
from ..types import Rows
from . import sizes
from .kernel_rows import rows_kernel
from .predictor import KnownPart
from .spaces import FIRST_TIME, GRAPH_RANKS, BaseSpace, scaled_to_unit
from .views import View

GivenBuilder: TypeAlias = Callable[[View, Rows, int], "GivenSpace"]
"""Builds a given space from a view, the rows in it and a seed."""


class GivenSpace(BaseSpace):
    """Features of the training rows only. Another row has none, and is predicted from its other spaces.

    Parameters
    ----------
    name : for the report. view : by which rows are recognized, `AsGiven`. rows : the training rows in this view.
    Z : (n, r) their features. values : (r,) eigenvalues of a Laplacian that belong to them, or None.
    """

    spread = True

    def __init__(self, name: str, view: View, rows: Rows, Z: Rows, values: np.ndarray | None = None) -> None:
        self.name, self.view = name, view
        if values is not None:
            self.values = values
        self.known = KnownRows(rows)
        self.known.strict = False
        self.Z = moved(scaled_to_unit(Z))

    def seen(self, rows: Rows) -> Rows:
        """(m, n) sparse matrix of which training row each row is."""
        return self.known.spread(rows).astype(np.float32)

    @property
    def seen_bytes(self) -> int:
        return 12

    def on_seen(self, W: np.ndarray) -> Rows:
        """(n, k) Z W of the training rows."""
        return dot(self.Z, W)

    def of_seen(self, seen: Rows) -> np.ndarray:
        """Their features."""
        return np.asarray(seen @ host(self.Z))

    def part(self, W: np.ndarray) -> KnownPart:
        """Z W of any rows, as a part of the predictor."""
        return KnownPart(self.view, self.known, dot(self.Z, W))


def graph_space(graph: sp.csr_matrix, view: View, rows: Rows) -> GivenSpace:
    """Eigenvectors of the Laplacian of a given graph. Rows without a link have no features."""
    linked = np.flatnonzero(np.diff(graph.indptr))
    rank = next(rank for most, rank in GRAPH_RANKS.items() if len(linked) <= most)
    own = Diffusion(time=FIRST_TIME, rank=rank, graph=graph[linked][:, linked]).resolve(rows[linked])
    factor = own.factor()
    Z = np.zeros((rows.shape[0], factor.shape[1]))
    Z[linked] = factor
    return GivenSpace("links", view, rows, Z, own.spectrum_[: factor.shape[1]])


def kernel_space(kernel: np.ndarray, view: View, rows: Rows, seed: int) -> GivenSpace:
    """Features whose inner products are given similarities."""
    gram = open_gram(Precomputed(), "auto", kernel, policy="few labels", seed=seed)
    return GivenSpace("similarities", view, rows, np.array(host(gram.Z), dtype=np.float64))


def read_given(
    graph: Rows, kernel: Rows, n: int, sampled: bool = False, core: np.ndarray | None = None
) -> dict[str, GivenBuilder]:
    """{"links" or "similarities": function of (view, rows) and a seed that builds the space}, checked for n rows.

    Parameters
    ----------
    graph : symmetric (n, n) weights or edges, see `mercer.graphs.given.as_graph`. None for none.
    kernel : symmetric (n, n) similarities. None for none. One that compares the rows of X has no part here.
    sampled : whether the n rows are a sample of rows in Dask, for which neither is accepted.
    core : numbers of the rows that are decomposed, or None. Links and similarities need all.
    """
    if sampled and (graph is not None or kernel is not None):
        raise InputError(
            "graph= and kernel= are not accepted with rows in Dask, of which a sample is fitted. Call X.compute()."
        )
    found: dict[str, GivenBuilder] = {}
    kernel = None if kernel is None or rows_kernel(kernel) else kernel
    if graph is not None or kernel is not None:
        most = sizes.SIZES.core_rows
        if n > most:
            raise InputError(
                f"X has {n} rows, and graph= and kernel= are accepted for up to {most}. Fit fewer rows, or leave them "
                "out."
            )
        if core is not None and len(np.unique(core)) < n:
            raise InputError(f"core has {len(core)} of {n} rows, and graph= and kernel= need all. Leave core out.")
    if graph is not None:
        found["links"] = partial(_graph_of, as_graph(graph, n))
    if kernel is not None:
        found["similarities"] = partial(kernel_space, _checked_kernel(kernel, n))
    return found


def _graph_of(graph: sp.csr_matrix, view: View, rows: Rows, seed: int) -> GivenSpace:
    return graph_space(graph, view, rows)


def _checked_kernel(kernel: Rows, n: int) -> np.ndarray:
    accepted = f"Accepted: a symmetric ({n}, {n}) matrix of finite numbers, such as Spectrum(3)(names)."
    try:
        K = np.asarray(kernel.toarray() if sp.issparse(kernel) else host(kernel), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"kernel is of type {type(kernel).__name__}, not a matrix of numbers. {accepted}") from None
    if K.shape != (n, n):
        raise InputError(f"kernel has the shape {K.shape}, and X has {n} rows. {accepted}")
    if not np.isfinite(K).all():
        raise InputError(f"kernel contains NaN or infinity. {accepted}")
    # 1e-8: relative difference of a similarity matrix from its transpose that is taken for rounding
    if np.abs(K - K.T).max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
        raise InputError(f"kernel is not symmetric. {accepted} Pass (K + K.T) / 2 if the two halves mean the same.")
    return (K + K.T) / 2
