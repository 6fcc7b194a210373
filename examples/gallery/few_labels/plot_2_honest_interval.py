"""
Confidence intervals of the accuracy
====================================

Eight times, thirty other rows are labeled. Each time the model estimates its accuracy from these labels alone.
**Insight:** an accuracy from thirty labels has a wide interval, and the interval covers the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from mercer import FewLabelClassifier

X, truth = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
held = 0
for draw in range(8):
    rng = np.random.default_rng(draw)
    known = rng.choice(len(X), 30, replace=False)
    y = np.full(len(X), -1)
    y[known] = truth[known]
    model = FewLabelClassifier(["lssvm", "diffusion", "semi_kpca"]).fit(X, y)
    hidden = y < 0
    right, said = np.mean(model.transduction_[hidden] == truth[hidden]), model.estimate_.accuracy
    ax.plot([said.low, said.high], [draw, draw], color="#2563c9", lw=3, solid_capstyle="round", alpha=0.5)
    ax.plot(said.value, draw, "o", color="#2563c9")
    ax.plot(right, draw, "x", color="#d9590f", mew=2)
    held += said.low <= right <= said.high
ax.set(xlabel="accuracy, estimate (blue) and truth (orange)", ylabel="draw", xlim=(0.5, 1.01))
ax.set_title(f"thirty labels of 178 wines: {held} of 8 intervals cover the truth")
plt.show()
