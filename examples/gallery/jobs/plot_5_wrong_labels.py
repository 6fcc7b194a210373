"""
Wrong labels in a data set that everybody uses
==============================================

The digits that scikit-learn ships were labelled by people. Each label is withheld and predicted from the others; those
that the others contradict most clearly come first. **Insight: one leave-one-label-out, in closed form, reads
seventeen hundred labels again and shows the few that a person should look at.**
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
    ax.set_title(f"labelled {given}; a {other}?", fontsize=9)
    ax.set(xticks=[], yticks=[], xlabel=f"row {row}")
plt.show()
