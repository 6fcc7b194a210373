"""The installed command `mercer`: times, memory and accuracy, and their targets.

Prints, and writes to benchmarks/results/tool.md: the time of `mercer --help`; time, peak memory and size of the report
of `mercer label` on a table of 100,000 rows and 50 columns (39 of numbers, 10 of categories, one of texts; 200 labels
of 5 classes); time and accuracy of `mercer demo` (20 labeled digits of 1,797) for five draws of the labels.

    python -m benchmarks.speed.tool            # about four minutes on two cores
    python -m benchmarks.speed.tool --quick    # 5,000 rows, one draw: to see that it runs
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import arguments, machine, markdown, publish, thread_variables

MERCER = Path(sys.executable).with_name("mercer")


def run(*words, cwd, threads):
    """(what the command printed, seconds, CPU seconds, peak bytes) of the installed command in its own process."""
    environment = os.environ | thread_variables(threads)
    begun = time.perf_counter()
    process = subprocess.Popen([MERCER, *words], cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"mercer {' '.join(words)} failed")
    return said, time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def table(n, seed=0):
    """(table with few labels, true classes): five overlapping clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n)
    numbers = 0.6 * rng.normal(size=(5, 39))[truth] + rng.normal(size=(n, 39))
    frame = pd.DataFrame(numbers.round(4), columns=[f"number {j}" for j in range(39)])
    frame.loc[rng.random(n) < 0.02, "number 3"] = np.nan
    for j in range(10):
        shares = rng.dirichlet(np.ones(4 + j), 5).cumsum(axis=1)
        frame[f"category {j}"] = [f"level {v}" for v in (shares[truth] < rng.random((n, 1))).sum(axis=1)]
    ends = ("st", "nd", "rk", "l", "m", "t")
    vocabulary = np.array([a + b + c for a in "bdfgklmnpr" for b in "aeiou" for c in ends])
    weights = rng.dirichlet(np.full(len(vocabulary), 0.1), 5) + 2.0 / len(vocabulary)
    drawn = [rng.choice(len(vocabulary), 12 * n, p=w / w.sum()).reshape(n, 12) for w in weights]
    frame["note"] = [" ".join(row) for row in vocabulary[np.array(drawn)[truth, np.arange(n)]]]
    words = np.array([f"kind {code}" for code in truth], dtype=object)
    shown = np.isin(np.arange(n), rng.choice(n, 200, replace=False))
    return frame.assign(kind=np.where(shown, words, "")), words


def help_time(folder, threads):
    return min(run("--help", cwd=folder, threads=threads)[1] for _ in range(5))


def label(folder, n, threads):
    frame, truth = table(n)
    frame.to_csv(folder / "table.csv", index=False)
    files = ["--out", "out.csv", "--report", "report.html", "--save", "model.mercer"]
    said, *cost = run("label", "table.csv", "--target", "kind", *files, "--json", cwd=folder, threads=threads)
    hidden = (frame["kind"] == "").to_numpy()
    right = float(np.mean(pd.read_csv(folder / "out.csv")["kind_predicted"].to_numpy()[hidden] == truth[hidden]))
    return *cost, (folder / "report.html").stat().st_size, right, json.loads(said)


def main():
    options = arguments(__doc__, threads=2)
    load = os.getloadavg()[0]
    n, seeds = (5_000, 1) if options.quick else (100_000, 5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        help_seconds = help_time(folder, options.threads)
        seconds, cpu, peak, size, right, said = label(folder, n, options.threads)
        demos = [
            run("demo", "--json", "--seed", str(seed), "--out", f"demo{seed}", cwd=folder, threads=options.threads)
            for seed in range(seeds)
        ]
    accuracies = [json.loads(found)["accuracy"] for found, *_ in demos]
    slowest, cpu_demo = max((seconds, cpu) for _, seconds, cpu, _ in demos)
    each = ", ".join(f"{accuracy:.1%}" for accuracy in accuracies)
    rows = [
        ("`mercer --help`, best of 5", f"{help_seconds:.2f} s", "< 0.5 s"),
        (f"`mercer label`, {n:,} × 50, with report and model", f"{seconds:.0f} s ({cpu:.0f} s of CPU)", "≤ 60 s"),
        ("its peak memory", f"{peak / 1e9:.2f} GB", "≤ 2 GB"),
        ("its report", f"{size / 1e6:.2f} MB", "< 1.5 MB"),
        ("its accuracy", f"{right:.1%} (held-out labels: {said['left_out_accuracy']:.1%})", ""),
        ("`mercer demo`, slowest", f"{slowest:.0f} s ({cpu_demo:.0f} s of CPU)", "< 30 s"),
        (
            f"demo: accuracy on 1,777 rows, mean of {seeds} draws",
            f"{statistics.mean(accuracies):.1%} ({each})",
            "≥ 90%",
        ),
    ]
    text = markdown([dict(zip(("what", "measured", "target"), row)) for row in rows])
    head = f"# The command `mercer`\n\n`python -m benchmarks.speed.tool --threads {options.threads}`, {machine()}. "
    head += f"The load average was {load:.1f} at the start.\n\n"
    publish("tool", f"{head}{text}\n", options.quick)


if __name__ == "__main__":
    main()
