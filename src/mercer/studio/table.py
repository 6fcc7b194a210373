"""The rows of a table as the page shows them, and fingerprints by which rows are found again."""

import functools
import hashlib
import io
from pathlib import Path

import numpy as np

from ..backend import need
from ..errors import InputError
from ..inputs.tables import NumberTarget, Target
from ..inputs.tables.cells import cells
from ..inputs.tables.images import MOST_PIXELS, named_images, opened_file, path_of
from ..jobs.dataset import read_labeled
from ..jobs.options import ReadOptions
from .columns import telling_order
from .ledger import MOST_CLASSES

SHOWN = 24  # columns on a card
LONG = 60  # mean characters from which a column of words is a text to be read
LARGE = 2000  # pixels, of an image that is too large to be sent as it is
FOUND = 20_000  # rows that a search returns
MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


class TableRows:
    """The rows of a table.

    Parameters
    ----------
    data : path of the table. target : name of the label column, which need not be there.
    options : `id`, `image`, `text` (a column shown as such), `show` (False for an image column that is not a feature),
        and those of `jobs.options.ReadOptions`.

    Attributes
    ----------
    labels : `tables.Target` or `tables.NumberTarget`, the labels that the table contains.
    notes : sentences on how it was read.
    columns : names of the columns on a card. text, image, id : names of columns, or None.
    """

    def __init__(self, data: str | Path, target: str, options: dict) -> None:
        targets = targets_of(target, options)
        read = read_labeled(data, targets, read_options(options), need_labels=False, new_target=True)
        self.table, self.labels, self.notes = read.table, as_numbers(read.labels[target], target, options), read.notes
        self.frame, self.target, self._lists = read.table.frame, target, dict[str, list]()
        self.id = options.get("id")
        self._cells = [name for name in self.frame.columns if name not in {target, *read.old}]
        self._features = [name for name in self._cells if name not in targets]
        unread = {self.id, *(options.get("hint") or ())}  # guesses of another source would influence an annotator
        words = [name for name in self._features if self.frame[name].dtype.kind not in "iufb" and name not in unread]
        self.image = options.get("image") or next((name for name in words if self._names_images(name)), None)
        self.text = options.get("text") or self._text(words)
        beside = {self.image, self.text, *unread}
        shown = [name for name in self._features if name not in beside]
        if len(shown) > SHOWN:  # pixels and embeddings are not readable on a card
            shown = [name for name in words if name not in beside and not self._numeric(name)][:SHOWN]
            shown = shown or ([] if self.image or self.text else [n for n in self._features if n not in beside][:SHOWN])
        self.columns = shown

    def __len__(self) -> int:
        return len(self.frame)

    def name(self, row: int) -> str:
        """The name of a row."""
        return self._cell(self.id, row) if self.id else f"row {row + 1}"

    def cells(self, row: int) -> list:
        """[[column, text]] of a row's card."""
        return [[name, self._cell(name, row)] for name in self.columns]

    def ordered(self, labels: dict) -> list:
        """The columns of a card, sorted by how well they predict the labels {row: class or number}."""
        rows = sorted(labels)
        cells = {name: [self._cell(name, row) for row in rows] for name in self.columns}
        values = [labels[row] for row in rows]
        if self.labels.numeric and values:
            values = np.searchsorted(np.quantile(values, [0.25, 0.5, 0.75]), values).tolist()
        return telling_order(cells, values)

    def shown_text(self, row: int) -> str | None:
        """The text of a row, or None if the table has no column of texts."""
        return self._cell(self.text, row) if self.text else None

    @property
    def texts(self) -> list | None:
        """The texts of all rows, or None."""
        return [self._cell(self.text, row) for row in range(len(self))] if self.text else None

    def _cell(self, name: str, row: int) -> str:
        """A cell as text. Columns are turned into lists once, because a lasso requests many cells."""
        if name not in self._lists:
            self._lists[name] = self.frame[name].tolist()
        return _word(self._lists[name][row])

    @functools.cached_property
    def _searched(self) -> list:
        names = [name for name in (self.id, self.text, *self.columns) if name]
        columns = [cells(self.frame[name]) for name in names] or [np.full(len(self), "")]
        return ["\x1f".join(map(str, row)).casefold() for row in zip(*columns)]

    def find(self, words: str) -> tuple[list, bool]:
        """(rows whose cells contain the words, whether there are more)."""
        words = words.casefold()
        found = [row for row, text in enumerate(self._searched) if words in text]
        return found[:FOUND], len(found) > FOUND

    def key(self, row: int) -> str:
        """A fingerprint of a row, from its name or else from its cells."""
        if self.id:
            return f"id:{self.name(row)}"
        text = "\x1f".join(self._cell(name, row) for name in self._cells if name not in self.table.beside)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def places(self, keys: list) -> list:
        """The row of each fingerprint, or None. No row is returned twice."""
        rows: dict = {}
        for row in range(len(self)):
            rows.setdefault(self.key(row), []).append(row)
        return [rows[key].pop(0) if rows.get(key) else None for key in keys]

    def picture(self, row: int, side: int | None = None) -> tuple[bytes, str] | None:
        """(bytes, type) of the image of a row, which is a PNG, JPEG or WebP file in the folder of the table, or None.

        An image is reduced if it is larger than `side` pixels. None is returned if it has too many pixels.
        """
        if not self.image:
            return None
        cell = self._cell(self.image, row)
        root = Path(self.frame.attrs.get("folder", ".")).resolve()
        path = path_of(self.frame, cell).resolve()
        if not cell or not path.is_relative_to(root) or not path.is_file():
            return None
        return _picture(path, path.stat().st_mtime_ns, side)

    def _names_images(self, name: str):
        words = self.frame[name].dropna().astype(str).head(200).to_numpy()
        return named_images(self.frame[name], words)

    def _text(self, words: list[str]):
        found = {name: self.frame[name].head(200).astype(str).str.len().mean() for name in words if name != self.image}
        best = max(found, key=lambda name: found[name], default=None)
        return best if best is not None and found[best] >= LONG else None

    def _numeric(self, name: str):
        words = self.frame[name].head(50).astype(str)
        return bool(words.str.fullmatch(r"\s*[-+]?[\d.,]+([eE][-+]?\d+)?\s*|").all())


