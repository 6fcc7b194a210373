"""
A million customers on a laptop
===============================

Each customer has twelve numbers, and forty customers are labeled with a segment. Features through 300 landmarks are
computed in blocks and never stored, so the memory is that of the table. **Insight:** time is proportional to the
number of customers, not to its square. The site is built with fewer customers. Set ``SIZES`` to try your own machine.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import SemiKPCA

SIZES = (10_000, 20_000, 40_000, 80_000)  # add 1_000_000


def customers(n, rng):
    """Four segments as curved clouds in twelve columns."""
    segment = rng.integers(4, size=n)
    angle = rng.uniform(0, np.pi, n) + segment * np.pi / 2
    X = rng.normal(scale=0.35, size=(n, 12))
    X[:, 0] += 2 * np.cos(angle) + 3 * np.cos(segment * np.pi / 2)
    X[:, 1] += 2 * np.sin(angle) + 3 * np.sin(segment * np.pi / 2)
    return X, segment


rng, seconds, right = np.random.default_rng(0), [], []
for n in (SIZES[0], *SIZES):  # the first one warms up
    X, segment = customers(n, rng)
    y = np.full(n, -1)
    known = rng.choice(n, 40, replace=False)
    y[known] = segment[known]
    began = time.perf_counter()
    found = SemiKPCA(approx=300).fit(X, y).predict(X)
    seconds.append(time.perf_counter() - began)
    right.append(np.mean(found == segment))
seconds = seconds[1:]

fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
axes[0].scatter(*X[:8000, :2].T, c=found[:8000], cmap="tab10", vmax=9, s=2, linewidths=0)
axes[0].scatter(*X[known, :2].T, c=segment[known], cmap="tab10", vmax=9, s=36, edgecolors="k")
axes[0].set(title=f"40 labels: {right[-1]:.1%} of {SIZES[-1]:,} correct", xticks=[], yticks=[])
axes[1].loglog(SIZES, seconds, "o-", label="fit and predict")
axes[1].loglog(SIZES, np.array(SIZES) * seconds[-1] / SIZES[-1], "k:", lw=1, label="proportional to n")
axes[1].set(xlabel="customers", ylabel="seconds")
axes[1].legend()
plt.show()
