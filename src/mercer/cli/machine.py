"""`mercer info` and `mercer methods`."""

import inspect
import os
import platform
from importlib.metadata import PackageNotFoundError, version

import mercer

from ..backend import devices, memory_available, n_threads, size
from ..few_label.catalog import methods_of


def info(console) -> None:
    """Print versions, devices and memory."""
    found: dict = {"mercer": mercer.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "torch", "dask"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    free = memory_available()
    console.result = {"versions": found, "cores": os.cpu_count(), "threads": n_threads()}
    console.result |= {"devices": devices(), "memory_available": free}
    for package, number in found.items():
        console.say(f"{package:15} {number or 'not installed'}")
    console.say(f"{'cores':15} {os.cpu_count()}, of which {n_threads()} used")
    console.say(f"{'devices':15} {', '.join(devices()) or 'cpu (NumPy, torch is not installed)'}")
    console.say(f"{'memory':15} {size(free) + ' available' if free is not None else 'unknown'}")


def reads_rows(cls: type) -> str:
    """Return how often an estimator reads the rows."""
    reads = {
        "moments": "one pass, then a small problem",
        "sweeps": "several passes",
        "rows": "row by row on the host",
        "graph": "one graph of all rows",
    }
    return reads.get(getattr(cls, "access", ""), "as the methods it chooses from")


def runs_on(cls: type) -> str:
    """Return the array libraries that an estimator accepts rows of."""
    passes: dict = {"moments": "Dask (at most two passes)", "sample": "Dask (one pass, for a sample)"}
    dask = passes.get(getattr(cls, "on_dask", None))
    return "NumPy, torch" if dask is None else f"NumPy, torch, {dask}"


def methods(console) -> None:
    """Print every estimator with the first line of its description and the arrays it takes."""
    rows = []
    for name, home in sorted(mercer.exports.items()):
        if not home.startswith(("estimators.", "few_label.")):
            continue
        cls = getattr(mercer, name)
        if inspect.isclass(cls) and hasattr(cls, "fit"):
            rows.append((name, (inspect.getdoc(cls) or "").splitlines()[0], reads_rows(cls), runs_on(cls)))
    console.result = {"methods": [{"name": n, "does": d, "reads": a, "runs_on": r} for n, d, a, r in rows]}
    keys = {"classes": "label_methods", "numbers": "number_methods"}
    words = {task: [(one.name, one.title, one.does) for one in methods_of(task).values()] for task in keys}
    for task, key in keys.items():
        console.result[key] = {name: f"{title}: {does}" for name, title, does in words[task]}
    console.table(["estimator", "what it does", "runs on"], [(n, d, r) for n, d, _, r in rows])
    console.say(
        "\nFor --method of label, suggest and check (auto weighs them by the labels, all adds the slower ones):"
    )
    console.table(["--method", "name", "what it is"], words["classes"])
    console.say("\nIf the labels are numbers:")
    console.table(["--method", "name", "what it is"], words["numbers"])
