"""Semi-supervised regularized least squares by a search over the unknown labels (Gieseke et al. 2012)."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.special import stdtrit
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..errors import InputError
from ..inputs.labels import Labels
from ..inputs.weights import seed_of
from ..rows import take
from ..solvers.label_search.features import coefficients, rotated_rows, scaled_rows, search_basis, search_rows
from ..solvers.label_search.solve import SEARCHES, label_search, smallest_slack
from ..solvers.result import Result, together
from ..solvers.ridge.state import State
from ..types import ColumnLike, Rows
from .balance import estimated_shares, is_estimated, shares_of
from .classifier import KernelClassifier
from .grid import product_of
from .lssvm import LSSVMClassifier
from .parameters import COUNT, POSITIVE, THREADS, parameter
from .rls import RLSClassifier
from .solution import Solution


@dataclass(eq=False, repr=False)
class S2RLSClassifier(KernelClassifier):
    """Classify by least squares with a search over the unknown labels, so that the boundary avoids dense regions.

    .. math:: \\min_{w,\\; y_U \\in \\{\\pm 1\\}^u} \\tfrac1l \\sum_{i \\in L} (t_i - w \\cdot \\varphi(x_i))^2
        + \\tfrac{\\lambda'}{u} \\sum_{i \\in U} (y_i - w \\cdot \\varphi(x_i))^2 + \\lambda \\|w\\|^2,
        \\quad |\\text{fraction}_c(y_U) - b_c| < \\varepsilon

    Use it when the classes form clusters and the fraction of each class among the unlabeled rows is roughly known.
    With few labels it can be much more accurate than `RLSClassifier`. A wrong fraction or a misleading cluster
    structure costs as much. With more than two classes the objective is the mean of the one-against-rest objectives.

    Parameters
    ----------
    lam : penalty λ.
    lam_unlabeled : weight λ' of the unlabeled rows.
    bias : whether to add a constant to w · φ(x) that is not penalized. The paper has none.
    balance : "estimate", "labels", float, dict, array or None, default="estimate"
        Wanted fraction of each class among the unlabeled rows. "estimate" estimates it by searches with held-out labels
        (see Notes). "labels" uses the fractions of the labels, as in the paper. A number is the fraction of
        ``classes_[1]`` (two classes). For more classes give one fraction per sorted class, or a dict from classes to
        fractions. None means no constraint (one class may take all rows).
    balance_slack : float, default=0.2
        ε, the limit of the deviation of a fraction. The paper uses 0.2 if the fraction comes from the labels, else 0.1.
        The limit for estimated fractions is their 95% interval (Student's t, for few labels), if that is smaller.
    search : {"auto", "tabu", "ea", "round_robin"}, default="auto"
        How labels are searched, see `mercer.solvers.label_search.solve`. "ea" and "round_robin" are the paper's.
    n_parents, n_children : int, default=5 and 25
        Numbers μ of labelings that search="ea" keeps in each generation, and ν of labelings that it derives from them
        by one flip each.
    n_restarts : int, default=50
        Number of searches from different starts. The best is kept. Fits for calibration or the choice of parameters use
        10.
    multi_class : with more than two classes, "joint" is one search over all labels, "one_vs_rest" one per class.
    label_folds : int, default=5
        Number of folds of held-out labels for `predict_proba` and `left_out_accuracy_`. `select` uses them to compare
        candidates, too (the paper's "realistic" choice). With 0 there are none, and probabilities come from the prior.
    time_budget : float or None, default=None
        Seconds after which the search returns the best labels so far. Each fit of `label_folds` has a tenth of it.
    n_jobs, verbose : number of threads of the search (None or −1 for as many as BLAS may use). verbose=1 prints
        progress.

    Attributes
    ----------
    result_ : `Result` of the search, with F, its spectral lower bound, the gap and evaluations per second. With
        multi_class="one_vs_rest" its ``info["results"]`` has one result per class.
    transduction_ : (n,) the given label, or the label from the search.
    balance_ : (k,) the fractions used, or None. If they were estimated, ``result_.info["balance_error"]`` has their
        standard errors.
    coef_, intercept_, classes_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    With balance="estimate", a held-out row is scored like an unlabeled one. The mean score of the unlabeled rows is
    therefore the mean of the held-out scores of the classes, weighted by the fractions (`mercer.evidence.shares`). The
    numbers of labels count for a quarter, because labels are often picked. The search is repeated with the estimated
    fractions, up to three times in all. Each time consists of `label_folds` searches with 10 restarts. It takes three
    times as long as "labels" and needs two labels per class. On 17 problems of 500 digits or Gaussian points with 20
    labels, the error is lower than with "labels" by 2 to 10 points in seven, in which the fractions of the labels are
    wrong. It is never higher by more than 0.2 points (benchmarks/results/gieseke.md).

    Each of the 1 + label_folds fits costs O(n r²), and then O(r) or O(1) per tried flip. It runs on NumPy and torch
    (with the search on the host), but not on Dask.

    References
    ----------
    Gieseke, Kramer, Airola, Pahikkala (2012), Efficient recurrent local search strategies for semi- and unsupervised
    regularized least-squares classification.

    Examples
    --------
    >>> from mercer import S2RLSClassifier
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> model = S2RLSClassifier(kernel="linear").fit(X, ["a", None, None, None, None, "b"])
    >>> model.transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    access = "rows"
    on_dask = None
    path_parameters = ("lam", "lam_unlabeled")
    reported = ("balance",)

    lam: float = parameter(0.01, POSITIVE)
    lam_unlabeled: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    bias: bool = parameter(False, "boolean")
    balance: Any = parameter(
        "estimate", StrOptions({"labels", "estimate"}), Interval(Real, 0, 1, closed="both"), dict, "array-like", None
    )
    balance_slack: float = parameter(0.2, POSITIVE)
    search: str = parameter("auto", StrOptions(set(SEARCHES)))
    n_parents: int = parameter(5, COUNT)
    n_children: int = parameter(25, COUNT)
    n_restarts: int = parameter(50, COUNT)
    multi_class: str = parameter("joint", StrOptions({"joint", "one_vs_rest"}))
    label_folds: int = parameter(5, Options(Integral, {0}), Interval(Integral, 2, None, closed="left"))
    time_budget: float | None = parameter(None, POSITIVE, None)
    n_jobs: int | None = parameter(None, COUNT, THREADS, None)
    verbose: int = parameter(0, "verbose")

    def fit(self, X: Rows, y: ColumnLike) -> Self:  # type: ignore[override]  # a row that counts twice is not two rows to search
        """Fit on all rows. y contains class names and marks the unlabeled rows (NaN, None, "" or -1)."""
        super().fit(X, y)
        if self.result_.value is not None:
            self.transduction_ = self.classes_[self.result_.value]
        return self

    def solve(self, state: State, labels: Labels) -> Solution:
        if labels.soft:
            raise InputError(
                "y contains class probabilities strictly between 0 and 1, and the label search needs one class per "
                "labeled row. Give class names, or mark the rows you are not sure of as unlabeled."
            )
        if len(labels.labeled) == len(labels.codes):
            warnings.warn(
                "Every row is labeled, so there are no labels to search. This is plain RLSC (RLSClassifier).",
                stacklevel=4,
            )
            l = len(labels.labeled)
            alone: Any = LSSVMClassifier(1.0 / (self.lam * l)) if self.bias else RLSClassifier(self.lam)
            plain = alone.solve(state, labels)
            info = {"balance": self._shares(labels)}
            reason = "Every row is labeled, so this is plain RLSC without a search."
            return replace(plain, result=Result(labels.codes.copy(), gap=plain.result.gap, reason=reason, info=info))
        wanted = self._estimate(state, labels)
        moments = _Moments(state, labels, self.lam_unlabeled, self.bias)
        coef, constant, result = self._fit_labels(moments, labels, self.lam, self.n_restarts, wanted)
        result.info["balance"] = self._shares(labels) if wanted is None else wanted[0]
        if wanted is not None:
            result.info["balance_error"] = wanted[1]
        return Solution(coef, constant, result, lambda: self._folds(state, labels, [{}], wanted)[0])

    def _fit_labels(self, moments, labels, lam, n_restarts, wanted=None, trial=False, keep=False):
        """(coefficients, constants, result) for one λ and `wanted` (fractions, errors). `keep` if other λ follow."""
        W, T = moments.search_rows(lam, keep)
        shares, slack = self._shares(labels), self.balance_slack
        if wanted is not None:
            free = max(len(labels.labeled) - labels.n_classes, 1)
            interval = stdtrit(free, 0.975) * np.max(wanted[1])  # half of a 95% interval by Student's t
            shares, slack = wanted[0], min(slack, float(interval))
        if shares is not None and (trial or isinstance(self.balance, str)):
            # With this number of unlabeled rows, no count may be close enough to a fraction. Then widen the limit.
            u = len(labels.codes) - len(labels.labeled)
            one_flip = 1.0 / u if self.search in ("ea", "round_robin") else 0.0  # these need two counts to move between
            slack = max(slack, smallest_slack(u, shares) + one_flip)
        options = {
            "slack": slack,
            "total": float(moments.row_weight.sum()),  # 1 + λ'
            "search": self.search,
            "n_parents": self.n_parents,
            "n_children": self.n_children,
            "n_restarts": n_restarts,
            "time_budget": self.time_budget if not trial or self.time_budget is None else self.time_budget / 10,
            "n_jobs": self.n_jobs,
            "random_state": seed_of(self.random_state),
            "verbose": 0 if trial else self.verbose,
            "certify": not trial,
        }
        k = labels.n_classes
        if k == 2 or self.multi_class == "joint":
            result = label_search(W, labels.codes, shares=shares, n_classes=k, **options)
            return *moments.split(coefficients(W, T, result.value, k)), result
        columns, results = [], []
        for c in range(k):
            own = np.where(labels.codes < 0, -1, (labels.codes == c).astype(int))
            two = None if shares is None else [1.0 - shares[c], shares[c]]
            results.append(label_search(W, own, shares=two, n_classes=2, **options))
            columns.append(coefficients(W, T, results[-1].value, 2))
        return *moments.split(np.hstack(columns)), together(results, None, results=results)

    def _fold_fits(self, state, labels, folds, candidates, wanted):
        """(candidate number, positions of the held-out labels, coefficients, constants) of fits without them."""
        n_restarts = min(self.n_restarts, 10)  # to judge parameters or to calibrate, as in the paper
        several = len(candidates) > 1
        for test, kept in labels.folds(folds):
            moments: dict = {}
            for number, candidate in enumerate(candidates):
                lam_unlabeled = candidate.get("lam_unlabeled", self.lam_unlabeled)
                if lam_unlabeled not in moments:
                    moments[lam_unlabeled] = _Moments(state, kept, lam_unlabeled, self.bias)
                lam = candidate.get("lam", self.lam)
                coef, constant, _ = self._fit_labels(
                    moments[lam_unlabeled], kept, lam, n_restarts, wanted, True, several
                )
                yield number, test, coef, constant

    def _folds(
        self, state: State, labels: Labels, candidates: list, wanted: tuple[np.ndarray, np.ndarray] | None = None
    ) -> np.ndarray:
        """Held-out scores (m, l, k') for candidate parameters, by folds over the labels."""
        out = np.full((len(candidates), *labels.signs.shape), np.nan)
        for number, test, coef, constant in self._fold_fits(state, labels, self.label_folds, candidates, wanted):
            out[number, test] = take(state.Z, labels.labeled[test]) @ coef + constant
        return out

    def _estimate(self, state, labels):
        """(fractions, standard errors) of the classes among the unlabeled rows, by searches with held-out labels.

        None if the balance is given.
        """
        if len(labels.labeled) == len(labels.codes) or not is_estimated(self.balance):
            return None

        def fits(wanted: tuple[np.ndarray, np.ndarray] | None) -> Iterator:
            for _, *found in self._fold_fits(
                state, labels, self.label_folds or S2RLSClassifier.label_folds, [{}], wanted
            ):
                yield tuple(found)

        return estimated_shares(fits, state, labels)

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        candidates = product_of(
            {"lam": 2.0 ** np.arange(-10, 11, 2), "lam_unlabeled": [0.1, 1.0]} if grid is None else grid
        )
        candidates = [{name: float(value) for name, value in candidate.items()} for candidate in candidates]
        return candidates, self._folds(state, labels, candidates, self._estimate(state, labels))

    def _shares(self, labels: Labels) -> np.ndarray:
        """(k,) wanted fractions, or None."""
        return shares_of(self.balance, labels)


class _Moments:
    """Weights d² and eigenpairs of Zᵀ D² Z for one labeling, one λ' and all λ.

    A bias b = Σ d² (y − w · z) / Σ d² that is not penalized subtracts the weighted mean from the rows and from y. As
    Σ d² (y − ȳ)² = Σ d² − (Σ d² y)² / Σ d², this adds one column d² / √Σ d² to W, and the search does not change.
    """

    def __init__(self, state: State, labels: Labels, lam_unlabeled: float, bias: bool = False) -> None:
        n, l = len(labels.codes), len(labels.labeled)
        Z, G = state.Z, state.moments.G
        Z_l = take(Z, labels.labeled)
        G_l = Z_l.T @ Z_l
        self.row_weight = np.full(n, lam_unlabeled / (n - l))
        self.row_weight[labels.labeled] = 1.0 / l
        self.total, self.center = 1.0 + lam_unlabeled, None
        C = G_l / l + (lam_unlabeled / (n - l)) * (G - G_l)
        if bias:
            everything, own = n * state.moments.mean, Z_l.sum(axis=0)
            self.center = (own / l + lam_unlabeled / (n - l) * (everything - own)) / self.total
            C = C - self.total * np.outer(self.center, self.center)
        self.basis = search_basis(C)
        self.Z, self.rotated = Z, None

    def search_rows(self, lam: float, keep: bool) -> tuple[np.ndarray, np.ndarray]:
        """W and T for one λ. `keep` stores the rotated rows, so that the next λ needs a scaling and no product."""
        if not keep:
            return self._with_bias(*search_rows(self.Z, self.row_weight, self.basis, lam, self.center))
        if self.rotated is None:
            self.rotated = rotated_rows(self.Z, self.row_weight, self.basis, self.center)
        return self._with_bias(*scaled_rows(self.rotated, self.basis, lam))

    def _with_bias(self, W: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.center is None:
            return W, T
        root = np.sqrt(self.total)
        wide = np.zeros((T.shape[0] + 1, T.shape[1] + 1))
        wide[:-1, :-1], wide[-1, -1] = T, 1.0 / root
        return np.ascontiguousarray(np.column_stack([W, self.row_weight / root])), wide

    def split(self, found: np.ndarray) -> tuple[np.ndarray, float]:
        """(coefficients, constants) from the result of `coefficients`."""
        if self.center is None:
            return found, 0.0
        return found[:-1], found[-1] - self.center @ found[:-1]
