"""The label search: does it find the optimum, how fast is it, and how good are its clusters?

    python -m benchmarks.speed.label_search --data DIR [--only PART ...] [--quick]

Parts, each a table in benchmarks/results/label_search.md (stored in label_search.json, so that one part can be rerun):

optimum    200 random instances, u ≤ 16, balance constraints: how often the search has the optimum of all 2^u labelings
usps       USPS(2,5), l = 16, λ = 2⁻⁵, λ' = 1, n = 822: mean F over seeds of every search, with the time of 50 restarts
shortcut   one evaluation at n = 2,000: from scratch (O(n²)), by the shortcut (O(r)), and with maintained gains
large      n = 60,000, r = 100, 50 restarts; n = 1,000,000, r = 100, 1 restart with all preprocessing, and its memory
clusters   digit pairs next to the accuracies of the public max-margin code, and the time at n = 4,000
penalty    the default penalty of the clustering next to others, on 178 sets, then on those four pairs
versus     tabu with swaps against the paper's evolution at the same wall time, on every task of the paper's Table 1
form       dense against low-rank form, and what the rule chooses

BLAS runs on one thread, the search on two.
"""

import inspect
import json
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.accuracy.clustering import THREADS, clusters, penalty
from benchmarks.harness import RESULTS, arguments, in_fresh_process, machine, markdown
from benchmarks.papers.gieseke_data import load, paper_rows, rotated, split
from mercer import S2RLSClassifier
from mercer.solvers.label_search.compiled import class_sums, round_robin, tabu_two
from mercer.solvers.label_search.features import search_basis, search_rows
from mercer.solvers.label_search.solve import choose_form, count_bounds, label_search


def problem(Z, l, lam, weight):
    """W for rows ordered labeled, then unlabeled, with K = Z Zᵀ."""
    u = len(Z) - l
    d2 = np.r_[np.full(l, 1.0 / max(l, 1)), np.full(u, weight / u)]
    basis = search_basis((Z * d2[:, None]).T @ Z)
    return search_rows(Z, d2, basis, lam)[0]


def optimum(options):
    """How often the best of all labelings is found."""
    rng = np.random.default_rng(0)
    count = 20 if options.quick else 200
    found = {name: 0 for name in ("tabu, dense", "tabu, low rank", "round_robin", "ea")}
    for number in range(count):
        u, l = int(rng.integers(6, 17)), int(rng.integers(2, 7))
        X = rng.normal(size=(l + u, int(rng.integers(1, 6))))
        K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * rng.uniform(0.3, 3) ** 2))
        values, V = np.linalg.eigh(K)
        W = problem(V * np.sqrt(np.maximum(values, 0)), l, 10 ** rng.uniform(-3, 0), rng.choice([0.1, 1.0]))
        codes = np.r_[np.arange(l) % 2, np.full(u, -1)]
        share = rng.uniform(0.25, 0.75)
        slack = rng.uniform(1.01 / u, 0.3)
        low, high = count_bounds(u, [1 - share, share], slack)[1]
        signs = 1.0 - 2.0 * ((np.arange(2**u)[:, None] >> np.arange(u)) & 1)
        signs = signs[((signs > 0).sum(axis=1) >= low) & ((signs > 0).sum(axis=1) <= high)]
        pinned = W[:l].T @ (2.0 * codes[:l] - 1.0)
        best = -np.max(np.sum((signs @ W[l:] + pinned) ** 2, axis=1))
        for name in found:
            search, _, form = name.partition(", ")
            result = label_search(
                W,
                codes,
                shares=[1 - share, share],
                slack=slack,
                search="tabu" if search == "tabu" or low == high else search,
                form=form.replace(" ", "_") or "auto",
                n_restarts=50,
                random_state=number,
                n_jobs=1,
                certify=False,
            )
            found[name] += result.objective <= best + 1e-10
    return [
        {"search": name, "instances": count, "optimum found": f"{100 * v / count:.1f}%"} for name, v in found.items()
    ]


