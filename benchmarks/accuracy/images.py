"""Errors on real images from 10 to 100 labels: mercer's own features, a small network, both, and peers.

    python -m benchmarks.accuracy.images --vectors FILE [--seeds 5] [--labels 10 20 50,100] [--jobs 2] [--quick]

FILE comes from `python -m benchmarks.accuracy.image_sets FILE`. Labels are drawn at random. "both" is what mercer does
if EfficientNet-Lite0 is installed. Peers are logistic regression (C = 10), nearest centroid and label spreading on the
vectors of the network, and a linear SVM on mercer's own features. The result is written to
benchmarks/results/images.md.
"""

from benchmarks.harness import RESULTS, arguments, thread_variables

LABELS = (10, 20, 50, 100)
TITLES = {
    "own": "mercer, own features",
    "network": "mercer, network",
    "both": "**mercer, both**",
    "logistic": "logistic regression on the network",
    "balanced": "the same, balanced",
    "centroid": "nearest centroid on the network",
    "spreading": "label spreading on the network",
    "svc": "linear SVM on own features",
}


def main():
    """Run the draws, print and write the table."""
    import os
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from pathlib import Path

    options = arguments(
        __doc__,
        vectors={"type": Path, "required": True, "help": "file of features, see benchmarks.accuracy.image_sets"},
        seeds={"type": int, "default": 5, "help": "draws of the labels (default %(default)s)"},
        labels={"type": int, "nargs": "+", "default": LABELS, "help": "numbers of labels"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
    )
    os.environ.update(thread_variables(1))
    import numpy as np

    with np.load(options.vectors, allow_pickle=False) as file:
        names = sorted({name.rsplit("/", 1)[0] for name in file.files})
    labels, seeds = ((20,), range(1)) if options.quick else (options.labels, range(options.seeds))
    tasks = [(options.vectors, name, seed, labels) for name in names for seed in seeds]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = [row for found in pool.map(draw, tasks) for row in found]
    text = page(rows, names, labels, options)
    print(text)
    if not options.quick:
        (RESULTS / "images.md").write_text(text + "\n")


def draw(task):
    """Errors of one set and seed, for every number of labels."""
    import warnings

    import numpy as np

    from benchmarks.accuracy.evidence import labeled, masked
    from benchmarks.accuracy.texts import peers
    from mercer import FewLabelClassifier

    warnings.simplefilter("ignore")
    path, name, seed, numbers = task
    with np.load(path, allow_pickle=False) as file:
        own, network, y = (file[f"{name}/{part}"] for part in ("own", "network", "class"))
    own, network = own.astype(np.float64), network.astype(np.float64)
    network /= np.maximum(np.linalg.norm(network, axis=1, keepdims=True), 1e-12)
    both = np.hstack([block / np.sqrt(block.var(axis=0).sum()) for block in (own, network)])  # the same say
    matrices = {"own": own, "network": network, "both": both}
    rng = np.random.default_rng([seed, sum(name.encode())])
    order, out = labeled(rng, y, max(numbers)), []
    for number in numbers:
        known = order[:number]
        rest, given = np.setdiff1d(np.arange(len(y)), known), masked(y, known)
        predicted = {part: FewLabelClassifier().fit(X, given).transduction_ for part, X in matrices.items()}
        predicted |= peers(network, own, y, known)
        errors = {part: 100 * float(np.mean(answer[rest] != y[rest])) for part, answer in predicted.items()}
        out.append({"set": name, "labels": number, "classes": len(np.unique(y)), **errors})
    return out


def page(rows, names, labels, options):
    """The table as Markdown."""
    import numpy as np

    command = f"python -m benchmarks.accuracy.images --vectors FILE --seeds {options.seeds}"
    command += f" --labels {' '.join(map(str, labels))}" if tuple(labels) != LABELS else ""
    lines = ["# Images from few labels", "", f"`{command}`: mean error on the unlabeled rows, %.", ""]
    lines += [f"| set | classes | labels | {' | '.join(TITLES.values())} |", "|---" * (len(TITLES) + 3) + "|"]
    for name in names:
        for number in labels:
            some = [row for row in rows if row["set"] == name and row["labels"] == number]
            cells = " | ".join(f"{np.mean([row[part] for row in some]):.1f}" for part in TITLES)
            lines.append(f"| {name} | {some[0]['classes']} | {number} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
