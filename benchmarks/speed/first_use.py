"""What the first use of an installation costs: processor seconds of the first fit, and the functions numba compiles.

    python -m benchmarks.speed.first_use [--quick]

Each table is fitted in a process with an empty cache of compiled code (cold) and in a second process that finds that
code (warm). Seconds are those of the processor on one BLAS thread, from the start of the process to the end of
the fit, imports included; `again` is a second fit in the warm process, which is the work itself. Then the wall time of
`mercer demo`, cold and warm. Prints and writes benchmarks/results/first_use.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import arguments, machine, markdown, publish, thread_variables

TABLES = {"iris": ("load_iris", 20), "digits": ("load_digits", 20)}
WANTED = {"cold": 6.0, "warm": 2.5, "demo": 8.0}
FIRST_FIT = """
import json, time
import numpy as np
from sklearn import datasets
from mercer import FewLabelClassifier
from numba.core import event

found, open_ = [], []

class Listener(event.Listener):
    def on_start(self, event):
        open_.append(time.process_time())

    def on_end(self, event):
        seconds = time.process_time() - open_.pop()
        found.append((event.data["dispatcher"].py_func.__name__, len(open_), seconds))

X, y = getattr(datasets, {loader!r})(return_X_y=True)
given = np.full(len(y), -1)
some = np.random.default_rng(0).permutation(len(y))[:{labels}]
given[some] = y[some]
imported = time.process_time()
with event.install_listener("numba:compile", Listener()):
    FewLabelClassifier().fit(X, given)
fitted = time.process_time()
if {again}:
    FewLabelClassifier().fit(X, given)
print(json.dumps(dict(imported=imported, fitted=fitted, again=time.process_time() - fitted, compiled=found)))
"""


def first_fit(table, cache, again=False):
    """Processor seconds and compiled functions (name, depth, seconds) of a fit in a fresh process."""
    loader, labels = TABLES[table]
    code = FIRST_FIT.format(loader=loader, labels=labels, again=again)
    return json.loads(_run([sys.executable, "-c", code], cache))


def _run(command, cache):
    environment = os.environ | thread_variables(1) | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def demo(cache, folder):
    """Wall seconds of `mercer demo`."""
    start = time.perf_counter()
    _run([sys.executable, "-m", "mercer", "demo", "--out", str(folder)], cache)
    return time.perf_counter() - start


def main():
    options = arguments(__doc__)
    rows, functions = [], []
    for table in list(TABLES)[: 1 if options.quick else None]:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = first_fit(table, cache), first_fit(table, cache, again=True)
        own = [(name, seconds) for name, depth, seconds in cold["compiled"] if depth == 0]
        functions += [{"table": table, "function": name, "seconds": f"{seconds:.2f}"} for name, seconds in own]
        rows.append(
            {
                "table": table,
                "cold": f"{cold['fitted']:.1f}",
                "warm": f"{warm['fitted']:.1f}",
                "imports": f"{warm['imported']:.1f}",
                "again": f"{warm['again']:.1f}",
                "functions compiled": len(own),
                "with what they call": len(cold["compiled"]),
                "seconds of compiling": f"{sum(seconds for _, seconds in own):.1f}",
                "compiled when warm": len(warm["compiled"]),
            }
        )
    parts = [
        "# First use\n\nProcessor seconds of the first `FewLabelClassifier.fit` of an installation, imports included.",
        f"Target: {WANTED['cold']:g} s cold, {WANTED['warm']:g} s warm, `mercer demo` {WANTED['demo']:g} s.",
        markdown(rows),
        markdown(functions),
    ]
    if not options.quick:
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / "cache"
            seconds = [demo(cache, Path(folder) / "demo") for _ in range(2)]
        parts.append(f"`mercer demo`: {seconds[0]:.1f} s of wall time cold, {seconds[1]:.1f} s warm.")
    publish("first_use", "\n\n".join([*parts, machine()]) + "\n", options.quick)


if __name__ == "__main__":
    main()
