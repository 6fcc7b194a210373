"""Robust kernel PCA beyond the report: how many outliers turn the components, and what the starts are worth.

    python -m benchmarks.papers.celanie_robust [--only breakdown|starts|row-starts] [--seeds 10] [--first 0]
        [--shares 0.1 ...] [--problems 300] [--resume] [--jobs N] [--quick]

Breakdown: 200 rows of five columns (deviations 2, 1.6, 0.4, 0.3, 0.2), a fraction of them (0 to 40%) replaced by
outliers; the largest angle, in feature space, between two components and those of kernel PCA on the clean rows alone,
for KernelPCA, RobustKernelPCA (Huber, influence = 0.1) and its losses "spherical" and "reconstruction". Polynomial
kernel of degree 2 with gross outliers (deviation 10 in every column) and with outliers on one side; RBF kernel (width
the median distance) with a tight cluster of outliers. Writes results/celanie_breakdown.csv and
docs/img/celanie_breakdown.png; with --first or --shares it only prints.

Starts: 300 random problems with norm="element" (Laplacian kernel, 40 to 120 rows, 2 to 4 components; Huber,
ε-insensitive or both, thresholds at random quantiles): the objective that `minimize` finds with its default number of
tries, and the best that plain DCA finds from 20 random starts. The search was chosen on the first
200 and on the even ones from 206 on.
Row starts: the same for norm="row" with an epsilon, the default of `SparseKernelPCA`, on at most 120 problems (RBF
kernel on heavy-tailed rows), next to two starts. Writes results/celanie_row_starts.csv.
Writes results/celanie_starts.csv. About twelve minutes, the breakdown one.
"""

import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.harness import PICTURES, arguments, markdown, read_csv, write_csv
from mercer import RBF, KernelPCA, Polynomial, RobustKernelPCA
from mercer.solvers.dual.loss import Loss
from mercer.solvers.dual.minimize import Root, minimize, sketch

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
POLYNOMIAL = Polynomial(degree=2, offset=1.0, scale=1.0)
EXAMPLES = {
    "polynomial, gross": (POLYNOMIAL, lambda rng, m: 10 * rng.standard_normal((m, 5))),
    "polynomial, one side": (POLYNOMIAL, lambda rng, m: [0, 0, 0, 8, 8] + rng.standard_normal((m, 5))),
    "RBF, cluster": (RBF("median"), lambda rng, m: [0, 0, 3, 3, 3] + 0.1 * rng.standard_normal((m, 5))),
}
METHODS = {
    "plain": lambda kernel: KernelPCA(2, kernel=kernel),
    "huber": lambda kernel: RobustKernelPCA(2, influence=0.1, kernel=kernel),
    "spherical": lambda kernel: RobustKernelPCA(2, loss="spherical", kernel=kernel),
    "reconstruction": lambda kernel: RobustKernelPCA(2, loss="reconstruction", kernel=kernel),
}


def angle(kernel, model, X, reference, clean):
    """Degrees between the components of two models, the largest of the principal angles in feature space."""
    cross = model.coefficients_.T @ kernel(X, clean) @ reference.coefficients_
    return float(np.degrees(np.arccos(min(1.0, np.linalg.svd(cross, compute_uv=False).min()))))


def breakdown(seeds, shares=SHARES, first=0, n=200):
    rows = []
    for name, (kernel, outliers) in EXAMPLES.items():
        for share in shares:
            angles = {method: [] for method in METHODS}
            for seed in range(first, first + seeds):
                rng, m = np.random.default_rng(seed), round(share * n)
                clean = rng.standard_normal((n - m, 5)) * [2.0, 1.6, 0.4, 0.3, 0.2]
                X = np.r_[clean, outliers(rng, m)] if m else clean
                fixed = kernel.resolve(X)
                reference = KernelPCA(2, kernel=fixed).fit(clean)
                for method, make in METHODS.items():
                    angles[method].append(angle(fixed, make(fixed).fit(X), X, reference, clean))
            row = {"example": name, "fraction": share} | {m: f"{np.mean(a):.1f}" for m, a in angles.items()}
            own = np.array(angles["reconstruction"])
            rows.append(
                row | {"its worst draw": f"{own.max():.1f}", "draws above 10°": f"{np.sum(own > 10)} of {seeds}"}
            )
            print(rows[-1], flush=True)
    return rows


