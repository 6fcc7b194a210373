"""Choosing the width, c and s of LS-KPCA by held-out labels: mercer against one n × n solve per root step.

    python -m benchmarks.speed.secular --data DIR [--threads 2] [--quick]

Prints, and writes to benchmarks/results/secular.md and secular.csv:

- the seconds of `LeastSquaresKPCA().select` over 5 widths × 7 label weights × 7 variances with each of 100 labels
  held out in turn, on the 1,500 rows of Digit1 (USPS and g241c too without --quick), including the decompositions and
  the final fit;
- the seconds a single held-out fit takes the paper's way (bracket and Brent's method, a Cholesky solve with the n × n
  matrix at each step), on a reduced grid, and how the two compare per held-out fit;
- how far the held-out values of the two ways differ on that reduced grid.

BLAS runs with --threads threads for both. The ratio is one of CPU seconds, which other work on the machine hardly
changes. Use --threads 1 if there is other work.
"""

import time

import numpy as np
import scipy.linalg as sla
from scipy.optimize import brentq

from benchmarks.harness import arguments, machine, markdown, publish, write_csv
from mercer import RBF, LeastSquaresKPCA, bandwidth_of
from mercer.backend import blas_threads

WIDTHS = (0.5, 0.7, 1.0, 2.0, 4.0)
WEIGHTS, VARIANCES = np.geomspace(1e-3, 1e3, 7).tolist(), np.geomspace(1e-2, 10.0, 7).tolist()
REDUCED = [(0.1, 0.1), (10.0, 1.0)]  # (c, s²/n) of the paper's way


class DirectSolves:
    """The paper's way: every step of the root search solves a system with the n × n matrix C − ζP."""

    def __init__(self, X, kernel):
        K = kernel(X)
        n = len(K)
        self.Z = np.linalg.cholesky(K + 1e-10 * np.eye(n))
        mean = self.Z.sum(axis=0)
        self.P = self.Z.T @ self.Z - np.outer(mean, mean) / n

    def value(self, rows, t, left, c, spread):
        """f at the held-out row; n_steps counts the solves."""
        A = self.Z[rows]
        C, b = np.eye(len(self.P)) + c * A.T @ A, c * A.T @ t
        self.n_steps = 0
        kept = {}

        def excess(zeta):
            self.n_steps += 1
            try:
                factor = sla.cho_factor(C - zeta * self.P, check_finite=False)
            except sla.LinAlgError:
                return np.inf
            kept["w"] = sla.cho_solve(factor, b, check_finite=False)
            return float(kept["w"] @ self.P @ kept["w"]) - spread

        low, high = 0.0, 0.0
        step = 1.0 / float(np.max(np.diag(self.P)))
        if excess(0.0) > 0:
            while excess(low - step) > 0:
                low, step = low - step, 2 * step
            low, high = low - step, low
        else:
            top = np.inf
            trial = step
            while True:  # up to δ from below: the first point with too much variance closes the bracket
                value = excess(trial)
                if value == np.inf:
                    top = trial
                elif value > 0:
                    high = trial
                    break
                else:
                    low = trial
                trial = (low + top) / 2 if np.isfinite(top) else 2 * trial
        brentq(excess, low, high, xtol=1e-300, rtol=1e-10)
        return float(self.Z[left] @ kept["w"])


def compare(data, name, quick):
    file = np.load(data / f"ssl_{name}.npz")
    X, y, rows = file["X"].astype(float), file["y"], file["labeled_100"][0]
    labels = np.full(len(y), np.nan)
    labels[rows] = y[rows] > y.min()
    median = bandwidth_of(X)
    kernels = [RBF(factor * median) for factor in WIDTHS]
    start, begin_cpu = time.perf_counter(), time.process_time()
    model = LeastSquaresKPCA(kernel=kernels[2]).select(
        X, labels, kernel=kernels, label_weight=WEIGHTS, variance=VARIANCES
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - begin_cpu
    n_fits = len(WIDTHS) * len(WEIGHTS) * len(VARIANCES) * len(rows)

    direct, truth, took, steps = DirectSolves(X, kernels[1]), [], [], []
    t = np.where(labels[rows] > 0, 1.0, -1.0)
    some = range(2 if quick else 5)
    for c, v in REDUCED:
        for i in some:
            rest = np.arange(len(rows)) != i
            begin = time.process_time()
            truth.append(direct.value(rows[rest], t[rest], rows[i], c, v * len(y)))
            took.append(time.process_time() - begin)
            steps.append(direct.n_steps)
    order = np.argsort(rows)  # the table's labels come in the order of the rows
    grid = {"label_weight": [c for c, _ in REDUCED], "variance": [v for _, v in REDUCED]}
    _, left_out, _ = LeastSquaresKPCA(kernel=kernels[1]).left_out_table(X, labels, grid=grid)
    ours = left_out[1:].reshape(2, 2, -1)
    place = np.argsort(order)
    found = [ours[k, k, place[i]] for k in range(2) for i in some]
    hidden = np.setdiff1d(np.arange(len(y)), rows)
    error = np.mean(model.transduction_[hidden] != (y[hidden] > y.min()))
    return {
        "set": name,
        "grid_s": f"{seconds:.1f}",
        "grid_cpu_s": f"{cpu:.1f}",
        "held_out_fits": n_fits,
        "cpu_ms_per_fit": f"{1000 * cpu / n_fits:.2f}",
        "paper_cpu_s_per_fit": f"{np.median(took):.2f}",
        "paper_steps": int(np.median(steps)),
        "ratio": f"{np.median(took) * n_fits / cpu:.0f}",
        "largest_difference": f"{np.max(np.abs(np.array(found) - truth)):.1e}",
        "test_error": f"{100 * error:.1f}%",
    }


def main():
    given = arguments(__doc__, data="required", threads=2)
    names = ["digit1"] if given.quick else ["digit1", "usps", "g241c"]
    with blas_threads(given.threads):
        table = [compare(given.data, name, given.quick) for name in names]
    text = (
        "# Selection of LS-KPCA over the whole grid\n\n"
        "`LeastSquaresKPCA().select`, 5 widths × 7 label weights × 7 variances, each of 100 labels held out, "
        "1,500 rows. Decompositions and the final fit are included. "
        "The paper's way makes one n × n Cholesky solve per root step. "
        f"{given.threads} thread{'s' * (given.threads > 1)}, {machine()}.\n\n{markdown(table)}\n"
    )
    publish("secular", text, given.quick)
    if not given.quick:
        write_csv("secular", table)


if __name__ == "__main__":
    main()
