"""
Sparse kernel PCA
=================

Kernel PCA needs every training row to transform a new one. Sparse kernel PCA keeps those on which its loss depends.
**Insight:** a few rows at the rim give almost the same map, so new rows are transformed much faster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from mercer import RBF, KernelPCA, SparseKernelPCA

X, species = load_iris(return_X_y=True)
kernel = RBF("median").resolve(X)
full = KernelPCA(2, kernel=kernel).fit(X)
sparse = SparseKernelPCA(2, keep=0.1, kernel=kernel).fit(X)

fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
for ax, model, rows in zip(axes, (full, sparse), (len(X), len(sparse.support_))):
    P = model.transform(X)
    ax.scatter(*P.T, c=species, cmap="viridis", s=14, linewidths=0)
    ax.set(title=f"{type(model).__name__} with {rows} rows", xticks=[], yticks=[])
axes[1].scatter(*P[sparse.support_].T, facecolors="none", edgecolors="#d9590f", s=60, linewidths=1.4)
plt.show()
