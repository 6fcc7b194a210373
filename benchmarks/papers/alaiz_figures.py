"""Figures 1 to 3 of Alaíz et al. (2018); called by alaiz.py."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

CAPTION = {  # what the paper's caption states about its panels, over the plane and without the first eigenvector
    "a": ("only w = 0", "only w = 0"),
    "b": ("a line of solutions", "only w = 0"),
    "c": ("unbounded", "only w = 0"),
    "d": ("unbounded", "a line of solutions"),
    "e": ("unbounded", "unbounded"),
    "f": ("one solution", "one solution"),
    "g": ("unbounded", "one solution"),
    "h": ("unbounded", "one solution"),
    "i": ("unbounded", "unbounded"),
    "j": ("unbounded", "unbounded"),
}


def figure_1(path):
    """The objective ‖w‖²/2 − γ/2 Σ (y_i + w·x_i)² in the plane, for y = 0 (KPCA) and for two labels (Semi-KPCA).

    Returns rows of (panel, γ, over the plane, without ψ₁, agrees with the caption); path=None draws nothing.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ np.array([[1.0, 0.35], [0.0, 0.55]])
    label = np.zeros(40)
    label[[np.argmax(X[:, 0]), np.argmin(X[:, 0])]] = 1.0, -1.0
    values, vectors = np.linalg.eigh(X.T @ X)
    values, vectors = values[::-1], vectors[:, ::-1]
    ends = 1 / values
    gammas = [0.7 * ends[0], ends[0], np.sqrt(ends[0] * ends[1]), ends[1], 1.3 * ends[1]]
    words = ["0.7/λ₁", "1/λ₁", "1/√(λ₁λ₂)", "1/λ₂", "1.3/λ₂"]
    rows, figure = [], None
    if path is not None:
        figure, axes = plt.subplots(2, 5, figsize=(13, 5.2), layout="constrained")
    w1, w2 = np.meshgrid(np.linspace(-1, 1, 121), np.linspace(-1, 1, 121))
    W = np.stack([w1.ravel(), w2.ravel()])
    for i, y in enumerate((0 * label, label)):
        for j, gamma in enumerate(gammas):
            panel = "abcdefghij"[5 * i + j]
            found = tuple(_kind(X, y, gamma, basis) for basis in (vectors, vectors[:, 1:]))
            agrees = "agrees" if found == CAPTION[panel] else f"differs: {CAPTION[panel]}"
            rows.append((f"1{panel}", words[j], *found, agrees))
            if figure is None:
                continue
            objective = 0.5 * np.sum(W**2, axis=0) - gamma / 2 * np.sum((y[:, None] + X @ W) ** 2, axis=0)
            axis = axes[i, j]
            shades = axis.contourf(w1, w2, objective.reshape(w1.shape), 24, cmap="viridis")
            axis.contour(w1, w2, objective.reshape(w1.shape), shades.levels[::3], colors="white", linewidths=0.4)
            for vector, style in zip(vectors.T, ("-", "--")):
                axis.plot([-vector[0], vector[0]], [-vector[1], vector[1]], style, color="#d9534f", linewidth=1.2)
            axis.set(title=f"({panel}) γ = {words[j]}: {found[0]}", xticks=[], yticks=[], xlim=(-1, 1), ylim=(-1, 1))
            axis.title.set_size(8.5)
    if figure is not None:
        axes[0, 0].set_ylabel("KPCA (ψ₁ solid, ψ₂ dashed)")
        axes[1, 0].set_ylabel("Semi-KPCA, two labels")
        figure.savefig(path, dpi=90)
        plt.close(figure)
    return rows


def _kind(X, y, gamma, basis):
    """Whether the objective over the span of `basis` has a minimum: by going far, not by the theorem."""
    H = np.eye(basis.shape[1]) - gamma * (X @ basis).T @ (X @ basis)
    slope = -gamma * (X @ basis).T @ y
    far = 1e6 * np.stack([sign * direction for direction in np.linalg.eigh(H)[1].T for sign in (1, -1)])
    heights = 0.5 * np.einsum("pi,ij,pj->p", far, H, far) + far @ slope
    scale = 0.5 * 1e12 * np.abs(np.linalg.eigvalsh(np.eye(len(H)) - H)).max()
    if heights.min() < -1e-9 * scale:
        return "unbounded"
    if np.abs(heights).min() < 1e-9 * scale:
        return "a line of solutions"
    return "only w = 0" if not np.any(y) else "one solution"


def figure_2(problem, path):
    """Which γ leave the problem bounded, for k = 0, 1, 2, 3 removed components, KPCA above and Semi-KPCA below."""
    color = {"only w = 0": "#f2d060", "a solution w ≠ 0": "#4c78a8", "unbounded": "#d9534f"}
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
                axis.barh(k, high - low, left=low, height=0.62, color=color[kind], linewidth=0)
            if title == "KPCA":
                axis.plot([ends[k]] * 2, [k - 0.31, k + 0.31], color=color["a solution w ≠ 0"], linewidth=4)
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
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in color.values()]
    figure.legend(handles, color, loc="upper right", ncol=3, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=100)
    plt.close(figure)


def figure_3(problems, path, n_draws, n_grid):
    """Mean accuracy with 1% of labels against γ."""
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
        for color, (label, (method, also, limit, fixed)) in zip(
            ("#999999", "#4c78a8", "#59a14f", "#e18727"), curves.items()
        ):
            gammas = np.append(grid[grid < limit], 0.9999 * limit) if np.isfinite(limit) else grid
            mean = method(T, gammas, **also).mean(axis=1)
            axis.plot(gammas, mean, color=color, label=label, linewidth=1.6)
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
