"""
The bandwidth of a kernel
=========================

The same six labels with four bandwidths of the RBF kernel. **Insight:** if it is too narrow, a label affects only its
own neighborhood. If it is too wide, the boundary is straight. The rule "knn" follows curved clusters, and "median" is
coarse and safe.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, LeastSquaresKPCA, bandwidth_of

X, truth = make_moons(250, noise=0.08, random_state=3)
y = np.full(len(X), -1)
known = np.concatenate([np.flatnonzero(truth == c)[:3] for c in (0, 1)])
y[known] = truth[known]
widths = {"0.05": 0.05, '"knn"': bandwidth_of(X, "knn"), '"median"': bandwidth_of(X, "median"), "5": 5.0}
xx, yy = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.1, 1.6, 90))
fig, axes = plt.subplots(1, 4, figsize=(9.6, 2.5), sharey=True, layout="constrained")
for ax, (name, width) in zip(axes, widths.items()):
    model = LeastSquaresKPCA(kernel=RBF(width)).fit(X, y)
    level = model.decision_function(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
    ax.contourf(xx, yy, np.tanh(level / np.abs(level).mean()), 12, cmap="coolwarm", alpha=0.6)
    ax.scatter(*X.T, c="0.2", s=3, linewidths=0)
    ax.scatter(*X[known].T, c=truth[known], cmap="coolwarm", s=40, edgecolors="k")
    right = np.mean(model.transduction_ == truth)
    ax.set(title=f"{name}: σ = {width:.2f}, {right:.0%}", xticks=[], yticks=[])
plt.show()
