"""The methods of Walder et al. (2010) on one split, with their parameters chosen by two rules; called by walder.py.

"margin" is the rule of this library: the smallest mean hinge loss of the held-out margins, in units of a candidate's
own typical margin. "cv" is the paper's: the smallest error in ten-fold cross-validation over the labels (Table 2:
leaving out one label), ties broken at random, which is the mean error of up to five tied candidates.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from mercer.evidence.choice import hits
from mercer.evidence.margin import relative_hinge
from mercer.solvers.eigen.within_variance import within_group_rows, within_variance_components
from mercer.solvers.sphere.irls import constrained_margin_loss
from mercer.solvers.sphere.left_out import compress_for, left_out
from mercer.solvers.sphere.secular import constrained_least_squares

VARIANCES, FOLDS, TIES = np.geomspace(1e-2, 10.0, 7), 10, 5
LR_WEIGHTS, LR_VARIANCES = np.geomspace(0.1, 1e3, 5), np.geomspace(0.1, 30.0, 5)


class Candidates:
    """Parameters, what the two rules think of them, and a function that gives the scores of one on all rows."""

    def __init__(self, data, rows, fit):
        self.data, self.rows, self.fit, self.codes = data, rows, fit, data.codes[rows]
        self.parameters, self.margin, self.wrong = [], [], []

    def add(self, parameters, alone, folds):
        """alone, folds : (m, l, k') held-out scores for the margin rule and for cross-validation."""
        self.parameters += parameters
        self.margin += relative_hinge(alone, self.codes).mean(axis=1).tolist()
        self.wrong += (1 - hits(folds, self.codes).mean(axis=1)).tolist()

    def chosen(self, rule, seed):
        """(loss, candidates that are best by it)."""
        losses = np.array(self.margin if rule == "margin" else self.wrong)
        tied = np.flatnonzero(losses <= losses.min() + 1e-9)
        tied = tied[:1] if rule == "margin" else np.random.default_rng(seed).permutation(tied)[:TIES]
        return losses.min(), tied

    def errors(self, seed, threshold=True):
        """{rule: test error}; "cv svm" moves the threshold of the cv rule's function to that of an SVM on it."""
        out = {}
        for rule in ("margin", "cv"):
            scores = [self.fit(self.parameters[i]) for i in self.chosen(rule, seed)[1]]
            out[rule] = np.mean([self.data.error(s, self.rows) for s in scores])
        if threshold and self.data.targets.shape[1] == 1:
            out["cv svm"] = np.mean([self.data.error(machine(s, self.rows, self.codes), self.rows) for s in scores])
        return out


def folds_of(codes, number=FOLDS):
    """Folds of the labels, classes spread evenly."""
    order = np.argsort(codes, kind="stable")
    return [np.sort(order[fold::number]) for fold in range(min(number, len(codes)))]


def least_squares(data, rows, pairs, weights, folds=True):
    """LS-KPCA over (theta, Z) pairs, label weights and variances."""
    targets, spreads = data.targets[rows], data.n * VARIANCES

    def fit(parameters):
        i, c, v = parameters
        theta, Z = pairs[i]
        return Z @ constrained_least_squares(theta, Z[rows], targets, c, data.n * v).value

    found = Candidates(data, rows, fit)
    for i, (theta, Z) in enumerate(pairs):
        grid, shape = (theta, Z[rows], targets, weights, spreads), (-1, *targets.shape)
        alone = left_out(*grid, shrink=1e-3).reshape(shape)  # enough to choose by
        together = alone
        if folds and len(rows) > FOLDS:
            together = left_out(*grid, folds_of(found.codes), shrink=1e-3).reshape(shape)
        found.add([(i, c, v) for c in weights for v in VARIANCES], alone, together)
    return found


def margin_loss(data, rows, pairs, loss, steps):
    """LR-KPCA: the reweighting steps of every fit are added to `steps`, 999 where it did not converge."""
    t = data.targets[rows, 0]

    def solve(theta, Z_l, c, v, start=None):
        result = constrained_margin_loss(theta, Z_l, t, c, data.n * v, start=start, loss=loss)
        steps.append(result.n_iter if result.converged else 999)
        return result

    def fit(parameters):
        i, c, v = parameters
        theta, Z = pairs[i]
        return Z @ solve(theta, Z[rows], c, v).value[:, None]

    found = Candidates(data, rows, fit)
    folds = folds_of(found.codes)
    for i, (theta, Z) in enumerate(pairs):
        small, Z_l = compress_for(theta, Z[rows], t, LR_WEIGHTS, data.n * LR_VARIANCES, 1e-3)
        for c in LR_WEIGHTS:
            start = None
            for v in LR_VARIANCES:
                if start is not None:
                    start = start * np.sqrt(data.n * v / float(small @ start**2))
                result = solve(small, Z_l, c, v, start)
                start, last = result.value, (result.info["response"], [c / 2], [data.n * v])
                held = left_out(small, Z_l, *last, folds, costs=result.info["curvature"], shrink=0).reshape(1, -1, 1)
                found.add([(i, c, v)], held, held)
    return found


def components(theta, Z, rows, codes, weight):
    """Ten eigenfunctions of MV-KPCA on all rows, centered, on one scale."""
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    within = within_group_rows(Z[rows], groups)
    F = Z @ within_variance_components(sp.diags(theta), within, weight, 10).value
    F = F - F.mean(axis=0)
    return F / F.std(axis=0).max()


def machine(F, rows, codes, C=100.0, max_iter=-1):
    """(n, 1) scores of a linear SVM, hard margin where there is one, on functions of the labeled rows."""
    F = F / max(float(F.std(axis=0).max()), np.finfo(float).tiny)
    return SVC(kernel="linear", C=C, max_iter=max_iter).fit(F[rows], codes).decision_function(F)[:, None]


def eigenfunctions(data, rows, pairs, weights, sizes):
    """{m: Candidates} of an SVM on the first m eigenfunctions; width and weight by ten folds over the labels."""
    codes, made = data.codes[rows], {}

    def functions(i, w, some):
        key = (i, w, some.tobytes() if w else b"")
        if key not in made:
            made[key] = components(*pairs[i], rows[some] if w else rows[:0], codes[some] if w else codes[:0], w)
        return made[key]

    everything = np.arange(len(rows))
    out = {
        m: Candidates(data, rows, lambda p, m=m: machine(functions(*p, everything)[:, :m], rows, codes)) for m in sizes
    }
    for i in range(len(pairs)):
        for w in weights:
            held = {m: np.zeros((1, len(rows), 1)) for m in sizes}
            for test in folds_of(codes):
                rest = np.setdiff1d(everything, test)
                if len(np.unique(codes[rest])) < 2:
                    continue
                F = functions(i, w, rest)
                for m in sizes:
                    held[m][0, test] = machine(F[:, :m], rows[rest], codes[rest])[rows[test]]
            for m in sizes:
                out[m].add([(i, w)], held[m], held[m])
            made = {key: value for key, value in made.items() if not key[1]}  # those of the folds are used once
    return out
