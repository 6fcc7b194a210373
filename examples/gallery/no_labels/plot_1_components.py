"""
Kernel principal components as functions
========================================

Three clusters and the first eight components of an RBF kernel, each as a function of the plane. **Insight:** the
first components separate the clusters, and later ones divide each cluster. The kernel decides, not the axes.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, KernelPCA

rng = np.random.default_rng(1)
X = np.concatenate([rng.normal(center, 0.1, size=(30, 2)) for center in [(-0.5, -0.2), (0.0, 0.6), (0.5, 0.0)]])
model = KernelPCA(8, kernel=RBF.from_gamma(10.0)).fit(X)

xx, yy = np.meshgrid(np.linspace(-0.9, 0.9, 60), np.linspace(-0.6, 1.0, 60))
values = model.transform(np.column_stack([xx.ravel(), yy.ravel()]))
fig, axes = plt.subplots(2, 4, figsize=(8.4, 4.2), layout="constrained")
for component, ax in enumerate(axes.flat):
    level = values[:, component].reshape(xx.shape)
    ax.contourf(xx, yy, level, 14, cmap="RdBu", alpha=0.8)
    ax.scatter(*X.T, s=4, c="0.1", linewidths=0)
    ax.set(title=f"{component + 1}: variance {model.explained_variance_ratio_[component]:.0%}", xticks=[], yticks=[])
plt.show()
