"""docs/scoreboard.md and its pictures, from the CSV files alone: the same files give the same page."""

from pathlib import Path

from benchmarks.harness import PICTURES, RESULTS, markdown

from .cases import CASES, PARTS
from .judge import ASKED, MEMORY_SLACK_MB, ahead_when_small, check_reasons, numbers, slope, verdicts
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
        why(speed, reasons, faults),
        races(speed),
        accuracy(),
        correctness(),
        profiles(),
        threads(),
    ]
    text = "\n\n".join(piece for part in parts for piece in part)
    Path(page).write_text(text + "\n")
    return faults


def head(speed, lines):
    ahead = sum(line["fast"] for line in lines)
    small = sum(line["small"] for line in lines)
    yield "# The scoreboard"
    yield (
        'mercer beside what a user would pick instead, written by `make scoreboard` (`PARTS="svdd ridge"` runs some '
        "parts) from `benchmarks/results/scoreboard_*.csv`. Every contender has a process of its own with the same "
        "data and the same threads; they run one at a time in alternating order, at least three times; seconds are "
        "medians. Memory is the peak of a run above what its process had before. Sizes double until a run would "
        "exceed the time limit; each peer is compared at the largest size it can run."
    )
    yield machines(read("machine"))
    r = sorted({row["r"] for row in read("machine") if row["r"]})
    yield ("R: " + "; ".join(r) + "." if r else "R was not installed.") + " kernlab runs in it."
    absent = sorted({(row["contender"], row["status"]) for row in speed if row["status"].startswith("missing")})
    named = "; ".join(f"{who} ({said})" for who, said in absent)
    yield f"Not raced: {named}." if absent else "Every contender was there."
    yield "## Summary"
    yield (
        f"Ahead by {ASKED} or more in {ahead} of {len(lines)} comparisons; memory not above the peer's in {small}. "
        "Ratio: the peer's seconds over ours, at the peer's largest size. Memory: ours over the peer's; 5 % and "
        f"{MEMORY_SLACK_MB:g} MB count as equal. The answers of both are in the table: they did the same job."
    )
    if lines:
        yield markdown([summary(line) for line in lines])


def machines(rows):
    """A sentence for each set of parts that were measured alike."""
    alike: dict = {}
    for row in rows:
        alike.setdefault((row["machine"], row["threads"], row["limit_s"]), []).append(row)
    said = [
        f"- {line}; {threads} thread(s), at most {float(limit):g} s a run: "
        + ", ".join(f"{row['part']} ({row['minutes']} min)" for row in own)
        for (line, threads, limit), own in alike.items()
    ]
    return "\n".join(said) or "Nothing has been measured yet."


def summary(line):
    case = CASES[f"{line['part']}/{line['case']}"]
    shown = {"case": f"{case.title}", "peer": line["peer"], "n": f"{line['n']:,}".replace(",", " ")}
    shown["peer, s"] = f"{line['their_s']:.3g}"
    if line["our_s"] is None:
        return shown | {"ours, s": "over the limit", "ratio": "**behind**", "memory": "", "answer (ours; peer's)": ""}
    ratio = f"{line['ratio']:.3g}" if line["ratio"] < 1000 else f"{line['ratio']:.0f}"
    memory = f"{line['memory']:.2f}" if max(line["our_mb"], line["their_mb"]) >= 10 else "both below 10 MB"
    return shown | {
        "ours, s": f"{line['our_s']:.3g}",
        "ratio": ratio if line["fast"] else f"**{ratio}**",
        "memory": memory if line["small"] else f"**{memory}**",
        "answer (ours; peer's)": f"{case.answer}: {line['our_answer']:.5g}; {line['their_answer']:.5g}",
    }


def why(speed, reasons, faults):
    yield "## Where a peer is ahead, or close, and why"
    said = [f"- {key[0]}, {key[1]}, {key[2]}: {text}" for key, text in reasons.items()]
    said += [f"- **{fault}**" for fault in faults]
    yield "\n".join(said) or "At its largest size: nowhere."
    small = [
        f"- {case}: {peer} beside {ours} at n = " + ", ".join(f"{n} ({ratio:.2g} times)" for n, ratio in sizes)
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
            own = [row for row in mine if (row["case"], row["contender"]) == (case, name)]
            ran = [row for row in own if row["status"] == "ok"]
            if not ran:
                continue
            last = ran[-1]
            exponents = (
                slope([(r["n"], r["seconds"]) for r in ran], 0.02),
                slope([(r["n"], r["peak_mb"]) for r in ran], 20.0),
            )
            spread = (last["slowest"] - last["fastest"]) / last["seconds"]
            ended = [row["status"] for row in own if row["status"] != "ok"]
            table.append(
                {
                    "case": case, "contender": name, "largest n": last["n"], "seconds": f"{last['seconds']:.3g}",
                    "spread": f"{100 * spread:.0f} %", "peak, MB": f"{last['peak_mb']:.0f}",
                    "time ~ n^": "" if exponents[0] is None else f"{exponents[0]:.1f}",
                    "memory ~ n^": "" if exponents[1] is None else f"{exponents[1]:.1f}",
                    "then": ended[0] if ended else "",
                }
            )  # fmt: skip
        yield markdown(table)
        if part in NOTES:
            yield NOTES[part]


def accuracy():
    rows = read("accuracy")
    yield "## Accuracy with few labels"
    book = RESULTS / "few_label_book.md"
    if book.exists():
        table = [line for line in book.read_text().splitlines() if line.startswith("|")]
        yield (
            "Mean error in % over the sets of Chapelle et al. (`python -m benchmarks.accuracy.book`, official splits, "
            "every method tuned on the labels alone; lower-case names are our single methods):"
        )
        yield "\n".join(table)
        yield ahead({line.split("|")[1].strip(): float(line.split("**")[1]) for line in table[2:]})
    if rows:
        from .accuracy import means, table

        yield (
            f"Mean error in % over the sets of Alaíz et al., {rows[0]['draws']} draws of 2 % and of 10 % of the labels "
            "(every class at least once), tuned the same way:"
        )
        yield table(rows)
        yield ahead(means(rows))


def ahead(means):
    """Whether a few-label peer has a lower mean error than FewLabelClassifier."""
    from .accuracy import PEERS

    mine = means["FewLabelClassifier"]
    better = [f"{name} ({value:.2f} %)" for name, value in means.items() if name in PEERS and value < mine]
    return f"FewLabelClassifier: {mine:.2f} %. Few-label peers ahead on mean error: {', '.join(better) or 'none'}."


def correctness():
    rows = read("correctness")
    if rows:
        yield "## The same answers"
        yield "`tests/benchmarks/test_peers.py` asserts the rows against scikit-learn."
        yield markdown([{k: row[k] for k in ("what", "peer", "measured", "tolerance", "verdict")} for row in rows])


def profiles():
    rows = read("profiles")
    if rows:
        from .profiles import page

        yield "## How far from the machine's limit"
        yield from page(rows)


def threads():
    rows = read("threads")
    if rows:
        from .threads import page

        yield "## Threads by shape"
        yield from page(rows)
