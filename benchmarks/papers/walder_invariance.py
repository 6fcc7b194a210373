"""Invariance by gradient penalties (Walder et al. 2010, §6): digits from ten labels, with and without shifts.

    python -m benchmarks.papers.walder_invariance [--draws 100] [--quick]

scikit-learn's 1,797 images of digits, one label drawn for each of the ten classes, --draws times. LS-KPCA and the
LS-SVM with the term mean (v·∇f)², v the shifts of `ImageShifts(8, 8)`, at several weights next to none: mean error over
the images without a label, and the mean difference to no term on the same draws with its standard error. Everything
else is fixed (kernel width, c, s²/n, γ), so that nothing is chosen on the labels. `--quick` takes 10 draws. Written to
benchmarks/results/walder_invariance.md; about two minutes on one core.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.harness import arguments, machine, markdown, publish
from mercer import RBF, ImageShifts, LeastSquaresKPCA, LSSVMClassifier, bandwidth_of
from mercer.inputs.labels import read_labels

WEIGHTS = (0.0, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.5, 1.0)
METHODS = {
    "LS-KPCA, c = 10, s²/n = 0.1": LeastSquaresKPCA(10.0, 0.1),
    "LS-KPCA, c = 1, s²/n = 0.1": LeastSquaresKPCA(1.0, 0.1),
    "LS-SVM, γ = 10": LSSVMClassifier(10.0),
}


def errors(model, X, y, draws):
    """(weights, draws) errors in per cent: the features and their derivatives are made once, for all of them."""
    state = model.set_params(invariance=ImageShifts(8, 8)).routes(X, y)[0].state
    Z, out = np.asarray(state.Z), np.empty((len(WEIGHTS), len(draws)))
    for j, rows in enumerate(draws):
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        labels, hidden = read_labels(given), np.setdiff1d(np.arange(len(y)), rows)
        for i, weight in enumerate(WEIGHTS):
            solution = model.set_params(invariance_weight=weight).solve(state, labels)
            guess = (Z[hidden] @ solution.coef + solution.intercept).argmax(axis=1)
            out[i, j] = 100 * np.mean(guess != y[hidden])
    return out


def main():
    options = arguments(__doc__, draws={"type": int, "default": 100, "help": "draws of ten labels"})
    n_draws, begin = 10 if options.quick else options.draws, time.time()
    X, y = load_digits(return_X_y=True)
    X, median, rng = X / 16, bandwidth_of(X / 16), np.random.default_rng(0)
    draws = [np.array([rng.choice(np.flatnonzero(y == c)) for c in range(10)]) for _ in range(n_draws)]
    rows = []
    for name, model in METHODS.items():
        for width in WIDTHS:
            found = errors(model.set_params(kernel=RBF(width * median)), X, y, draws)
            row = {"method": name, "width / median": width, "none": f"{found[0].mean():.1f}"}
            for weight, some in zip(WEIGHTS[1:], found[1:]):
                gain = found[0] - some
                unit = gain.std(ddof=1) / np.sqrt(n_draws)
                row[f"weight {weight:g}"] = f"{some.mean():.1f} (gain {gain.mean():.1f} ± {unit:.1f})"
            rows.append(row)
            print(row, flush=True)
    text = [
        "# Walder et al. 2010, §6: invariance by gradient penalties",
        "",
        f"Error in percent on 1,787 images of digits from ten labels, one per class, over {n_draws} draws. The gain "
        "over no term is on the same draws ± its standard error. Directions are one-pixel shifts, "
        "`invariance=ImageShifts(8, 8)`. Nothing is chosen on labels.",
        "",
        markdown(rows),
        "",
        f"Command: `python -m benchmarks.papers.walder_invariance`; {(time.time() - begin) / 60:.1f} minutes. "
        + machine(),
        "",
    ]
    publish("walder_invariance", "\n".join(text), options.quick)


if __name__ == "__main__":
    main()
