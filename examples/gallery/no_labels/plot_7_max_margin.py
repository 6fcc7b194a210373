"""
Maximum margin clustering
=========================

Of all ways to split handwritten 3s and 8s in two without a label, take the one that a least-squares classifier
separates best. **Insight:** a wide margin finds the digits. Equal size alone, or nearest centers, do not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import RBF, MaxMarginClustering

X, digit = load_digits(return_X_y=True)
some = np.isin(digit, (3, 8))
X, digit = X[some] / 16.0, digit[some] == 8
found = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit_predict(X),
    "max-margin clustering": MaxMarginClustering(2, kernel=RBF("median"), random_state=0).fit_predict(X),
}
P = PCA(2).fit_transform(X)
fig, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
for ax, (name, cluster) in zip(axes, found.items()):
    right = np.mean(cluster == digit)
    wrong = (cluster == digit) == (right < 0.5)
    ax.scatter(*P.T, c=np.where(digit, "#2563c9", "#2b8a3e"), s=14, linewidths=0)
    ax.scatter(*P[wrong].T, facecolors="none", edgecolors="#d9590f", s=50)
    ax.set(title=f"{name}: {max(right, 1 - right):.1%} as the digits are", xticks=[], yticks=[])
plt.show()
