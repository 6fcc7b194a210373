"""Whether `suspicious` and `mercer check` claim what is true: labels flipped on many tables, and unaltered ones.

    python -m benchmarks.accuracy.label_errors --data DIR [--seeds 4] [--jobs 16] [--draws FILE] [--quick]
    python -m benchmarks.accuracy.label_errors --draws FILE --no-errors 0.1 0.25 0.5 --share-prior 1 5 --flag 0.5

DIR contains a folder `tables` of CSV files whose column `class` has the labels. Of each at most 1,500 rows are drawn;
60, 200 or all of them are labeled, and 0, 5, 10 or 20% of these labels are replaced by another class. For every
fraction:

* flagged: labels that are listed because they are wrong with a probability above --flag (target: at most 5% of
  unaltered labels on average);
* claimed, precision: the mean probability of the flagged, and the fraction of them that was flipped (target: within 10
  points of each other);
* found: flipped labels that are flagged;
* ranking: average precision of the order by probability, and by margin alone;
* model accuracy: how often a label that was not flipped is confirmed when held out.

The fits take the time; --draws keeps their held-out predictions in a file (NPZ), from which other priors are judged:
--no-errors is the prior probability that no label is wrong, --share-prior the Beta prior of the fraction of wrong
labels, --spread that of the logarithm of the power. Printed, and written to benchmarks/results/label_errors.md.
"""

from benchmarks.harness import arguments, machine, markdown, need_data, publish, thread_variables

ROWS, LABELS, FLIPS = 1500, (60, 200, 0), (0.0, 0.05, 0.1, 0.2)  # 0 labels: all of them
QUICK_ROWS, QUICK_LABELS = 400, (60, 0)


