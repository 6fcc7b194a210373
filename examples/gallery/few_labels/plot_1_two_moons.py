"""
Semi-supervised learning: two moons with eight labels
=====================================================

A support vector machine sees the eight labeled points only. LS-KPCA keeps the variance over all points fixed and
finds, among such functions, one that agrees with the labels. **Insight:** points without a label show
which regions the boundary must avoid.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from mercer import RBF, LeastSquaresKPCA

X, truth = make_moons(300, noise=0.08, random_state=0)
rng = np.random.default_rng(1)
known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 4, replace=False) for c in (0, 1)])
y = np.full(len(X), -1)
y[known] = truth[known]

supervised = SVC(gamma=1 / (2 * 0.3**2)).fit(X[known], truth[known])
model = LeastSquaresKPCA(kernel=RBF(0.3)).fit(X, y)

xx, yy = np.meshgrid(np.linspace(-1.5, 2.5, 160), np.linspace(-1, 1.5, 120))
grid = np.column_stack([xx.ravel(), yy.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), sharey=True, layout="constrained")
for ax, fitted, name in zip(axes, (supervised, model), ("SVC, labeled points only", "LS-KPCA, all points")):
    levels = fitted.decision_function(grid).reshape(xx.shape)
    ax.contourf(xx, yy, levels, 12, cmap="coolwarm", alpha=0.6)
    ax.contour(xx, yy, levels, [0], colors="k", linewidths=1)
    ax.scatter(*X.T, c="0.2", s=5, linewidths=0)
    ax.scatter(*X[known].T, c=truth[known], cmap="coolwarm", s=50, edgecolors="k")
    ax.set(title=f"{name}: {np.mean(fitted.predict(X) == truth):.0%} correct", xticks=[], yticks=[])
plt.show()
