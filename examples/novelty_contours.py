"""Four pictures of what is normal on two features, by ball, density and reconstruction error, and on iris.

    python examples/novelty_contours.py [--data DIR] [--out DIR]

Writes novelty_contours.png (levels of three detectors that each leave out about 10% of the rows, with a red boundary)
and iris_density.png (kernel density of two iris features with the regions that contain 25, 50, 75, 95 and 99% of it).
With --data DIR the features are glucose and bmi of DIR/pima.npz. Without it, blood sugar and bmi of the diabetes data
that scikit-learn ships.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, grid, save
from sklearn.datasets import load_diabetes, load_iris

from mercer import RBF, SVDD, KernelDensityNovelty, KPCANovelty

SHARE = 0.1


def two_features(data):
    """(rows, names) of two features on comparable scales."""
    if data is not None and (data / "pima.npz").exists():
        X = np.load(data / "pima.npz")["X"][:, [1, 5]].astype(float)
        X = X[(X > 0).all(axis=1)]  # a zero means a missing value here
        return X, ("glucose", "bmi"), "pima"
    X = load_diabetes(scaled=False).data[:, [9, 2]]
    return X, ("blood sugar", "bmi"), "scikit-learn's diabetes (give --data for pima)"


def main():
    args = arguments(__doc__, data=True)

    X, names, source = two_features(args.data)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    Z = (X - mean) / spread
    # the slide has exp(-0.3 ||x - y||^2). A little wider, the ball's image has no dip in the middle
    kernel = RBF.from_gamma(0.2)
    detectors = {
        f"SVDD, nu = {SHARE}": SVDD(nu=SHARE, kernel=kernel),
        "kernel density, 10% left out": KernelDensityNovelty(contamination=SHARE),
        "kernel PCA error, 10% left out": KPCANovelty(n_components=6, kernel=kernel, contamination=SHARE),
    }
    xx, yy, points = grid(X)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    print(f"{len(X)} rows of {source}")
    for axis, (title, detector) in zip(axes, detectors.items()):
        outlier = detector.fit_predict(Z) < 0
        levels = detector.decision_function((points - mean) / spread).reshape(xx.shape)
        shades = np.linspace(np.quantile(levels, 0.25), levels.max(), 12)
        axis.contourf(xx, yy, levels, shades, cmap="Blues", alpha=0.85, extend="min")
        axis.contour(xx, yy, levels, [0], colors="crimson", linewidths=2)
        axis.scatter(*X[~outlier].T, s=7, color="0.15", linewidths=0)
        axis.scatter(*X[outlier].T, s=16, facecolors="none", edgecolors="crimson", linewidths=0.9)
        axis.set(title=f"{title}\n{outlier.mean():.1%} outside", xlabel=names[0])
        print(f"{title}: {outlier.sum()} of {len(X)} rows outside")
    axes[0].set_ylabel(names[1])
    save(figure, args.out / "novelty_contours.png")

    X = load_iris().data[:, [1, 2]]
    density = KernelDensityNovelty(bandwidth="scott").fit(X)
    xx, yy, points = grid(X)
    log_density = density.score_samples(points).reshape(xx.shape)
    held = (25, 50, 75, 95, 99)
    cuts = np.quantile(density.score_samples(X), [1 - share / 100 for share in held])
    figure, axis = plt.subplots(figsize=(5, 3.8), layout="constrained")
    axis.contourf(xx, yy, np.exp(log_density), 12, cmap="Greens", alpha=0.8)
    lines = axis.contour(xx, yy, log_density, np.sort(cuts), colors="0.2", linewidths=1, linestyles="solid")
    axis.clabel(lines, fmt={cut: f"{share}%" for cut, share in zip(cuts, held)}, fontsize=8)
    axis.scatter(*X.T, s=8, color="0.1", linewidths=0)
    axis.set(title="Kernel density of two iris features", xlabel="sepal width (cm)", ylabel="petal length (cm)")
    save(figure, args.out / "iris_density.png")


if __name__ == "__main__":
    main()
