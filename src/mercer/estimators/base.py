"""The base of every estimator. It reads rows on their own device, opens the kernel matrix and sets the tags."""

import copy
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..backend import moved
from ..documentation import Documented
from ..errors import InputError
from ..geometry.maps import mapped
from ..geometry.open import POLICIES, open_gram
from ..homes import home_of
from ..inputs.check import check_rows
from ..inputs.sampling import on_sample
from ..inputs.weights import check_weight, seed_of
from ..kernels import Kernel, Precomputed, as_kernel
from ..kernels.base import KernelLike
from ..rows import bring, host, sampled
from ..types import Rows, Seed


@dataclass(eq=False, repr=False)
class KernelEstimator(Documented, BaseEstimator):
    """Base of all estimators, with the parameters `kernel` and `approx` and the features z(x) of rows.

    A subclass is a dataclass of its parameters. It sets `access` and its own `fit`, in which
    ``X = self._rows(X, reset=True)`` reads the rows and ``Z = self._fit_map(X)`` computes the tall matrix of features.
    For new rows ``Z = self._features(X)`` does both.

    Attributes
    ----------
    access : {"moments", "sweeps", "rows", "graph"}
        How the method uses Z. "moments" needs one or two passes and a small problem on the host. It runs on NumPy,
        torch and Dask, and never stores the landmark features of NumPy rows. "sweeps" is a loop of products on the
        same backends, in Dask on a sample. "rows" needs one row at a time, and "graph" all rows in one graph. These
        two do not run on Dask.
    sample_ : array of int
        After a fit on rows in Dask, the positions of the rows in the sample for all steps on single rows. Fitted
        attributes with an entry for each row belong to these rows.
    kernel_ : Kernel
        The kernel with every rule resolved to a number.
    map_ : FeatureMap or None
        The fitted feature map. `map_.energy_` and `map_.error_` measure the quality of an approximation.
    approx_reason_ : str
        Why this map was chosen.
    """

    access = "moments"
    on_dask: ClassVar[str | None] = "moments"  # "moments" of all rows and a sample, a "sample" only, or None
    policy: ClassVar[str | None] = None  # row of `POLICIES` that defines "auto". None means the row of `access`

    _: KW_ONLY
    kernel: KernelLike = "rbf"
    approx: Any = "auto"
    random_state: Seed = None

    @property
    def _parameter_constraints(self) -> dict:
        return {f.name: f.metadata["accepted"] for f in fields(self) if f.metadata}

    def set_params(self, **params: Any) -> Self:
        """Set parameters. ``kernel__bandwidth=2.0`` sets one of a kernel that was given as an object."""
        inner = [name for name in params if name.startswith("kernel__")]
        kernel = params.get("kernel", getattr(self, "kernel", None))
        if inner and not hasattr(kernel, "set_params"):
            raise InputError(
                f"{inner[0]} cannot be set, because kernel={kernel!r} is not a kernel object. Construct the estimator "
                'with a kernel object, such as kernel=RBF("median"), and then set its parameters.'
            )
        return super().set_params(**params)

    def _kernel(self) -> Kernel:
        """The kernel object that the parameters describe."""
        return as_kernel(self.kernel)

    def _takes(self) -> str:
        """The type of a row, which is "numbers", "objects" or "any" (see `Kernel.takes`)."""
        return self._kernel().takes

    def _rows(self, X: Rows, reset: bool, min_rows: int = 1) -> Rows:
        """Check X by `check_rows` and refuse it if the method cannot run on it. Only `use_device` moves it.

        `reset` is True in `fit`, and False for new rows, which need a fitted estimator.
        """
        if not reset:
            check_is_fitted(self)
        if self.on_dask is None:
            reason = "joins all rows in one graph" if self.access == "graph" else "goes through the rows one at a time"
            home_of(X).refuse_lazy(
                f"{type(self).__name__} {reason}, which Dask cannot do. "
                "Call X.compute() first if the rows fit in memory, or use a method with access 'moments' or 'sweeps'."
            )
        return moved(check_rows(self, X, reset, min_rows=min_rows, takes=self._takes()))

    def _training(self, X, y=None, sample_weight=None, kind="classes", min_rows=1, also=()):
        """Check and return (X, y, weight) of a fit. In Dask y belongs to the sample of the rows at `sample_`.

        `kind` defines what counts as a label in y (see `mercer.inputs.sampling`). The rows `also` are in the sample.
        """
        self._validate_params()
        X = self._rows(X, reset=True, min_rows=min_rows)
        weight = check_weight(sample_weight, X.shape[0])
        home = home_of(X)
        self.__dict__.pop("sample_", None)
        if home.sample_of(X) is None:
            return X, y, weight
        if self.__sklearn_tags__().input_tags.pairwise:
            return host(X), bring(y), weight
        y = on_sample(X, y, kind, getattr(self, "missing_label", "auto"), seed_of(self.random_state), also)
        self.sample_ = home.sample_of(X)
        if self.on_dask == "moments":
            return X, y, weight
        home.fetch(X)
        return X[self.sample_], y, sampled(weight, X)

    def answering(self) -> Self:
        """A copy with only the attributes that predictions need, for the workers of a cluster."""
        small = copy.copy(self)
        for name in ("result_", "eigenvectors_", "training_scores_", "sample_"):
            small.__dict__.pop(name, None)
        return small

    def _seen(self, X: Rows) -> int:
        """Number of rows in steps on single rows. These are all rows, or a sample of rows in Dask."""
        sample = home_of(X).sample_of(X)
        return X.shape[0] if sample is None else len(sample)

    def _open(self, X, weight=None, store="auto", policy=None):
        """Open the kernel matrix of these training rows as `approx` describes. Set kernel_, map_ and approx_reason_."""
        seed, policy = seed_of(self.random_state), policy or self.policy or self.access
        approx, most = self.approx, POLICIES[policy].landmarks
        of_sample = self.on_dask == "sample" and hasattr(self, "sample_")
        if of_sample and isinstance(approx, str) and approx == "auto" and X.shape[0] > most:
            approx = most  # keeps the model small, which goes to all workers and predicts for very many rows
        gram = open_gram(self._kernel(), approx, X, weight, policy, seed, store)
        self.map_: Any = gram.map
        self.kernel_, self.approx_reason_ = gram.kernel, gram.reason
        if of_sample:
            self.approx_reason_ += f" The model is fitted to a sample of {len(self.sample_)} rows from Dask."
        return gram

    def _fit_map(self, X: Rows, weight: np.ndarray | None = None) -> Rows:
        """Choose and fit the map for these training rows, and return Z."""
        return self._open(X, weight).Z

    def _features(self, X: Rows) -> Rows:
        """Z of new rows, for products. It is never stored for rows on the host."""
        X = self._rows(X, reset=False)
        return mapped(self.map_, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags
