"""The label weight c of `SpectralGraphTransducer`: fixed, or in proportion to the number of rows.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.transducer --data FOLDER [--seeds 5] [--quick]

FOLDER/tables contains CSV files with a column `class`, and FOLDER/small compressed ones with a column `Class`. All
tables of 150 to 1,500 rows are used (larger ones in FOLDER/tables are cut to 1,500), encoded by `TableEncoder`, with 10
and with 40 random labels, at least one per class. Tables with more than ten classes are left out. The easy problem has
two Gaussian clusters of 100 and 20 rows, 12 deviations apart, three labels each, on 100 draws. Writes
results/transducer.md. About four minutes on one core.
"""

import numpy as np

from benchmarks.accuracy.draws import ROWS, drawn, labeled
from benchmarks.accuracy.small import load
from benchmarks.harness import arguments, markdown, need_data, publish
from mercer import SpectralGraphTransducer
from mercer.inputs.labels import read_labels
from mercer.inputs.tables import TableEncoder

RULES = {
    "3,200": lambda n: 3200.0,
    "1,000": lambda n: 1000.0,
    "300": lambda n: 300.0,
    "100": lambda n: 100.0,
    "3,200 n / 1,500": lambda n: 3200.0 * n / ROWS,
    "3,200 min(1, (n / 1,500)²)": lambda n: 3200.0 * min(1.0, (n / ROWS) ** 2),
    "n / 2": lambda n: n / 2,
}
LABELS = (10, 40)


def tables(folder):
    """(name, encoded rows, class codes) of each table."""
    for path in sorted((folder / "tables").glob("*.csv")):
        yield path.stem, *drawn(path)
    for path in sorted((folder / "small").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        yield f"{name} (small)", *load(folder / "small", name)


def accuracies(Z, truth, given):
    """The accuracy on the unlabeled rows for each rule."""
    labels, free, found = read_labels(given, -1), given < 0, []
    for rule in RULES.values():
        model = SpectralGraphTransducer(label_weight=rule(len(Z)))
        scores = model.solve(model.prepare(Z), labels).scores(Z)
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        found.append(100 * np.mean(labels.classes[codes][free] == truth[free]))
    return found


def easy(seed):
    """Two clusters of 100 and 20 rows: (rows, truth, given labels)."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], [100, 20])
    X = 6.0 * np.column_stack([1 - 2 * truth, 0 * truth]) + rng.normal(size=(120, 2))
    given = np.full(120, -1)
    for c in (0, 1):
        given[rng.choice(np.flatnonzero(truth == c), 3, replace=False)] = c
    return X, truth, given


def main():
    options = arguments(__doc__, data="required", seeds={"type": int, "default": 5, "help": "draws of the labels"})
    need_data(options)
    rows = []
    for name, frame, y in tables(options.data):
        truth = np.unique(y, return_inverse=True)[1]
        if not 150 <= len(truth) <= ROWS or truth.max() >= 10:
            continue
        Z = SpectralGraphTransducer().kernel.resolve(TableEncoder().fit_transform(frame)).factor_
        for number in LABELS:
            found = []
            for seed in range(1 if options.quick else options.seeds):
                chosen = labeled(truth, number, seed)
                given = np.full(len(truth), -1)
                given[chosen] = truth[chosen]
                found.append(accuracies(Z, truth, given))
            rows.append((name, len(truth), number, np.mean(found, axis=0)))
            print(*rows[-1][:3], np.round(rows[-1][3], 1), flush=True)
    clusters = []
    for seed in range(10 if options.quick else 100):
        X, truth, given = easy(seed)
        clusters.append(accuracies(SpectralGraphTransducer().kernel.resolve(X).factor_, truth, given))
    publish("transducer", page(rows, np.array(clusters), options.seeds), options.quick)


def page(rows, clusters, seeds):
    accuracy = np.array([row[3] for row in rows])
    gain = accuracy - accuracy[:, :1]
    small = np.array([row[1] < 600 for row in rows])
    summary = [
        {
            "label weight c": name,
            "mean accuracy": f"{accuracy[:, j].mean():.2f}%",
            "under 600 rows": f"{accuracy[small, j].mean():.2f}%",
            "10 labels": f"{accuracy[[row[2] == 10 for row in rows], j].mean():.2f}%",
            "40 labels": f"{accuracy[[row[2] == 40 for row in rows], j].mean():.2f}%",
            "better / worse by half a point": f"{np.sum(gain[:, j] >= 0.5)} / {np.sum(gain[:, j] <= -0.5)}",
            "easy clusters below 98%": f"{np.sum(clusters[:, j] < 98)} of {len(clusters)}",
            "lowest": f"{clusters[:, j].min():.1f}%",
        }
        for j, name in enumerate(RULES)
    ]
    cells = [
        {"table": name, "rows": n, "labels": number} | {rule: f"{a:.1f}" for rule, a in zip(RULES, row)}
        for name, n, number, row in rows
    ]
    return (
        "# The label weight of the spectral graph transducer\n\n"
        f"Accuracy on the unlabeled rows of {len(rows) // 2} tables with 10 and with 40 labels, mean over {seeds} "
        "draws. The last two columns count draws of two well separated clusters of 100 and 20 rows. Computed by "
        "`python -m benchmarks.accuracy.transducer --data FOLDER`.\n\n"
        f"{markdown(summary)}\n\n## Every table\n\n{markdown(cells)}\n"
    )


if __name__ == "__main__":
    main()
