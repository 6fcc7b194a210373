"""
Sums of kernels
===============

Kernels can be added. On two noisy rings a smooth kernel does well and one of the neighbor graph does not, because too
many edges cross the gap. **Insight:** the sum loses little if one of its parts is useless, and held-out labels show
which part that is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from mercer import RBF, Diffusion, LeastSquaresKPCA

X, truth = make_circles(400, factor=0.5, noise=0.13, random_state=0)
kernels = {
    "RBF": RBF("knn"),
    "Diffusion": Diffusion(n_neighbors=10),
    "RBF + Diffusion": 0.5 * RBF("knn") + 0.5 * Diffusion(n_neighbors=10),
}
right, said = {name: [] for name in kernels}, {name: [] for name in kernels}
for draw in range(10):
    y = np.full(len(X), -1)
    known = np.random.default_rng(draw).choice(len(X), 20, replace=False)
    y[known] = truth[known]
    for name, kernel in kernels.items():
        model = LeastSquaresKPCA(kernel=kernel).fit(X, y)
        right[name].append(np.mean(model.transduction_[y < 0] == truth[y < 0]))
        said[name].append(model.left_out_accuracy_)

fig, ax = plt.subplots(figsize=(6.2, 3.2), layout="constrained")
place = np.arange(len(kernels))
ax.bar(place - 0.2, [np.mean(right[name]) for name in kernels], 0.38, color="#2563c9", label="rows without a label")
ax.bar(place + 0.2, [np.mean(said[name]) for name in kernels], 0.38, color="0.7", label="held-out labels")
ax.set(ylim=(0.5, 1), ylabel="accuracy, mean of 10 draws", xticks=place, xticklabels=list(kernels))
ax.legend(loc="lower right")
plt.show()
