"""FewLabelClassifier on one GPU: exact neighbors, graph spectra, a fit to a million rows, and agreement with the CPU.

    python -m benchmarks.speed.few_label_gpu [--data DIR] [--device cuda] [--out few_label_gpu.json] [--quick]
    python -m benchmarks.speed.few_label_gpu --data DIR --agreement --device cpu --out FILE
    python -m benchmarks.speed.few_label_gpu --report benchmarks/results/few_label_gpu.json

Prints targets and measurements, with the seconds of each phase of a fit. --data has mnist.npz, for 50,000 × 784 real
rows; without it they are made. --no-host omits the fits on the CPU, whose predictions are compared. --agreement
runs only this comparison and adds its rows to an existing file. Wall time after a warm-up. --report writes
benchmarks/results/few_label_gpu.md from such a file, without a GPU.
"""

import cProfile
import io
import json
import os
import platform
import pstats
import time
import traceback
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, markdown, publish
from benchmarks.speed.million import sheets

ROWS, PHASES = [], []
PUBLISHED = """## Published by others (read, not measured here)

Faiss's wiki ("Low level benchmarks") gives 55 s in single and 34 s in half precision on a P100 for 1.28e14 multiply-
adds between rows and centroids (k-means, 1 M × 256, 20,000 centroids, 25 times). That is 2.3e12 and 3.8e12 per second
for nearest neighbors by brute force. The search above makes 1e14 in the seconds of its first line, each as three
products in half precision. The H200 has about fifty times the half-precision rate of a P100. No figure of cuML for
exact neighbors of a million rows was found."""
SHAPES = (128, 128, 8, 2), (128, 128, 8, 3), (64, 128, 4, 2), (64, 128, 4, 3), (128, 128, 4, 2), (256, 128, 8, 2)


def say(what, target, measured, detail=""):
    ROWS.append({"what": what, "target": target, "measured": measured, "detail": detail})
    print(f"{what} | {target} | {measured} | {detail}", flush=True)


def clock(function):
    """(what it returns, seconds), with the device's work done."""
    import torch

    start = time.perf_counter()
    found = function()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return found, time.perf_counter() - start


def attempt(out, part, *arguments):
    """Run a part and write what is known so far; one that fails is shown, and the others still run."""
    import torch

    try:
        part(*arguments)
    except Exception:
        say(f"{part.__name__} {arguments[0]}", "", "failed")
        traceback.print_exc()
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()
    found = {"machine": f"{name}, torch {torch.__version__}", "rows": ROWS, "phases": PHASES}
    if part is agreement and out.exists():  # its rows join those of an earlier run
        found = json.loads(out.read_text())
        new = {row["what"]: row for row in ROWS}
        found["rows"] = [row for row in found["rows"] if row["what"] not in new] + ROWS
    out.write_text(json.dumps(found, indent=1))


