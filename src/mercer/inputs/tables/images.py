"""Features of columns of image paths without a model, from resized gray and histograms of gradients and colors."""

import base64
import functools
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...backend import need
from ...types import ColumnLike, Frame, Series
from .cells import GAPS, cells
from .kinds import Kind, total

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
MOST_PIXELS = 50_000_000  # a file of 20 kB may claim to contain a gigabyte. Larger photographs (JPEG) are read smaller
_inside = False  # whether files outside the folder of the table are left alone


class ImageSizes(NamedTuple):
    """Sizes of the features of an image, which are gray, gradients and colors."""

    gray: int = 16  # pixels of a side of the resized gray
    fine: int = 32  # pixels of a side for gradients and colors
    cell: int = 8  # pixels of a side of a histogram of gradients
    angles: int = 9  # of a histogram of gradients
    shades: int = 4  # of each color

    @property
    def parts(self) -> np.ndarray:
        """The ends of the gray and of the gradients in a row of features."""
        return np.cumsum([self.gray**2, 4 * self.angles * (self.fine // self.cell - 1) ** 2])


SIZES = ImageSizes()


@dataclass
class Picture(Kind):
    """Features of the image that each cell names, less their mean. Zeros if there is none.

    The three parts have the same weight, but colors have none if all images are gray.
    """

    center: np.ndarray = field(default_factory=lambda: np.zeros(0))
    weights: list = field(default_factory=list)

    def block(self, column: Series) -> np.ndarray:
        rows, there = features(column)
        parts = zip(np.split(rows - self.center, SIZES.parts, axis=1), self.weights)
        return np.where(there[:, None], np.hstack([weight * part for part, weight in parts if weight]), 0.0)

    def unread(self, frame: Frame):
        return ~features(frame[self.name])[1]

    @classmethod
    def fit(cls, column):
        """Learn the mean and the spread of every part. None if no image can be read."""
        rows, there = features(column)
        if not there.any():
            return None
        rows = rows[there]
        spreads = [np.sqrt(total(part)) for part in np.split(rows, SIZES.parts, axis=1)]
        weights = [float(1 / spread) if spread > 1e-6 else 0.0 for spread in spreads]
        return cls(str(column.name), rows.mean(axis=0), weights) if any(weights) else None


def named_images(column: ColumnLike, words: np.ndarray) -> bool:
    """Whether nearly all cells have the ending of an image file."""
    return sum(word.lower().endswith(ENDINGS) for word in words) >= 0.95 * len(words) > 0


def path_of(column: ColumnLike, cell: str) -> Path:
    """The file that a cell names, relative to the folder of its table."""
    return Path(column.attrs.get("folder", ".")) / cell


def stay_inside() -> None:
    """Forbid this process to open an image outside the folder of its table, also through a link out of it.

    A server that shows images needs this, because a table from another person may name any file of this machine.
    """
    global _inside
    _inside = True


def may_open(column: ColumnLike, path: Path) -> bool:
    """Whether a file may be opened here, see `stay_inside`."""
    return not _inside or path.resolve().is_relative_to(path_of(column, "").resolve())


def opened(column: ColumnLike, cell: str) -> Any:
    """The image that a cell names, on white. None if there is none."""
    return None if cell in GAPS or not may_open(column, path_of(column, cell)) else opened_file(path_of(column, cell))


def small(image: Any, side: int) -> str:
    """A data URI of an image no larger than this. "" for None."""
    if image is None:
        return ""
    image = image.copy()
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def features(column: ColumnLike) -> tuple[np.ndarray, np.ndarray]:
    """((n, d) features of the images, which rows have one)."""
    paths = [None if cell in GAPS else path_of(column, cell) for cell in cells(column)]
    rows, there = np.zeros((len(paths), SIZES.parts[-1] + SIZES.shades**3)), np.zeros(len(paths), dtype=bool)
    for i, path in enumerate(paths):
        if path is None or not may_open(column, path) or not path.is_file():
            continue
        row = _features(str(path), path.stat().st_mtime_ns)
        if row is not None:
            rows[i], there[i] = row, True
    return rows, there


def why_not(column: ColumnLike, cell: str) -> str:
    """The reason why a file cannot be read."""
    path = path_of(column, cell)
    return f"there is no file {path}" if not path.is_file() else f"{path} is not a PNG, JPEG or WebP image"


def opened_file(path: str | Path) -> Any:
    """An image as RGB. Transparent pixels are white, and a photograph is upright. None for no image or a huge one."""
    pillow, turn = need("PIL.Image"), need("PIL.ImageOps").exif_transpose
    try:
        with pillow.open(path, formats=("PNG", "JPEG", "WEBP")) as file:
            if file.width * file.height > MOST_PIXELS:
                file.draft("RGB", (2000, 2000))  # JPEG alone can be read at a fraction of its size
            if file.width * file.height > MOST_PIXELS:
                return None
            image = turn(file)
            if not image.has_transparency_data:
                return image.convert("RGB")
            image = image.convert("RGBA")
            return pillow.alpha_composite(pillow.new("RGBA", image.size, "white"), image).convert("RGB")
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError):
        return None


@functools.lru_cache(maxsize=20_000)  # fitted, then encoded
def _features(path, changed):
    image = opened_file(path)
    if image is None:
        return None
    resample = need("PIL.Image").Resampling.BILINEAR
    gray = image.convert("L")
    small = np.asarray(gray.resize((SIZES.gray, SIZES.gray), resample), np.float32).ravel() / 255
    fine = np.asarray(gray.resize((SIZES.fine, SIZES.fine), resample), np.float32) / 255
    colors = _colors(np.asarray(image.resize((SIZES.fine, SIZES.fine), resample), np.float32))
    return np.concatenate([small, _gradients(fine), colors]).astype(np.float32)


def _gradients(gray: np.ndarray) -> np.ndarray:
    """Histograms of the directions of edges in cells of 8 × 8 pixels, normalized over 2 × 2 cells."""
    down, across = np.gradient(gray)
    strength = np.hypot(down, across)
    angles, n = SIZES.angles, SIZES.fine // SIZES.cell
    place = (np.arctan2(down, across) % np.pi) / np.pi * angles
    low = np.floor(place).astype(int)
    rest = place - low
    histogram = np.zeros((n, n, angles))
    rows, columns = np.indices(gray.shape) // SIZES.cell
    np.add.at(histogram, (rows, columns, low % angles), strength * (1 - rest))
    np.add.at(histogram, (rows, columns, (low + 1) % angles), strength * rest)
    blocks = [histogram[i : i + 2, j : j + 2].ravel() for i in range(n - 1) for j in range(n - 1)]
    cut = [np.minimum(block / np.sqrt(block @ block + 1e-3), 0.2) for block in blocks]
    return np.concatenate([block / np.sqrt(block @ block + 1e-3) for block in cut])


def _colors(pixels: np.ndarray) -> np.ndarray:
    """Square roots of the fractions of 4 × 4 × 4 colors. Zeros for a gray image."""
    shades = SIZES.shades
    if np.ptp(pixels, axis=2).max() < 8:
        return np.zeros(shades**3)
    step = np.minimum(pixels // (256 / shades), shades - 1).astype(int)
    codes = (step[..., 0] * shades + step[..., 1]) * shades + step[..., 2]
    return np.sqrt(np.bincount(codes.ravel(), minlength=shades**3) / codes.size)
