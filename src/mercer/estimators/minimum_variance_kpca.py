"""MV-KPCA, with large variance over all rows and small variance within groups (Walder et al. 2010, §3.1)."""

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _num_samples

from ..errors import InputError
from ..homes import home_of
from ..inputs.labels import read_labels
from ..linalg import sign_rows
from ..rows import by_row, dot, take
from ..solvers.eigen.within_variance import within_group_rows, within_variance_components
from ..solvers.ridge.smoother import moments_of
from ..types import ColumnLike, Rows
from .base import KernelEstimator
from .parameters import COUNT, NOT_NEGATIVE, parameter


@dataclass(eq=False, repr=False)
class MinimumVarianceKPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Find components with large variance over all rows and small variance within groups known to belong together.

    .. math:: \\max_f \\frac{\\sum_i (f(x_i) - \\bar f)^2}
        {\\|f\\|^2 + c \\sum_g \\sum_{i \\in g} (f(x_i) - \\bar f_g)^2}

    with c = `within_weight`. c = 0 is kernel PCA. The groups come from labels (all rows of a class are a group) or are
    given as must-link sets, which need no class names. Use it for features from a few labels or links. `fit_predict`
    classifies the training rows by a linear SVM on the components of the labeled rows.

    Parameters
    ----------
    n_components : int, default=2
    within_weight : c, the weight of the variance within the groups.
    center : see `LeastSquaresKPCA`.

    Attributes
    ----------
    components_ : (r, n_components) weights of the features, with signs that make the largest training score positive.
    eigenvalues_ : (n_components,) the ratio above, largest first.
    mean_ : (n_components,) mean of the components over the training rows. `transform` subtracts it if center=True.
    result_, certificate_ : the `Result` of the eigenproblem and its largest relative residual.
    classes_, transduction_ : class names and the class of every training row, after `fit_predict`.

    Notes
    -----
    A fit costs O(n r²) in one pass and O(r³). It runs on NumPy, torch and Dask.

    References
    ----------
    Walder, Henao, Mørup, Hansen (2010), Semi-supervised kernel PCA, §3.1.

    Examples
    --------
    >>> from mercer import MinimumVarianceKPCA
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> MinimumVarianceKPCA(1).fit_predict(X, ["low", None, None, None, None, "high"]).tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    n_components: int = parameter(2, COUNT)
    within_weight: float = parameter(1.0, NOT_NEGATIVE)
    _: KW_ONLY
    center: bool = parameter(True, "boolean")
    missing_label: object = "auto"

    def fit(self, X: Rows, y: ColumnLike = None, groups=None) -> Self:
        """Fit on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, or a kernel matrix if kernel="precomputed".
        y : array-like of shape (n_samples,), optional
            Class names with markers of unlabeled rows. The rows of a class are a group.
        groups : list of lists of row numbers, optional
            Further rows known to belong together (must-link sets).
        """
        self._fit_rows(X, y, groups)
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None, groups=None) -> Rows:
        """Fit, and return the components of the training rows."""
        Z = self._fit_rows(X, y, groups)
        return self.transform(X) if hasattr(self, "sample_") else self._project(Z)

    @by_row
    def transform(self, X: Rows) -> Rows:
        """Components of any rows, (n, n_components)."""
        return self._project(self._features(X))

    def fit_predict(self, X: Rows, y: ColumnLike, groups=None):
        """Fit, and return the class of every training row. This is its label if there is one, else a prediction."""
        from sklearn.svm import SVC  # slow to import

        home_of(X).refuse_lazy(
            "fit_predict needs all rows of the fit in memory, which Dask does not provide. Call fit, then transform, "
            "which is lazy, or use a classifier such as LSSVMClassifier."
        )
        labels = read_labels(y, self.missing_label, n_rows=_num_samples(X))
        scores = self._project(self._fit_rows(X, y, groups))
        scores = scores / max(float(scores.std(axis=0).max()), np.finfo(float).tiny)  # the SVM's C needs a scale
        known = labels.codes[labels.labeled]
        machine = SVC(kernel="linear", C=100.0).fit(scores[labels.labeled], known)  # nearly a hard margin
        self.classes_ = labels.classes
        self.transduction_ = labels.classes[np.where(labels.codes >= 0, labels.codes, machine.predict(scores))]
        return self.transduction_

    def _fit_rows(self, X: Rows, y: ColumnLike, groups) -> np.ndarray:
        self._validate_params()
        X, y, _ = self._training(X, y, also=[row for group in groups or [] for row in group])
        Z = self._fit_map(X)
        moments = moments_of(Z)
        rows, sets = self._sets(X, y, groups)
        within = within_group_rows(take(Z, rows), sets) if len(rows) else np.zeros((0, Z.shape[1]))
        P = moments.centered(self.center)
        result = within_variance_components(P, within, self.within_weight, self.n_components).warn()
        self.result_, self.components_ = result, result.value
        self.eigenvalues_ = result.info["eigenvalues"]
        self.certificate_ = result.gap
        self.mean_ = moments.mean @ self.components_ if self.center else np.zeros(self.components_.shape[1])
        signs = sign_rows(self._project(Z))  # from the scores, because the signs of map features are arbitrary
        self.components_ = result.value = self.components_ * signs
        self.mean_ = self.mean_ * signs
        self._n_features_out = self.components_.shape[1]
        return Z

    def _sets(self, X: Rows, y: ColumnLike, groups) -> tuple[np.ndarray, list]:
        """(row numbers in any group, groups as positions among them)."""
        n, sets, sample = X.shape[0], [], getattr(self, "sample_", None)
        if y is not None:
            labels = read_labels(y, self.missing_label, n_rows=self._seen(X))
            sets += [np.flatnonzero(labels.codes == code) for code in range(labels.n_classes)]
        for group in groups or []:
            group = np.unique(np.asarray(group))
            if group.dtype.kind not in "iu" or (len(group) and not (group[0] >= 0 and group[-1] < n)):
                raise InputError(
                    f"A must-link set contains {group.tolist()[:5]}. Give groups as a list of lists of row numbers "
                    f"from 0 to {n - 1}."
                )
            sets.append(group if sample is None else np.searchsorted(sample, group))
        rows = np.unique(np.concatenate(sets)) if sets else np.zeros(0, dtype=int)
        return rows, [np.searchsorted(rows, group) for group in sets]

    def _project(self, Z: Rows) -> np.ndarray:
        return dot(Z, self.components_) - self.mean_
