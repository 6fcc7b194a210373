"""Races: every contender in a process of its own, one running at a time, in alternating order, up a ladder of sizes.

A contender leaves the ladder when a run takes longer than the limit, or would by its slope so far. Rows contain median,
fastest and slowest seconds, the peak memory of the run above what the process had before it, and the prediction's
value.
"""

import contextlib
import importlib.util
import json
import math
import os
import selectors
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import ROOT, thread_variables

from . import HERE

START_SECONDS = 120  # imports, data, compiling
MEMORY = 9e9  # bytes; the next size is not tried when the quadratic in n would need more


def missing(contender):
    """Why a contender cannot run here, or ""."""
    if contender.r:
        if shutil.which("Rscript") is None:
            return "Rscript is not installed"
        found = subprocess.run(["Rscript", "-e", "library(kernlab)"], capture_output=True, text=True)
        return "" if found.returncode == 0 else "the R package kernlab is not installed"
    return "" if importlib.util.find_spec(contender.needs) else f"{contender.needs} is not installed"


def r_version():
    """R, kernlab and the BLAS they use, in a line; "" without R."""
    code = 'cat(R.version.string, "kernlab", as.character(packageVersion("kernlab")), "BLAS", basename(La_library()))'
    if shutil.which("Rscript") is None:
        return ""
    return subprocess.run(["Rscript", "-e", code], capture_output=True, text=True).stdout.strip()


class Racer:
    """One contender's process at one size."""

    def __init__(self, case, contender, n, threads, rows_file):
        environment = os.environ | thread_variables(threads) | {"PYTHONPATH": str(ROOT / "src")}
        if contender.r:
            facts = [str(x) for x in (rows_file, n, case.facts["columns"], case.facts["gamma"], case.setting)]
            command = ["Rscript", "--vanilla", str(HERE / "kernlab.R"), contender.r, *facts]
        else:
            command = [sys.executable, "-m", "benchmarks.scoreboard.worker", case.key, contender.name, str(n)]
        self.errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment,
            cwd=ROOT,
        )  # fmt: skip
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def listen(self, seconds):
        """The next message; an error message as {"failed": ...} when there is none in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not self.selector.select(left):
                break
            line = self.process.stdout.readline()
            if line.startswith("@@"):
                return json.loads(line[2:])
            if not line:
                self.process.wait()
                self.errors.seek(0)
                last = (self.errors.read().strip().splitlines() or ["no message"])[-1]
                return {"failed": f"stopped: {last[:200]}"}
        return {"failed": "time"}

    def go(self, seconds):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        return self.listen(seconds)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


def race(case, contenders, n, threads=1, limit=6.0, rows_file=""):
    """Rows of one size: contenders start together, then run one at a time, the order turned round every time."""
    racers = {c.name: Racer(case, c, n, threads, rows_file) for c in contenders}
    runs = {name: [] for name in racers}
    failed = {}
    try:
        for name, racer in racers.items():
            answer = racer.listen(START_SECONDS)
            if "failed" in answer:
                failed[name] = answer["failed"] if answer["failed"] != "time" else "did not get ready"
        for turn in range(15):
            names = [name for name in (list(racers) if turn % 2 == 0 else list(racers)[::-1]) if name not in failed]
            spent = {name: sum(run["seconds"] for run in runs[name]) for name in names}
            names = [name for name in names if turn < 3 or spent[name] < 0.5]
            if not names:
                break
            for name in names:
                answer = racers[name].go(2.5 * limit)
                if "failed" in answer:
                    failed[name] = f"over {2.5 * limit:.0f} s" if answer["failed"] == "time" else answer["failed"]
                else:
                    runs[name].append(answer)
    finally:
        for racer in racers.values():
            racer.close()
    return [row(case, c, n, threads, runs[c.name], failed.get(c.name, "")) for c in contenders]


def row(case, contender, n, threads, runs, failed):
    blank = {"part": case.part, "case": case.name, "contender": contender.name, "against": contender.against, "n": n}
    if failed or not runs:
        none = dict.fromkeys(("seconds", "fastest", "slowest", "repeats", "peak_mb", "answer"), "")
        return blank | {"threads": threads} | none | {"status": failed or "no run"}
    seconds = [run["seconds"] for run in runs]
    return blank | {
        "threads": threads,
        "seconds": f"{statistics.median(seconds):.4g}",
        "fastest": f"{min(seconds):.4g}",
        "slowest": f"{max(seconds):.4g}",
        "repeats": len(runs),
        "peak_mb": f"{max(run['peak_bytes'] for run in runs) / 1e6:.1f}",
        "answer": f"{statistics.median(run['answer'] for run in runs):.6g}",
        "status": "ok",
    }


def climb(case, threads=1, limit=6.0, sizes=None):
    """Rows of all sizes and contenders; anyone who is missing or over the limit has a row that states this."""
    rows, reasons = [], {c.name: missing(c) for c in case.contenders}
    for c in case.contenders:
        if reasons[c.name]:
            print(f"  {c.name} is missing: {reasons[c.name]}", flush=True)
            rows.append(row(case, c, case.sizes[0], threads, [], f"missing: {reasons[c.name]}"))
    alive = [c for c in case.contenders if not reasons[c.name]]
    seen = {}
    with tempfile.TemporaryDirectory() as place:
        for n in sizes or case.sizes:
            if not alive or not any(c.against for c in alive):
                break  # no one left to race against
            rows_file = Path(place) / "rows"
            if any(c.r for c in alive):
                data = case.data(n)
                data["X"].tofile(rows_file)
                case.facts.update(columns=data["X"].shape[1], gamma=data["gamma"])
                del data
            found = race(case, alive, n, threads, limit, rows_file)
            for line in found:
                said = f"{line['seconds']} s, {line['peak_mb']} MB, {line['answer']}"
                said = said if line["status"] == "ok" else line["status"]
                print(f"  n = {n:>7} {line['contender']:34} {said}", flush=True)
                seen.setdefault(line["contender"], []).append(line)
            rows += found
            alive = [c for c in alive if _may_go_on(seen[c.name], n, limit)]
    return rows


def _may_go_on(lines, n, limit):
    """Whether twice the rows are likely to stay within the limits, by the slope of the last two sizes."""
    if lines[-1]["status"] != "ok":
        return False
    times = [(line["n"], float(line["seconds"])) for line in lines[-2:]]
    slope = 2.0
    if len(times) == 2:
        slope = math.log(times[1][1] / times[0][1]) / math.log(times[1][0] / times[0][0])
    step = 2.0 ** min(max(slope, 1.0), 3.2)
    return times[-1][1] * step <= limit and 4e6 * float(lines[-1]["peak_mb"]) <= MEMORY
