"""What is known about the cells of walder.md that differ from the paper's; walder_page.py writes it into the page.

    python -m benchmarks.papers.walder_reasons --data DIR [--quick]

Computes the evidence for the reasons, on the official splits, and writes results/walder_reasons.csv (about two
minutes on one core):

* the margin of the SVM: KPCA-10 with 100 labels at the median width, C = 100, and 10⁶ (300,000 steps);
* centering: G-LS by CV error with 10 neighbors and τ = 3 or 30, with the variance about the mean, and about 0;
* the first principal component: LS-KPCA with c = 0.001, s²/n = 1, at the median width, on g241c.
"""

import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness import arguments, read_csv, write_csv
from benchmarks.papers.walder_data import Data
from benchmarks.papers.walder_methods import components, least_squares, machine
from mercer.solvers.sphere.secular import constrained_least_squares

HARD_SETS = ("g241c", "g241d", "digit1", "usps", "bci", "text")
CENTER_SETS = ("digit1", "g241c", "coil", "text")
WRONG_PAIR = (
    "The set has two distant pairs of clusters, and each pair contains both classes. The smoothest function on the "
    "graph separates the pairs. Ten labels do not change that, so the error is 50% with hardly any spread."
)
CHANCE = "Ten labels are not enough for this set. Every method is near 50%, here and in the paper."
FLIPPED = (
    "The paper's error is far above 20%, the error of predicting no positive row. Its functions must have had the "
    "wrong sign or threshold on most splits."
)
KNOWN: dict = {(method, 10, "bci"): CHANCE for method in ("LR-KPCA", "M-LS", "G-LS")}
KNOWN |= {(method, 10, "g241d"): WRONG_PAIR for method in ("G-LS", "M-LS")}
KNOWN |= {(method, 10, "usps"): FLIPPED for method in ("MV-KPCA", "MV-KPCA-10")}
ABOVE = {"KPCA-10": "the SVM", "MV-KPCA-10": "the SVM", "G-LS": "graphs", "M-LS": "graphs"}


def why(cell, other):
    """A sentence on a cell by margins, given the same cell by the paper's rule."""
    if other.side == "agree":
        rule = f"The rule explains it. By CV error it is {other.ours:.1f}, which agrees ({other.off:+.1f} s.e.)."
    elif other.side == cell.side:
        rule = f"The rule does not explain it. By CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    else:
        rule = f"By CV error it is {other.ours:.1f} ({other.off:+.1f} s.e.)."
    note = KNOWN.get((cell.method, cell.labels, cell.name), "")
    if (cell.method, cell.labels, cell.name) == ("LR-KPCA", 100, "g241c"):
        note = (
            "The candidates have nearly the same quality. LS-KPCA with c = 0.001, nearly the first principal "
            f"component, has {_means('first component', '')['g241c', '100']:.1f}%. The choice on the labels costs the "
            "difference."
        )
    if not note and cell.side == "better" and cell.method in ABOVE:
        note = f"See {ABOVE[cell.method]} above."
    return f"{rule} {note}".rstrip()


