"""Extending kernel PCA through dualization (report by Celanie and Nel): figures 1 and 3 to 6.

    python -m benchmarks.papers.celanie [--quick] [--sizes 128,512] [--pictures]

Figure 4, extended: time and error of seven solvers for the leading s components of a centered Laplacian kernel matrix
of n standard normal points in the plane. The error is η = |d(H) − d_opt| / |d_opt| with d the dual objective. Solvers
with a tolerance are timed at the loosest setting with η ≤ 1e-6, so that times compare like with like; η is printed
next to them. Times are CPU seconds of one thread, which other programs on the machine disturb least. Nyström draws c =
100 columns with replacement, p = 1/n. Prints the table, who wins where, and the two numbers requested at n = 8192, s =
20; writes results/celanie.csv, results/celanie.md and docs/img/celanie_fig4.png. About ten minutes, half of them for
the full decomposition at n = 8192; --sizes measures some sizes and keeps the stored rows of the others, --pictures
draws.

Figures 5 and 6: the dual variable of 1,000 standard normal points in ten dimensions, s = 2, under Huber's loss and
under the ε-insensitive one, for both norms; writes docs/img/celanie_fig5.png and celanie_fig6.png. Figures 1 and 3 (a
DC iteration; Nyström components for several numbers of columns) are in celanie_figures.py, the page in celanie_page.py.
"""

import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg as sla
from threadpoolctl import threadpool_limits

from benchmarks.harness import PICTURES, arguments, machine, markdown, publish, read_csv, write_csv
from benchmarks.papers.celanie_figures import figure1, figure3
from benchmarks.papers.celanie_page import TARGET, page
from mercer import Laplacian, bandwidth_of
from mercer.geometry.operators import CenteredOperator, DenseOperator
from mercer.solvers.dual.loss import Loss
from mercer.solvers.dual.minimize import Root, minimize
from mercer.solvers.eigen import top as eigen

SIZES = (128, 512, 1024, 2048, 4096, 8192)
COMPONENTS = (2, 10, 20, 50)
TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-8)
ROUNDS = (1, 2, 4, 7, 12, 20, 35, 60)