def usps(options):
    """Mean F over seeds against the best F any search finds."""
    X, y = load(options.data, "USPS(2,5)")
    labeled, unlabeled, _ = split(y, 16, 806, 823, 0)
    Z = X[np.r_[labeled, unlabeled]]
    start = time.perf_counter()
    W = problem(Z, 16, 2.0**-5, 1.0)
    prepared = time.perf_counter() - start
    codes = np.r_[y[labeled], np.full(806, -1)]
    share = y.mean()
    shared = {"shares": [1 - share, share], "slack": 0.1, "total": 2.0, "n_jobs": THREADS, "n_restarts": 50}
    values = {}
    rows = []
    for search in ("auto", "round_robin", "ea"):
        label_search(W, codes, search=search, **{**shared, "n_restarts": 1})  # compile
        runs = [
            label_search(W, codes, search=search, random_state=seed, **shared)
            for seed in range(3 if options.quick else 10)
        ]
        values[search] = [run.objective for run in runs]
        hits = np.mean([np.mean(run.info["objectives"] <= run.objective + 1e-9) for run in runs])
        rows.append(
            {
                "search": search,
                "mean F": f"{np.mean(values[search]):.8f}",
                "best F": f"{np.min(values[search]):.8f}",
                "bound": f"{runs[0].info['bound']:.4f}",
                "restarts at the best F": f"{100 * hits:.0f}%",
                "50 restarts, s": f"{np.median([run.info['seconds'] for run in runs]):.2f}",
                "evaluations/s": f"{np.median([run.info['evaluations_per_second'] for run in runs]):.2e}",
            }
        )
    best = min(min(v) for v in values.values())
    for row, search in zip(rows, values):
        row["mean F − best of all"] = f"{np.mean(values[search]) - best:.1e}"
    return [*rows, {**dict.fromkeys(rows[0], ""), "search": f"(preparing W: {prepared:.2f} s)"}]


def shortcut(options):
    """Seconds per evaluation of F."""
    n = 500 if options.quick else 2000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 200))
    y = np.arange(n) % 2
    X[:, 0] += np.where(y == 1, 2.5, -2.5)
    l, lam = n // 20, 1.0
    d = np.r_[np.full(l, 1 / np.sqrt(l)), np.full(n - l, np.sqrt(1.0 / (n - l)))]
    K = X @ X.T
    G = np.linalg.inv(d[:, None] * K * d + lam * np.eye(n))
    signs = 2.0 * y - 1.0

    def naive():  # the paper's O(n²): c* = DGDy and the objective at it
        c = d * (G @ (d * signs))
        Kc = K @ c
        return np.sum((d * (signs - Kc)) ** 2) + lam * c @ Kc

    W = problem(X, l, lam, 1.0)
    assert abs(naive() - (2.0 - np.sum((W.T @ signs) ** 2))) < 1e-9
    free = np.arange(l, n)
    labels = y.copy()
    labels[free] = rng.permutation(labels[free])
    norms = np.sum(W * W, axis=1)
    counts = np.bincount(labels[free], minlength=2)
    low, high, stop = np.zeros(2, np.int64), np.full(2, n), np.zeros(1, np.uint8)
    args = W, norms, free
    round_robin(*args, labels.copy(), class_sums(W, labels, 2), counts.copy(), low, high, stop)
    per = {"naive": [], "shortcut, low rank": [], "maintained gains": []}
    M = W[free] @ W[free].T
    state = np.array([1], dtype=np.uint64)
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(10):
            naive()
        per["naive"].append((time.perf_counter() - start) / 10)
        trial, S = labels.copy(), class_sums(W, labels, 2)
        start = time.perf_counter()
        evaluations = round_robin(*args, trial, S, counts.copy(), low, high, stop)
        per["shortcut, low rank"].append((time.perf_counter() - start) / evaluations)
        S = class_sums(W, labels, 2)
        sign = 2.0 * labels[free] - 1.0
        half = np.diag(M) - sign * (W[free] @ (S[1] - S[0]))
        tabu_two(M, half.copy(), sign.copy(), counts[1], 0, n, 5, state, stop)
        start = time.perf_counter()
        _, evaluations, _ = tabu_two(M, half, sign, counts[1], 0, n, n, state, stop)
        per["maintained gains"].append((time.perf_counter() - start) / evaluations)
    rows = []
    for name, seconds in per.items():
        ratio = np.median(per["naive"]) / np.median(seconds)
        rows.append(
            {"evaluation": name, "n": n, "seconds": f"{np.median(seconds):.2e}", "times faster": f"{ratio:.0f}"}
        )
    return rows


