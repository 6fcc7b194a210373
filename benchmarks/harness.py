"""What the benchmarks share: options, timing in alternating order, peak memory in a fresh process, tables.

NumPy is not imported here: scripts set the number of BLAS threads before it is.
"""

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PICTURES = ROOT / "docs" / "img"


def arguments(doc, *, data=None, threads=None, **extra):
    """Options of a benchmark: --quick, and where they are requested --data, --threads and `extra`.

    Parameters
    ----------
    doc : str
        Docstring of the script, printed by --help.
    data : {None, "optional", "required"}
        Whether there is a --data option.
    threads : int or None
        Default of --threads; None when the script has no such option.
    extra : dict
        Keyword arguments of ``add_argument`` for each further option.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing published is overwritten")
    if data is not None:
        parser.add_argument("--data", type=Path, required=data == "required", help="folder with the data sets")
    if threads is not None:
        text = "BLAS and tile threads for all contenders (default %(default)s)"
        parser.add_argument("--threads", type=int, default=threads, help=text)
    for name, options in extra.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **options)
    return parser.parse_args()


def need_data(options):
    """Stop a run whose parts read data sets when no --data was given."""
    if options.data is None:
        raise SystemExit("No folder with data sets was given. Give --data DIR.")


def thread_variables(threads):
    """Environment variables that set the BLAS threads of a process; they count when NumPy is loaded."""
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))


def median_times(functions, repeats=3, budget=0.0):
    """Median seconds of each function; at least `repeats` rounds, and up to 25 while they fit into `budget` seconds.

    The order alternates from round to round, so that a busy moment affects all of them.
    """
    times = {name: [] for name in functions}
    began, turn = time.perf_counter(), 0
    while turn < repeats or (turn < 25 and time.perf_counter() - began < budget):
        for name in list(functions)[:: 1 if turn % 2 == 0 else -1]:
            start = time.perf_counter()
            functions[name]()
            times[name].append(time.perf_counter() - start)
        turn += 1
    return {name: statistics.median(values) for name, values in times.items()}


def in_fresh_process(code, threads=2):
    """Run `work(setup())` of some code in a new process: what `work` returns, with `seconds` and `peak_bytes`.

    `work` returns a dict or None. The memory is counted above what the process has after `setup`. Its high-water mark
    is read from /proc: the one of getrusage is inherited from the process that forked.
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
    environment = os.environ | thread_variables(threads)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def machine():
    """The processor, the versions and the date, in one line."""
    import numpy
    import scipy
    import sklearn

    return (
        f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, {time.strftime('%Y-%m-%d')}"
    )


def read_csv(name, folder=RESULTS):
    """Rows (dicts of strings) of name.csv; none when the file does not exist."""
    path = folder / f"{name}.csv"
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write_csv(name, rows, folder=RESULTS):
    """Rows (dicts) to name.csv; a row may lack columns that others have."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)


def publish(name, text, quick=False):
    """Print a page of results and, unless it comes from a quick run, write it to name.md."""
    print(text)
    if not quick:
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")


def kept_rows(work, tasks, jobs, file=None):
    """Rows (dicts) of all tasks, in the order of the tasks, by processes of one thread each.

    Parameters
    ----------
    work : function
        From a task to its rows. It is defined in a module, as other processes call it.
    tasks : list of tuples
        Tuples that JSON can write. Only the name of a path counts.
    jobs : int
        Number of processes.
    file : path or None
        File to which the rows of each finished task are added, as one line. Tasks that are in it already are not
        computed again, so an interrupted run can be continued. Delete it if the code changes.
    """
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    keys, done = [json.dumps(task, default=lambda path: path.name) for task in tasks], {}
    if file is not None and file.exists():
        done = dict(map(json.loads, file.read_text().splitlines()))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        started = {pool.submit(work, task): key for key, task in zip(keys, tasks) if key not in done}
        for future in as_completed(started):
            key, rows = started[future], future.result()
            done[key] = json.loads(json.dumps(rows))  # as a second run reads them
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                with open(file, "a") as lines:
                    lines.write(json.dumps([key, rows]) + "\n")
    return [row for key in keys for row in done[key]]


def with_error(values, digits=1):
    """ "mean ± standard error" of some numbers, or the mean of one."""
    mean = f"{statistics.mean(values):.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {statistics.stdev(values) / len(values) ** 0.5:.{digits}f}"


def over_draws(rows, column):
    """(mean, its standard error over draws) of a column of rows (dicts) with a set and a draw.

    Rows of the same set and draw count as one value. The sets are taken as given, so only the spread between the draws
    of a set counts; NaN with one draw.
    """
    values, sets = {}, {}
    for row in rows:
        values.setdefault((row["set"], row["draw"]), []).append(row[column])
    for (name, _), found in values.items():
        sets.setdefault(name, []).append(statistics.mean(found))
    spread = [statistics.variance(found) / len(found) if len(found) > 1 else float("nan") for found in sets.values()]
    mean = statistics.mean(statistics.mean(found) for found in sets.values())
    return mean, sum(spread) ** 0.5 / len(sets)


def standardized(X):
    """Columns with mean 0 and deviation 1; constant columns become 0."""
    scale = X.std(axis=0)
    scale[~(scale > 0)] = 1.0
    return (X - X.mean(axis=0)) / scale


def markdown(rows):
    """Rows (dicts) as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines)
