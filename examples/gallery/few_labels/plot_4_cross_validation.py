"""
Cross-validation with unlabeled rows
====================================

scikit-learn's splitters put rows without a label into the test folds and count each as an error. ``LabeledKFold``
keeps them in the training folds. **Insight:** the argument ``cv=LabeledKFold()`` is all that scikit-learn's tools
need.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import scale

from mercer import LabeledKFold, LSSVMClassifier

X, truth = load_digits(return_X_y=True)
X = scale(X)[:1000]
truth = truth[:1000]
y = np.full(len(truth), -1)
known = np.random.default_rng(0).choice(len(y), 80, replace=False)
y[known] = truth[known]
model = LSSVMClassifier().fit(X, y)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    theirs = cross_val_score(model, X, y, cv=StratifiedKFold(5), scoring="accuracy").mean()
    ours = cross_val_score(model, X, y, cv=LabeledKFold(5), scoring="accuracy").mean()

bars = {
    "truth, the accuracy on the\nrows without a label": np.mean(model.transduction_[y < 0] == truth[y < 0]),
    "StratifiedKFold(5)": theirs,
    "LabeledKFold(5)": ours,
    "leave-one-label-out,\nin closed form": model.left_out_accuracy_,
}
fig, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
drawn = ax.barh(list(bars), list(bars.values()), color=["0.3", "#d9590f", "#2563c9", "#2563c9"])
ax.bar_label(drawn, fmt="%.2f", padding=3)
ax.set(xlim=(0, 1), xlabel="accuracy, 80 labels of 1,000 digits")
ax.invert_yaxis()
plt.show()
