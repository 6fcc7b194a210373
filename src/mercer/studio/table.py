"""The table as the page shows it: cells, names, images, and fingerprints by which rows are found again."""

import functools
import hashlib
import io
from pathlib import Path

import numpy as np

from ..backend import need
from ..errors import InputError
from ..inputs.numerals import short
from ..inputs.tables.cells import cells
from ..inputs.tables.images import MOST_PIXELS, named_images, opened_file, path_of
from ..jobs.dataset import read_labeled
from ..jobs.options import ReadOptions
from .columns import telling_order

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
    labels : `tables.Target`, the labels that the table holds. notes : sentences on how it was read.
    columns : names of the columns on a card. text, image, id : names of columns, or None.
    """

    def __init__(self, data: str | Path, target: str, options: dict) -> None:
        read = read_labeled(data, [target], read_options(options), need_labels=False, new_target=True)
        self.table, self.labels, self.notes = read.table, read.labels[target], read.notes
        if self.labels.numeric:
            first = short(self.labels.numbers[self.labels.given][0], 6)
            raise InputError(
                f"{target!r} holds numbers such as {first}, and the studio is "
                "for classes. `mercer label` and `mercer suggest` predict numbers; for classes, write them as words."
            )
        self.frame, self.target, self._lists = read.table.frame, target, dict[str, list]()
        self.id = options.get("id")
        hidden = {target, *read.old}
        self._features = [name for name in self.frame.columns if name not in hidden]
        unread = {self.id, *(options.get("hint") or ())}  # what another source guesses would sway an annotator
        words = [name for name in self._features if self.frame[name].dtype.kind not in "iufb" and name not in unread]
        self.image = options.get("image") or next((name for name in words if self._names_images(name)), None)
        self.text = options.get("text") or self._text(words)
        beside = {self.image, self.text, *unread}
        shown = [name for name in self._features if name not in beside]
        if len(shown) > SHOWN:  # pixels and embeddings say little on a card
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
        """The columns of a card, those first that distinguish the labels {row: class}."""
        rows = sorted(labels)
        cells = {name: [self._cell(name, row) for row in rows] for name in self.columns}
        return telling_order(cells, [labels[row] for row in rows])

    def shown_text(self, row: int) -> str | None:
        """The text of a row, where there is a column of them."""
        return self._cell(self.text, row) if self.text else None

    @property
    def texts(self) -> list | None:
        """The texts of all rows."""
        return [self._cell(self.text, row) for row in range(len(self))] if self.text else None

    def _cell(self, name: str, row: int) -> str:
        """A cell as text. Columns are turned into lists once, since a lasso requests very many cells."""
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
        """A fingerprint of a row: its name, or its cells."""
        if self.id:
            return f"id:{self.name(row)}"
        text = "\x1f".join(self._cell(name, row) for name in self._features if name not in self.table.beside)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def places(self, keys: list) -> list:
        """For each fingerprint the row that has it, None if there is none. No row is given twice."""
        rows: dict = {}
        for row in range(len(self)):
            rows.setdefault(self.key(row), []).append(row)
        return [rows[key].pop(0) if rows.get(key) else None for key in keys]

    def picture(self, row: int, side: int | None = None) -> tuple[bytes, str] | None:
        """(bytes, type) of the image of a row: a PNG, JPEG or WebP file in the folder of the table; None otherwise.

        Made smaller where it is larger than `side` pixels. None also where it has too many pixels to be opened.
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


def read_options(options: dict) -> ReadOptions:
    """How the table is read: an image that is shown but not learned from is ignored."""
    options = dict(options)
    show = options.pop("show", True)
    options.pop("outliers", None)
    image, text = options.pop("image", None), options.pop("text", None)
    ignore = [*(options.pop("exclude", None) or []), *([image] if image and not show else [])]
    shown: dict = {"image": [image] if image and show else None, "text": [text] if text else None}
    return ReadOptions(**options, ignore=ignore, **shown)


def _word(cell: object) -> str:
    """A cell as text, "" for a gap."""
    return "" if cell is None or cell != cell else str(cell)
