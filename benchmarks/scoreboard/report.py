"""docs/scoreboard.md and its pictures, from the CSV files alone: the same files give the same page."""

from pathlib import Path
from statistics import median

from benchmarks.harness import PICTURES, RESULTS, markdown

from .cases import CASES, PARTS
from .details import details
from .judge import MEMORY_SLACK_MB, TARGET, ahead_when_small, check_reasons, numbers, slope, verdicts
from .reasons import NOTES, REASONS
from .tables import read

PAGE = PICTURES.parent / "scoreboard.md"
GROUPS = {
    "kernel_pca": "Kernel PCA",
    "nystroem": "Nyström",
    "svdd": "One class",
    "cmeans": "Kernel c-means",
    "ridge": "Kernel ridge",
    "few_label": "Few labels",
    "label_search": "Label search",
}


def write(page=PAGE, pictures=True):
    """Write the page; return what is wrong with it (reasons missing or stale), for the exit status."""
    speed = read("speed")
    lines = verdicts(speed)
    faults, reasons = check_reasons(lines, REASONS)
    if pictures:
        from .pictures import draw

        for part in PARTS:
            draw(part, [row for row in numbers(speed) if row["part"] == part])
    parts = [
        head(speed, lines),
        comparisons(lines),
        why(speed, reasons, faults),
        races(speed),
        accuracy(),
        correctness(),
        measured(speed),
    ]
    text = "\n\n".join(piece for part in parts for piece in part)
    Path(page).write_text(text + "\n", encoding="utf-8")
    (RESULTS / "scoreboard_details.md").write_text("\n\n".join(details()) + "\n", encoding="utf-8")
    return faults


def head(speed, lines):
    """What was compared and who is ahead, with the closest peer of each task."""
    yield "# Speed, memory and accuracy"
    yield (
        "mercer is compared with methods of other libraries that do the same job. Both sides get the same data and the "
        "same number of threads. [A table](#the-same-results) shows how closely their results agree."
    )
    yield "\n".join([*speed_sentences(lines), *accuracy_sentences(), *exceptions(speed, lines)])
    closest: dict = {}
    for line in sorted(lines, key=lambda line: line["ratio"]):
        closest.setdefault((line["part"], line["case"]), line)
    if lines:
        yield "The closest peer of each task, at the largest number of rows that it can run within the time limit:"
        yield markdown([brief(closest[key]) for key in dict.fromkeys((line["part"], line["case"]) for line in lines)])


def speed_sentences(lines):
    if lines:
        fast, small = (sum(line[name] for line in lines) for name in ("fast", "small"))
        yield (
            f"- **Speed.** mercer is at least {TARGET} times as fast as the peer in {fast} of {len(lines)} "
            f"comparisons. The median ratio is {median(line['ratio'] for line in lines):.3g}."
        )
        yield f"- **Memory.** mercer needs no more memory than the peer in {small} of {len(lines)} comparisons."


def accuracy_sentences():
    found = error_means()
    for name, means in found.items():
        peer = min((name for name in means if not own(name)), key=means.get)
        yield (
            f"- **Accuracy.** On the {name} `FewLabelClassifier` has a mean error of "
            f"{means['FewLabelClassifier']:.2f}%. The best of scikit-learn's methods is {peer} with {means[peer]:.2f}%."
        )


def exceptions(speed, lines):
    """Peers that are ahead, in short."""
    said = [f"{line['peer']} at n = {line['n']:,}" for line in lines if not line["fast"] or not line["small"]]
    for _, peer, _, sizes in ahead_when_small(speed):
        said.append(f"{peer} at n = {' and '.join(f'{n:,}' for n, _ in sizes)}")
    if said:
        yield (
            "- **[Where others win](#where-a-peer-is-ahead-or-close).** These peers are faster or need less memory."
            + "".join(f"\n  - {one}" for one in said)
        )


def brief(line):
    shown = summary(line)
    return {
        "task": shown["case"],
        "closest peer": shown["peer"],
        "rows": shown["n"],
        "times as fast": shown["ratio"],
        "memory relative to the peer": shown["memory"],
    }


def comparisons(lines):
    yield "## All comparisons"
    yield (
        "The ratio is the peer's seconds divided by mercer's, at the peer's largest size. Memory is mercer's divided "
        f"by the peer's, and differences of 5% and {MEMORY_SLACK_MB:g} MB count as equal. The last column shows that "
        "both solved the same problem."
    )
    if lines:
        yield markdown([summary(line) for line in lines])


def summary(line):
    case = CASES[f"{line['part']}/{line['case']}"]
    shown = {"case": f"{case.title}", "peer": line["peer"], "n": f"{line['n']:,}", "peer, s": f"{line['their_s']:.3g}"}
    result = "result (mercer; peer)"
    if line["our_s"] is None:
        return shown | {"mercer, s": "over the limit", "ratio": "**behind**", "memory": "", result: ""}
    ratio = f"{line['ratio']:.3g}" if line["ratio"] < 1000 else f"{line['ratio']:,.0f}"
    memory = f"{line['memory']:.2f}" if max(line["our_mb"], line["their_mb"]) >= 10 else "both below 10 MB"
    return shown | {
        "mercer, s": f"{line['our_s']:.3g}",
        "ratio": ratio if line["fast"] else f"**{ratio}**",
        "memory": memory if line["small"] else f"**{memory}**",
        result: f"{case.answer}: {line['our_answer']:.5g}; {line['their_answer']:.5g}",
    }


