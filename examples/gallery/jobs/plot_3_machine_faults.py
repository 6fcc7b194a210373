"""
Outlier detection with three known machine faults
=================================================

A machine idles or works. Its minutes are not labeled, except for three faults in which the belt slipped and the speed
was between the two modes. **Insight:** a description of frequent rows calls the gap between two modes normal. Three
known faults are enough to exclude it and to find most others of their kind.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, SVDD

# %%
# Speed and current of 580 minutes, on comparable scales. Twenty of them are faults.

rng = np.random.default_rng(0)
working = rng.random(560) < 0.6
normal = np.where(working[:, None], [1.2, 0.8], [-1.2, -0.6]) + rng.normal(scale=0.35, size=(560, 2))
rng = np.random.default_rng(1)
slipping = np.column_stack([rng.normal(0.0, 0.2, 20), rng.normal(0.2, 0.25, 20)])
X = np.concatenate([normal, slipping])
fault = np.arange(580) >= 560
typical = 560 + np.argsort(np.abs(slipping[:, 1] - 0.2))
y = np.ones(580)
y[typical[[0, 3, 6]]] = -1  # known faults, as scikit-learn's detectors mark them. All other minutes count as normal
detectors = {
    "what is frequent": SVDD(nu=0.05, kernel=RBF(0.8), outlier_weight=None),
    "and three known faults": SVDD(nu=0.05, kernel=RBF(0.8), outlier_weight=10.0),
}

xx, yy = np.meshgrid(np.linspace(-2.8, 2.8, 140), np.linspace(-2.2, 2.4, 110))
fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharey=True, layout="constrained")
for ax, (title, detector) in zip(axes, detectors.items()):
    outside = detector.fit(X, y).predict(X) < 0
    level = detector.decision_function(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
    ax.contourf(xx, yy, level, [0, np.inf], colors=["#d6e1fa"])
    ax.contour(xx, yy, level, [0], colors="#2563c9")
    ax.scatter(*X[~fault].T, s=5, c="0.5", linewidths=0, label="normal")
    ax.scatter(*X[fault].T, s=14, c="#d9590f", linewidths=0, label="fault")
    ax.scatter(*X[y < 0].T, s=70, facecolors="none", edgecolors="k")
    caught, false = np.mean(outside[fault & (y > 0)]), np.mean(outside[~fault])
    ax.set(title=f"{title}: {caught:.0%} caught, {false:.0%} false", xlabel="speed", xticks=[], yticks=[])
axes[0].set_ylabel("current")
axes[0].legend(loc="upper left")
plt.show()
