"""Wrong labels found: 20 of 100 labels flipped at random, how many are among the 25 most suspicious.

    python -m benchmarks.accuracy.flipped --data DIR [--splits 12] [--quick]

The binary sets of the semi-supervised learning book on which FewLabelClassifier errs by less than 15% with 100 labels,
official splits. Prints and writes benchmarks/results/flipped.md: the fraction of the flipped labels within the first
25 of `suspicious` (target: at least 60%; drawing 25 at random finds 25%), and the error over the unlabeled rows before
and after the ten most suspicious labels are removed with `unteach`.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.accuracy.book import load
from benchmarks.harness import arguments, machine, markdown, publish
from mercer import FewLabelClassifier, suspicious

SETS = ["digit1", "usps", "g241c", "g241d"]
FLIPPED, LOOKED_AT, REMOVED = 20, 25, 10


def run(name, options):
    X, y, splits = load(options.data, name)
    model, found = None, []
    for split in range(1 if options.quick else options.splits):
        rows = splits[100][split]
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        free = given < 0
        model = FewLabelClassifier(time_budget=None).fit(X, given) if model is None else model.relabel(given)
        clean = np.mean(model.predicted_[free] != y[free])
        wrong = np.random.default_rng(split).choice(rows, FLIPPED, replace=False)
        given[wrong] = 1 - given[wrong]
        model.relabel(given)
        noisy = np.mean(model.predicted_[free] != y[free])
        first = suspicious(model, LOOKED_AT).rows
        caught = np.isin(wrong, first).mean()
        model.unteach(suspicious(model, REMOVED).rows)
        found.append((clean, noisy, np.mean(model.predicted_[free] != y[free]), caught))
    clean, noisy, fixed, caught = np.mean(found, axis=0)
    print(name, *(f"{100 * v:.1f}" for v in (clean, noisy, fixed, caught)), flush=True)
    return {
        "set": name,
        "error, correct labels": f"{100 * clean:.1f}",
        "error, 20 wrong": f"{100 * noisy:.1f}",
        "error, ten removed": f"{100 * fixed:.1f}",
        "flipped found in the first 25": f"{100 * caught:.0f}%",
    }, caught


def main():
    splits = {"type": int, "default": 12, "help": "official splits used"}
    options = arguments(__doc__, data="required", splits=splits)
    rows, found = zip(*(run(name, options) for name in (SETS[:1] if options.quick else SETS)))
    page = f"""# Wrong labels found

20 of 100 labels are flipped. Values are means over {options.splits} official splits, with errors in %.
The mean fraction of flipped labels found is {np.mean(found):.0%} (the target is at least 60%).
Command: `python -m benchmarks.accuracy.flipped --data DIR`.

{markdown(list(rows))}

{machine()}
"""
    publish("flipped", page, options.quick)


if __name__ == "__main__":
    main()
