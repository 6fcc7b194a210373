"""The components of kernel PCA on toy data, drawn as functions of the plane.

    python examples/kpca_toys.py [--data DIR] [--out DIR]

Writes kpca_polynomial.png (first three components of a noisy parabola, polynomial kernels of degree 1 to 4),
kpca_clusters.png (three clusters in their first two components, and the first 16 components as level lines) and
kpca_spirals.png (spirals, their first four components, and the cumulated fraction of the variance). The first two
components of the clusters separate them, the later ones cut each of them in parts. With --data DIR the spirals are
DIR/spirals.npz.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, grid, save
from rings_and_spirals import spirals

from mercer import RBF, KernelPCA, Polynomial

COLORS = np.array(["#c23b22", "#1f5fa8", "#2e8b57"])


def level_lines(axis, model, component, xx, yy, points, X, color="0.1"):
    """One component as a function of the plane, with the rows on top."""
    values = model.transform(points)[:, component].reshape(xx.shape)
    axis.contourf(xx, yy, values, 14, cmap="RdBu", alpha=0.8)
    axis.contour(xx, yy, values, 14, colors="0.25", linewidths=0.4, linestyles="solid")
    axis.scatter(*X.T, s=4, c=color, linewidths=0)
    axis.set(xticks=[], yticks=[])


def parabola(out):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 100)
    X = np.column_stack([x, x**2 + rng.normal(scale=0.2, size=100)])
    xx, yy, points = grid(X, 80)
    figure, axes = plt.subplots(3, 4, figsize=(9.5, 6.2), layout="constrained")
    for column, degree in zip(axes.T, (1, 2, 3, 4)):
        n_components = 2 if degree == 1 else 3  # the plane has only two linear components
        model = KernelPCA(n_components, kernel=Polynomial(degree, offset=0.0, scale=1.0)).fit(X)
        shares = model.eigenvalues_ / model.eigenvalues_.sum()
        for m, axis in enumerate(column):
            if m >= n_components:
                axis.axis("off")
                continue
            level_lines(axis, model, m, xx, yy, points, X)
            axis.set_title(f"degree {degree}, eigenvalue {shares[m]:.3f}", fontsize=9)
        print(f"degree {degree}: fractions of the first components {np.round(shares[:3], 3).tolist()}")
    save(figure, out / "kpca_polynomial.png")


def clusters(out):
    rng = np.random.default_rng(1)
    centers = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
    X = np.concatenate([rng.normal(c, 0.1, size=(30, 2)) for c in centers])
    color = COLORS[np.repeat(np.arange(3), 30)]
    # the slide's kernel is exp(-||x - y||^2 / 0.1)
    model = KernelPCA(16, kernel=RBF.from_gamma(10.0)).fit(X)
    figure, axis = plt.subplots(figsize=(4.2, 3.6), layout="constrained")
    axis.scatter(*model.transform(X)[:, :2].T, c=color, s=14, linewidths=0)
    axis.set(title="Three clusters, first two components", xlabel="component 1", ylabel="component 2")
    save(figure, out / "kpca_clusters_plane.png")
    xx, yy, points = grid(X, 60)
    figure, axes = plt.subplots(4, 4, figsize=(8, 7), layout="constrained")
    for m, axis in enumerate(axes.ravel()):
        level_lines(axis, model, m, xx, yy, points, X)
        axis.set_title(f"component {m + 1}: {model.eigenvalues_[m]:.2f}", fontsize=8)
    save(figure, out / "kpca_clusters.png")


def arms(data, out):
    X, arm, source = spirals(data)
    print(f"spirals: {len(X)} rows of {source}")
    model = KernelPCA(60, kernel=RBF("knn")).fit(X)
    P = model.transform(X)
    figure, axes = plt.subplots(1, 4, figsize=(12, 3), layout="constrained")
    for axis, (a, b, title) in zip(axes[1:3], [(0, 1, "components 1 and 2"), (2, 3, "components 3 and 4")]):
        axis.scatter(P[:, a], P[:, b], c=COLORS[arm], s=9, linewidths=0)
        axis.set(title=title, xticks=[], yticks=[])
    axes[0].scatter(*X.T, c=COLORS[arm], s=9, linewidths=0)
    axes[0].set(title="spirals", xticks=[], yticks=[], aspect="equal")
    cumulated = np.cumsum(model.explained_variance_ratio_)
    axes[3].plot(np.arange(1, len(cumulated) + 1), cumulated, color="#1f5fa8")
    axes[3].set(title="cumulated variance", xlabel="components", ylim=(0, 1.02))
    axes[3].grid(alpha=0.3)
    print(f"first four components have {cumulated[3]:.1%} of the variance, {len(cumulated)} have {cumulated[-1]:.1%}")
    save(figure, out / "kpca_spirals.png")


def main():
    args = arguments(__doc__, data=True)
    parabola(args.out)
    clusters(args.out)
    arms(args.data, args.out)


if __name__ == "__main__":
    main()