@functools.lru_cache(maxsize=1000)
def _picture(path, changed, side):
    data = path.read_bytes()
    kind = next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)
    if kind is None and data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        return None
    pillow = need("PIL.Image")
    try:
        with pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as file:
            width, height = file.size
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError):
        return None
    if width * height <= MOST_PIXELS and (side is None or max(width, height) <= side):
        return data, kind
    image = opened_file(path)
    if image is None:
        return None
    image.thumbnail((side or LARGE, side or LARGE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return out.getvalue(), "image/jpeg"


def class_numbers(labels: Target, classes: list[str], target: str) -> tuple[list[str], list[int]]:
    """(names of the classes, class number of each label). `classes` come first."""
    names = [*classes, *(one for one in map(str, labels.classes) if one not in classes)]
    if len(names) > MOST_CLASSES:
        raise InputError(
            f"{target!r} has {len(names)} classes, and the studio can show at most {MOST_CLASSES}. Merge rare classes "
            "in the table, or use `mercer label`, which has no such limit."
        )
    return names, [names.index(str(label)) for label in labels.labels[labels.given]]


def targets_of(target: str, options: dict) -> list[str]:
    """All columns of labels, with this one first. None of them is a feature of another one."""
    return list(dict.fromkeys([target, *options.get("targets", [])]))


def as_numbers(labels: Target | NumberTarget, target: str, options: dict) -> Target | NumberTarget:
    """The labels, as numbers if these were requested. A column with fewer than two numbers was read as classes."""
    if isinstance(labels, NumberTarget) or f"{target}=number" not in options.get("kind", []):
        return labels
    numbers = np.full(len(labels.given), np.nan)
    numbers[labels.given] = [float(word) for word in labels.labels[labels.given]]
    return NumberTarget(numbers, labels.given, labels.notes)


def read_options(options: dict) -> ReadOptions:
    """The options to read the table. An image that is shown and not learned from is ignored."""
    options = dict(options)
    show = options.pop("show", True)
    for name in ("outliers", "targets"):
        options.pop(name, None)
    image, text = options.pop("image", None), options.pop("text", None)
    ignore = [*(options.pop("exclude", None) or []), *([image] if image and not show else [])]
    shown: dict = {"image": [image] if image and show else None, "text": [text] if text else None}
    return ReadOptions(**options, ignore=ignore, **shown)


def _word(cell: object) -> str:
    """A cell as text, "" for a gap."""
    return "" if cell is None or cell != cell else str(cell)
