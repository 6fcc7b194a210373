"""Errors on real texts from 10 to 100 labels: TF-IDF, sentence models, both, and peers on the same vectors.

    python -m benchmarks.accuracy.texts --vectors FILE [--seeds 5] [--labels 10 20 50 100] [--sets NAME ...]
        [--jobs 2] [--views] [--quick]

FILE comes from `python -m benchmarks.accuracy.text_sets FILE`: fourteen sets of 1,000 texts with the vectors of
all-MiniLM-L6-v2 and of wordllama, so that this machine needs neither. Labels are drawn at random. "both" is what
mercer does with an installed model: TF-IDF and vectors side by side. Peers are at scikit-learn's defaults: logistic
regression (C = 10), nearest centroid, label spreading (seven neighbors) on the vectors of MiniLM, and TF-IDF with a
linear SVM. --views adds the two blocks as views of their own to the pool. The result is written to
benchmarks/results/texts.md.
"""

from shlex import quote

from benchmarks.harness import RESULTS, arguments, thread_variables

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
By default mercer reads the Chinese texts by TF-IDF alone, as `--text-model none` does: more than a quarter of their
tokens mean nothing to either model. The other columns of this set show what a named model would do."""


def main():
    """Run the draws, print and write the table."""
    import os
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
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
    )
    os.environ.update(thread_variables(1))
    from benchmarks.accuracy.text_sets import read

    names = [name for name in read(options.vectors) if name in options.sets or not options.sets]
    labels, seeds = options.labels, range(options.seeds)
    if options.quick:
        labels, seeds, names = (20,), range(1), names[::5]
    tasks = [(options.vectors, name, seed, labels, options.views) for name in names for seed in seeds]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = [row for found in pool.map(draw, tasks) for row in found]
    text = page(rows, names, labels, options)
    print(text)
    if not options.quick:
        (RESULTS / "texts.md").write_text(text + "\n")


def draw(task):
    """Errors of one set and seed, for every number of labels."""
    import warnings

    import numpy as np
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    from benchmarks.accuracy.evidence import labeled, masked
    from benchmarks.accuracy.text_sets import read
    from mercer import FewLabelClassifier
    from mercer.inputs.tables import TableEncoder

    warnings.simplefilter("ignore")
    path, name, seed, numbers, views = task
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
    rng = np.random.default_rng([seed, sum(name.encode())])
    order, out = labeled(rng, y, max(numbers)), []
    for number in numbers:
        known = order[:number]
        rest, given = np.setdiff1d(np.arange(len(y)), known), masked(y, known)
        predicted = {part: FewLabelClassifier().fit(X, given).transduction_ for part, X in matrices.items()}
        if views:
            with separate(words.shape[1]):
                predicted["views"] = FewLabelClassifier().fit(matrices["both"], given).transduction_
        predicted |= peers(vectors["minilm"], counts, y, known)
        errors = {part: 100 * float(np.mean(answer[rest] != y[rest])) for part, answer in predicted.items()}
        out.append({"set": name, "labels": number, "classes": len(np.unique(y)), **errors})
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
    """The tables as Markdown."""
    import numpy as np

    from benchmarks.accuracy.text_sets import ENGLISH

    parts = [part for part in TITLES if part in rows[0]]

    def mean(part, number, some):
        return np.mean([row[part] for row in rows if row["labels"] == number and row["set"] in some])

    english = [name for name in names if name in ENGLISH]
    command = f"python -m benchmarks.accuracy.texts --vectors FILE --seeds {options.seeds}"
    command += f" --labels {' '.join(map(str, labels))}" if tuple(labels) != LABELS else ""
    command += "".join(f" {quote(name)}" for name in ["--sets", *options.sets]) if options.sets else ""
    command += " --views" if options.views else ""
    lines = ["# Texts from few labels", "", f"`{command}`: mean error on the unlabeled rows, %.", ""]
    heads = [f"{number} labels" for number in labels]
    lines += [f"| {len(english)} English sets | {' | '.join(heads)} |", "|---" * (len(labels) + 1) + "|"]
    for part in parts:
        cells = " | ".join(f"{mean(part, number, english):.1f}" for number in labels)
        lines.append(f"| {TITLES[part]} | {cells} |")
    shown = [part for part in ("tfidf", "minilm", "both", "wordllama both", "balanced", "svc") if part in parts]
    lines += ["", f"| set | classes | labels | {' | '.join(TITLES[part] for part in shown)} |"]
    lines.append("|---" * (len(shown) + 3) + "|")
    for name in names:
        classes = next(row["classes"] for row in rows if row["set"] == name)
        for number in labels:
            cells = " | ".join(f"{mean(part, number, [name]):.1f}" for part in shown)
            lines.append(f"| {name} | {classes} | {number} | {cells} |")
    if any(name.startswith("Chinese") for name in names):
        lines += ["", CHINESE]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
