"""Components that gross outliers do not turn, by their principal angle to those of the clean rows.

    python examples/robust_components.py [--out DIR] [--quick]

Digits, polynomial kernel of degree 2, three components. A fraction of the rows gets noise of a size that no digit has.
Prints the largest principal angle, in feature space, between the components of the clean rows and those found in the
contaminated ones, for kernel PCA and for robust kernel PCA, and how many of the contaminated rows had their pull
bounded. Writes robust_components.png. Robust kernel PCA does not know the outliers. influence=0.5 bounds the
pull of the longer half of the rows, whatever they are. About two minutes.
"""

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, save
from sklearn.datasets import load_digits

from mercer import KernelPCA, Polynomial, RobustKernelPCA

SHARES = (0.0, 0.025, 0.05, 0.1, 0.15, 0.2)
S = 3


def contaminate(X, share, rng):
    """A copy of X in which a fraction of the rows has gross noise, and which rows those are."""
    X, hit = X.copy(), rng.choice(len(X), round(share * len(X)), replace=False)
    X[hit] += 2.0 * rng.standard_normal((len(hit), X.shape[1]))
    return X, hit


def largest_angle(kernel, clean, X_clean, other, X_other):
    """Angles between two component spaces in degrees, from the singular values of Aᵀ k(X, X') A' (A sums to 0)."""
    cosines = clean.coefficients_.T @ kernel(X_clean, X_other) @ other.coefficients_
    return np.degrees(np.arccos(np.clip(np.linalg.svd(cosines, compute_uv=False).min(), 0, 1)))


def main():
    options = arguments(__doc__, quick="1,000 rows and one draw")
    X = load_digits().data / 16.0
    X = X[:1000] if options.quick else X
    kernel = Polynomial(2).resolve(X)
    clean = KernelPCA(S, kernel=kernel).fit(X)
    models = {
        "kernel PCA": KernelPCA(S, kernel=kernel),
        "robust kernel PCA": RobustKernelPCA(S, kernel=kernel, influence=0.5, tol=1e-4),
    }
    angles = {name: [] for name in models}
    print(f"{len(X)} digits, {S} components, largest principal angle in degrees (median of the draws)")
    for share in SHARES:
        draws = {name: [] for name in models}
        caught = []
        for seed in range(1 if options.quick else 3):
            dirty, hit = contaminate(X, share, np.random.default_rng(seed))
            for name, model in models.items():
                draws[name].append(largest_angle(kernel, clean, X, model.fit(dirty), dirty))
            caught.append(np.isin(hit, models["robust kernel PCA"].bounded_).mean() if len(hit) else np.nan)
        for name in models:
            angles[name].append(draws[name])
        said = ", ".join(f"{name} {np.median(draws[name]):5.1f}" for name in models)
        print(f"{100 * share:5.1f}% contaminated: {said}, at the bound {100 * np.median(caught):.0f}% of those rows")
    draw(angles, options.out / "robust_components.png")


def draw(angles, path):
    fig, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for (name, values), color in zip(angles.items(), ("#c0392b", "#1f5f8b")):
        values = np.array(values)
        ax.plot(100 * np.array(SHARES), np.median(values, axis=1), "o-", color=color, label=name)
        ax.fill_between(100 * np.array(SHARES), values.min(axis=1), values.max(axis=1), color=color, alpha=0.15, lw=0)
    ax.set(xlabel="contaminated rows, %", ylabel="angle to the clean components, °", ylim=(0, 92))
    ax.legend(frameon=False)
    save(fig, path)


if __name__ == "__main__":
    main()
