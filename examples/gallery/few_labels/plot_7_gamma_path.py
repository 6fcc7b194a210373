"""
A regularization path from one decomposition
============================================

After one decomposition, the predictions of an LS-SVM for every γ are known in closed form. So are the held-out
predictions of every label. **Insight:** a path of fifty parameters costs a few percent of one fit, and held-out
labels follow the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import RBF, LSSVMClassifier
from mercer.model_selection import leave_one_label_out

X, truth = load_digits(return_X_y=True)
X, truth = X[:600] / 16.0, truth[:600]
y = np.full(len(X), -1)
known = np.random.default_rng(0).choice(len(X), 100, replace=False)
y[known] = truth[known]
gammas = np.logspace(-2, 4, 50)
model = LSSVMClassifier(kernel=RBF("median"))
found = leave_one_label_out(model, X, y, gamma=gammas.tolist())
left_out, interval = found.accuracy[1:], found.interval[1:]  # the first candidate is the model as it is
some = gammas[::7]
right = [np.mean(LSSVMClassifier(g, kernel=RBF("median")).fit(X, y).transduction_[y < 0] == truth[y < 0]) for g in some]

fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.fill_between(gammas, *interval.T, color="#2563c9", alpha=0.15, lw=0)
ax.semilogx(gammas, left_out, color="#2563c9", label="100 held-out labels, with their 95% interval")
ax.semilogx(some, right, "x", color="#d9590f", mew=2, label="truth, on the other 500 rows")
ax.set(xlabel="γ", ylabel="accuracy")
ax.legend(loc="lower right")
plt.show()
