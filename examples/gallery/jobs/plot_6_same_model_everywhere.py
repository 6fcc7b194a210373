"""
The same model in NumPy, in torch and in Dask
=============================================

The rows may be a NumPy array, a tensor (on a GPU if there is one) or a Dask array in twelve blocks. **Insight:** the
type of the rows decides which device does the work and does not change the predictions. The fitted model contains
NumPy arrays in each case.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import make_moons

from mercer import RBF, LandmarkMap, SemiKPCA

X, truth = make_moons(3000, noise=0.1, random_state=0)
y = np.full(len(X), -1)
y[:10] = truth[:10]
device = "cuda" if torch.cuda.is_available() else "cpu"
homes = {
    "NumPy": X,
    f"torch ({device})": torch.as_tensor(X, device=device),  # to_device(X) would take float32
    "Dask (12 blocks)": da.from_array(X, chunks=(250, 2)),
}

landmarks = X[np.random.default_rng(0).choice(len(X), 200, replace=False)]
scores = {}
for name, rows in homes.items():
    model = SemiKPCA(kernel=RBF(0.3), approx=LandmarkMap(RBF(0.3), landmarks=landmarks)).fit(rows, y)
    scores[name] = np.asarray(model.decision_function(X))  # each model predicts for NumPy rows

fig, axes = plt.subplots(1, 3, figsize=(9.0, 2.8), sharex=True, sharey=True, layout="constrained")
for ax, (name, score) in zip(axes, scores.items()):
    ax.scatter(*X.T, c=np.sign(score), cmap="coolwarm", s=3, linewidths=0)
    ax.scatter(*X[:10].T, c=truth[:10], cmap="coolwarm", s=40, edgecolors="k")
    away = np.max(np.abs(score - scores["NumPy"])) / np.max(np.abs(score))
    ax.set(title=f"{name}\nlargest difference {away:.0e}", xticks=[], yticks=[])
plt.show()
