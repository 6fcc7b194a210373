"""
Regression with few targets
===========================

Forty of 442 patients have a measured progression of diabetes. **Insight:** an interval that covers nine of ten true
values is more useful than a single number. Its width shows whether the columns are informative.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from mercer import FewLabelRegressor

X, truth = load_diabetes(return_X_y=True)
y = np.full(len(X), np.nan)
known = np.random.default_rng(0).choice(len(X), 40, replace=False)
y[known] = truth[known]
model = FewLabelRegressor(time_budget=5).fit(X, y)
hidden = np.isnan(y)
low, high = model.predict_interval(X[hidden], coverage=0.9).T
order = np.argsort(model.predict(X[hidden]))
inside = (low <= truth[hidden]) & (truth[hidden] <= high)

fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.fill_between(np.arange(len(order)), low[order], high[order], alpha=0.2, color="#2563c9", label="90% interval")
ax.plot(model.predict(X[hidden])[order], color="#2563c9", label="predicted")
ax.scatter(np.arange(len(order)), truth[hidden][order], s=6, c=np.where(inside[order], "0.3", "#d9590f"), label="true")
ax.set(xlabel="patients without a number, in the order of the prediction", ylabel="progression")
ax.set_title(f"{inside.mean():.0%} of the true values are inside, held-out R² {model.left_out_r2_:.2f}")
ax.legend()
plt.show()
