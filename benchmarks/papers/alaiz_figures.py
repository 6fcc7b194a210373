"""Figures 2 and 3 of Alaíz et al. (2018); called by alaiz.py."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def figure_2(problem, path):
    """Which γ leave the problem bounded, for k = 0, 1, 2, 3 removed components, KPCA above and Semi-KPCA below."""
    colour = {"only w = 0": "#f2d060", "a solution w ≠ 0": "#4c78a8", "unbounded": "#d9534f"}
    values = problem.values[:5]
    ends = 1 / values
    left, right = ends[0] / 3, ends[4] * 1.3
    figure, axes = plt.subplots(2, 1, figsize=(7.5, 4.6), sharex=True)
    for axis, title in zip(axes, ("KPCA", "Semi-KPCA")):
        for k in range(4):
            # Numerically, not from the theorem: the objective is bounded below iff I - γ K' has no negative eigenvalue.
            for low, high in zip(np.r_[left, ends], np.r_[ends, right]):
                bounded = 1 - np.sqrt(low * high) * values[k] > 0
                kind = "unbounded" if not bounded else "only w = 0" if title == "KPCA" else "a solution w ≠ 0"
                axis.barh(k, high - low, left=low, height=0.62, color=colour[kind], linewidth=0)
            if title == "KPCA":
                axis.plot([ends[k]] * 2, [k - 0.31, k + 0.31], color=colour["a solution w ≠ 0"], linewidth=4)
        axis.set_xscale("log")
        axis.set_xlim(left, right)
        axis.set_yticks(range(4), [f"k = {k}" for k in range(4)])
        axis.invert_yaxis()
        axis.set_title(title, loc="left", fontsize=10)
        axis.minorticks_off()
        axis.set_xticks(ends, [f"1/λ{'₁₂₃₄₅'[i]}" for i in range(5)])
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    axes[1].set_xlabel(f"γ (eigenvalues of {problem.name})")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in colour.values()]
    figure.legend(handles, colour, loc="upper right", ncol=3, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=100)
    plt.close(figure)


def figure_3(problems, path, n_draws, n_grid):
    """Mean accuracy with 1 % of labels against γ."""
    names = [name for name in ("australian", "synth") if name in problems]
    figure, axes = plt.subplots(len(names), 1, figsize=(7.5, 3.4 * len(names)), squeeze=False)
    for axis, name in zip(axes[:, 0], names):
        p = problems[name]
        n, d = p.shape
        T = p.draw(max(1, round(0.01 * n)), n_draws)
        ends = 1 / p.values[:2]
        grid = np.geomspace(ends[0] / 30, 300.0, 2 * n_grid)
        curves = {
            "Semi-KPCA₀": (p.semi_kpca, {"n_removed": 0}, ends[0], 0.1 * ends[0]),
            "Semi-KPCA₁": (p.semi_kpca, {"n_removed": 1}, ends[1], p.middle()),
            "Semi-LSSVM": (p.semi_lssvm, {}, np.inf, 10 * d / n),
            "Subs-LSSVM": (p.subs_lssvm, {}, np.inf, 100 * d / n),
        }
        for colour, (label, (method, also, limit, fixed)) in zip(
            ("#999999", "#4c78a8", "#59a14f", "#e18727"), curves.items()
        ):
            gammas = np.append(grid[grid < limit], 0.9999 * limit) if np.isfinite(limit) else grid
            mean = method(T, gammas, **also).mean(axis=1)
            axis.plot(gammas, mean, color=colour, label=label, linewidth=1.6)
            best = int(np.argmax(mean))
            axis.plot(gammas[best], mean[best], "*", color="#d62728", markersize=10, zorder=5)
            axis.plot(fixed, method(T, [fixed], **also).mean(), "*", color="#1f3fbf", markersize=10, zorder=5)
        for end, word in zip(ends, ("1/λ₁", "1/λ₂")):
            axis.axvline(end, color="black", linestyle="--", linewidth=0.8)
            axis.annotate(word, (end, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=9)
        axis.axhline(100 * max(np.mean(p.t > 0), np.mean(p.t < 0)), color="black", linestyle=":", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_ylabel("accuracy (%)")
        axis.set_title(f"{name}, {round(0.01 * n)} labels", loc="left", fontsize=10)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    axes[-1, 0].set_xlabel("γ   (red star: best, blue star: fixed rule, dotted: larger class)")
    axes[0, 0].legend(fontsize=9, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
