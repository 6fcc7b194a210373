"""What the benchmarks share: timing in alternation, peak memory in a fresh process, the machine in a line, tables."""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parent.parent / "docs" / "img"


def arguments(description, default_threads=2, **extra):
    """The options every benchmark has: --data, --quick, --threads."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument(
        "--threads", type=int, default=default_threads, help="BLAS and tile threads for everybody (default %(default)s)"
    )
    for name, options in extra.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **options)
    return parser.parse_args()


def median_times(functions, repeats=3):
    """Median seconds of each function, called in alternating order so that a noisy minute hits them all."""
    times = {name: [] for name in functions}
    for turn in range(repeats):
        names = list(functions) if turn % 2 == 0 else list(functions)[::-1]
        for name in names:
            start = time.perf_counter()
            functions[name]()
            times[name].append(time.perf_counter() - start)
    return {name: sorted(values)[len(values) // 2] for name, values in times.items()}


def in_fresh_process(code, threads=2):
    """Run code that prints one JSON line last; return it with `seconds` and `peak_bytes` above the imports.

    The high-water mark is /proc's: the one of getrusage is inherited from the process that forked.
    The code defines `setup()` and `work(x)`; work gets what setup returned and returns what should be reported.
    """
    script = f"""
import json, time
def status(name):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])
{code}
x = setup()
before = status("VmRSS")
start = time.perf_counter()
found = work(x)
seconds = time.perf_counter() - start
print(json.dumps(dict(found or {{}}, seconds=seconds, peak_bytes=max(status("VmHWM") - before, 0))))
"""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | {name: str(threads) for name in names}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def machine():
    """One line that says what the numbers were measured on."""
    import numpy
    import scipy
    import sklearn

    return (
        f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, {time.strftime('%Y-%m-%d')}"
    )


def write_csv(name, rows, folder=RESULTS):
    """Rows (dicts) to name.csv in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def markdown(rows):
    """Rows (dicts) as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines)
