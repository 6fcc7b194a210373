"""Kernel c-means compared with plain c-means, on two rings and on two spirals.

    python examples/rings_and_spirals.py [--data DIR] [--out DIR]

Writes rings_and_spirals.png. Plain c-means cuts both pictures in half, because a half-plane cannot be a ring. The same
algorithm with an RBF kernel of the right width separates the rings, but no width separates the spirals, whose arms are
longer than they are apart. A diffusion kernel, for which points joined by a chain of neighbors are near, does. With
--data DIR the spirals are DIR/spirals.npz, otherwise they are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, save
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from mercer import RBF, Diffusion, KernelCMeans, Linear


def spirals(data, n=300):
    """Two interleaved spirals and which arm a row belongs to."""
    if data is not None and (data / "spirals.npz").exists():
        file = np.load(data / "spirals.npz")
        return file["X"].astype(float), file["y"], "kernlab's spirals"
    rng = np.random.default_rng(0)
    arm = np.repeat([0, 1], n // 2)
    angle = 2.4 * np.pi * np.sqrt(np.tile(np.linspace(0.06, 1, n // 2), 2))  # even steps along the arm
    X = np.column_stack([np.cos(angle + np.pi * arm), np.sin(angle + np.pi * arm)]) * angle[:, None] / 7
    return X + rng.normal(scale=0.015, size=X.shape), arm, "generated spirals (give --data for kernlab's)"


def main():
    args = arguments(__doc__, data=True)

    rings = make_circles(300, factor=0.4, noise=0.05, random_state=0)
    spiral, arm, source = spirals(args.data)
    print(f"300 rows of two rings, {len(spiral)} rows of {source}")
    pictures = [
        ("plain c-means", Linear(), *rings),
        ("RBF kernel c-means", RBF.from_gamma(5.0), *rings),
        ("plain c-means", Linear(), spiral, arm),
        ("RBF kernel c-means", RBF.from_gamma(10.0), spiral, arm),
        ("diffusion kernel c-means", Diffusion(n_neighbors=4, time=500.0), spiral, arm),
    ]
    figure, axes = plt.subplots(1, 5, figsize=(13.5, 3.5), layout="constrained")
    for axis, (title, kernel, X, truth) in zip(axes, pictures):
        model = KernelCMeans(2, kernel=kernel, n_init=20, random_state=0).fit(X)
        agreement = adjusted_rand_score(truth, model.labels_)
        axis.scatter(*X.T, c=np.array(["#c23b22", "#1f5fa8"])[model.labels_], s=10, linewidths=0)
        axis.set(
            title=f"{title}\nadjusted Rand index {round(agreement, 2) + 0.0:.2f}", xticks=[], yticks=[], aspect="equal"
        )
        axis.title.set_fontsize(10)
        print(f"{title}: adjusted Rand index {agreement:.3f}, {model.n_iter_} iterations")
    save(figure, args.out / "rings_and_spirals.png")


if __name__ == "__main__":
    main()
