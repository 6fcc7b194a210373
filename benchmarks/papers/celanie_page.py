"""results/celanie.md: what the report says in words, held against the measured rows; used by celanie.py."""

import numpy as np

from benchmarks.harness import machine, markdown, read_csv
from mercer.solvers.dual.minimise import TRIES

TARGET = 1e-6
FRESH = (
    "These draws were looked at. Of 40 others (`--only breakdown --first 300 --seeds 40 --shares 0.1`) gross outliers "
    "turn the components by more than 10° in 4 (worst 30°), outliers on one side and a cluster in none (0.1° and 9°): "
    "where one or two gross outliers lie right behind the tail of the clean rows, they are taken for it. Before there "
    "were three starts and an eye for the tail, the worst of the first five draws had 18°, and of 40 draws (200 to "
    "239) 7, 7 and 1 were above 10°; now 4, 0 and 0, though the worst with gross outliers is 66° in place of 30°. "
    "(Gross outliers of 20 %: about 10° in the mean in place of 28°; of 30 %, 64° in place of 59°.) "
    "In the draw with 18° the start was not to blame: no outlier had any weight, and "
    "one clean row far out, taken for an outlier, turned the components."
)
COST = (
    "Cost: descents run side by side and share each product with the kernel matrix, one that rounding has stopped "
    "ends, and kicks end after the first eleven where eight starts agree (234 of these 300 problems). With 1 000 "
    'float32 rows of 20 columns and `solver="operator"` that is 3 s in place of 22 (164 products in place of 4 425; '
    "one thread), with 3 000 rows 10 s; 30 rows whose tolerance float32 cannot reach, 3 s in place of 107. Where a "
    "kick gains, the count begins anew."
)


def page(rows, table):
    """The page from the rows of celanie.csv and the table of who wins where."""
    parts = [
        "# Celanie and Nel: report on “Extending kernel PCA through dualization”",
        f"{machine().rpartition(', ')[0]}, 1 thread."
        " Command: `python -m benchmarks.papers.celanie` (about ten minutes; `--pictures` draws "
        "and writes this page again from the stored rows), `python -m benchmarks.papers.celanie_robust` "
        "(a quarter of an hour).",
        "The report prints no number: its figures 4 to 6 are curves and clouds, and its results are sentences. There "
        "are "
        "no cells to agree with; the sentences are held against our rows, both ways.",
        "## Do the report's claims hold?",
        *claims(rows),
        "## Who is fastest at equal error",
        table,
        *robustness(),
        "Pictures: docs/img/celanie_fig1.png (a DC iteration), celanie_fig3.png (Nyström components for c = 10, 50, "
        "100, "
        "500), celanie_fig4.png to celanie_fig6.png, celanie_breakdown.png.",
    ]
    return "\n\n".join(parts) + "\n"


def claims(rows):
    """One paragraph for each sentence of the report."""
    cells = {}
    for row in rows:
        cells.setdefault((int(row["n"]), int(row["s"])), {})[row["solver"]] = (float(row["seconds"]), float(row["eta"]))
    own = ("full", "randomised", "Lanczos", "dual L-BFGS")  # the report's contenders besides Nyström
    first, behind, against_full, cheapest = [], [], [], 0
    for key, found in cells.items():
        times = {name: seconds for name, (seconds, eta) in found.items() if eta <= TARGET and name in own}
        if min(times, key=times.get) == "dual L-BFGS":
            first.append(key)
        elif "dual L-BFGS" in times:
            behind.append(times["dual L-BFGS"] / min(times.values()))
        against_full.append(times["full"] / times.get("dual L-BFGS", np.inf))
        cheapest += found["Nyström c=100"][0] <= min(seconds for seconds, _ in found.values())
    where = ", ".join(f"n = {n}, s = {s}" for n, s in first)
    large = [gain for (n, _), gain in zip(cells, against_full) if n >= 1024]
    slopes = {}
    for s in sorted({s for _, s in cells}):
        some = sorted((n, found["Nyström c=100"][1]) for (n, t), found in cells.items() if t == s)
        sizes, errors = np.log(np.array(some)).T
        slopes[s] = (np.polyfit(sizes, errors, 1)[0], some[0][1], some[-1][1])
    trend = "; ".join(f"s = {s}: {100 * a:.1f} → {100 * b:.1f} % (∝ n^{k:+.2f})" for s, (k, a, b) in slopes.items())
    return [
        "**“L-BFGS on the dual … becomes faster as n increases … more and more reliable in terms of computational "
        "time”: "
        f"against the full decomposition yes, against the other iterations only at s = 2.** At n ≥ 1024 L-BFGS is "
        f"{min(large):.1f} to {max(large):.0f} times faster than the full decomposition. Among the report's contenders "
        f"(full, randomised, Lanczos, L-BFGS), each at the loosest setting with η ≤ 1e-6, it is the fastest in "
        f"{len(first)} of {len(cells)} cells ({where}); in the others it is {min(behind):.1f} to {max(behind):.1f} "
        f"times "
        "slower than the fastest. For s ≥ 10 the claim does not hold at any n. One dual step costs one product with "
        "n × s "
        "numbers, as a step of the other methods does; it needs more of them the more components there are.",
        "**“Nyström has the lower computational time … traded by less precision as n becomes larger”: the first half "
        f"holds, the second does not.** With c = 100 columns it is the cheapest in {cheapest} of {len(cells)} cells. "
        f"Its "
        f"error hardly depends on n — from the smallest to the largest n, {trend} — because the leading eigenvalues of "
        "K/n tend to those of an integral operator, which 100 columns estimate as well for many rows as for few. It "
        "does "
        "not fall below about 1 % either, where the others reach 1e-6. (One draw of columns a cell.)",
        "**“Computations are faster than the usual SVD”: yes** (above). **“s of the order of n: no advantage”: yes**; "
        "`KernelPCA` takes the full decomposition from s = n/4 on.",
    ]


