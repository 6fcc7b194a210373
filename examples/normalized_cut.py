"""Normalized cut is weighted kernel c-means, with the same value and the same partition.

    python examples/normalized_cut.py [--out DIR]

For a graph with weights W and degrees D, give every node its degree as weight and take the kernel
K = shift · D⁻¹ + D⁻¹ W D⁻¹ (the shift makes it positive semi-definite and changes every partition's cost by the same
amount). Then, for k clusters, inertia = shift · (n − k) + trace(D⁻¹W) − k + normalized cut (Dhillon et al., 2007),
so each Lloyd step lowers the cut without an eigenvector. The script checks the identity on half-moons, starts from
plain k-means (Lloyd steps on the graph nearly halve its cut) and from spectral clustering (no row moves, so it is a
fixed point of weighted kernel c-means), and writes normalized_cut.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, save
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_moons

from mercer import KernelCMeans
from mercer.kernels.graph import neighbor_graph


def normalized_cut(W, labels):
    """Σ over clusters of (weight of the edges that leave it) / (degrees inside it)."""
    degree = W.sum(axis=1)
    return sum(W[np.ix_(labels == c, labels != c)].sum() / degree[labels == c].sum() for c in np.unique(labels))


def main():
    args = arguments(__doc__)

    X, _ = make_moons(300, noise=0.09, random_state=0)
    W = neighbor_graph(X, 10)[0].toarray()
    degree = W.sum(axis=1)
    n, k = len(W), 3
    scaled = W / np.outer(degree, degree)
    # D^{1/2} K D^{1/2} = shift·I + D^{-1/2} W D^{-1/2}, whose smallest eigenvalue is at least shift − 1
    shift = -min(np.linalg.eigvalsh(W / np.sqrt(np.outer(degree, degree)))[0], 0.0)
    K = shift * np.diag(1 / degree) + scaled

    starts = {
        "k-means": KMeans(k, n_init=10, random_state=0).fit_predict(X),
        "spectral clustering": SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(W),
    }
    results = {}
    for name, labels in starts.items():
        model = KernelCMeans(k, kernel="precomputed", init=labels).fit(K, sample_weight=degree)
        moved = np.sum(model.labels_ != labels)
        cut = normalized_cut(W, model.labels_)
        identity = model.inertia_ - shift * (n - k) - np.sum(np.diag(W) / degree) + k
        print(f"{name}: normalized cut {normalized_cut(W, labels):.6f}, kernel c-means moves {moved} rows: {cut:.6f},")
        print(f"    from its inertia {identity:.6f}")
        results[name] = labels
        if moved:
            results[f"{name}, then kernel c-means"] = model.labels_

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), layout="constrained")
    for axis, (name, labels) in zip(axes, results.items()):
        color = np.array(["#c23b22", "#1f5fa8", "#2e8b57"])[labels]
        for i, j in zip(*np.nonzero(np.triu(W))):
            axis.plot(*X[[i, j]].T, color="0.8", linewidth=0.4, zorder=0)
        axis.scatter(*X.T, c=color, s=9, linewidths=0)
        axis.set(xticks=[], yticks=[])
        axis.set_title(f"{name}\nnormalized cut {normalized_cut(W, labels):.4f}", fontsize=9)
    save(figure, args.out / "normalized_cut.png")


if __name__ == "__main__":
    main()
