"""Kernel spectral clustering, which is kernel PCA with rows weighted by 1/degree (Alzate and Suykens 2010)."""

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.utils._param_validation import Interval

from ..errors import InputError
from ..geometry.expansion import Expansion
from ..homes import home_of
from ..inputs.weights import seed_of
from ..linalg import rank_of, sign_rows
from ..rows import by_row, dot, tdot
from ..solvers.result import Result
from ..solvers.ridge.smoother import moments_of
from ..solvers.sign_codes import Codebook, balanced_line_fit, codebook_of, nearest_code
from ..types import ColumnLike, Rows
from .base import KernelEstimator
from .grid import product_of
from .parameters import COUNT, parameter


@dataclass(eq=False, repr=False)
class KernelSpectralClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, KernelEstimator):
    """Cluster by the signs of kernel principal components in which rows of dense regions count less.

    .. math:: \\max_{\\|w\\| = 1} \\sum_i \\frac{(w \\cdot \\varphi(x_i) + b)^2}{d_i}, \\qquad d_i = \\sum_j k(x_i, x_j)

    with b such that the weighted mean of the scores e_i = w·φ(x_i) + b is 0. The first n_clusters − 1 solutions relax
    the normalized cut. In a well separated cluster all rows have the same signs. The most frequent codes of signs are
    the clusters, and a row belongs to the code that differs from its own in the fewest signs. Use it if clusters are
    not round and new rows must be assigned. `select` chooses the number of clusters and the kernel's width.

    Parameters
    ----------
    n_clusters : int, default=2
    line_weight : weight of the line fit in `score`, 0 to 1, default=0.75. The rest is the weight of the balance.
    kernel : a kernel that is never negative, such as RBF, Laplacian or Matérn. Clusters must be
        further apart than its bandwidth.

    Attributes
    ----------
    labels_ : (n,) cluster of every training row. 0 is the largest.
    codes_ : (clusters, n_clusters − 1) signs of the clusters, True for positive.
    coef_, intercept_ : weights of the features (r, n_clusters − 1), of norm 1, and b.
    eigenvalues_ : (up to n_clusters) the maxima above, at most 1. If the first n_clusters − 1 of them are near 1 and
        the next one is much smaller, there are n_clusters clusters.
    balanced_line_fit_ : `score` of the training rows.
    certificate_ : the largest relative residual of the eigenproblem.
    result_ : `Result` with the same residual and a sentence.

    Notes
    -----
    A fit costs O(n r²) in two passes and O(r³). It runs on NumPy and torch. In Dask a sample is clustered and all rows
    are assigned.

    References
    ----------
    Alzate, Suykens (2010), Multiway spectral clustering with out-of-sample extensions through weighted kernel PCA.

    Examples
    --------
    >>> from mercer import KernelSpectralClustering
    >>> X = [[0.0], [0.1], [0.2], [4.0], [4.1]]
    >>> model = KernelSpectralClustering(2, kernel="rbf").fit(X)
    >>> model.labels_.tolist(), model.predict([[3.8], [0.3]]).tolist()
    ([0, 0, 0, 1, 1], [1, 0])
    """

    on_dask = "sample"

    n_clusters: int = parameter(2, COUNT)
    _: KW_ONLY
    line_weight: float = parameter(0.75, Interval(Real, 0, 1, closed="both"))

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the clusters. A weight of 2 counts a row twice. A row of weight 0 is only assigned. y is ignored."""
        X, _, weight = self._training(X, None, sample_weight, min_rows=self.n_clusters)
        gram = self._open(X, weight)
        s = np.ones(X.shape[0]) if weight is None else weight
        self.degree_coef_ = tdot(gram.Z, s)
        counted = s / self._degrees(gram, s)
        moments = moments_of(gram.Z, counted)
        values, vectors = moments.eigen(True)
        number = min(self.n_clusters - 1, rank_of(values, np.finfo(float).eps))
        V = vectors[:, :number]
        scores = dot(gram.Z, V) - moments.mean @ V
        signs = sign_rows(scores[s > 0])
        self.coef_, scores = V * signs, scores * signs
        self.intercept_ = -moments.mean @ self.coef_
        self.eigenvalues_ = values[: self.n_clusters]
        residual = moments.centered(True) @ V - V * values[:number]
        self.certificate_ = float(np.max(np.linalg.norm(residual, axis=0), initial=0.0)) / max(float(values[0]), 1e-300)
        book = codebook_of(scores, s, self.n_clusters)
        self.codes_, self.directions_ = book
        self._n_features_out = number
        self.labels_ = nearest_code(scores, book)
        reason = f"The scores have {len(book.codes)} codes of signs for {self.n_clusters} clusters."
        self.result_ = Result(self.labels_, gap=self.certificate_, reason=reason, info={"eigenvalues": values})
        if len(book.codes) < self.n_clusters:
            warnings.warn(
                f"{reason} There are no more clusters at this width of the kernel. Use fewer clusters, or choose "
                "their number and the width by `select`.",
                stacklevel=2,
            )
        self.balanced_line_fit_ = self._quality(scores, dot(gram.Z, self.degree_coef_), self.labels_)
        return self

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """The cluster of each row."""
        return nearest_code(self._scores(X), Codebook(self.codes_, self.directions_))

    @by_row
    def transform(self, X: Rows) -> Rows:
        """(n, n_clusters − 1) scores e(x) = w·φ(x) + b."""
        return self._scores(X)

    def _scores(self, X: Rows):
        """Scores of rows that are not checked yet, without the container that `set_output` requests."""
        X = self._rows(X, reset=False)
        return Expansion(self.kernel_, None, self.coef_, self.map_)(X) + self.intercept_

    def score(self, X: Rows, y: ColumnLike = None):
        """The balanced line fit of these rows, from 0 to 1. It is larger for better clusters. Use held-out rows.

        With well separated clusters the scores of a cluster are on a line, see
        :func:`mercer.solvers.sign_codes.balanced_line_fit`. With two clusters the score is one number, and the second
        variable is Σ_j k(x, x_j) + b. The fit is 0 if there are fewer clusters, or if the eigenvalues n_clusters − 1
        and n_clusters tie. In the latter case there are more clusters, and rounding errors decide which are merged.
        """
        scores = np.asarray(self._scores(X))
        degrees = Expansion(self.kernel_, None, self.degree_coef_[:, None], self.map_)(self._rows(X, reset=False))
        return self._quality(scores, degrees[:, 0], nearest_code(scores, Codebook(self.codes_, self.directions_)))

    def select(self, X: Rows, **grid: Any):
        """Choose parameters by the balanced line fit of held-out rows, and fit with them to all rows.

        Parameters
        ----------
        X : rows as in `fit`.
        **grid : lists of candidates by parameter name, such as ``n_clusters=[2, 3]`` and ``kernel=[RBF(1), RBF(2)]``.

        Returns
        -------
        A new fitted clusterer. Its ``selection_`` contains the candidates, the chosen one, and for each the mean
        `score` on three random halves of the rows by fits to the other halves.
        """
        if not grid:
            raise InputError("Nothing to choose from. Give lists, such as n_clusters=[2, 3, 4] or kernel=[RBF(1.0)].")
        home_of(X).refuse_lazy(
            "select fits many times, which needs the rows in memory. Give a sample of them in NumPy."
        )
        self._validate_params()
        X = self._rows(X, reset=True)
        pairwise, n = self.__sklearn_tags__().input_tags.pairwise, X.shape[0]
        rng, candidates = np.random.default_rng(seed_of(self.random_state)), product_of(grid)
        halves = [np.split(rng.permutation(n), [n // 2]) for _ in range(3)]
        scores = np.zeros(len(candidates))
        for i, changed in enumerate(candidates):
            for test, train in halves:
                rows, others = (X[train][:, train], X[test][:, train]) if pairwise else (X[train], X[test])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # fewer codes than clusters, for which the score is 0
                    scores[i] += clone(self).set_params(**changed).fit(rows).score(others) / len(halves)
        chosen = int(np.argmax(scores))
        best = clone(self).set_params(**candidates[chosen]).fit(X)
        best.selection_ = {"candidates": candidates, "score": scores, "chosen": chosen}
        return best

    def _degrees(self, gram, s: np.ndarray) -> np.ndarray:
        """Σ_j s_j k(x_i, x_j). A kernel of the distance is positive, so its degrees are at least k(x, x) · s."""
        degrees = dot(gram.Z, self.degree_coef_)
        if self.kernel_.stationary:
            degrees = np.maximum(degrees, s * gram.diag())
        bad = np.flatnonzero((degrees <= 0) & (s > 0))
        if len(bad):
            raise InputError(
                f"Row {bad[0]} has a degree Σ k(x, x_j) of {degrees[bad[0]]:.3g}, and {len(bad)} row(s) have one that "
                "is not positive. Use a kernel without negative values, such as RBF, Laplacian or Matern52."
            )
        return np.where(s > 0, degrees, 1.0)

    def _quality(self, scores: np.ndarray, degrees: np.ndarray, member: np.ndarray) -> float:
        number = self.n_clusters
        if scores.shape[1] == 0 or len(self.codes_) < number:
            return 0.0  # not the clusters that were requested
        kept, following = self.eigenvalues_[number - 2], self.eigenvalues_[number - 1 :]
        if (following > (1 - 1e-12) * kept).any():
            return 0.0  # a tie, because the gap is only some thousand rounding errors
        points: Any = scores if number > 2 else np.column_stack([scores, degrees + self.intercept_])
        return balanced_line_fit(points, member, number, self.line_weight)
