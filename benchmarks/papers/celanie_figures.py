"""Figures 1 and 3 of the report by Celanie and Nel; used by celanie.py."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA, LandmarkMap, Laplacian, bandwidth_of


def figure1(save):
    """DC steps on g − h = x⁴/4 − x²: h is replaced by its tangent, and the convex rest is minimized."""
    x, path = np.linspace(-2.1, 2.1, 400), [0.25]
    for _ in range(6):
        path.append(np.cbrt(2 * path[-1]))  # x³ = h'(x) = 2 x
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
    axes[0].plot(x, x**4 / 4 - x**2, color="0.2", label="g − h = x⁴/4 − x²")
    for number, start in enumerate(path[:3]):
        bound = x**4 / 4 - start**2 - 2 * start * (x - start)
        axes[0].plot(x, bound, lw=1, color=f"C{number}", label=f"g − tangent of h at {start:.2f}")
        end = path[number + 1]
        axes[0].plot(end, end**4 / 4 - start**2 - 2 * start * (end - start), "o", ms=5, color=f"C{number}")
    axes[0].set(ylim=(-1.3, 2.6), xlabel="x")
    axes[1].semilogy(np.abs(np.array(path) - np.sqrt(2)), "o-", ms=4)
    axes[1].set(xlabel="step", ylabel="distance from the minimum √2")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False, fontsize=8)
    fig.tight_layout(rect=(0, 0.07, 1, 1))
    save(fig, "celanie_fig1")


def figure3(save, n=500):
    """Nyström components of n standard normal points in the plane for several numbers of columns, next to the exact."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    kernel = Laplacian(bandwidth_of(X))
    exact = KernelPCA(2, kernel=kernel).fit_transform(X)
    fig, axes = plt.subplots(1, 4, figsize=(10.4, 3.0), sharex=True, sharey=True)
    for ax, columns in zip(axes, (10, 50, 100, n)):
        map_ = LandmarkMap(kernel, columns, choice="uniform", random_state=0)
        scores = KernelPCA(2, kernel=kernel, approx=map_).fit_transform(X)
        left, _, right = np.linalg.svd(scores.T @ exact)  # the two variances nearly tie: a rotation says nothing
        scores = scores @ left @ right
        off = np.linalg.norm(scores - exact) / np.linalg.norm(exact)
        ax.plot(*exact.T, ".", ms=4, color="0.75")
        ax.plot(*scores.T, ".", ms=2, color="#1f5f8b")
        ax.set_title(f"c = {columns}: {100 * off:.1f}% off", fontsize=9)
        ax.set_xlabel("first component")
    axes[0].set_ylabel("second component")
    fig.tight_layout()
    save(fig, "celanie_fig3")
