"""Errors on real texts from 10 to 100 labels: TF-IDF, sentence models, both, and peers on the same vectors.

    python -m benchmarks.accuracy.texts --vectors FILE [--seeds 5] [--labels 10 20 50 100] [--sets NAME ...]
        [--jobs 2] [--views] [--rows FILE] [--quick]

FILE comes from `python -m benchmarks.accuracy.text_sets FILE`: fourteen sets of 1,000 texts with the vectors of
all-MiniLM-L6-v2 and of wordllama, so that this machine needs neither. Labels are drawn at random. "both" is what
mercer does with an installed model: TF-IDF and vectors side by side. Peers are at scikit-learn's defaults: logistic
regression (C = 10), nearest centroid, label spreading (seven neighbors) on the vectors of MiniLM, and TF-IDF with a
linear SVM. --views adds the two blocks as views of their own to the pool. Each table is prepared once for all draws,
which gives the predictions of `fit`.

Printed, and written to benchmarks/results/texts.md. --rows FILE keeps the errors of finished sets, so a second start
continues.
"""

from shlex import quote

from benchmarks.harness import arguments, kept_rows, machine, markdown, over_draws, publish, thread_variables

LABELS = (10, 20, 50, 100)
TITLES = {
    "tfidf": "mercer, TF-IDF",
    "minilm": "mercer, MiniLM",
    "both": "**mercer, both**",
    "views": "mercer, both and each as a view",
    "wordllama": "mercer, wordllama",
    "wordllama both": "mercer, wordllama and TF-IDF",
    "logistic": "logistic regression",
    "balanced": "the same, balanced",
    "centroid": "nearest centroid",
    "spreading": "label spreading",
    "svc": "TF-IDF, linear SVM",
}
CHINESE = """\
By default mercer reads the Chinese texts by TF-IDF alone, as `--text-model none` does, because more than a quarter of
their tokens mean nothing to either model. The other columns of this set show what a named model would do."""


