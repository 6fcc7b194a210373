"""The page of Denœux's tables, benchmarks/results/denoeux.md, from the CSV files; called by denoeux.py."""

import numpy as np

from benchmarks.harness import machine, markdown, publish, read_csv
from benchmarks.papers.denoeux_features import COMPONENTS, SLIDE_ERRORS, counts, slide, standard_errors

NOTES = """NOTES"""


def exponents(rows):
    """Exponent of n in the time, per ν, from the larger half of the sizes."""
    found = {}
    for nu in sorted({float(row["nu"]) for row in rows}):
        n, seconds = np.array([(float(r["n"]), float(r["seconds"])) for r in rows if float(r["nu"]) == nu]).T
        half = len(n) // 2
        found[nu] = float(np.polyfit(np.log(n[half:]), np.log(seconds[half:]), 1)[0])
    return found


def told(rows):
    agree, worse, better = counts(rows)
    return f"{agree} of {agree + worse + better} agree, {worse} worse, {better} better"


def feature_lines(rows):
    lines = ["| components | " + " | ".join(f"degree {d}" for d in SLIDE_ERRORS) + " |", "|" + "---|" * 8]
    cells = {(int(row["degree"]), int(row["components"])): row for row in rows}
    for m in COMPONENTS:
        line = [str(m)]
        for degree in SLIDE_ERRORS:
            row = cells.get((degree, m))
            if row is None or slide(row) is None:
                line.append("n.a.")
                continue
            z = standard_errors(row)
            mark = " ▲" if z > 2 else " ▼" if z < -2 else ""
            line.append(f"{slide(row)}; {float(row['ours']):.1f}; {float(row['ours']) - slide(row):+.1f}{mark}")
        lines.append("| " + " | ".join(line) + " |")
    return lines


def study_lines(rows):
    lines = ["| protocol | agree, worse, better | mean difference | 32 components | 64 | 128 | 256 |", "|" + "---|" * 7]
    for name in dict.fromkeys(row["protocol"] for row in rows):
        own = [row for row in rows if row["protocol"] == name]
        off = {
            m: np.mean([float(r["ours"]) - slide(r) for r in own if int(r["components"]) == m]) for m in COMPONENTS[:4]
        }
        mean = np.mean([float(row["ours"]) - slide(row) for row in own])
        part = "" if len(own) == 28 else f" ({len(own)} cells)"
        counted = ", ".join(map(str, counts(own)))
        lines.append(
            f"| {name}{part} | {counted} | {mean:+.2f} | " + " | ".join(f"{v:+.2f}" for v in off.values()) + " |"
        )
    return lines


def report(folder):
    """Write the page from the tables that are there."""
    features, study = read_csv("denoeux_features", folder), read_csv("denoeux_study", folder)
    nu, times, geyser = (read_csv(f"denoeux_{name}", folder) for name in ("nu", "times", "faithful"))
    lines = ["# Denœux, Kernel-based methods (slides)", "", NOTES, ""]
    lines += ["## USPS: test error of a linear SVM on kernel PCA features, %", ""]
    lines += [
        f"Slide; ours; difference. {told(features)} (two standard errors of one error rate, 0.9 points; ▲ worse).",
        "",
    ]
    lines += feature_lines(features)
    if study:
        lines += ["", "### Protocols that were tried, up to 256 components", "", *study_lines(study)]
    lines += ["", "## USPS: one-class SVM, ν", "", markdown(nu), ""]
    lines += [
        "## Training time against n",
        "",
        "Seconds grow as n to the power of (from n = 2 048, 4 096 and 8 192):",
        "",
    ]
    lines += ["| ν | exponent | seconds at 8 192 |", "|---|---|---|"]
    last = {float(r["nu"]): r["seconds"] for r in times if r["n"] == max(times, key=lambda r: int(r["n"]))["n"]}
    lines += [f"| {nu:g} | {power:.2f} | {last[nu]} |" for nu, power in exponents(times).items()]
    lines += ["", "## Old Faithful, c-means", "", markdown(geyser), ""] if geyser else [""]
    lines.append(f"Measured on {machine()}.")
    publish("denoeux", "\n".join(lines) + "\n")
