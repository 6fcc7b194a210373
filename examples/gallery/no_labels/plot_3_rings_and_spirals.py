"""
Clustering rings and spirals
============================

Plain c-means cuts in half what is not round. **Insight:** an RBF kernel separates rings. The arms of spirals are
longer than they are apart, and need a kernel that follows the data, such as diffusion on the neighbor graph.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from mercer import RBF, Diffusion, KernelCMeans, Linear

rings, which = make_circles(300, factor=0.4, noise=0.05, random_state=0)
arm = np.repeat([0, 1], 150)
angle = 2.4 * np.pi * np.sqrt(np.tile(np.linspace(0.06, 1, 150), 2))
spirals = np.column_stack([np.cos(angle + np.pi * arm), np.sin(angle + np.pi * arm)]) * angle[:, None] / 7
spirals += np.random.default_rng(0).normal(scale=0.015, size=spirals.shape)

cases = [
    ("plain c-means", Linear(), rings, which),
    ("RBF", RBF.from_gamma(5.0), rings, which),
    ("RBF", RBF("knn"), spirals, arm),
    ("Diffusion", Diffusion(n_neighbors=6, time=200.0), spirals, arm),
]
fig, axes = plt.subplots(1, 4, figsize=(9.6, 2.8), layout="constrained")
for ax, (name, kernel, X, truth) in zip(axes, cases):
    found = KernelCMeans(2, kernel=kernel, n_init=20, random_state=0).fit_predict(X)
    ax.scatter(*X.T, c=np.array(["#2563c9", "#d9590f"])[found], s=9, linewidths=0)
    agree = adjusted_rand_score(truth, found)
    ax.set(title=f"{name}: Rand index {round(agree, 2) + 0.0:.2f}", xticks=[], yticks=[], aspect="equal")
plt.show()
