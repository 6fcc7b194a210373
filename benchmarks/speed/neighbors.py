"""Ten nearest rows among 50,000 for the other rows of a million: exact, in cells, and by other libraries.

    python -m benchmarks.speed.neighbors [--quick]

CPU seconds of one thread to build the search and to look up 131,072 rows of 50 columns, scaled to 950,000; recall
against the exact search; size of the installed package. hnswlib, usearch and pynndescent are measured if they can be
imported. Prints and writes benchmarks/results/neighbors.md.
"""

import importlib
import os
import time
from functools import partial
from pathlib import Path

from benchmarks.harness import arguments, machine, markdown, publish, thread_variables

os.environ |= thread_variables(1)

import numpy as np

from benchmarks.speed.million import sheets
from mercer.graphs import cells
from mercer.graphs.nearest import Products, trees

MILLION = 950_000


def clock(function):
    start = time.process_time()
    found = function()
    return found, time.process_time() - start


def size(name):
    """Megabytes of an installed package."""
    file = Path(importlib.import_module(name).__file__)
    files = file.parent.rglob("*") if file.stem == "__init__" else [file]
    return f"{sum(one.stat().st_size for one in files if one.is_file()) / 1e6:.1f} MB"


def hnsw(rows, queries, search):
    index = importlib.import_module("hnswlib").Index(space="l2", dim=rows.shape[1])

    def build():
        index.init_index(len(rows), ef_construction=100, M=16)
        index.set_num_threads(1)
        index.add_items(rows)

    built = clock(build)[1]
    index.set_ef(search)
    (found, _), took = clock(lambda: index.knn_query(queries, 10, num_threads=1))
    return found, built, took


def usearch(rows, queries):
    index = importlib.import_module("usearch.index").Index(ndim=rows.shape[1], metric="l2sq")
    built = clock(lambda: index.add(np.arange(len(rows)), rows, threads=1))[1]
    found, took = clock(lambda: index.search(queries, 10, threads=1))
    return found.keys, built, took


def descent(rows, queries):
    def build():
        made = importlib.import_module("pynndescent").NNDescent(rows, n_neighbors=10, n_jobs=1, random_state=0)
        made.prepare()
        return made

    index, built = clock(build)
    (found, _), took = clock(lambda: index.query(queries, 10))
    return found, built, took


def main():
    options = arguments(__doc__)
    n, m = (6_000, 4_096) if options.quick else (50_000, 131_072)
    X, _ = sheets(n + m)
    rows, queries = X[:n], X[n:]
    some = min(m, 5_000)
    exact = Products(rows, lambda: trees(rows))
    (_, true), took = clock(lambda: exact(queries[:some], 10))
    table = []

    def add(name, package, found, built, took, number):
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(true, found)])
        table.append(
            {
                "search": name,
                "recall": f"{recall:.3f}",
                "build": f"{built:.1f} s",
                "950,000 rows": f"{took * MILLION / number:.0f} s",
                "installed": "–" if package is None else size(package),
            }
        )
        print(table[-1], flush=True)

    add("exact products", None, true, 0.0, took, some)
    for recall in (0.95, cells.RECALL):
        cells.RECALL = recall
        search, built = clock(lambda: cells.Cells(rows, exact))
        (_, found), took = clock(lambda search=search: search(queries, 10))
        add(f"cells, {search.reach} rows each", None, found[:some], built, took, m)
    peers = {
        "hnswlib, ef 50": ("hnswlib", partial(hnsw, search=50)),
        "hnswlib, ef 100": ("hnswlib", partial(hnsw, search=100)),
        "usearch": ("usearch", usearch),
        "pynndescent": ("pynndescent", descent),
    }
    for name, (package, run) in peers.items():
        try:
            add(name, package, *run(rows, queries[:some]), some)
        except (ImportError, OSError) as error:
            table.append(dict.fromkeys(table[0], "–") | {"search": name, "recall": f"none: {type(error).__name__}"})
    page = f"""# Nearest rows for a million

Ten nearest among {n:,} rows of 50 columns, one thread, CPU seconds.

{markdown(table)}

Command: `python -m benchmarks.speed.neighbors`.

{machine()}
"""
    publish("neighbors", page, options.quick)


if __name__ == "__main__":
    main()
