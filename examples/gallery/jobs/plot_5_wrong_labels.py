"""
Label errors in a well-known data set
=====================================

The digits that scikit-learn ships were labeled by people. Each label is held out and predicted from the others. Those
that the others contradict most clearly come first. **Insight:** one leave-one-label-out pass, in closed form, checks
seventeen hundred labels and shows the few that a person should look at.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from mercer import RBF, LSSVMClassifier, suspicious

digits = load_digits()
X, y = digits.data / 16.0, digits.target
model = LSSVMClassifier(gamma=10.0, kernel=RBF("knn")).fit(X, y)
found = suspicious(model, 12, X=X, y=y)

fig, axes = plt.subplots(2, 6, figsize=(8.0, 3.3), layout="constrained")
for ax, row, given, other in zip(axes.flat, found.rows, found.given, found.proposed):
    ax.imshow(digits.images[row], cmap="gray_r")
    ax.set_title(f"labeled {given}; a {other}?", fontsize=9)
    ax.set(xticks=[], yticks=[], xlabel=f"row {row}")
plt.show()
