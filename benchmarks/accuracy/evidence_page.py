"""The page of evidence.py: a summary, mean errors and what the estimates are worth, from the draws."""

import numpy as np

from benchmarks.accuracy.evidence import LABELS

PEERS = ("svc", "logistic", "random forest", "extra trees", "boosting", "label spreading", "self-training")
GROUPS = ((2, 2, "2 classes"), (3, 9, "3 to 9"), (10, 999, "10 and more"))
COLUMNS = {
    "part": "{}",
    "labels": "{}",
    "draws": "{}",
    "truth": "{:.1f}",
    "bias": "{:+.1f}",
    "s.e.": "{:.1f}",
    "covered": "{:.0f}%",
    "width": "{:.0f}",
    "independent": "{:.0f}",
    "sets": "{:.1f}%",
    "size": "{:.2f}",
    "calibration": "{:.1f}",
}


def page(rows, options):
    """The results as Markdown."""
    groups, gaps = group_errors(rows), table_gaps(rows)
    found = [line for part in options.parts for number in LABELS for line in estimates(rows, part, number)]
    lines = ["# Few labels, with errors, intervals and prediction sets", "", introduction(rows, options), ""]
    if groups:
        lines += [*summary(groups, gaps, found), "", "## Mean error on the unlabeled rows, %", ""]
        lines += ["| classes | labels | mercer | " + " | ".join(PEERS) + " | above the best |"]
        lines += ["|---" * (4 + len(PEERS)) + "|"]
        for title, number, means, gap, _ in groups:
            lines.append(f"| {title} | {number} | {' | '.join(f'{m:.1f}' for m in means)} | {gap:+.1f} |")
        lines += ["", "Mean error on a table minus that of its best peer, chosen afterwards:", ""]
        for number, of in gaps.items():
            better, same, worse = counts(of.values())
            order = sorted(of, key=of.get)
            low, high = (", ".join(f"{n} {of[n]:+.1f}" for n in some) for some in (order[:3], order[:-4:-1]))
            lines.append(f"- {number} labels: {better} better, {same} within a point, {worse} worse.")
            lines.append(f"  The lowest are {low}. The highest are {high}.")
    cells = book_errors(rows)
    if cells:
        lines += ["", f"The mean error over the book's {len(cells)} cells is {np.mean(cells):.2f}%."]
    lines += ["", "## The estimate", "", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(form.format(line[name]) for name, form in COLUMNS.items()) + " |" for line in found]
    return "\n".join(lines)


def introduction(rows, options):
    """The command and the data."""
    command = f"python -m benchmarks.accuracy.evidence --data DIR --seeds {options.seeds} --jobs {options.jobs}"
    command += f" --minutes {options.minutes:g}" if options.minutes else ""
    tables = len({row["set"] for row in rows if row["part"] == "tables"})
    splits = {(row["set"], row["seed"]) for row in rows if row["part"] == "book"}
    sets = len({name for name, _ in splits})
    return f"""Command: `{command}`. Labels of {tables} tables are drawn {options.seeds} times each. These draws are
repeated with coin tosses in place of the classes, and with labels chosen by `suggest`. In addition there are
{len(splits) // max(sets, 1)} splits of each of the {sets} sets of the semi-supervised learning book, with 10 and 100
labels. The tables also served as development data."""


def group_errors(rows):
    """[(classes, labels, means of mercer and the peers, difference from the best peer, its name)]."""
    found = []
    for low, high, title in GROUPS:
        for number in LABELS:
            own = [r for r in rows if r["part"] == "tables" and r["labels"] == number and low <= r["classes"] <= high]
            if own:
                means = [np.mean([r[name] for r in own]) for name in ("mercer", *PEERS)]
                found.append((title, number, means, means[0] - min(means[1:]), PEERS[int(np.argmin(means[1:]))]))
    return found