def draw(rows):
    fig, axes = plt.subplots(1, len(EXAMPLES), figsize=(9.6, 3.5), sharey=True)
    for ax, name in zip(axes, EXAMPLES):
        mine = [row for row in rows if row["example"] == name]
        for method, marker in zip(METHODS, "s^ov"):
            ax.plot(
                [100 * r["fraction"] for r in mine], [float(r[method]) for r in mine], marker=marker, ms=4, label=method
            )
        ax.axhline(10, color="0.6", lw=0.8, ls=":")
        ax.set(title=name, xlabel="outliers, % of the rows", ylim=(-3, 93))
    axes[0].set_ylabel("angle to the clean components, °")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncol=len(METHODS), frameon=False, fontsize=8)
    fig.tight_layout(rect=(0, 0.06, 1, 1))
    fig.savefig(PICTURES / "celanie_breakdown.png", dpi=80)
    plt.close(fig)


def random_problem(seed):
    """(G, s, loss with norm="element")."""
    rng = np.random.default_rng(seed)
    n, d, s = (int(rng.integers(*ends)) for ends in ((40, 120), (2, 6), (2, 5)))
    X = rng.standard_normal((n, d)) * rng.uniform(0.3, 2, d)
    K = np.exp(-np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) / rng.uniform(0.7, 2.5))
    C = np.eye(n) - 1 / n
    G = C @ K @ C
    size = float(np.quantile(np.abs(minimize(G, s, random_state=0).value.scores), rng.uniform(0.2, 0.8)))
    bounds = ({"kappa": size}, {"epsilon": 0.6 * size}, {"kappa": 0.7 * size, "epsilon": 0.4 * size})[seed % 3]
    return G, s, Loss(norm="element", **bounds)


def plain_dca(G, s, loss, seed, tol=1e-7, max_iter=3000):
    """The textbook iteration H ← prox(∇π(H)) from a random H: its objective −f(P)."""
    H = loss.prox(np.random.default_rng(seed).standard_normal((len(G), s)))
    for _ in range(max_iter):
        GH = G @ H
        root = Root(H, GH)
        P = GH @ (root.inverse @ root.basis.T)
        new = loss.prox(P)
        if np.linalg.norm(new - H) <= tol * np.linalg.norm(H) or not new.any():
            break
        H = new
    return -loss.value(P)


def start_row(seed):
    """Ours and the best of 20 starts of plain DCA on one problem, with the CPU seconds of both."""
    G, s, loss = random_problem(seed)
    began = time.process_time()
    ours = minimize(G, s, loss, random_state=0).objective
    middle = time.process_time()
    best = min(plain_dca(G, s, loss, 1000 * seed + i) for i in range(20))
    return {
        "problem": seed,
        "n": len(G),
        "s": s,
        "ours": f"{ours:.6f}",
        "best of 20": f"{best:.6f}",
        "loses": int(ours > best + 1e-6 * abs(best)),
        "wins": int(ours < best - 1e-6 * abs(best)),
        "seconds": f"{middle - began:.3f}",
        "seconds of DCA": f"{time.process_time() - middle:.3f}",
    }