def overview(cells):
    """Why the cells differ, in words."""
    margin = [cell for cell in cells.values() if cell.rule == "margin" and cell.side == "better"]
    same = [cell for cell in margin if cells[cell.method, cell.labels, cell.name, "cv"].side == "better"]
    soft, hard = _means("margin", "C = 100"), _means("margin", "C = 1e6")
    told = ", ".join(f"{name} {hard[name, '100']:.1f} and {soft[name, '100']:.1f}" for name in HARD_SETS)
    paper = {name: cells["KPCA-10", 100, name, "cv"].paper for name in HARD_SETS}
    inside = [name for name in HARD_SETS if soft[name, "100"] < paper[name] < hard[name, "100"]]
    zero, mean = _means("variance", "about 0"), _means("variance", "about the mean")
    rows = []
    for l in ("10", "100"):
        for name in CENTER_SETS:
            cell = cells["G-LS", int(l), name, "cv"]
            rows.append(f"{cell.paper:.1f}, {zero[name, l]:.1f} and {mean[name, l]:.1f} on {name} with {l}")
    return [
        f"Of the {len(margin)} cells that are better by margins, {len(same)} are better by the paper's rule too, so "
        "the rule is not the reason. Two other reasons were tested (`python -m benchmarks.papers.walder_reasons --data "
        "DIR`, two minutes):",
        "",
        "- **The SVM.** The paper's has a hard margin, and mercer's has C = 100. A hard margin is much worse on labels "
        f"that cannot be separated. KPCA-10 with 100 labels at the median width has, with C = 10⁶ and with C = 100: "
        f"{told}. The paper's figures are between the two on {', '.join(inside)}. This is a likely reason for the "
        "better cells of KPCA-10 and MV-KPCA-10, which was not tested further. Such a machine is stopped after 300,000 "
        "steps.",
        "- **Graphs.** The paper may use the variance about 0 in place of that about the mean (its form for the bound "
        "and for the SGT), or fewer graphs. The numbers are for G-LS by CV error with 10 neighbors and τ = 3 or 30 "
        f"alone. The errors in %, of the paper, about 0 and about the mean, are {', '.join(rows)} labels.",
        "",
        "The variance about 0 raises digit1, g241c and text with 10 labels, the last two above the paper's figures. It "
        "changes little on coil and on digit1 with 100. On g241c with 100 labels one number of neighbors alone, about "
        "the mean, gives the paper's figure, and on coil it costs 5 points. Either may explain better cells of G-LS "
        "and M-LS. Neither explains all of them, and which one the paper used is not known.",
        "",
        "By CV error, ties among dozens of candidates are broken at random, and the mean error is higher in most "
        "cells. The rule by margins avoids such ties.",
    ]


def _means(part, setting):
    """{(set, labels): mean error}."""
    found: dict = {}
    for row in read_csv("walder_reasons"):
        if (row["part"], row["setting"]) == (part, setting):
            found.setdefault((row["set"], row["labels"]), []).append(float(row["error"]))
    return {key: np.mean(errors) for key, errors in found.items()}


def margins(data, splits):
    """(labels, split, setting, error) of KPCA-10 with two margins."""
    F = components(*data.width(1.0), np.zeros(0, int), np.zeros(0, int), 0.0)
    for split, rows in enumerate(data.splits[100][:splits]):
        for C, name in ((100.0, "C = 100"), (1e6, "C = 1e6")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the hard one ends at its number of steps
                scores = machine(F, rows, data.codes[rows], C, 300_000)
            yield 100, split, name, data.error(scores, rows)


def centering(data, splits):
    """The same of G-LS with two variances."""
    for name, centered in (("about the mean", True), ("about 0", False)):
        pairs = [data.diffusion(10, tau, centered) for tau in (3.0, 30.0)]
        for l in (10, 100):
            for split, rows in enumerate(data.splits[l][:splits]):
                found = least_squares(data, rows, pairs, (0.1, 10.0, 1000.0), folds=False)
                yield l, split, name, found.errors(split, threshold=False)["cv"]


def first_component(data, splits):
    """The same of LS-KPCA with hardly any weight on the labels."""
    theta, Z = data.width(1.0)
    for split, rows in enumerate(data.splits[100][:splits]):
        scores = Z @ constrained_least_squares(theta, Z[rows], data.targets[rows], 0.001, data.n).value
        yield 100, split, "", data.error(scores, rows)


PARTS = {
    "margin": (margins, HARD_SETS),
    "variance": (centering, CENTER_SETS),
    "first component": (first_component, ("g241c",)),
}


def main():
    options = arguments(__doc__, data="required")
    rows = []
    for name in dict.fromkeys((*HARD_SETS, *CENTER_SETS)):
        data = Data(options.data, name)
        for part, (compute, sets) in PARTS.items():
            if name in sets:
                for l, split, setting, error in compute(data, 2 if options.quick else 12):
                    own = {"part": part, "set": name, "labels": l, "split": split, "setting": setting}
                    rows.append(own | {"error": f"{100 * error:.2f}"})
        print(name, len(rows), flush=True)
        if not options.quick:
            write_csv("walder_reasons", rows)


if __name__ == "__main__":
    main()
