"""Time and memory against the number of rows, log-log, one row of axes for every case of a part."""

from benchmarks.harness import PICTURES

from .cases import CASES

COLORS = ("C1", "C2", "C3", "C4", "C5", "C6")


def draw(part, rows):
    ran = [row for row in rows if row["status"] == "ok"]
    if not ran:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    cases = list(dict.fromkeys(row["case"] for row in ran))
    figure, grid = plt.subplots(len(cases), 2, figsize=(11, 3.0 * len(cases)), squeeze=False, layout="constrained")
    for axes, case in zip(grid, cases):
        mine = [row for row in ran if row["case"] == case]
        peers = iter(COLORS)
        styles = iter(("-", "--", ":"))
        for name in dict.fromkeys(row["contender"] for row in mine):
            own = [row for row in mine if row["contender"] == name]
            if own[0]["against"]:
                look = {"color": next(peers), "lw": 1.3, "marker": "s", "ms": 4}
            else:
                look = {"color": "C0", "lw": 2.4, "ls": next(styles), "marker": "o", "ms": 5}
            sizes = [row["n"] for row in own]
            axes[0].plot(sizes, [row["seconds"] for row in own], label=name, **look)
            axes[0].fill_between(
                sizes, [r["fastest"] for r in own], [r["slowest"] for r in own], color=look["color"], alpha=0.15, lw=0
            )
            axes[1].plot(sizes, [max(row["peak_mb"], 1.0) for row in own], **look)
        for axis, what in zip(axes, ("seconds", "peak memory, MB")):
            axis.set(xscale="log", yscale="log", xlabel="rows", ylabel=what)
            ticks = sorted({row["n"] for row in mine})
            axis.set_xticks(ticks, [f"{n / 1000:g}k" for n in ticks])
            axis.xaxis.set_minor_locator(plt.NullLocator())
            bottom, top = axis.get_ylim()
            if top < 100 * bottom:  # hardly a decade: name more than its powers of ten
                axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter(plt.NullFormatter())
            axis.grid(alpha=0.25, which="major")
            axis.spines[["top", "right"]].set_visible(False)
        names = axes[0].get_legend_handles_labels()
        axes[1].legend(*names, fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        axes[0].set_title(CASES[f"{part}/{case}"].title, fontsize=10, loc="left")
    PICTURES.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib in it, the same rows give the same file.
    figure.savefig(PICTURES / f"scoreboard_{part}.png", dpi=90, metadata={"Software": None})
    plt.close(figure)