def unseen(rows):
    """What happened on the problems that nothing was settled on."""
    own = [row for row in rows if int(row["problem"]) > 200 and int(row["problem"]) % 2]
    lost, won = (sum(int(row[name]) for row in own) for name in ("loses", "wins"))
    return f"on the {len(own)} that played no part in settling the search lower in {won} and higher in {lost}"


def robustness():
    """What celanie_robust.py measured."""
    parts = []
    rows = read_csv("celanie_breakdown")
    if rows:
        ten = [row for row in rows if float(row["share"]) == 0.1]
        told = "; ".join(
            f"{r['example']}: plain {r['plain']}°, Huber {r['huber']}°, spherical {r['spherical']}°, reconstruction "
            f"{r['reconstruction']}°"
            for r in ten
        )
        worst = max(float(r["its worst draw"]) for r in ten)
        price = max(float(r["reconstruction"]) for r in rows if float(r["share"]) == 0)
        parts += [
            "## Robustness: leverage",
            "Huber's loss bounds the pull of a row and not its length in feature space. Largest angle between two "
            f"components and those of the clean rows, 10 % outliers, mean over the draws: {told}. It was asked to be "
            f'10° at most at 10 %: `loss="reconstruction"` has {worst:.1f}° in the worst of these draws.',
            FRESH,
            f"Its price is an angle of {price:.0f}° in the mean where there is no outlier: rows in the tail of a skew "
            "distribution look like outliers. It breaks down between 10 and 20 % where the outliers lie together, and "
            "between 20 and 30 % where they scatter. The signs alone (“spherical”) have no leverage either, but where "
            "the features are skew, as those of a polynomial, their components are other ones also without outliers. A "
            "tight cluster of 20 % is a leading component of an RBF kernel by right, and no loss here leaves it out.",
            markdown(rows),
        ]
    rows = read_csv("celanie_starts")
    if rows:
        lost, won = (sum(int(row[name]) for row in rows) for name in ("loses", "wins"))
        times = [sum(float(row[name]) for row in rows) for name in ("seconds", "seconds of DCA")]
        hurt = [float(row["ours"]) / float(row["best of 20"]) - 1 for row in rows if int(row["loses"])]
        parts += [
            '## Starts of `norm="element"`',
            f"{len(rows)} random problems, our default of {TRIES} tries (starts, then kicks of the best one) "
            "against the best of 20 random starts of plain DCA: "
            f"**lower in {won}, equal in {len(rows) - won - lost}, higher in {lost}** (more than 1e-6, relative"
            + (f"; at most {max(abs(h) for h in hurt):.1e}" if hurt else "")
            + f"), {unseen(rows)}, in {times[0] / times[1]:.1f} times its CPU time ({times[0] / len(rows):.1f} s a "
            "problem of 40 to 120 rows). `n_init=` takes fewer or more. Command: `python -m "
            "benchmarks.papers.celanie_robust --only starts`.",
            "How the default was found: 100 starts without kicks lost problem 113 (by 4e-4, relative) and, on another "
            "machine, where rounding leads elsewhere, problem 77 (3e-6); eight ways of searching were tried on the 19 "
            "hardest of the first 200; 60 kicks then lost problem 206 (1e-5), and 121 kicks of varied size were taken. "
            "So the first 200 and the even ones from 206 on have been looked at; the odd ones from 201 on have not.",
            COST,
        ]
    return parts