def why(speed, reasons, faults):
    yield "## Where a peer is ahead or close"
    said = [f"- {CASES[key[0]].title}, {key[1]}, {key[2]}. {text}" for key, text in reasons.items()]
    said += [f"- **{fault}**" for fault in faults]
    yield "\n".join(said) or "At its largest size: nowhere."
    small = [
        f"- {CASES[case].title}. {peer} compared with {ours} at n = "
        + ", ".join(f"{n:,} ({ratio:.2g} times)" for n, ratio in sizes)
        for case, peer, ours, sizes in ahead_when_small(speed)
    ]
    if small:
        yield "At smaller sizes a peer is faster here:"
        yield "\n".join(small)


def races(speed):
    rows = numbers(speed)
    for part in PARTS:
        mine = [row for row in rows if row["part"] == part]
        if not mine:
            continue
        yield f"## {GROUPS[part]}"
        yield f"![{GROUPS[part]}](img/scoreboard_{part}.png)"
        table = []
        for case, name in dict.fromkeys((row["case"], row["contender"]) for row in mine):
            alike = [row for row in mine if (row["case"], row["contender"]) == (case, name)]
            ran = [row for row in alike if row["status"] == "ok"]
            if not ran:
                continue
            last = ran[-1]
            exponents = (
                slope([(r["n"], r["seconds"]) for r in ran], 0.02),
                slope([(r["n"], r["peak_mb"]) for r in ran], 20.0),
            )
            spread = (last["slowest"] - last["fastest"]) / last["seconds"]
            ended = [row["status"] for row in alike if row["status"] != "ok"]
            table.append(
                {
                    "case": case, "contender": name, "largest n": f"{last['n']:,}",
                    "seconds": f"{last['seconds']:.3g}", "spread": f"{100 * spread:.0f}%",
                    "peak, MB": f"{last['peak_mb']:.0f}",
                    "time ~ n^": "" if exponents[0] is None else f"{exponents[0]:.1f}",
                    "memory ~ n^": "" if exponents[1] is None else f"{exponents[1]:.1f}",
                    "next size": ended[0] if ended else "",
                }
            )  # fmt: skip
        yield markdown(table)
        if part in NOTES:
            yield NOTES[part]


def error_means():
    """{data sets: {method: mean error in %}}, as far as they were measured."""
    from .accuracy import means

    found, book = {}, RESULTS / "few_label_book.md"
    if book.exists():
        table = [line for line in book.read_text(encoding="utf-8").splitlines() if line.startswith("|")][2:]
        found["sets of Chapelle et al."] = {line.split("|")[1].strip(): float(line.split("**")[1]) for line in table}
    if read("accuracy"):
        found["sets of Alaíz et al."] = means(read("accuracy"))
    return found


def own(method):
    """Whether a method of the accuracy tables is one of mercer's: single methods have lower-case names."""
    return method.startswith("FewLabelClassifier") or method[0].islower()


def accuracy():
    found = error_means()
    if found:
        yield "## Accuracy with few labels"
        yield (
            "Mean error in % over the sets of Chapelle et al. (10 and 100 labels, official splits) and of Alaíz et al. "
            "(2% and 10% of the labels). Every method is tuned on the labels alone. Lower-case names are single "
            "methods of mercer. The candidates of `FewLabelClassifier` were chosen on the sets of Chapelle et al. "
            "[All cells](../benchmarks/results/few_label_book.md) of these sets are on their own page, and those of "
            "Alaíz et al. are with the [details](../benchmarks/results/scoreboard_details.md)."
        )
        methods = dict.fromkeys(method for means in found.values() for method in means)
        shown = {name: {m: f"{value:.2f}" for m, value in means.items()} for name, means in found.items()}
        yield markdown([{"method": m} | {name: means.get(m, "") for name, means in shown.items()} for m in methods])


def correctness():
    rows = read("correctness")
    if rows:
        yield "## The same results"
        yield "`tests/benchmarks/test_peers.py` asserts the rows against scikit-learn."
        yield markdown([{k: row[k] for k in ("what", "peer", "measured", "tolerance", "verdict")} for row in rows])


def measured(speed):
    """How the numbers were obtained, and on which machine."""
    yield "## How it was measured"
    yield (
        '`make scoreboard` writes this page from `benchmarks/results/scoreboard_*.csv` (`PARTS="svdd ridge"` runs some '
        "parts). Every contender has a process of its own. They run one at a time in alternating order, at least three "
        "times, and seconds are medians. Memory is the peak of a run above what its process had before. Sizes double "
        "until a run would exceed the time limit."
    )
    rows = read("machine")
    yield machines(rows)
    r = {row["r"]: [one["part"] for one in rows if one["r"] == row["r"]] for row in rows if row["r"]}
    for version, parts in r.items():
        yield f"The parts {' and '.join(parts)} use {version}."
    absent = sorted({(row["contender"], row["status"]) for row in speed if row["status"].startswith("missing")})
    reasons = dict.fromkeys(status.removeprefix("missing: ") for _, status in absent)
    for reason in reasons:
        names = ", ".join(name for name, status in absent if status.endswith(reason))
        yield f"Not timed are {names} ({reason} on the machine of the speed comparisons)."


def machines(rows):
    """A line for each set of parts that were measured alike."""
    alike: dict = {}
    for row in rows:
        alike.setdefault((row["machine"], row["threads"], row["limit_s"]), []).append(row)
    said = [
        f"- {', '.join(row['part'] for row in group)}: {line}, {threads} thread{'s' * (threads != '1')}, "
        f"at most {float(limit):g} s per run"
        for (line, threads, limit), group in alike.items()
    ]
    return "\n".join(said) or "Nothing has been measured yet."
