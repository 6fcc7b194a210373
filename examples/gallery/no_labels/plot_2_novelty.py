"""
Three outlier detectors compared
================================

A ball in feature space, a density, and the distance to the leading components each exclude a tenth of the rows.
**Insight:** they agree on distant rows and differ at the rim and in gaps, so the question decides the detector.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, SVDD, KernelDensityNovelty, KPCANovelty

X, _ = make_moons(300, noise=0.12, random_state=0)
kernel = RBF(0.35)
detectors = {
    "SVDD(nu=0.1)": SVDD(nu=0.1, kernel=kernel),
    "KernelDensityNovelty": KernelDensityNovelty(contamination=0.1),
    "KPCANovelty, 10 components": KPCANovelty(n_components=10, kernel=kernel, contamination=0.1),
}
xx, yy = np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.3, 1.8, 100))
grid = np.column_stack([xx.ravel(), yy.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(9.0, 2.8), sharey=True, layout="constrained")
for ax, (name, detector) in zip(axes, detectors.items()):
    outside = detector.fit_predict(X) < 0
    level = detector.decision_function(grid).reshape(xx.shape)
    ax.contourf(xx, yy, level, np.linspace(np.quantile(level, 0.25), level.max(), 12), cmap="Blues", extend="min")
    ax.contour(xx, yy, level, [0], colors="#d9590f")
    ax.scatter(*X[~outside].T, s=5, c="0.2", linewidths=0)
    ax.scatter(*X[outside].T, s=14, c="#d9590f", linewidths=0)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