def neighbors(n, d, device):
    """Exact neighbors of a table among itself: time, agreement with double precision, several shapes of a tile."""
    import torch

    from mercer.homes import nearest

    X = torch.randn((n, d), generator=torch.Generator(device).manual_seed(0), device=device)
    search = nearest.Nearest(X, torch.cuda.mem_get_info()[0] if device == "cuda" else None)
    search(X[:20_000], 11)
    (distance, _), took = clock(lambda: search(X, 11))
    rows = np.arange(0, n, max(n // 100, 1))
    queries = X[torch.as_tensor(rows, device=device)].double()
    true = torch.stack([(X.double() - one).norm(dim=1).topk(11, largest=False).values for one in queries]).cpu().numpy()
    same = float(np.mean(np.abs(distance[rows] - true) <= 1e-9 * (1 + true)))
    sure = search._selected(X[:8192], 11, 11 + nearest.SIZES.spare)[2]
    detail = f"{same:.2%} of sampled neighbors are those of double precision; {float(sure.float().mean()):.2%} proved"
    say(f"10 exact neighbors, {n:,} × {d}", "≤ 3 s" if n == 1_000_000 else "", f"{took:.2f} s", detail)
    if device == "cuda":
        X = X[:262_144]
        for tile in SHAPES:
            nearest.SIZES = nearest.SearchSizes(tile=tile, wide_tile=tile)
            try:
                search._minima(X[:4096])
                took = clock(lambda: search._minima(X[:16384]))[1]
                rate = 2 * 3 * 128 * 16384 * n / took / 1e12 if d <= 128 else float("nan")
                print(f"  tile {tile}: {took * 1000:.1f} ms, {rate:.0f} half-precision TFLOP/s", flush=True)
            except Exception as error:  # a shape that the device has no room for
                print(f"  tile {tile}: {type(error).__name__}", flush=True)
        nearest.SIZES = nearest.SearchSizes()


def labeled(y, number=100):
    given = np.full(len(y), -1)
    rows = np.random.default_rng(0).choice(len(y), number, replace=False)
    given[rows] = y[rows]
    return given


def fit(name, X, y, target, device, host):
    """A fit to rows on the device, its phases, advice and predictions; and the predictions of a fit on the CPU."""
    import torch

    from mercer import FewLabelClassifier, suggest

    given, there, stages = labeled(y), torch.as_tensor(X, device=device), []
    start = time.perf_counter()

    def tell(stage, fraction):
        if not stage.startswith("trying"):
            stages.append((time.perf_counter() - start, stage))

    FewLabelClassifier().fit(there[:6000], labeled(y[:6000]))  # compiles what is compiled
    seconds = sorted(clock(lambda: FewLabelClassifier().fit(there, given))[1] for _ in range(3))
    start = time.perf_counter()
    model, told = clock(lambda: FewLabelClassifier(verbose=tell).fit(there, given))
    free = given < 0
    right = float(np.mean(model.predicted_[free] == y[free]))
    detail = f"{right:.2%} correct; the median of {seconds[0]:.2f}, {seconds[1]:.2f} and {seconds[2]:.2f} s"
    say(f"fit {name}, 100 labels", target, f"{seconds[1]:.2f} s", detail)
    ends = [at for at, _ in stages[1:]] + [told]
    for (at, stage), end in zip(stages, ends):
        PHASES.append({"fit": name, "phase": stage, "seconds": f"{end - at:.2f}"})
        print(f"  {at:7.2f} {end - at:7.2f} {stage}", flush=True)
    profile, text = cProfile.Profile(), io.StringIO()
    profile.runcall(FewLabelClassifier().fit, there, given)
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(28)
    pstats.Stats(profile, stream=text).sort_stats("cumtime").print_stats("mercer", 45)
    print("\n".join(line for line in text.getvalue().splitlines() if line.strip()), flush=True)
    small = len(X) <= 50_000
    seconds = [clock(lambda: model.predict(there))[1] for _ in range(2)]
    say(
        f"predict {len(X):,} device rows, {name}",
        "" if small else "≤ 2 s",
        f"{seconds[1]:.2f} s",
        f"first {seconds[0]:.2f} s",
    )
    rows = np.flatnonzero(free)[:6]

    def lesson(row):
        model.teach([row], y[[row]])
        return model.predicted_, model.confidence_, suggest(model, 10)

    seconds = [clock(lambda row=row: lesson(row))[1] for row in rows[:-1]]  # the first one fills what later ones share
    measured = f"{float(np.median(seconds[1:])):.3f} s"
    say(
        f"teach one row, all predictions, suggest 10, {name}",
        f"≤ {0.1 if small else 0.3} s",
        measured,
        f"first {seconds[0]:.2f} s",
    )
    profile, text = cProfile.Profile(), io.StringIO()
    profile.runcall(lesson, rows[-1])
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(20)
    print("\n".join(line for line in text.getvalue().splitlines() if line.strip()), flush=True)
    if host:
        model.unteach(rows)
        compare(name, X, given, model)


def compare(name, X, given, model, detail=""):
    """The predictions of a fit to the same rows on the host."""
    from mercer import FewLabelClassifier

    other, took = clock(lambda: FewLabelClassifier().fit(X, given))
    same = float(np.mean(other.predicted_ == model.predicted_))
    apart = np.abs(other.probabilities_ - model.probabilities_).max(axis=1)
    core = np.isin(np.arange(len(X)), model.library_.core)
    for row in np.argsort(-apart)[:10]:  # which rows differ most, and how far they are from the core
        where = "in the core" if core[row] else f"outside it, trust {model.trust(X[row : row + 1])[0]:.2f}"
        both = other.probabilities_[row].max(), model.probabilities_[row].max()
        print(f"  row {row} ({where}): {apart[row]:.2g} apart, {both[0]:.3f} and {both[1]:.3f}", flush=True)
    print(
        f"  rows more than 0.01 apart: {np.sum(apart[core] > 0.01)} of {core.sum()} in the core, "
        f"{np.sum(apart[~core] > 0.01)} of {np.sum(~core)} outside it",
        flush=True,
    )
    apart = float(np.abs(other.probabilities_ - model.probabilities_).max())
    detail = f"{detail}probabilities at most {apart:.0e} apart; CPU {took:.1f} s with {os.cpu_count()} cores"
    say(f"agreement with the CPU's predictions, {name}", "≥ 99.8%", f"{same:.4%}", detail)


def agreement(name, X, y, device):
    """Only that comparison, for a device that is slow: torch's own "cpu", which runs all but the fused kernels."""
    import torch

    from mercer import FewLabelClassifier

    given, there = labeled(y), torch.as_tensor(X, device=device)
    model, took = clock(lambda: FewLabelClassifier().fit(there, given))
    compare(f"{name}, torch on {device}", X, given, model, f"torch {took:.1f} s; ")


def report(source):
    found = json.loads(source.read_text())
    page = f"""# FewLabelClassifier on one GPU

{found["machine"]}. Command: `python -m benchmarks.speed.few_label_gpu --data DIR`. The rows with
torch on the CPU run the same code except for the fused kernels (`--agreement --device cpu`).

{markdown(found["rows"])}

{markdown(found["phases"])}

{PUBLISHED}
"""
    publish("few_label_gpu", page)


def main():
    options = arguments(
        __doc__,
        data="optional",
        device={"default": "cuda", "help": "torch's name of it (default %(default)s)"},
        agreement={"action": "store_true", "help": "only compare the predictions of the device and the CPU"},
        no_host={"action": "store_true", "help": "omit the fits on the CPU"},
        out={"type": Path, "default": Path("few_label_gpu.json"), "help": "file of the numbers (default %(default)s)"},
        report={"type": Path, "help": "only write the page, from the numbers in this file"},
    )
    if options.report:
        return report(options.report)
    million, fifty = (8_000, 5_500) if options.quick else (1_000_000, 50_000)
    for d in () if options.agreement else (100, 30, 784):
        attempt(options.out, neighbors, million if d == 100 else fifty, d, options.device)
    for name, target in ((f"{fifty:,} × 784", "≤ 2 s"), (f"{million:,} × 100", "≤ 20 s")):
        X, y = pictures(options.data, fifty) if name.endswith("784") else sheets(million, 100)
        if options.agreement:
            attempt(options.out, agreement, name, X, y, options.device)
        else:
            attempt(options.out, fit, name, X, y, target, options.device, not options.no_host)


def pictures(data, n):
    """n rows of MNIST, or made ones of as many columns."""
    if data is None:
        return sheets(n, 784)
    file = np.load(data / "mnist.npz")
    return file["X_train"][:n].astype(np.float32) / 255, file["y_train"][:n].astype(int)


if __name__ == "__main__":
    main()
