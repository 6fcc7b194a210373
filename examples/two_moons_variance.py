"""Eight labels on two moons. Kernel PCA follows the data, LS-KPCA follows data and labels.

    python examples/two_moons_variance.py

Kernel PCA looks for functions that vary as much as the data allow. LS-KPCA keeps that variance fixed and asks, among
such functions, for one that agrees with a few labels. The parameters are chosen by leaving out one label at a time.
"""

import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, Diffusion, LeastSquaresKPCA, LogisticKPCA, SpectralGraphTransducer

X, truth = make_moons(300, noise=0.08, random_state=0)
rng = np.random.default_rng(1)
y = np.full(len(X), -1)  # -1 marks unlabeled rows
for code in (0, 1):
    rows = rng.choice(np.flatnonzero(truth == code), 4, replace=False)
    y[rows] = code
hidden = y == -1


def report(name, model):
    right = np.mean(model.transduction_[hidden] == truth[hidden])
    print(f"{name:44s} {100 * right:5.1f}% accuracy on the unlabeled rows")


report("LS-KPCA, median width, as it is", LeastSquaresKPCA().fit(X, y))
kernels = [RBF(width) for width in (0.15, 0.3, 0.6, 1.2)]
grid = {"label_weight": [0.01, 0.1, 1.0, 10.0, 100.0], "variance": [0.1, 0.3, 1.0, 3.0]}
chosen = LeastSquaresKPCA().select(X, y, kernel=kernels, **grid)
report(f"LS-KPCA, chosen: {chosen.kernel_!r}", chosen)
print("   ", chosen.selection_["reason"])
report("LR-KPCA, chosen the same way", LogisticKPCA().select(X, y, kernel=kernels, **grid))
mixed = 0.5 * RBF(0.3) + 0.5 * Diffusion(n_neighbors=8, time=10.0)
report("LS-KPCA, Gaussian and graph mixed", LeastSquaresKPCA(10.0, kernel=mixed).fit(X, y))
report("Spectral Graph Transducer", SpectralGraphTransducer(n_neighbors=8).fit(X, y))
