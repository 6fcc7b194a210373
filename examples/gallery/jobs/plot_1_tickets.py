"""
Support tickets from 30 labels
==============================

Thirty of six hundred support tickets have been sorted by hand. The data frame has a column of text. **Insight:** the
unlabeled tickets show which words go together. A ticket is sorted correctly even if it has no word in common with a
labeled one.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer import FewLabelClassifier

# %%
# Tickets made of phrases. Each queue has its own, some phrases occur in every queue, and some tickets are short.

OWN = {
    "billing": "invoice|charged twice|refund|payment failed|credit card|wrong amount|VAT number|receipt|subscription",
    "delivery": "parcel|courier|tracking number|not arrived|wrong address|damaged box|late|pickup point|customs",
    "account": "password|log in|reset link|two factor code|locked out|change email|username|delete profile|session",
    "fault": "app crashes|blank screen|error message|freezes|update|does not start|slow|button|version",
}
SHARED = "hello|please help|since yesterday|thank you|urgent|on my phone|third time I write|order|customer"
rng = np.random.default_rng(0)
queue = rng.choice(list(OWN), 600)
tickets = []
for name in queue:
    words = [*rng.choice(OWN[name].split("|"), rng.integers(1, 4)), *rng.choice(SHARED.split("|"), 3)]
    words += list(rng.choice(OWN[rng.choice(list(OWN))].split("|"), rng.integers(0, 2)))  # people mix things up
    tickets.append(", ".join(rng.permutation(words)))
frame = pd.DataFrame({"text": tickets})
y = np.full(len(frame), None, dtype=object)
sorted_by_hand = rng.choice(len(frame), 30, replace=False)
y[sorted_by_hand] = queue[sorted_by_hand]

model = FewLabelClassifier(time_budget=20).fit(frame, y)
usual = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(
    frame["text"][sorted_by_hand], y[sorted_by_hand].astype(str)
)

# %%
# Accuracy on the other 570 tickets, and the estimate of the model before anybody checked.

hidden = np.ones(len(frame), dtype=bool)
hidden[sorted_by_hand] = False
right = {
    "TF-IDF + logistic regression": np.mean(usual.predict(frame["text"][hidden]) == queue[hidden]),
    "FewLabelClassifier": np.mean(model.transduction_[hidden] == queue[hidden]),
}
said = model.estimate_.accuracy
fig, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
ax.barh(list(right), list(right.values()), color=["0.7", "#2563c9"])
ax.errorbar(said.value, 1, xerr=[[said.value - said.low], [said.high - said.value]], color="k", capsize=4, fmt="o")
ax.set(xlim=(0, 1), xlabel="accuracy, with the model's own estimate in black")
plt.show()
