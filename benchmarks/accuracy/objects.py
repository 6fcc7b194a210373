"""Rows that are not vectors: sections of Debian packages from their names, from their links, and from both.

    python -m benchmarks.accuracy.objects [--labels 5] [--repeats 5] [--quick]

Reads the packages that are installed where it runs, through dpkg-query, and stops with a sentence if there is none.
Rows are packages of sections with at least 20 packages; a link joins a package with each installed package that it
depends on, recommends or suggests. `--labels` packages per section are labeled, drawn again in each repeat. The error
is that over all others; next to it is the mean of the sections' errors, in which every section counts alike. The two
columns of `FewLabelClassifier` are the length of a name and its number of hyphens. Penalty and time of the heat are
chosen by leaving out one label at a time. Prints and writes benchmarks/results/objects.md. A second table has the CPU
time of 10,000 strings of 100 letters through 1,000 landmarks, on one core.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
import shutil
import subprocess
import time

import numpy as np

from benchmarks.harness import arguments, machine, markdown, publish
from mercer import (
    Diffusion,
    FewLabelClassifier,
    Jaccard,
    LandmarkMap,
    LSSVMClassifier,
    MinMax,
    Mismatch,
    SpectralGraphTransducer,
    Spectrum,
    WeisfeilerLehman,
)
from mercer.inputs.links import link_matrix

FIELDS = ("Package", "Section", "Depends", "Pre-Depends", "Recommends", "Suggests")
LEAST = 20  # packages per section
TIMES = (3.0, 10.0, 30.0, 100.0)  # of the heat among which the labels choose
GAMMAS = [0.1, 1.0, 10.0, 100.0]
POOL = "FewLabelClassifier"
READING = """\
Every section has the same number of labels, and the largest one has 55% of the packages. A method that follows the
labels is therefore wrong on more packages than the guess of the largest section if it is unsure. Links alone have the
higher error, and half its error in the mean of the sections. `FewLabelClassifier` on the names has the error of an SVM
on the names, with links next to them or without. The length of a name and its number of hyphens hardly depend on its
section, and 40 labels are too few to show that. As columns next to the names they raise the error.
"""
NAMES, LINKS = "names, Spectrum(3, shortest=1)", "links, Diffusion"


def packages():
    """(names, sections, link matrix) of the installed packages, or None."""
    if shutil.which("dpkg-query") is None:
        return None
    form = "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n"
    lines = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout
    records = {cells[0]: cells for line in lines.splitlines() if len(cells := line.split("\t")) == len(FIELDS)}
    sections = {name: cells[1].rpartition("/")[2] for name, cells in records.items() if cells[1]}
    kinds, counts = np.unique(list(sections.values()), return_counts=True)
    large = set(kinds[counts >= LEAST].tolist())
    names = sorted(name for name, section in sections.items() if section in large)
    links = [
        (name, re.split(r"[\s:(]", wanted.strip())[0])
        for name in names
        for wanted in re.split(r"[,|]", ",".join(records[name][2:]))
        if wanted.strip()
    ]
    return names, np.array([sections[name] for name in names]), link_matrix(names, *zip(*links))[0]


def accuracies(options):
    found = packages()
    if found is None:
        raise SystemExit("There is no dpkg-query here, so there are no packages to read. Run it on a Debian system.")
    names, y, W = found
    letters, heats = Spectrum(3, shortest=1), [Diffusion(time=time, graph=W) for time in TIMES]
    both = [0.5 * letters + 0.5 * heat for heat in heats]
    # (model, kernels among which the labels choose by leave-one-out)
    parts = {
        "the largest section": None,
        NAMES: (LSSVMClassifier(kernel=letters), [letters]),
        "names, Mismatch(3, 1)": (LSSVMClassifier(kernel=Mismatch(3, 1)), [Mismatch(3, 1)]),
        LINKS: (LSSVMClassifier(kernel=heats[0]), heats),
        "links, SpectralGraphTransducer": (SpectralGraphTransducer(graph=W, label_weight=100.0), None),
        "both, 0.5 Spectrum + 0.5 Diffusion": (LSSVMClassifier(kernel=both[0]), both),
    }
    similar = letters(names)
    columns = np.array([(len(name), name.count("-")) for name in names], dtype=float)
    pooled = {
        f"{POOL}, names": (similar, {"kernel": "precomputed"}),
        f"{POOL}, names and links": (similar, {"kernel": "precomputed", "graph": W}),
        f"{POOL}, two columns": (columns, {}),
        f"{POOL}, columns and names": (columns, {"kernel": similar}),
        f"{POOL}, columns and links": (columns, {"graph": W}),
        f"{POOL}, columns, names and links": (columns, {"kernel": similar, "graph": W}),
    }
    parts |= pooled
    errors, of_sections = {name: [] for name in parts}, {name: [] for name in parts}
    for repeat in range(2 if options.quick else options.repeats):
        rng = np.random.default_rng(repeat)
        rows = np.concatenate([rng.choice(np.flatnonzero(y == s), options.labels, replace=False) for s in np.unique(y)])
        given = np.full(len(y), None, dtype=object)
        given[rows] = y[rows]
        free = np.setdiff1d(np.arange(len(y)), rows)
        kinds, counts = np.unique(y, return_counts=True)
        for name, model in parts.items():
            if model is None:
                guess = np.full(len(y), kinds[np.argmax(counts)])
            elif name in pooled:
                guess = FewLabelClassifier(random_state=0).fit(model[0], given, **model[1]).transduction_
            else:
                guess = fitted(*model, names, given)
            wrong = guess[free] != y[free]
            errors[name].append(100 * np.mean(wrong))
            of_sections[name].append(100 * np.mean([np.mean(wrong[y[free] == kind]) for kind in kinds]))
    base, alone = np.array(errors[NAMES]), np.array(errors[LINKS])
    rows = []
    for name, values in errors.items():
        values = np.array(values)
        wins = f"{np.sum(values < base)}, {np.sum(values == base)}, {np.sum(values > base)}"
        more = f"{np.sum(values < alone)}, {np.sum(values == alone)}, {np.sum(values > alone)}"
        rows.append(
            {
                "rows seen as": name,
                "error %": f"{values.mean():.1f}",
                "± (std of draws)": f"{values.std():.1f}",
                "mean of sections": f"{np.mean(of_sections[name]):.1f}",
                "better, equal, worse than names": wins,
                "than links": more,
            }
        )
    degree = np.asarray((W > 0).sum(axis=1)).ravel()
    told = f"{len(names)} packages of {len(np.unique(y))} sections ({', '.join(np.unique(y))}), {W.nnz // 2} links, "
    told += f"{int(np.sum(degree == 0))} packages without a link. {options.labels} labels per section."
    return told, rows


def fitted(model, kernels, names, given):
    """The predicted sections; penalty and kernel are chosen by leave-one-label-out."""
    if kernels is None:
        return model.fit(names, given).transduction_
    return model.select(names, given, gamma=GAMMAS, kernel=kernels).transduction_


def times(options):
    n = 1000 if options.quick else 10_000
    rng = np.random.default_rng(0)
    rows = []
    for what, letters in (("DNA, 4 letters", "ACGT"), ("proteins, 20 letters", "ACDEFGHIKLMNPQRSTVWY")):
        strings = ["".join(rng.choice(list(letters), 100)) for _ in range(n)]
        for kernel in (Spectrum(3), Spectrum(5), Mismatch(5, 1)):
            rows.append(timed(kernel, strings, what, n))
    bags = [dict(zip(rng.integers(0, 2000, 30).tolist(), rng.integers(1, 5, 30).tolist())) for _ in range(n)]
    rows.append(timed(Jaccard(), [set(bag) for bag in bags], "sets, 30 of 2,000 elements", n))
    rows.append(timed(MinMax(), bags, "bags, 30 of 2,000 elements", n))
    graphs = [(rng.choice(list("CNOS"), 20).tolist(), rng.integers(0, 20, (30, 2)).tolist()) for _ in range(n)]
    rows.append(timed(WeisfeilerLehman(3), graphs, "graphs, 20 nodes, 30 edges", n))
    return rows


def timed(kernel, rows, what, n):
    kernel(rows[:5]) if not isinstance(kernel, Mismatch) else None  # what is compiled once
    start = time.process_time()
    Z = LandmarkMap(kernel, min(1000, n // 4)).fit_transform(rows)
    seconds = time.process_time() - start
    print(f"{kernel!r} on {what}: {seconds:.1f} s", flush=True)
    return {
        "rows": what,
        "kernel": repr(kernel),
        "n": f"{n:,}",
        "features": Z.shape[1],
        "CPU seconds": f"{seconds:.1f}",
    }


def main():
    labels = {"type": int, "default": 5, "help": "labels per section"}
    options = arguments(__doc__, labels=labels, repeats={"type": int, "default": 5, "help": "draws of the labels"})
    told, rows = accuracies(options)
    lines = [
        "# Rows that are not vectors",
        "",
        f"Installed packages of one Debian system, read with dpkg-query: {told}",
        f"Error over the unlabeled packages, mean of {2 if options.quick else options.repeats} draws.",
        "Command: `python -m benchmarks.accuracy.objects`.",
        "",
        markdown(rows),
        "",
        READING,
        "Random rows through landmarks on one core, reading included.",
        "",
        markdown(times(options)),
        "",
        machine(),
    ]
    publish("objects", "\n".join(lines) + "\n", options.quick)


if __name__ == "__main__":
    main()
