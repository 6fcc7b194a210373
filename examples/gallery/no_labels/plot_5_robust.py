"""
Robust components
=================

Six percent of the rows are outliers. **Insight:** kernel PCA spends its first component on them. Under a Huber loss
no row pulls harder than the bound, and the components stay with the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA, Linear, RobustKernelPCA

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2)) @ np.array([[3.0, 0.0], [0.0, 0.5]])
X[:18] = rng.normal([2.0, 14.0], 0.7, size=(18, 2))
models = {
    "kernel PCA": KernelPCA(1, kernel=Linear()),
    "robust kernel PCA": RobustKernelPCA(1, kernel=Linear(), influence=0.5),
}
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.scatter(*X.T, s=6, c="0.5", linewidths=0)
for (name, model), color in zip(models.items(), ("#d9590f", "#2563c9")):
    model.fit(X)
    middle = X.mean(axis=0)
    step = model.transform(middle + np.eye(2)) - model.transform(middle[None])  # the direction in the plane
    direction = step[:, 0] / np.linalg.norm(step)
    ax.axline(middle, middle + direction, color=color, lw=2, label=name)
ax.set(xlim=(-10, 10), ylim=(-4, 16), title="direction of the first component")
ax.legend()
plt.show()