def row_problem(seed):
    """(G, s, loss with norm="row" and an epsilon) of heavy-tailed rows, as `SparseKernelPCA` has by default."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 160))
    X = rng.standard_t(3, size=(n, 4))
    width = float(rng.uniform(0.4, 1.6)) * RBF("median").resolve(X).bandwidth
    C = np.eye(n) - 1 / n
    G = C @ RBF(width)(X) @ C
    s = int(rng.integers(1, 5))
    size = np.linalg.norm(sketch(G, 2 * s + 10, random_state=0)[0][:, :s], axis=1)
    return G, s, Loss(epsilon=float(np.quantile(size, rng.choice([0.3, 0.5, 0.7, 0.85, 0.93]))), location=True)


def row_start_row(seed):
    """The value with two starts, which were the default before, that of the default now, and of 20 starts of DCA."""
    G, s, loss = row_problem(seed)
    two, ours = (-minimize(G, s, loss, random_state=0, n_init=number).history[-1] for number in (2, None))
    rng, best = np.random.default_rng(seed + 1), 0.0
    for _ in range(20):
        H = rng.standard_normal((len(G), s))
        best = max(best, -minimize(G, s, loss, method="dca", start=(H, G @ H), max_iter=3000).history[-1])
    found = {"problem": seed, "n": len(G), "s": s} | {
        name: f"{value:.6f}" for name, value in (("two starts", two), ("default", ours), ("best of 20", best))
    }
    return found | {"before": int(two < best * (1 - 1e-6)), "loses": int(ours < best * (1 - 1e-6)),
                    "wins": int(ours > best * (1 + 1e-6))}  # fmt: skip


def row_starts(problems, jobs=1, keep=True):
    """Rows of the problems of norm="row", written one by one."""
    rows: list = []
    for row in Parallel(jobs, return_as="generator")(delayed(row_start_row)(seed) for seed in range(problems)):
        rows.append(row)
        if keep:
            write_csv("celanie_row_starts", rows)
    before, lost, won = (sum(row[name] for row in rows) for name in ("before", "loses", "wins"))
    print(f"{problems} problems: two starts are behind in {before}, the default in {lost} and ahead in {won}")


def starts(problems, jobs=1, resume=False, keep=True):
    """Rows of the problems, written one by one; `resume` goes on after those that are there."""
    rows = read_csv("celanie_starts") if resume else []
    tasks = (delayed(start_row)(seed) for seed in range(len(rows), problems))
    for row in Parallel(jobs, return_as="generator")(tasks):
        rows.append(row)
        if keep:
            write_csv("celanie_starts", rows)
    lost, won = (sum(int(row[name]) for row in rows) for name in ("loses", "wins"))
    times = [sum(float(row[name]) for row in rows) for name in ("seconds", "seconds of DCA")]
    print(f"{problems} problems: lost {lost}, won {won}; CPU seconds {times[0]:.0f}, plain DCA {times[1]:.0f}")


def main():
    options = arguments(
        __doc__,
        only={"choices": ["breakdown", "starts", "row-starts"], "help": "one of the parts (default all)"},
        seeds={"type": int, "default": 10, "help": "draws for each share (default %(default)s)"},
        first={"type": int, "default": 0, "help": "number of the first draw (default %(default)s)"},
        shares={"type": float, "nargs": "*", "help": "only these shares of outliers"},
        resume={"action": "store_true", "help": "go on with problems that were broken off"},
        jobs={"type": int, "default": 1, "help": "processes that share the problems"},
        problems={"type": int, "default": 300, "help": "random problems (default %(default)s)"},
    )
    with threadpool_limits(1):
        if options.only in (None, "breakdown"):
            part = (0.0, 0.1) if options.quick else options.shares or SHARES
            rows = breakdown(1 if options.quick else options.seeds, part, options.first)
            print(markdown(rows))
            if not (options.quick or options.shares or options.first):
                write_csv("celanie_breakdown", rows)
                draw(rows)
        if options.only in (None, "starts"):
            number = 3 if options.quick else options.problems
            starts(number, options.jobs, options.resume, keep=not options.quick)
        if options.only in (None, "row-starts"):
            row_starts(3 if options.quick else min(options.problems, 120), options.jobs, keep=not options.quick)


if __name__ == "__main__":
    main()
