"""Errors on real images from 10 to 100 labels: mercer's own features, a small network, both, and peers.

    python -m benchmarks.accuracy.images --vectors FILE [--seeds 5] [--labels 10 20 50 100] [--jobs 2] [--rows FILE]
        [--quick]

FILE comes from `python -m benchmarks.accuracy.image_sets FILE`. Labels are drawn at random. "both" is what mercer does
if EfficientNet-Lite0 is installed. Peers are logistic regression (C = 10), nearest centroid and label spreading on the
vectors of the network, a linear SVM on mercer's own features, and logistic regression and label spreading on 16 × 16
pixels. Each table is prepared once for all draws, which gives the predictions of `fit`.

Printed, and written to benchmarks/results/images.md. --rows FILE keeps the errors of finished sets, so a second start
continues.
"""

from benchmarks.harness import arguments, kept_rows, machine, publish, thread_variables

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
    "logistic pixels": "logistic regression on pixels",
    "spreading pixels": "label spreading on pixels",
}


def main():
    """Run the draws, print and write the table."""
    import os
    from pathlib import Path

    options = arguments(
        __doc__,
        vectors={"type": Path, "required": True, "help": "file of features, see benchmarks.accuracy.image_sets"},
        seeds={"type": int, "default": 5, "help": "draws of the labels (default %(default)s)"},
        labels={"type": int, "nargs": "+", "default": LABELS, "help": "numbers of labels"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        rows={"type": Path, "help": "file that keeps the errors of finished sets"},
    )
    os.environ.update(thread_variables(1))
    import numpy as np

    with np.load(options.vectors, allow_pickle=False) as file:
        names = sorted({name.rsplit("/", 1)[0] for name in file.files})
    labels, seeds = ((20,), 1) if options.quick else (options.labels, options.seeds)
    tasks = [(options.vectors, name, seeds, labels) for name in names]
    rows = kept_rows(of_set, tasks, options.jobs, options.rows)
    publish("images", page(rows, names, labels, options), options.quick)


def of_set(task):
    """Errors in one set, for every draw and number of labels."""
    import warnings

    import numpy as np

    from benchmarks.accuracy.texts import errors_of, peers
    from mercer import FewLabelClassifier

    warnings.simplefilter("ignore")
    path, name, seeds, numbers = task
    with np.load(path, allow_pickle=False) as file:
        own, network, pixels, y = (file[f"{name}/{part}"] for part in ("own", "network", "pixels", "class"))
    own, network, pixels = own.astype(np.float64), network.astype(np.float64), pixels / 255.0
    network /= np.maximum(np.linalg.norm(network, axis=1, keepdims=True), 1e-12)
    both = np.hstack([block / np.sqrt(block.var(axis=0).sum()) for block in (own, network)])  # equal weight
    matrices = {"own": own, "network": network, "both": both}
    prepared = {part: FewLabelClassifier().prepare(X) for part, X in matrices.items()}

    def others(known):
        plain = peers(pixels, own, y, known)
        plain = {f"{peer} pixels": plain[peer] for peer in ("logistic", "spreading")}
        return peers(network, own, y, known) | plain

    return errors_of(name, y, prepared, seeds, numbers, others)


def page(rows, names, labels, options):
    """The page as Markdown."""
    from benchmarks.accuracy.texts import by_set, differences, heading, overall

    command = f"python -m benchmarks.accuracy.images --vectors FILE --seeds {options.seeds}"
    command += f" --labels {' '.join(map(str, labels))}" if tuple(labels) != LABELS else ""
    tables = [
        heading("Images", command, options.seeds),
        overall(rows, names, labels, TITLES, f"{len(names)} sets"),
        "mercer with both minus the others, in points, and the numbers of sets in which it is better and worse by more "
        "than two standard errors:",
        differences(rows, names, labels, TITLES),
        by_set(rows, names, labels, TITLES),
    ]
    return "\n\n".join([*tables, machine()]) + "\n"


if __name__ == "__main__":
    main()
