"""Accuracy of a classifier on kernel PCA scores against the number of rows that the model stores.

    python examples/sparse_components.py [--out DIR] [--quick]

Digits, RBF kernel of median width, five components, logistic regression on the scores, 40% of the rows for testing.
Three models store the same number of rows. They are sparse kernel PCA (the loss chooses them), kernel PCA through that
many landmarks drawn uniformly (all rows still decide the components), and kernel PCA of a uniform sample alone. Prints
a table and writes sparse_components.png. The loss keeps the rows at the rim. It is the best with one or two rows per
component (11 and 21 of 1,078 rows). With more rows the threshold is lower, the rim still decides, and landmarks or even
a sample do better.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, save
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import RBF, KernelPCA, LandmarkMap, SparseKernelPCA

KEEP = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
S = 5


def main():
    options = arguments(__doc__, quick="three sizes and two draws")
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.4, random_state=0, stratify=y)
    kernel = RBF("median").resolve(train)
    draws = 2 if options.quick else 10

    def accuracy(model):
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, C=10))
        return classifier.fit(model.transform(train), y_train).score(model.transform(test), y_test)

    full = accuracy(KernelPCA(S, kernel=kernel).fit(train))
    print(f"{len(train)} rows, {S} components, kernel PCA on all rows has {full:.3f}")
    print("rows kept   sparse   landmarks (± over draws)   sample (± over draws)")
    curves = {"sparse kernel PCA": [], "uniform landmarks": [], "uniform sample": []}
    sizes = []
    for share in KEEP[::2] if options.quick else KEEP:
        sparse = SparseKernelPCA(S, keep=share, kernel=kernel, tol=1e-4).fit(train)
        m = len(sparse.support_)
        landmarks, sample = [], []
        for seed in range(draws):
            chosen = LandmarkMap(kernel, landmarks=m, choice="uniform", random_state=seed)
            landmarks.append(accuracy(KernelPCA(S, kernel=kernel, approx=chosen).fit(train)))
            rows = np.random.default_rng(seed).choice(len(train), m, replace=False)
            sample.append(accuracy(KernelPCA(S, kernel=kernel).fit(train[rows])))
        sizes.append(m)
        for name, values in zip(curves, ([accuracy(sparse)], landmarks, sample)):
            curves[name].append((np.mean(values), np.std(values)))
        ours, theirs, alone = (curve[-1] for curve in curves.values())
        print(
            f"{m:9d}   {ours[0]:.3f}    {theirs[0]:.3f} ± {theirs[1]:.3f}              {alone[0]:.3f} ± {alone[1]:.3f}"
        )
    draw(sizes, curves, full, options.out / "sparse_components.png")


def draw(sizes, curves, full, path):
    fig, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for (name, points), color in zip(curves.items(), ("#1f5f8b", "#c0392b", "#7f8c8d")):
        mean, spread = np.array(points).T
        ax.plot(sizes, mean, "o-", color=color, label=name)
        ax.fill_between(sizes, mean - spread, mean + spread, color=color, alpha=0.15, lw=0)
    ax.axhline(full, color="0.3", lw=0.8, ls=":", label="all rows")
    ax.set(xscale="log", xlabel="rows stored and evaluated", ylabel="test accuracy")
    ax.legend(frameon=False)
    save(fig, path)


if __name__ == "__main__":
    main()
