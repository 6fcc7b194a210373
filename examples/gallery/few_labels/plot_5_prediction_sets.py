"""
Prediction sets with 90% coverage
=================================

``predict_set`` returns for each row a set of classes that contains the true one in nine rows of ten. **Insight:**
easy rows get one class and rows between two classes get both. The coverage is that of all rows together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from mercer import FewLabelClassifier

X, truth = make_blobs(400, centers=[(0, 0), (2.2, 0), (1.1, 1.9)], cluster_std=0.8, random_state=0)
y = np.full(len(X), -1)
y[:40] = truth[:40]
model = FewLabelClassifier(time_budget=5).fit(X, y)
sets = model.training_sets(coverage=0.9)
hidden = y < 0
held = np.mean(sets[hidden, truth[hidden]])

fig, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
mixed = np.array([(0.15, 0.39, 0.79), (0.85, 0.35, 0.06), (0.17, 0.54, 0.24)])
color = np.array([mixed[row].mean(axis=0) if row.any() else (0, 0, 0) for row in sets])
for size, mark in zip(range(4), "x.sD"):
    some = sets.sum(axis=1) == size
    ax.scatter(
        *X[some].T, c=color[some], marker=mark, s=45 if size > 1 else 60, label=f"{size} classes: {some.sum()} rows"
    )
ax.set(title=f"sets contain the true class in {held:.0%} of the rows", xticks=[], yticks=[])
ax.legend()
plt.show()
