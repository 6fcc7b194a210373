"""Rows that a classifier has never seen the like of, found on its embeddings.

    python examples/out_of_distribution.py

A small network learns the digits 0 to 4. Its hidden layer is the embedding. The detectors see embeddings of these five
only and score unseen digits of both kinds, as benchmarks of out-of-distribution detection do. They print the area under
the ROC curve, and the fraction of strange digits that pass as known while 95% of the known ones do. The five digits are
five clusters, so the ball needs a narrow kernel. With the median width strange rows are in the middle between them.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import normalize

from mercer import RBF, SVDD, KernelDensityNovelty, KPCANovelty


def embedded(network, X):
    """The hidden layer of the network."""
    return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0.0)


def main(seed=0):
    """Print a line for each detector, and for the network's own largest probability. Return {name: (AUROC, FPR95)}."""
    X, y = load_digits(return_X_y=True)
    known, strange = X[y < 5] / 16, X[y >= 5] / 16
    train, test, labels, _ = train_test_split(known, y[y < 5], test_size=0.4, random_state=seed)
    network = MLPClassifier((64,), max_iter=100, random_state=seed).fit(train, labels)
    new, truth = np.vstack([test, strange]), np.r_[np.ones(len(test)), np.zeros(len(strange))]
    rows, asked = (normalize(embedded(network, some)) for some in (train, new))  # directions only
    scores = {"largest probability": network.predict_proba(new).max(axis=1)}
    for detector in (SVDD(0.1, kernel=RBF("knn")), KPCANovelty(0.9), KernelDensityNovelty()):
        scores[type(detector).__name__] = detector.fit(rows).score_samples(asked)
    found = {}
    for name, score in scores.items():
        passed, right, _ = roc_curve(truth, score)
        found[name] = roc_auc_score(truth, score), float(np.interp(0.95, right, passed))
        print(f"{name:22} AUROC {found[name][0]:.3f}, strange among the accepted {found[name][1]:.0%}")
    return found


if __name__ == "__main__":
    main()