def main():
    """Run the draws, print and write the table."""
    import os
    from pathlib import Path

    options = arguments(
        __doc__,
        vectors={
            "type": Path,
            "required": True,
            "help": "file of texts and vectors, see benchmarks.accuracy.text_sets",
        },
        seeds={"type": int, "default": 5, "help": "draws of the labels (default %(default)s)"},
        labels={"type": int, "nargs": "+", "default": LABELS, "help": "numbers of labels"},
        sets={"nargs": "+", "default": [], "help": "names of sets (default: all of FILE)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        views={"action": "store_true", "help": "also try the blocks as views of their own"},
        rows={"type": Path, "help": "file that keeps the errors of finished sets"},
    )
    os.environ.update(thread_variables(1))
    from benchmarks.accuracy.text_sets import read

    names = [name for name in read(options.vectors) if name in options.sets or not options.sets]
    labels, seeds = options.labels, options.seeds
    if options.quick:
        labels, seeds, names = (20,), 1, names[::5]
    tasks = [(options.vectors, name, seeds, labels, options.views) for name in names]
    rows = kept_rows(of_set, tasks, options.jobs, options.rows)
    publish("texts", page(rows, names, labels, options), options.quick)


def of_set(task):
    """Errors in one set, for every draw and number of labels."""
    import warnings

    import numpy as np
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    from benchmarks.accuracy.text_sets import read
    from mercer import FewLabelClassifier
    from mercer.inputs.tables import TableEncoder

    warnings.simplefilter("ignore")
    path, name, seeds, numbers, views = task
    found = read(path)[name]
    y, frame = found["class"], pd.DataFrame({"text": found["text"]})
    vectors = {part: np.asarray(found[part], dtype=np.float64) for part in ("minilm", "wordllama")}

    def both(part):
        table = dict(zip(map(str.strip, found["text"]), vectors[part]))  # cells are read without spaces around them
        encoder = TableEncoder(text=["text"], text_model=lambda texts: [table[text] for text in texts])
        return encoder.fit_transform(frame)

    words = TableEncoder(text=["text"], text_model="none").fit_transform(frame)
    matrices = {"tfidf": words, **vectors, "both": both("minilm"), "wordllama both": both("wordllama")}
    counts = TfidfVectorizer().fit_transform(found["text"])
    prepared = {part: FewLabelClassifier().prepare(X) for part, X in matrices.items()}
    if views:
        with separate(words.shape[1]):
            prepared["views"] = FewLabelClassifier().prepare(matrices["both"])
    return errors_of(name, y, prepared, seeds, numbers, lambda known: peers(vectors["minilm"], counts, y, known))


def errors_of(name, y, prepared, seeds, numbers, others):
    """Errors of prepared models, and of `others` (from labeled rows to predictions), for draws of the labels."""
    import numpy as np

    from benchmarks.accuracy.evidence import labeled

    out = []
    for seed in range(seeds):
        order = labeled(np.random.default_rng([seed, sum(name.encode())]), y, max(numbers))
        for number in numbers:
            known = order[:number]
            rest, own = np.setdiff1d(np.arange(len(y)), known), y[known].tolist()
            predicted = {part: model.taught(known, own).transduction_ for part, model in prepared.items()}
            predicted |= others(known)
            out.append({"set": name, "draw": seed, "labels": number, "classes": len(np.unique(y))})
            out[-1] |= {part: 100 * float(np.mean(answer[rest] != y[rest])) for part, answer in predicted.items()}
    return out


def peers(X, counts, y, known):
    """{peer: classes of all rows}."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import NearestCentroid
    from sklearn.semi_supervised import LabelSpreading
    from sklearn.svm import LinearSVC

    names, codes = np.unique(y, return_inverse=True)
    some = np.full(len(y), -1)
    some[known] = codes[known]
    linear = {
        "logistic": (LogisticRegression(C=10, max_iter=1000), X),
        "balanced": (LogisticRegression(C=10, max_iter=1000, class_weight="balanced"), X),
        "centroid": (NearestCentroid(), X),
        "svc": (LinearSVC(), counts),
    }
    found = {peer: model.fit(rows[known], y[known]).predict(rows) for peer, (model, rows) in linear.items()}
    return found | {"spreading": names[LabelSpreading("knn").fit(X, some).transduction_]}


def separate(first):
    """Context in which a pool has the first columns, and the others, as further views."""
    from unittest import mock

    from mercer.few_label import plan
    from mercer.few_label.views import AsGiven

    class Columns(AsGiven):
        def __init__(self, part, name):
            self.part, self.name = part, name

        def fit(self, X, random_state=0):
            return X[:, self.part]

        def transform(self, X):
            return X[:, self.part]

    whole = plan._plan

    def longer(X):
        blocks = Columns(slice(0, first), "words"), Columns(slice(first, None), "sentences")
        more = [(kind, view, value) for view in blocks for kind, value in spaces_of(plan)]
        return [*whole(X)[:4], *more, *whole(X)[4:]]

    return mock.patch.object(plan, "_plan", longer)


def spaces_of(plan):
    """The spaces that each block has."""
    return ((plan.GRAPH, 10), (plan.RBF_KERNEL, 1.0), (plan.LINEAR, None))


def page(rows, names, labels, options):
    """The page as Markdown."""
    from benchmarks.accuracy.text_sets import ENGLISH

    parts = [part for part in TITLES if part in rows[0]]
    english = [name for name in names if name in ENGLISH]
    shown = [part for part in ("tfidf", "minilm", "both", "wordllama both", "balanced", "svc") if part in parts]
    command = f"python -m benchmarks.accuracy.texts --vectors FILE --seeds {options.seeds}"
    command += f" --labels {' '.join(map(str, labels))}" if tuple(labels) != LABELS else ""
    command += "".join(f" {quote(name)}" for name in ["--sets", *options.sets]) if options.sets else ""
    command += " --views" if options.views else ""
    titles = {part: TITLES[part] for part in parts}
    tables = [
        heading("Texts", command, options.seeds),
        overall(rows, english, labels, titles, f"{len(english)} English sets"),
        "mercer with both minus the others, in points, and the numbers of sets in which it is better and worse by more "
        "than two standard errors:",
        differences(rows, english, labels, titles),
        by_set(rows, names, labels, {part: TITLES[part] for part in shown}),
    ]
    tables += [CHINESE] if any(name.startswith("Chinese") for name in names) else []
    return "\n\n".join([*tables, machine()]) + "\n"


def heading(what, command, seeds):
    """The title, the command and what the figures are."""
    note = f"Mean error on the unlabeled rows in percent, {seeds} draws of the labels, ± standard error over the draws."
    return f"# {what} from few labels\n\n`{command}`. {note}"


def overall(rows, names, labels, titles, corner):
    """Mean errors over sets, one line per classifier."""
    lines = []
    for part, title in titles.items():
        lines.append({corner: title})
        for number in labels:
            some = [row for row in rows if row["labels"] == number and row["set"] in names]
            lines[-1][f"{number} labels"] = plus_minus(*over_draws(some, part))
    return markdown(lines)


def differences(rows, names, labels, titles, own="both"):
    """Paired differences between one classifier and each other one, one line per classifier."""
    lines = []
    for part, title in titles.items():
        if part == own:
            continue
        lines.append({"compared with": title})
        for number in labels:
            some = [row for row in rows if row["labels"] == number and row["set"] in names]
            some = [{"set": row["set"], "draw": row["draw"], "gap": row[own] - row[part]} for row in some]
            gaps = [over_draws([row for row in some if row["set"] == name], "gap") for name in names]
            better, worse = (sum(sign * mean > 2 * error for mean, error in gaps) for sign in (-1, 1))
            lines[-1][f"{number} labels"] = f"{plus_minus(*over_draws(some, 'gap'), '+.1f')} ({better}, {worse})"
    return markdown(lines)


def by_set(rows, names, labels, titles):
    """Mean errors of each set."""
    lines = []
    for name in names:
        for number in labels:
            some = [row for row in rows if row["labels"] == number and row["set"] == name]
            lines.append({"set": name, "classes": some[0]["classes"], "labels": number})
            lines[-1] |= {title: plus_minus(*over_draws(some, part)) for part, title in titles.items()}
    return markdown(lines)


def plus_minus(mean, error, form=".1f"):
    """A mean with its standard error, if there is one."""
    return f"{mean:{form}}" + (f" ± {error:.1f}" if error == error else "")


if __name__ == "__main__":
    main()