def table_gaps(rows):
    """{labels: {table: mean error minus that of its best peer}}."""
    tables, found = [row for row in rows if row["part"] == "tables"], {}
    for number in LABELS:
        for name in sorted({r["set"] for r in tables}):
            own = [r for r in tables if r["set"] == name and r["labels"] == number]
            if own:
                mean = {p: np.mean([r[p] for r in own]) for p in ("mercer", *PEERS)}
                found.setdefault(number, {})[name] = mean["mercer"] - min(mean[p] for p in PEERS)
    return found


def book_errors(rows):
    """Mean errors of the book's sets with 10 and with 100 labels."""
    book = [row for row in rows if row["part"] == "book"]
    keys = sorted({(r["set"], r["labels"]) for r in book})
    return [np.mean([r["mercer"] for r in book if (r["set"], r["labels"]) == key]) for key in keys]


def counts(gaps):
    """How many differences are below -1, between, and above 1."""
    gaps = np.array(list(gaps))
    return np.sum(gaps < -1), np.sum(np.abs(gaps) <= 1), np.sum(gaps > 1)


def estimates(rows, part, number):
    """[columns of the second table] for one part and number of labels; [] without draws."""
    own = [row for row in rows if row["part"] == part and row["labels"] == number]
    if not own:
        return []
    a = {k: np.array([r[k] for r in own]) for k in ("truth", "estimate", "low", "high", "drawn", "inside", "size")}
    bias = (a["estimate"] - a["truth"])[np.isfinite(a["estimate"])]  # no estimate if all labels differ
    p = np.clip(a["truth"] / 100, 0.02, 0.98)
    bins = np.mean([r["bins"] / r["bins"][:, 0].sum() for r in own], axis=0)
    line = {
        "part": part,
        "labels": number,
        "draws": len(own),
        "truth": a["truth"].mean(),
        "bias": bias.mean(),
        "s.e.": bias.std() / np.sqrt(len(bias)),
        "covered": 100 * np.mean((a["low"] <= a["truth"] + 1e-9) & (a["truth"] <= a["high"] + 1e-9)),
        "width": np.mean(a["high"] - a["low"]),
        "independent": np.mean(2 * 196 * np.sqrt(p * (1 - p) / a["drawn"])),
        "sets": a["inside"].mean(),
        "size": a["size"].mean(),
        "calibration": 100 * np.sum(np.abs(bins[:, 1] - bins[:, 2])),
    }
    return [line]


def summary(groups, gaps, found):
    """The results in words, one line for each question."""
    lower = [-gap for *_, gap, _ in groups if gap <= 0]
    higher = [f"In one group {best} are {gap:.1f} points better." for *_, gap, best in groups if gap > 0]
    better, same, worse = counts(gap for of in gaps.values() for gap in of.values())

    def span(name, digits):
        values = [line[name] for line in found]
        return f"{min(values):.{digits}f} to {max(values):.{digits}f}"

    most = max(line["calibration"] for line in found if line["part"] != "coins")
    coins = [line for line in found if line["part"] == "coins" and line["calibration"] > most]
    above = ", ".join(f"{line['calibration']:.1f} with {line['labels']} labels" for line in coins)
    return [
        f"- **Errors.** `FewLabelClassifier` has the lowest mean error in {len(lower)} of {len(groups)} groups, by",
        f"  {min(lower):.1f} to {max(lower):.1f} points. {' '.join(higher)}".rstrip(),
        f"  The best peer of each table, chosen afterwards, is a harder comparison. There it wins on {better}, ties on",
        f"  {same} and loses on {worse} of the {better + same + worse} combinations of table and labels.",
        f"- **Intervals.** The 95% interval covers the true accuracy in {span('covered', 0)}% of the draws of each",
        "  group.",
        f"- **Bias.** The estimate is within {max(abs(line['bias']) for line in found):.1f} points of the truth in",
        f"  every group (standard errors {span('s.e.', 1)}).",
        f"- **Prediction sets.** The 90% sets contain the true class in {span('sets', 1)}% of the rows.",
        f"- **Calibration.** The error is at most {most:.1f} points, except for coin tosses ({above}).",
        "  No probability is below one half there, and ten labels cannot show that the classes are random.",
    ]
