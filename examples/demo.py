"""Kernel PCA of the handwritten digits that ship with scikit-learn: what `make demo` runs.

    python examples/demo.py [--out out]

Prints what was found and how sure it is, and writes a picture: the digits on their first two components, the variance
explained, and noisy digits beside their denoised versions.
"""

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

from mercer import RBF, KernelPCA

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(out):
    digits = load_digits()
    X, y = digits.data / 16.0, digits.target
    start = time.perf_counter()
    model = KernelPCA(n_components=60, kernel=RBF("median"))
    scores = model.fit_transform(X)
    seconds = time.perf_counter() - start
    print(f"Kernel PCA of {len(X)} digits, {model.kernel_}, 60 components in {seconds:.2f} s.")
    print(f"  {model.approx_reason_}")
    print(f"  largest residual |Kv - lambda v| / lambda_1: {model.result_.gap:.1e}")
    print(f"  variance explained by 2, 10, 60 components: {', '.join(_shares(model))}")

    noisy = X[:8] + 0.35 * np.random.default_rng(0).standard_normal((8, 64))
    clean = model.denoise(noisy)
    before, after = (np.sqrt(np.mean((rows - X[:8]) ** 2)) for rows in (noisy, clean))
    print(f"  noise on eight digits: {before:.3f} before, {after:.3f} after denoising")

    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.1, 1])
    axis = left.subplots()
    points = axis.scatter(scores[:, 0], scores[:, 1], c=y, s=7, cmap="tab10", vmin=-0.5, vmax=9.5)
    left.colorbar(points, ticks=range(10), label="digit")
    axis.set(title="first two components", xlabel="component 1", ylabel="component 2")
    top, bottom = right.subfigures(2, 1)
    curve = top.subplots()
    curve.plot(np.arange(1, 61), np.cumsum(model.explained_variance_ratio_))
    curve.set(title="variance explained", xlabel="components", ylim=(0, 1), xlim=(1, 60))
    bottom.suptitle("with noise, and denoised", fontsize=11)
    for column, images in enumerate(zip(noisy, clean)):
        for row, image in enumerate(images):
            cell = bottom.add_subplot(2, 8, 8 * row + column + 1)
            cell.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            cell.set_axis_off()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "demo.png", dpi=100)
    print(f"  picture: {out / 'demo.png'}")


def _shares(model):
    share = np.cumsum(model.explained_variance_ratio_)
    return [f"{100 * share[k - 1]:.0f} %" for k in (2, 10, 60)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"))
    main(parser.parse_args().out)
