"""One GPU: fused products, exact kernel PCA of a million points, SVDD, few-label methods on landmarks.

    python -m benchmarks.speed.gpu [--data DIR] [--only PART] [--quick] [--out gpu.json]
    python -m benchmarks.speed.gpu --report benchmarks/results/gpu.json

Needs torch with CUDA, Triton, scikit-learn and numba. If mercer is not installed, set PYTHONPATH=src. Checks every
product against float64 on a subset, prints targets and measurements and writes the numbers as JSON. Wall time, median
of three after a warm-up. --report writes benchmarks/results/gpu.md and its picture from such a file, without a GPU.
"""

import json
from pathlib import Path

from benchmarks.harness import PICTURES, arguments, markdown, publish
from mercer.homes.nearest import padded_width

PARTS = ("correctness", "use_device", "products", "pca", "svdd", "clustering", "few", "scaling", "ten million")
LIMIT = """\
Dashed in the picture is the limit, the half-precision operations of a product divided by the rate of torch's own
matrix product. From n = 30,000 on, the time is a constant factor above this limit. It is further away in three cases:

- Small n. Before and after the one pass, V is scaled and split and the kernel is bounded. These are a dozen launches,
  0.3 ms for any n.
- Small d. One exponential and a handful of scalar operations for every pair cost more than its few multiplications.
  Below d = 32 the time no longer depends on d.
- d above 128. A tile of rows no longer fits next to the tile of columns. Both are read again for every 64 columns."""


def operations(d, precision, columns=32):
    """Half-precision operations behind one entry of K and its part of K @ V; rows are padded as `fused.Side` does."""
    width = padded_width(d)
    rows, with_v = {"fast": (1, 2), "high": (3, 3)}[precision]
    return 2 * (rows * width + with_v * columns)


def report(source):
    """results/gpu.md and docs/img/gpu_scaling.png from the JSON that a run wrote; needs matplotlib, and no GPU."""
    import matplotlib.pyplot as plt

    found = json.loads(source.read_text())
    head = f"{found['machine']}. Command: `python -m benchmarks.speed.gpu --data DIR`."
    page = [
        "# One GPU",
        "",
        head,
        "",
        markdown(found["rows"]),
        "",
        LIMIT,
        "",
        "![scaling](../../docs/img/gpu_scaling.png)",
    ]
    publish("gpu", "\n".join(page) + "\n")
    peak = next(float(row["measured"].split()[0]) for row in found["rows"] if "half-precision" in row["what"]) * 1e12
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, key, fixed, value in ((axes[0], "n", "d", 100), (axes[1], "d", "n", 100_000)):
        for precision, marker in (("fast", "o"), ("high", "s")):
            rows = [r for r in found["scaling"] if r[fixed] == value and r["precision"] == precision]
            rows.sort(key=lambda row: row[key])
            at = [row[key] for row in rows]
            (line,) = axis.loglog(at, [row["seconds"] for row in rows], marker=marker, label=precision)
            limit = [row["n"] ** 2 * operations(row["d"], precision) / peak for row in rows]
            axis.loglog(at, limit, "--", color=line.get_color(), label=f"{precision}: matrix units' limit")
        axis.set(xlabel=key, ylabel="seconds", title=f"K @ V, 32 columns, {fixed} = {value}")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(PICTURES / "gpu_scaling.png", dpi=100)


def main():
    options = arguments(
        __doc__,
        data="optional",
        out={"type": Path, "default": Path("gpu.json"), "help": "file of the numbers (default %(default)s)"},
        only={"choices": PARTS, "default": "all", "help": "one of the parts (default all)"},
        report={"type": Path, "help": "only write the page, from the numbers in this file"},
    )
    if options.report:
        return report(options.report)
    from benchmarks.speed.gpu_parts import measure

    options.out.write_text(json.dumps(measure(options), indent=1))


if __name__ == "__main__":
    main()
