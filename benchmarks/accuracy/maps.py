"""The map of the rows (report, `mercer embed --method map`, web app) next to UMAP, PaCMAP and t-SNE on ten data sets.

    python -m benchmarks.accuracy.maps --data DIR [--sizes 20000 100000] [--quick]

For each set, at most 2,000 rows: trustworthiness (fraction of neighbors in the plane that are near in the table too,
scikit-learn's, 10 neighbors) and neighbor purity (fraction of the 10 nearest rows in the plane with the same class).
The classes are not used for the maps. `components` are the two kernel principal components that the map starts from,
and `ranks` are their ranks along each axis. `area` is the fraction of a 50 x 50 grid that 90%
of the rows take. UMAP and PaCMAP are compared if they are installed; their seeds are fixed. Seconds are CPU seconds of
this process, after one small run that compiles. A second table has the seconds until large tables are drawn, as the web
app does it: noisy copies of the digits, of which a random sample is fitted and the other rows are placed among them.
Writes benchmarks/results/maps.{csv,md} and maps_sizes.csv.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.manifold import TSNE, trustworthiness
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import arguments, machine, markdown, need_data, publish, standardized, write_csv
from mercer.few_label.sizes import SIZES
from mercer.graphs.layout import ranks
from mercer.report.picture import PlaneEmbedding

MOST, NEAR, GRID = 2000, 10, 50
BLOCK = 10_000  # rows that are placed at once
TARGETS = {20_000: 3.0, 100_000: 15.0}  # rows: wall seconds on two cores
SHIPPED = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}
MIXED = ("australian", "ssl_secstr")  # columns of different units
STORED = ("coil20", "usps", "mnist", "ssl_text", "ssl_secstr", "australian")


def tables(folder, quick):
    """(name, rows, classes) of each set, columns of tables standardized."""
    for name, load in SHIPPED.items():
        X, y = load(return_X_y=True)
        yield name, X if name == "digits" else standardized(X), y
    for name in () if quick else STORED:
        path = Path(folder) / f"{name}.npz"
        if path.exists():
            yield name, *stored(path)


def stored(path):
    """The rows and classes of a file, at most 2,000 drawn at random."""
    with np.load(path, allow_pickle=False) as file:
        y = np.asarray(file["y"] if "y" in file else file["y_train"]).ravel()
        if "X_train" in file or "X" in file:
            X = file["X_train" if "X_train" in file else "X"]
        else:
            parts = [file[f"X_{part}"] for part in ("data", "indices", "indptr", "shape")]
            X = sp.csr_matrix(tuple(parts[:3]), shape=tuple(parts[3]))
    rows = np.random.default_rng(0).permutation(X.shape[0])[:MOST]
    X = X[rows]
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
    return (standardized(X) if path.stem in MIXED else X), y[rows]


def peers():
    """{name: function from rows to positions} of what is installed."""
    found = {"t-SNE": lambda X: TSNE(random_state=0, init="pca", perplexity=min(30, len(X) // 4)).fit_transform(X)}
    try:
        import umap

        found["UMAP"] = lambda X: umap.UMAP(random_state=0, n_jobs=1).fit_transform(X)
    except ImportError:
        print("UMAP is not installed (pip install umap-learn)")
    try:
        import pacmap

        found["PaCMAP"] = lambda X: pacmap.PaCMAP(random_state=0).fit_transform(X.astype(np.float32))
    except ImportError:
        print("PaCMAP is not installed (pip install pacmap)")
    return found


def quality(X, y, xy):
    """What a map keeps."""
    near = NearestNeighbors(n_neighbors=NEAR).fit(xy).kneighbors(return_distance=False)
    low, high = xy.min(axis=0), xy.max(axis=0)
    cells = np.floor((xy - low) / np.where(high > low, high - low, 1) * (GRID - 1e-9)).astype(int) @ [1, GRID]
    counts = np.sort(np.bincount(cells))[::-1]
    return {
        "trustworthiness": round(float(trustworthiness(X, xy, n_neighbors=NEAR)), 4),
        "purity": round(float((y[near] == y[:, None]).mean()), 4),
        "area": round(float(np.searchsorted(np.cumsum(counts), 0.9 * len(xy)) + 1) / GRID**2, 4),
    }


def drawn(n):
    """Wall seconds until n noisy copies of the digits are placed, as in the web app."""
    draw = np.random.default_rng(0)
    X = load_digits().data
    X = X[draw.integers(0, len(X), n)] + draw.normal(scale=1.5, size=(n, X.shape[1]))
    began = time.perf_counter()
    core = np.sort(draw.permutation(n)[: SIZES.first_rows])
    model = PlaneEmbedding(0).fit(X[core])
    others = np.setdiff1d(np.arange(n), core)
    for begin in range(0, len(others), BLOCK):
        model.transform(X[others[begin : begin + BLOCK]])
    return time.perf_counter() - began


def main():
    sizes = {"nargs": "*", "type": int, "default": list(TARGETS), "help": "rows of the large tables"}
    options = arguments(__doc__, data="optional", sizes=sizes)
    if not options.quick:
        need_data(options)
    warnings.simplefilter("ignore")
    others, rows = peers(), []
    small = np.random.default_rng(0).normal(size=(300, 5))
    for act in (*others.values(), lambda X: PlaneEmbedding().fit(X)):
        act(small)  # compiles
    for name, X, y in tables(options.data, options.quick):
        began = time.process_time()
        own = PlaneEmbedding().fit(X)
        maps = {"mercer": (own.positions_, time.process_time() - began)}
        maps |= {"components": (own.start_, 0.0), "ranks": (ranks(own.start_), 0.0)}
        for other, act in others.items():
            began = time.process_time()
            maps[other] = np.asarray(act(X), dtype=float), time.process_time() - began
        for method, (xy, seconds) in maps.items():
            rows.append({"set": name, "rows": len(X), "map": method} | quality(X, y, xy) | {"cpu_s": round(seconds, 2)})
    large = [
        {"rows": n, "seconds": round(drawn(n), 2), "target": TARGETS.get(n, "")}
        for n in ([2000] if options.quick else options.sizes)
    ]
    if not options.quick:
        write_csv("maps", rows)
        write_csv("maps_sizes", large)
    publish("maps", page(rows, large), options.quick)


def page(rows, large):
    """The results as a page."""
    methods = list(dict.fromkeys(row["map"] for row in rows))
    by = {(row["set"], row["map"]): row for row in rows}
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = [
        {"set": name, "rows": by[name, "mercer"]["rows"]}
        | {
            method: f"{by[name, method]['trustworthiness']:.3f} / {by[name, method]['purity']:.3f}"
            for method in methods
        }
        for name in sets
    ]
    mean = {
        method: " / ".join(
            f"{np.mean([by[name, method][what] for name in sets]):.3f}" for what in ("trustworthiness", "purity")
        )
        for method in methods
    }
    lines.append({"set": "mean", "rows": ""} | mean)
    more = [
        {
            "map": method,
            "area of 90% of the rows (mean)": f"{np.mean([by[name, method]['area'] for name in sets]):.1%}",
            "CPU seconds, all sets": f"{sum(by[name, method]['cpu_s'] for name in sets):.1f}",
        }
        for method in methods
    ]
    text = "Trustworthiness / neighbor purity, higher is better. `benchmarks/accuracy/maps.py` defines them."
    parts = ["# Maps of the rows", machine(), text, markdown(lines), markdown(more), markdown(large)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