def problem(n, d=2, seed=0):
    """The centered kernel matrix of n standard normal points, and the same as an operator with fast thin products."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    K = Laplacian(bandwidth_of(X))(X)
    mean = K.mean(axis=0)
    G = K - mean - mean[:, None] + mean.mean()
    return G, CenteredOperator(DenseOperator(G), center=False)


def by_eigen(method):
    def solve(G, operator, s, setting):
        tol, steps = (0.0, setting) if method == "randomized" else (setting, None)
        values, vectors = eigen.top(operator, s, method, tol, steps).value
        return vectors * np.sqrt(np.maximum(values, 0))

    return solve


def by_dual(method):
    def solve(G, operator, s, setting):
        return minimize(operator, s, method=method, tol=setting, max_iter=200, random_state=0).value.H

    return solve


def nystroem(G, operator, s, columns, seed=0):
    """Drineas and Mahoney (2005): columns scaled by 1/√(c p), best rank-s of the core, pseudo-inverse."""
    n = len(G)
    drawn = np.random.default_rng(seed).integers(n, size=columns)
    scale = np.sqrt(n / columns)
    C, W = scale * G[:, drawn], scale**2 * G[np.ix_(drawn, drawn)]
    values, vectors = sla.eigh(W)
    values, vectors = values[::-1][:s], vectors[:, ::-1][:, :s]
    F = C @ (vectors / np.sqrt(np.maximum(values, 1e-12 * values[0])))
    values, turn = sla.eigh(F.T @ F)
    return F @ turn  # = V √λ of the approximation F Fᵀ


SOLVERS = {
    "Lanczos": (by_eigen("lanczos"), TOLERANCES),
    "randomized": (by_eigen("randomized"), ROUNDS),
    "block Krylov": (by_eigen("krylov"), TOLERANCES),
    "dual L-BFGS": (by_dual("lbfgs"), TOLERANCES),
    "dual DCA": (by_dual("dca"), TOLERANCES),
    "Nyström c=100": (nystroem, (100,)),
}


def one_size(n, components, repeats):
    """Rows of the table for one n: the full decomposition once, then every solver for every s."""
    G, operator = problem(n)
    operator @ np.ones((n, 2))
    full = []
    for _ in range(5 if n <= 1024 else 1):
        start = time.process_time()
        spectrum, vectors = sla.eigh(G)
        full.append(time.process_time() - start)
    full = float(np.median(full))
    rows = []
    for s in components:
        best = -0.5 * float(spectrum[::-1][:s].sum())

        def eta(H, best=best):
            return abs(Loss().conjugate(H) - float(Root(H, G @ H).sigma.sum()) - best) / abs(best)

        H = vectors[:, ::-1][:, :s] * np.sqrt(spectrum[::-1][:s])
        rows.append(row(n, s, "full", "", full, eta(H)))
        settings, times = {}, {}
        for name, (solve, choices) in SOLVERS.items():
            for setting in choices:
                start = time.process_time()
                H = solve(G, operator, s, setting)
                spent, error = time.process_time() - start, eta(H)
                if error <= TARGET:
                    break
            settings[name] = (setting, error)
            times[name] = [spent]
        for turn in range(repeats):
            for name in list(SOLVERS)[:: 1 if turn % 2 == 0 else -1]:
                start = time.process_time()
                SOLVERS[name][0](G, operator, s, settings[name][0])
                times[name].append(time.process_time() - start)
        for name, (setting, error) in settings.items():
            rows.append(row(n, s, name, setting, float(np.median(times[name])), error))
        print(markdown(rows[-len(SOLVERS) - 1 :]), flush=True)
    return rows


def row(n, s, solver, setting, seconds, error):
    return {"n": n, "s": s, "solver": solver, "setting": setting, "seconds": f"{seconds:.4f}", "eta": f"{error:.1e}"}


def reached(rows, n, s):
    """{solver: seconds} of those with η ≤ 1e-6."""
    return {r["solver"]: float(r["seconds"]) for r in rows if (r["n"], r["s"]) == (n, s) and float(r["eta"]) <= TARGET}


AUTO = {"full": "full", "krylov": "block Krylov", "lanczos": "Lanczos", "randomized": "randomized"}


def verdict(rows):
    """Who is fastest at η ≤ 1e-6, what auto takes, and how much slower that is."""
    lines = []
    for n, s in dict.fromkeys((r["n"], r["s"]) for r in rows):
        times = reached(rows, n, s)
        fastest = min(times, key=times.get)
        auto = AUTO[eigen.choose(n, s)]
        lines.append(
            {
                "n": n,
                "s": s,
                "fastest at η ≤ 1e-6": fastest,
                "seconds": f"{times[fastest]:.4f}",
                "auto takes": auto,
                "auto / fastest": f"{times[auto] / times[fastest]:.2f}",
                "full / auto": f"{times['full'] / times[auto]:.1f}",
                "dual L-BFGS / auto": f"{times.get('dual L-BFGS', np.nan) / times[auto]:.2f}",
            }
        )
    return lines


def figure4(rows):
    sizes = list(dict.fromkeys(r["n"] for r in rows))
    components = list(dict.fromkeys(r["s"] for r in rows))
    names = ["full", *SOLVERS]
    fig, axes = plt.subplots(2, len(components), figsize=(3.1 * len(components), 5.6), sharex=True, sharey="row")
    for column, s in enumerate(components):
        for name, marker in zip(names, "ks^ov*x"):
            mine = [r for r in rows if r["s"] == s and r["solver"] == name]
            style = {"label": name, "marker": "D" if marker == "k" else marker, "ms": 4, "lw": 1.2}
            axes[0, column].loglog([r["n"] for r in mine], [float(r["seconds"]) for r in mine], **style)
            axes[1, column].loglog([r["n"] for r in mine], [max(float(r["eta"]), 1e-16) for r in mine], **style)
        axes[0, column].set_title(f"s = {s}")
        axes[1, column].axhline(TARGET, color="0.6", lw=0.8, ls=":")
        axes[1, column].set_xlabel("rows n")
        axes[1, column].set_xticks(sizes, [str(n) for n in sizes], rotation=45)
        axes[1, column].minorticks_off()
    axes[0, 0].set_ylabel("CPU seconds, one thread")
    axes[1, 0].set_ylabel("error η")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncol=len(names), frameon=False, fontsize=8)
    fig.tight_layout(rect=(0, 0.05, 1, 1))
    save(fig, "celanie_fig4")


def figures_5_and_6(n=1000):
    _, operator = problem(n, d=10, seed=1)
    plain = minimize(operator, 2, random_state=0).value.H
    length = np.linalg.norm(plain, axis=1)
    kappas = (0.1, float(np.median(length)))
    epsilons = [float(np.quantile(length, q)) for q in (0.3, 0.6)]
    for name, sign, values, title in (
        ("celanie_fig5", "κ", kappas, "Huber"),
        ("celanie_fig6", "ε", epsilons, "ε-insensitive"),
    ):
        fig, axes = plt.subplots(2, 3, figsize=(8.4, 5.8), sharex=True, sharey=True)
        limit = 1.08 * np.abs(plain).max()
        for line, norm in zip(axes, ("row", "element")):
            dots(line[0], plain, f"square loss\n{n} rows")
            for ax, value in zip(line[1:], values):
                option = {"kappa": value} if sign == "κ" else {"epsilon": value}
                H = minimize(operator, 2, Loss(norm=norm, **option), tol=1e-5, random_state=0).value.H
                limit = max(limit, 1.08 * np.abs(H).max())
                kept = int(np.sum(np.any(H != 0, axis=1)))
                left = f": {kept} rows left" if sign == "ε" else ""
                dots(ax, H, f"{title}, {norm} norm\n{sign} = {value:.2g}{left}")
                if sign == "κ" and norm == "row":
                    ax.add_patch(plt.Circle((0, 0), value, fill=False, color="0.5", lw=0.8))
                elif sign == "κ":
                    ax.add_patch(plt.Rectangle((-value, -value), 2 * value, 2 * value, fill=False, color="0.5", lw=0.8))
        axes[0, 0].set(xlim=(-limit, limit), ylim=(-limit, limit))
        for ax in axes[:, 0]:
            ax.set_ylabel("second column of H")
        for ax in axes[-1]:
            ax.set_xlabel("first column of H")
        fig.tight_layout()
        save(fig, name)


def dots(ax, H, title):
    zero = ~np.any(H != 0, axis=1)
    ax.plot(*H[~zero].T, ".", ms=3, color="#1f5f8b", alpha=0.7)
    if zero.any():
        ax.plot(0, 0, "+", ms=9, color="#c0392b")
    ax.set_title(title, fontsize=8.5)
    ax.set_aspect("equal")


def save(fig, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    fig.savefig(PICTURES / f"{name}.png", dpi=80)
    plt.close(fig)


def stored():
    """Rows of results/celanie.csv."""
    return [r | {"n": int(r["n"]), "s": int(r["s"])} for r in read_csv("celanie")]


def summary(rows):
    text = markdown(verdict(rows))
    if (8192, 20) in {(r["n"], r["s"]) for r in rows}:
        times = reached(rows, 8192, 20)
        auto = times[AUTO[eigen.choose(8192, 20)]]
        text += (
            f"\n\nn = 8192, s = 20, η ≤ 1e-6: full / auto = {times['full'] / auto:.0f} (target ≥ 20), "
            f"auto / fastest = {auto / min(times.values()):.2f} (target ≤ 1.2)"
        )
    return text


def main():
    redraw = {"action": "store_true", "help": "draw from results/celanie.csv without measuring again"}
    options = arguments(__doc__, sizes={"help": "comma-separated numbers of rows"}, pictures=redraw)
    sizes = (128, 512) if options.quick else SIZES
    sizes = tuple(int(n) for n in options.sizes.split(",")) if options.sizes else sizes
    print(machine() + ", 1 thread\n")
    with threadpool_limits(1):
        rows = [] if options.pictures else [r for n in sizes for r in one_size(n, COMPONENTS, 4 if n <= 2048 else 1)]
        if options.quick:
            print("\n" + summary(rows))
        else:
            rows += [r for r in stored() if options.pictures or r["n"] not in sizes]
            rows.sort(key=lambda r: (r["n"], r["s"]))
            write_csv("celanie", rows)
            publish("celanie", page(rows, summary(rows)))
            figure1(save)
            figure3(save)
            figure4(rows)
            figures_5_and_6()


if __name__ == "__main__":
    main()
