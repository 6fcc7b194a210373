"""Columns of image paths: features that need no model. Resized grey, histograms of gradients, histograms of colours."""

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...backend import need
from .cells import GAPS, cells
from .kinds import Kind, total

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
GREY, FINE, CELL, ANGLES, SHADES = 16, 32, 8, 9, 4
_PARTS = np.cumsum([GREY**2, 4 * ANGLES * (FINE // CELL - 1) ** 2])  # grey, gradients, colours


@dataclass
class Picture(Kind):
    """Features of the image that each cell names, less their mean; zeros where there is none.

    The three parts have the same say, but colours none where all images are grey.
    """

    centre: np.ndarray = field(default_factory=lambda: np.zeros(0))
    weights: list = field(default_factory=list)

    def block(self, column):
        rows, there = features(column)
        parts = zip(np.split(rows - self.centre, _PARTS, axis=1), self.weights)
        return np.where(there[:, None], np.hstack([weight * part for part, weight in parts if weight]), 0.0)

    def unread(self, frame):
        return ~features(frame[self.name])[1]

    @classmethod
    def fit(cls, column):
        """Learn the mean and the spread of every part; None where no image can be read."""
        rows, there = features(column)
        if not there.any():
            return None
        rows = rows[there]
        spreads = [np.sqrt(total(part)) for part in np.split(rows, _PARTS, axis=1)]
        weights = [float(1 / spread) if spread > 1e-6 else 0.0 for spread in spreads]
        return cls(str(column.name), rows.mean(axis=0), weights) if any(weights) else None


def named_images(column: Any, words: np.ndarray) -> bool:
    """Whether nearly all cells end as the names of images do."""
    return sum(word.lower().endswith(ENDINGS) for word in words) >= 0.95 * len(words) > 0


def path_of(column: Any, cell: str) -> Path:
    """The file that a cell names, relative to the folder of its table."""
    return Path(column.attrs.get("folder", ".")) / cell


def opened(column: Any, cell: str) -> Any:
    """The image that a cell names, on white; None where there is none."""
    return None if cell in GAPS else _open(str(path_of(column, cell)))


def features(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """((n, d) features of the images, which rows have one)."""
    paths = [None if cell in GAPS else path_of(column, cell) for cell in cells(column)]
    rows, there = np.zeros((len(paths), _PARTS[-1] + SHADES**3)), np.zeros(len(paths), dtype=bool)
    for i, path in enumerate(paths):
        row = _features(str(path), path.stat().st_mtime_ns) if path is not None and path.is_file() else None
        if row is not None:
            rows[i], there[i] = row, True
    return rows, there


def why_not(column: Any, cell: str) -> str:
    """What is wrong with a file that cannot be read."""
    path = path_of(column, cell)
    return f"there is no file {path}" if not path.is_file() else f"{path} is no PNG, JPEG or WebP image"


def _open(path):
    """An image as RGB; transparent pixels are white, and a photograph stands upright."""
    pillow, turn = need("PIL.Image"), need("PIL.ImageOps").exif_transpose
    try:
        with pillow.open(path, formats=("PNG", "JPEG", "WEBP")) as file:
            image = turn(file)
            if not image.has_transparency_data:
                return image.convert("RGB")
            image = image.convert("RGBA")
            return pillow.alpha_composite(pillow.new("RGBA", image.size, "white"), image).convert("RGB")
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError):
        return None


@functools.lru_cache(maxsize=20_000)  # fitted, then encoded
def _features(path, changed):
    image = _open(path)
    if image is None:
        return None
    resample = need("PIL.Image").Resampling.BILINEAR
    grey = image.convert("L")
    small = np.asarray(grey.resize((GREY, GREY), resample), np.float32).ravel() / 255
    fine = np.asarray(grey.resize((FINE, FINE), resample), np.float32) / 255
    colours = _colours(np.asarray(image.resize((FINE, FINE), resample), np.float32))
    return np.concatenate([small, _gradients(fine), colours]).astype(np.float32)


def _gradients(grey):
    """Histograms of the directions of edges in cells of 8 × 8 pixels, normalised over 2 × 2 cells."""
    down, across = np.gradient(grey)
    strength = np.hypot(down, across)
    place = (np.arctan2(down, across) % np.pi) / np.pi * ANGLES
    low = np.floor(place).astype(int)
    rest = place - low
    n = FINE // CELL
    histogram = np.zeros((n, n, ANGLES))
    rows, columns = np.indices(grey.shape) // CELL
    np.add.at(histogram, (rows, columns, low % ANGLES), strength * (1 - rest))
    np.add.at(histogram, (rows, columns, (low + 1) % ANGLES), strength * rest)
    blocks = [histogram[i : i + 2, j : j + 2].ravel() for i in range(n - 1) for j in range(n - 1)]
    cut = [np.minimum(block / np.sqrt(block @ block + 1e-3), 0.2) for block in blocks]
    return np.concatenate([block / np.sqrt(block @ block + 1e-3) for block in cut])


def _colours(pixels):
    """Square roots of the shares of 4 × 4 × 4 colours; zeros for a grey image."""
    if np.ptp(pixels, axis=2).max() < 8:
        return np.zeros(SHADES**3)
    step = np.minimum(pixels // (256 / SHADES), SHADES - 1).astype(int)
    codes = (step[..., 0] * SHADES + step[..., 1]) * SHADES + step[..., 2]
    return np.sqrt(np.bincount(codes.ravel(), minlength=SHADES**3) / codes.size)
