"""
Approximation error of landmarks
================================

The relative error of the kernel matrix against the number of features, for landmarks chosen by pivoting, drawn
uniformly, and for random Fourier features. **Insight:** landmarks follow the data and need a fraction of the features
that random frequencies need. The map estimates its own error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import RBF, FourierMap, LandmarkMap

X = load_digits().data[:1200] / 16.0
kernel = RBF("median").resolve(X)
K = kernel(X, X)
sizes = (20, 40, 80, 160, 320)
maps = {
    "landmarks, pivoted": lambda m: LandmarkMap(kernel, landmarks=m),
    "landmarks, uniform": lambda m: LandmarkMap(kernel, landmarks=m, choice="uniform"),
    "random Fourier features": lambda m: FourierMap(kernel, n_features=m),
}
fig, ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
for (name, make), color in zip(maps.items(), ("#2563c9", "#2b8a3e", "#d9590f")):
    errors = []
    for m in sizes:
        Z = make(m).fit_transform(X)
        errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    ax.loglog(sizes, errors, "o-", color=color, label=name)
said = [LandmarkMap(kernel, landmarks=m).fit(X).error_ for m in sizes]
ax.loglog(sizes, said, "x", color="k", label="the pivoted map's own estimate")
ax.set(xlabel="features", ylabel="relative error of the kernel matrix")
ax.legend()
plt.show()
