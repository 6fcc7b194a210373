"""
Active learning: which row to label next
========================================

Start with four labels and add two at a time, either those that ``suggest`` proposes or random rows. **Insight:** if a
class is rare or a boundary is long, a suggested label is worth several random ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import FewLabelClassifier, suggest

rng = np.random.default_rng(2)
centers = rng.normal(scale=3.0, size=(5, 4))
truth = rng.choice(5, 200, p=[0.4, 0.3, 0.2, 0.05, 0.05])
X = centers[truth] + rng.normal(size=(200, 4))


def curve(ask):
    y = np.full(len(X), -1)
    first = np.random.default_rng(0).choice(len(X), 4, replace=False)
    y[first] = truth[first]
    model, right = FewLabelClassifier(["lssvm", "diffusion", "semi_kpca"]).fit(X, y), []
    for _ in range(8):
        right.append(np.mean(model.transduction_ == truth))
        rows = ask(model)
        model.teach(rows, truth[rows])
    return right


draw = np.random.default_rng(5)
labels = 4 + 2 * np.arange(8)
at_random = [
    curve(lambda model: draw.choice(np.flatnonzero(model.confidence_ < 1), 2, replace=False)) for _ in range(2)
]
fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
ax.plot(labels, np.transpose(at_random), color="0.7", lw=1)
ax.plot(labels, np.mean(at_random, axis=0), color="0.4", lw=2, label="rows drawn at random (two draws)")
ax.plot(labels, curve(lambda model: suggest(model, 2).rows), color="#2563c9", lw=2, label="rows that suggest asks for")
ax.set(xlabel="labels", ylabel="accuracy")
ax.legend(loc="lower right")
plt.show()
