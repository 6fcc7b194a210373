"""`mercer info` and `mercer methods`."""

import inspect
import os
import platform
from importlib.metadata import PackageNotFoundError, version

import mercer

from ..backend import devices, memory_available, n_threads, size
from ..few_label.numbers import FAMILIES
from ..few_label.plan import METHODS

READS = {
    "moments": "a pass over the rows",
    "sweeps": "many passes",
    "rows": "row by row on the host",
    "graph": "one graph of all rows",
}
ON_DASK: dict = {"moments": "Dask (at most two passes)", "sample": "Dask (one pass, for a sample)"}
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "torch", "dask")


def info(screen):
    """Versions, devices, memory."""
    found: dict = {"mercer": mercer.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    free = memory_available()
    screen.result = {"versions": found, "cores": os.cpu_count(), "threads": n_threads()}
    screen.result |= {"devices": devices(), "memory_available": free}
    for package, number in found.items():
        screen.say(f"{package:15} {number or 'not installed'}")
    screen.say(f"{'cores':15} {os.cpu_count()}, of which {n_threads()} used")
    screen.say(f"{'devices':15} {', '.join(devices()) or 'cpu (NumPy; torch is not installed)'}")
    screen.say(f"{'memory':15} {size(free) + ' available' if free is not None else 'unknown'}")


def methods(screen):
    """Every estimator with the first line of its description and where it runs."""
    rows = []
    for name, home in sorted(mercer.exports.items()):
        if not home.startswith(("estimators.", "few_label.")):
            continue
        cls = getattr(mercer, name)
        if inspect.isclass(cls) and hasattr(cls, "fit"):
            access, dask = getattr(cls, "access", "rows"), ON_DASK.get(getattr(cls, "on_dask", None))
            runs_on = f"NumPy, torch ({READS[access]}){'' if dask is None else f', {dask}'}"
            rows.append((name, (inspect.getdoc(cls) or "").splitlines()[0], access, runs_on))
    screen.result = {"methods": [{"name": n, "does": d, "access": a, "runs_on": r} for n, d, a, r in rows]}
    screen.result["label_methods"] = {key: f"{name}: {what}" for key, (name, what) in METHODS.items()}
    screen.result["number_methods"] = {key: f"{name}: {what}" for key, (_, name, what) in FAMILIES.items()}
    screen.table(["estimator", "what it does", "runs on"], [(n, d, r) for n, d, _, r in rows])
    screen.say("\nFor --method of label, suggest and check (auto weighs them by the labels, all adds the slower ones):")
    screen.table(["--method", "name", "what it is"], [(key, *words) for key, words in METHODS.items()])
    screen.say("\nWhere the labels are numbers:")
    screen.table(["--method", "name", "what it is"], [(key, *words[1:]) for key, words in FAMILIES.items()])
