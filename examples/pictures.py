"""Options, a grid of points and a function that writes a picture, for the examples with pictures."""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from PIL import Image


def arguments(doc, data=False, quick=None):
    """--out, and if the example has them --data and --quick (`quick` is its help)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    images = Path(__file__).resolve().parents[1] / "docs" / "img"
    parser.add_argument("--out", type=Path, default=images, help="folder of the pictures (default docs/img)")
    if data:
        parser.add_argument("--data", type=Path, help="folder with the data sets")
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    return parser.parse_args()


def grid(X, n=160):
    """Points on a grid around the rows, and the axes for contour()."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.12 * (high - low)
    x, y = (np.linspace(a, b, n) for a, b in zip(low - pad, high + pad))
    xx, yy = np.meshgrid(x, y)
    return xx, yy, np.column_stack([xx.ravel(), yy.ravel()])


def save(figure, path):
    """Write the picture with 64 colors, which take a quarter of the bytes and look the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.canvas.draw()
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB").quantize(64).save(path, optimize=True)
    print("wrote", path.name)