def main():
    """Run the draws, or read them, and print the table."""
    import os

    options = arguments(
        __doc__,
        data="optional",
        seeds={"type": int, "default": 4, "help": "draws of rows, labels and flips (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        draws={"help": "file of the held-out predictions: read if it exists, else written"},
        no_errors={"type": float, "nargs": "*", "help": "prior probabilities to compare (default: the library's)"},
        share_prior={"type": float, "nargs": 2, "help": "a and b of the Beta prior (default: the library's)"},
        spread={"type": float, "help": "of the prior of log power (default: the library's)"},
        flag={"type": float, "help": "probability above which a label is flagged (default: the library's)"},
        by_table={"action": "store_true", "help": "print every table too"},
    )
    if options.draws and os.path.exists(options.draws):
        draws = read(options.draws)
    else:
        need_data(options)
        os.environ.update(thread_variables(1))
        draws = computed(options)
        if options.draws:
            write(options.draws, draws)
    pages = [judged(draws, options, value) for value in options.no_errors or [None]]
    own = options.no_errors is None and not (options.share_prior or options.spread or options.flag)
    command = "`python -m benchmarks.accuracy.label_errors --data DIR`"
    head = f"# Wrong labels, claimed and true\n\nCommand: {command}."
    publish("label_errors", "\n\n".join([head, *pages, machine()]) + "\n", quick=options.quick or not own)


def computed(options):
    """Every draw: {table, labels, flips, P, codes, flipped, margin}."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    files = sorted((options.data / "tables").glob("*.csv"))
    tasks = [(file, seed, options.quick) for seed in range(1 if options.quick else options.seeds) for file in files]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        return [draw for found in pool.map(drawn, tasks) for draw in found]


def drawn(task):
    """The draws of one table and seed: one fit, and its decompositions for every labeling."""
    import warnings

    import numpy as np
    import pandas as pd

    from mercer import FewLabelClassifier, suspicious
    from mercer.evidence.calibration import probabilities

    warnings.simplefilter("ignore")
    file, seed, quick = task
    rng = np.random.default_rng([seed, sum(file.stem.encode())])
    frame = pd.read_csv(file)
    frame = frame.iloc[rng.permutation(len(frame))[: QUICK_ROWS if quick else ROWS]].reset_index(drop=True)
    y = frame.pop("class").astype(str).to_numpy()
    classes, codes = np.unique(y, return_inverse=True)
    model, found = None, []
    for number in QUICK_LABELS if quick else LABELS:
        if number > len(y) // 2:
            continue
        known = np.sort(rng.permutation(len(y))[: number or len(y)])
        for share in FLIPS:
            wrong = rng.choice(known, round(share * len(known)), replace=False)
            given = codes.copy()
            given[wrong] = (given[wrong] + rng.integers(1, len(classes), len(wrong))) % len(classes)
            words = np.full(len(y), None, dtype=object)
            words[known] = classes[given[known]]
            if len(set(words[known])) < 2:
                continue
            model = FewLabelClassifier().fit(frame, words) if model is None else model.relabel(words)
            everything = suspicious(model, len(known))
            scores = model.answers_.with_prior(model.left_out_scores_)[model.labels_.testable]
            P = probabilities(scores, *model.calibration_)
            tested = model.labels_.labeled[model.labels_.testable]
            order = np.argsort(everything.rows)
            found.append(
                {
                    "table": file.stem,
                    "labels": number or "all",
                    "flips": share,
                    "P": P,
                    "codes": model.labels_.codes[tested],
                    "flipped": np.isin(tested, wrong),
                    "margin": everything.margins[order],
                }
            )
    print(file.stem, seed, flush=True)
    return found


def judged(draws, options, no_errors):
    """The table for one set of priors."""
    import numpy as np
    import pandas as pd
    from sklearn.metrics import average_precision_score

    from mercer.advice.suspicious import FLAGGED
    from mercer.evidence.label_errors import ErrorPrior, wrong_probability

    usual = ErrorPrior()
    none = usual.none if no_errors is None else no_errors
    errors = ErrorPrior(none, tuple(options.share_prior or usual.fraction), options.spread or usual.spread)
    flag, rows = options.flag or FLAGGED, []
    for draw in draws:
        p = wrong_probability(draw["P"], draw["codes"], errors)
        listed, flipped = p > flag, draw["flipped"]
        confirmed = (draw["P"].argmax(axis=1) == draw["codes"])[~flipped]
        rows.append(
            {
                "table": draw["table"],
                "labels": str(draw["labels"]),
                "flips": draw["flips"],
                "flagged": listed.mean(),
                "n flagged": listed.sum(),
                "sum claimed": p[listed].sum(),
                "n right": flipped[listed].sum(),
                "found": flipped[listed].sum() / flipped.sum() if flipped.any() else np.nan,
                "ranking": average_precision_score(flipped, p) if flipped.any() else np.nan,
                "ranking by margin": average_precision_score(flipped, -draw["margin"]) if flipped.any() else np.nan,
                "model accuracy": confirmed.mean(),
            }
        )
    frame = pd.DataFrame(rows)
    prior = f"The prior has probability {errors.none:g} of no error, Beta{errors.fraction} for "
    prior += f"the fraction of wrong labels and a spread of {errors.spread:g}."
    text = f"Labels with a probability of error above {flag:g} are flagged. {prior} "
    text += f"{frame['table'].nunique()} tables and {len(frame)} draws, values in %.\n\n"
    text += markdown(summary(frame, ["labels", "flips"]) + summary(frame, ["flips"]))
    if options.by_table:
        text += "\n\n" + markdown(summary(frame, ["table", "flips"]))
    return text


def summary(frame, keys):
    """Means over draws; claimed and precision are over all flagged labels together."""
    found = []
    for names, part in frame.groupby(keys, sort=False):
        n = max(part["n flagged"].sum(), 1)
        plain = ("flagged", "found", "ranking", "ranking by margin", "model accuracy")
        shares = {key: part[key].mean() for key in plain}
        shares |= {"claimed": part["sum claimed"].sum() / n, "precision": part["n right"].sum() / n}
        row = {"labels": "every", **dict(zip(keys, names))}
        row["flips"] = f"{100 * row['flips']:g}"
        order = ("flagged", "claimed", "precision", "found", "ranking", "ranking by margin", "model accuracy")
        found.append(row | {key: "" if shares[key] != shares[key] else f"{100 * shares[key]:.1f}" for key in order})
    names = list(dict.fromkeys(name for row in found for name in row))
    return [{name: row.get(name, "") for name in names} for row in found]


def write(path, draws):
    import numpy as np

    flat = {}
    for i, draw in enumerate(draws):
        flat |= {f"{i} {key}": np.asarray(value) for key, value in draw.items()}
    np.savez_compressed(path, **flat)


def read(path):
    import numpy as np

    found: dict = {}
    with np.load(path) as data:
        for name in data.files:
            i, key = name.split(" ", 1)
            found.setdefault(int(i), {})[key] = data[name] if data[name].ndim else data[name].item()
    return [found[i] for i in sorted(found)]


if __name__ == "__main__":
    main()
