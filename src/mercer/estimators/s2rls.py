"""Semi-supervised regularised least squares by a search over the unknown labels (Gieseke et al. 2012)."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..errors import InputError
from ..evidence.shares import class_shares
from ..inputs.labels import Labels
from ..inputs.weights import seed_of
from ..rows import take, tdot
from ..solvers.label_search.features import coefficients, rotated_rows, scaled_rows, search_basis, search_rows
from ..solvers.label_search.solve import SEARCHES, label_search, smallest_slack
from ..solvers.result import Result, together
from ..solvers.ridge.state import State
from .balance import shares_of
from .classifier import KernelClassifier
from .grid import product_of
from .parameters import COUNT, POSITIVE, THREADS, parameter
from .rls import RLSClassifier
from .solution import Solution

LAMBDAS = 2.0 ** np.arange(-10, 11, 2)
SHARE = Interval(Real, 0, 1, closed="both")
TRIAL_RESTARTS = 10  # of a search that only judges parameters or calibrates, as in the paper
LABEL_FOLDS = 5
COUNTED = 0.25  # of a label, as evidence of the shares: labels are often picked, not drawn
SHARE_ROUNDS = 3  # at most, in which shares are estimated and the labels searched again


@dataclass(eq=False, repr=False)
class S2RLSClassifier(KernelClassifier):
    """Classify by least squares with the unknown labels searched for, so that the boundary avoids dense regions.

    .. math:: \\min_{w,\\; y_U \\in \\{\\pm 1\\}^u} \\tfrac1l \\sum_{i \\in L} (t_i - w \\cdot \\varphi(x_i))^2
        + \\tfrac{\\lambda'}{u} \\sum_{i \\in U} (y_i - w \\cdot \\varphi(x_i))^2 + \\lambda \\|w\\|^2,
        \\quad |\\text{share}_c(y_U) - b_c| < \\varepsilon

    Use it when the classes form clusters and the share of each class among the unlabelled rows is roughly known: with
    few labels the gain over `RLSClassifier` can be large, and a wrong share or a misleading cluster structure costs as
    much. With more than two classes the objective is the mean of the one-against-rest ones.

    Parameters
    ----------
    lam : penalty λ.
    lam_unlabeled : weight λ' of the unlabelled rows beside the labelled ones.
    balance : "labels", "estimate", float, dict, array or None, default="labels"
        Wanted share of each class among the unlabelled rows: as among the labels; unknown, and estimated by searches
        that withhold labels (see Notes); of ``classes_[1]`` (a number, two classes); {class: share} or one share per
        sorted class; None for no constraint (one class may take all rows).
    balance_slack : float, default=0.2
        ε: a share may be off by less than this. The paper uses 0.2 where the share comes from the labels, else 0.1.
        Shares that were estimated may be off by twice their standard error, where that is less.
    search : {"auto", "tabu", "ea", "round_robin"}, default="auto"
        How labels are searched; see `mercer.solvers.label_search.solve`. "ea" and "round_robin" are the paper's.
    n_parents, n_children : int, default=5 and 25
        μ and ν of search="ea": labelings kept in each generation, and made from them by a flip each.
    n_restarts : int, default=50
        Searches from different starts; the best is kept. (10 where a fit only judges parameters or calibrates.)
    multi_class : with more than two classes, "joint" is one search over all labels, "one_vs_rest" one per class.
    label_folds : int, default=5
        Fits that each withhold some labels, behind `predict_proba` and `left_out_accuracy_`; also how `select` judges
        candidates (the paper's "realistic" choice). 0: none, and only the prior calibrates.
    time_budget : float or None, default=None
        Seconds after which the search returns the best labels so far; a tenth of it for each fit of `label_folds`.
    n_jobs, verbose : threads of the search (None or -1: as many as BLAS may use); 1 prints progress.
    kernel, approx, random_state, missing_label : see `KernelClassifier`.

    Attributes
    ----------
    result_ : what the search found: F, its spectral lower bound, the gap, evaluations per second; with
        multi_class="one_vs_rest" its ``info["results"]`` has one result per class.
    transduction_ : (n,) the given label, or the one the search found.
    balance_ : (k,) the shares used, or None; where they were estimated, ``result_.info["balance_error"]`` has their
        standard errors.
    coef_, classes_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    balance="estimate": a withheld row is scored like an unlabelled one, so the mean score of the unlabelled rows is the
    mean of the classes' withheld scores, weighted by the shares (`mercer.evidence.shares`). The numbers of the labels
    count for a quarter, because labels are often picked. The search is repeated with what follows, up to three times
    in all, each time label_folds searches of 10 restarts. It needs two labels per class.

    Cost: O(n r²) once, then O(r) or O(1) per flip tried; 1 + label_folds such fits. NumPy and torch (the search is on
    the host); not Dask.
    Reference: Gieseke, Kramer, Airola, Pahikkala: Efficient recurrent local search strategies for semi- and
    unsupervised regularized least-squares classification. Evolutionary Intelligence, 2012.

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
    balance: Any = parameter("labels", StrOptions({"labels", "estimate"}), SHARE, dict, "array-like", None)
    balance_slack: float = parameter(0.2, POSITIVE)
    search: str = parameter("auto", StrOptions(set(SEARCHES)))
    n_parents: int = parameter(5, COUNT)
    n_children: int = parameter(25, COUNT)
    n_restarts: int = parameter(50, COUNT)
    multi_class: str = parameter("joint", StrOptions({"joint", "one_vs_rest"}))
    label_folds: int = parameter(LABEL_FOLDS, Options(Integral, {0}), Interval(Integral, 2, None, closed="left"))
    time_budget: float | None = parameter(None, POSITIVE, None)
    n_jobs: int | None = parameter(None, COUNT, THREADS, None)
    verbose: int = parameter(0, "verbose")

    def fit(self, X, y):  # type: ignore[override]  # a row that counts twice is not two rows to search
        """Fit on all rows; y holds class names and marks the unlabelled rows (NaN, None, "" or -1)."""
        super().fit(X, y)
        if self.result_.value is not None:
            self.transduction_ = self.classes_[self.result_.value]
        return self

    def solve(self, state: State, labels: Labels) -> Solution:
        if labels.soft:
            raise InputError(
                "y holds class probabilities strictly between 0 and 1, and the label search needs one class per "
                "labelled row. Give class names, or mark the rows you are not sure of as unlabelled."
            )
        if len(labels.labelled) == len(labels.codes):
            warnings.warn(
                "Every row is labelled, so there are no labels to search: this is plain RLSC (RLSClassifier).",
                stacklevel=4,
            )
            plain = RLSClassifier(lam=self.lam).solve(state, labels)
            reason, info = "Every row is labelled: plain RLSC, nothing was searched.", {"balance": self._shares(labels)}
            return replace(plain, result=Result(labels.codes.copy(), gap=plain.result.gap, reason=reason, info=info))
        wanted = self._estimate(state, labels)
        moments = _Moments(state, labels, self.lam_unlabeled)
        coef, result = self._fit_labels(moments, labels, self.lam, self.n_restarts, wanted)
        result.info["balance"] = self._shares(labels) if wanted is None else wanted[0]
        if wanted is not None:
            result.info["balance_error"] = wanted[1]
        return Solution(coef, 0.0, result, lambda: self._folds(state, labels, [{}], wanted)[0])

    def _fit_labels(self, moments, labels, lam, n_restarts, wanted=None, trial=False, keep=False):
        """(coefficients, result) for one λ and `wanted` (shares, errors); `keep` says that other λ follow."""
        W, T = moments.search_rows(lam, keep)
        shares, slack = self._shares(labels), self.balance_slack
        if wanted is not None:
            shares, slack = wanted[0], min(slack, 2 * float(np.max(wanted[1])))
        if shares is not None and (trial or isinstance(self.balance, str)):
            # A share from the labels, or the user's for a fold's other number of rows, may fit no count: widen it.
            u = len(labels.codes) - len(labels.labelled)
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
            return coefficients(W, T, result.value, k), result
        columns, results = [], []
        for c in range(k):
            own = np.where(labels.codes < 0, -1, (labels.codes == c).astype(int))
            two = None if shares is None else [1.0 - shares[c], shares[c]]
            results.append(label_search(W, own, shares=two, n_classes=2, **options))
            columns.append(coefficients(W, T, results[-1].value, 2))
        return np.hstack(columns), together(results, None, results=results)

    def _fold_fits(self, state, labels, folds, candidates, wanted):
        """(candidate number, positions of the withheld labels, coefficients): withheld rows are unlabelled."""
        n_restarts = min(self.n_restarts, TRIAL_RESTARTS)
        several = len(candidates) > 1
        for test, kept in labels.folds(folds):
            moments: dict = {}
            for number, candidate in enumerate(candidates):
                lam_unlabeled = candidate.get("lam_unlabeled", self.lam_unlabeled)
                if lam_unlabeled not in moments:
                    moments[lam_unlabeled] = _Moments(state, kept, lam_unlabeled)
                lam = candidate.get("lam", self.lam)
                coef, _ = self._fit_labels(moments[lam_unlabeled], kept, lam, n_restarts, wanted, True, several)
                yield number, test, coef

    def _folds(self, state, labels, candidates, wanted=None):
        """Left-out scores (m, l, k') for candidate parameters: folds over the labels."""
        out = np.full((len(candidates), *labels.signs.shape), np.nan)
        for number, test, coef in self._fold_fits(state, labels, self.label_folds, candidates, wanted):
            out[number, test] = take(state.Z, labels.labelled[test]) @ coef
        return out

    def _estimate(self, state, labels):
        """(shares, standard errors) of the classes among the unlabelled rows, by searches that withhold labels.

        None where the balance is given.
        """
        u = len(labels.codes) - len(labels.labelled)
        if u == 0 or not (isinstance(self.balance, str) and self.balance == "estimate"):
            return None
        mean = tdot(state.Z, (labels.codes < 0) / u)
        codes, counts = labels.codes[labels.labelled], COUNTED * labels.counts()
        wanted = None
        for _ in range(SHARE_ROUNDS):
            scores, average, tested = np.full(labels.signs.shape, np.nan), 0.0, 0
            for _, test, coef in self._fold_fits(state, labels, self.label_folds or LABEL_FOLDS, [{}], wanted):
                scores[test] = take(state.Z, labels.labelled[test]) @ coef
                average, tested = average + len(test) * (mean @ coef), tested + len(test)
            before, wanted = wanted, class_shares(scores, codes, average / max(tested, 1), labels.n_classes, counts)
            if before is not None and np.all(np.abs(wanted[0] - before[0]) <= wanted[1] / 4):
                break
        return wanted

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        candidates = product_of({"lam": LAMBDAS, "lam_unlabeled": [0.1, 1.0]} if grid is None else grid)
        candidates = [{name: float(value) for name, value in candidate.items()} for candidate in candidates]
        return candidates, self._folds(state, labels, candidates, self._estimate(state, labels))

    def _shares(self, labels):
        """(k,) wanted shares, or None."""
        return shares_of(self.balance, labels)


class _Moments:
    """What one labelling and one λ' share over all λ: weights d², eigenpairs of Zᵀ D² Z. G = ZᵀZ serves all."""

    def __init__(self, state, labels, lam_unlabeled):
        n, l = len(labels.codes), len(labels.labelled)
        Z, G = state.Z, state.moments.G
        Z_l = take(Z, labels.labelled)
        G_l = Z_l.T @ Z_l
        self.row_weight = np.full(n, lam_unlabeled / (n - l))
        self.row_weight[labels.labelled] = 1.0 / l
        self.basis = search_basis(G_l / l + (lam_unlabeled / (n - l)) * (G - G_l))
        self.Z, self.rotated = Z, None

    def search_rows(self, lam, keep):
        """W and T for one λ; `keep` stores the rotated rows, so that the next λ is a scaling, not a product."""
        if not keep:
            return search_rows(self.Z, self.row_weight, self.basis, lam)
        if self.rotated is None:
            self.rotated = rotated_rows(self.Z, self.row_weight, self.basis)
        return scaled_rows(self.rotated, self.basis, lam)