def large(options):
    """Wall time of whole fits, and the peak memory above the data."""
    n, big = (6000, 50_000) if options.quick else (60_000, 1_000_000)
    data = np.load(options.data / "mnist.npz")
    X = data["X_train"][:n].astype(np.float32) / 255
    y = (data["y_train"][:n] % 2).astype(int)
    labels = np.where(np.arange(n) < n // 100, y, -1)
    rows = []
    for folds in (0, 5):
        model = S2RLSClassifier(0.01, kernel="linear", approx=100, n_jobs=THREADS, label_folds=folds)
        model.fit(X[:500], np.where(np.arange(500) < 50, y[:500], -1))  # compile
        start = time.perf_counter()
        model.fit(X, labels)
        rows.append(
            {
                "rows": n,
                "features": 100,
                "restarts": 50,
                "calibration folds": folds,
                "search, s": f"{model.result_.info['seconds']:.1f}",
                "whole fit, s": f"{time.perf_counter() - start:.1f}",
                "peak above the data": "",
                "error of the unlabeled rows": f"{100 * np.mean((model.transduction_ != y)[labels < 0]):.1f}%",
            }
        )
    for folds in (0, 5):
        code = f"""
import numpy as np
from mercer import RBF, S2RLSClassifier
model = S2RLSClassifier(0.01, kernel=RBF(5.0), approx=100, n_restarts=1, n_jobs={THREADS}, label_folds={folds})
def setup():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=({big}, 20)), np.arange({big}) % 2
    X[:, 0] += np.where(y == 1, 2.0, -2.0)
    labels = np.where(np.arange({big}) < 200, y, -1)
    model.fit(X[:2000], labels[:2000])
    return X, y, labels
def work(given):
    X, y, labels = given
    model.fit(X, labels)
    return dict(error=float(np.mean(model.transduction_ != y)), search=model.result_.info["seconds"])
"""
        found = in_fresh_process(code, threads=1)
        rows.append(
            {
                "rows": big,
                "features": 100,
                "restarts": 1,
                "calibration folds": folds,
                "search, s": f"{found['search']:.1f}",
                "whole fit, s": f"{found['seconds']:.1f}",
                "peak above the data": f"{found['peak_bytes'] / 1e9:.2f} GB",
                "error of the unlabeled rows": f"{100 * found['error']:.1f}%",
            }
        )
    return rows


def versus(options):
    """Best F of tabu with swaps after the wall time of 50 restarts of the paper's EA, on every task of Table 1."""
    rows = []
    tasks = [(*row[:4], "linear") for row in paper_rows()] + [("Moons", 5, 95, 100, "rbf")]
    tasks = tasks[::6] if options.quick else tasks
    repeats = 1 if options.quick else 2
    for name, l, u, t, kernel in tasks:
        values = {"ea": [], "tabu": []}
        seconds = 0.0
        for repeat in range(repeats):
            X, y = load(options.data, name, seed=repeat)
            labeled, unlabeled, _ = split(y, l, u, t, repeat)
            train = np.r_[labeled, unlabeled]
            if kernel == "rbf":
                D = ((X[train][:, None] - X[train][None]) ** 2).sum(-1)
                theta, V = np.linalg.eigh(np.exp(-D / (2 * 0.3**2)))
                Z = V * np.sqrt(np.maximum(theta, 0))
            else:
                Z = rotated(X, train)[train]
            W = problem(Z, l, 2.0**-5, 1.0)
            codes = np.r_[y[labeled], np.full(u, -1)]
            shared = {"shares": [1 - y.mean(), y.mean()], "slack": 0.1, "total": 2.0, "n_jobs": 1, "certify": False}
            if repeat == 0:
                for search in values:
                    label_search(W, codes, search=search, n_restarts=1, **shared)  # compile
            start = time.perf_counter()
            ea = label_search(W, codes, search="ea", n_restarts=50, random_state=repeat, **shared)
            budget = time.perf_counter() - start
            tabu = label_search(
                W, codes, search="tabu", n_restarts=10**6, time_budget=budget, random_state=repeat, **shared
            )
            values["ea"].append(ea.objective)
            values["tabu"].append(tabu.objective)
            seconds += budget / repeats
        difference = np.array(values["tabu"]) - np.array(values["ea"])
        rows.append(
            {
                "data": f"{name}, l = {l}",
                "seconds": f"{seconds:.2f}",
                "EA, mean F": f"{np.mean(values['ea']):.6f}",
                "tabu + swaps, mean F": f"{np.mean(values['tabu']):.6f}",
                "largest tabu − EA": f"{difference.max():+.1e}",
                "lower or equal": "yes" if np.all(difference <= 1e-10) else "NO",
            }
        )
        print(rows[-1], flush=True)
    return rows


def form(options):
    """Seconds of ten restarts in both forms of the tabu search."""
    rows = []
    sizes = (
        ((500, 100), (1500, 50)) if options.quick else ((500, 100), (1500, 50), (1500, 500), (4000, 100), (4000, 2000))
    )
    for u, r in sizes:
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(u + 20, r)) / np.sqrt(np.arange(1, r + 1))
        W = problem(Z, 20, 0.1, 1.0)
        codes = np.r_[np.arange(20) % 2, np.full(u, -1)]
        line = {"u": u, "r": r}
        for kind in ("dense", "low_rank"):
            shared = {"shares": [0.5, 0.5], "form": kind, "n_jobs": THREADS, "random_state": 0, "certify": False}
            label_search(W, codes, n_restarts=1, **shared)
            start = time.perf_counter()
            found = label_search(W, codes, n_restarts=10, **shared)
            line[f"{kind}, s"] = f"{time.perf_counter() - start:.2f}"
            line[f"{kind}, F"] = f"{found.objective:.6f}"
        line["rule"] = choose_form(u, r, 2, 10)
        rows.append(line)
    return rows


PARTS = {part.__name__: part for part in (optimum, usps, shortcut, large, clusters, penalty, versus, form)}


def main():
    only = {"choices": list(PARTS), "nargs": "*", "default": list(PARTS), "help": "some of the parts (default all)"}
    options = arguments(__doc__, data="required", only=only)
    store = RESULTS / "label_search.json"
    tables = json.loads(store.read_text()) if store.exists() and not options.quick else {}
    for part in options.only:
        start = time.perf_counter()
        tables[part] = PARTS[part](options)
        print(f"\n## {part} ({time.perf_counter() - start:.0f} s)\n\n{markdown(tables[part])}", flush=True)
    if not options.quick:
        RESULTS.mkdir(exist_ok=True)
        store.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n")
        text = ["# The label search", ""]
        for part in PARTS:
            if part in tables:
                text += [f"## {part}", "", inspect.cleandoc(PARTS[part].__doc__), "", markdown(tables[part]), ""]
        text.append(f"Measured on {machine()}. Other programs may have run at the same time.")
        (RESULTS / "label_search.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
