"""A folder of images as a table, with one row per image and the folder that it is in."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from ....backend import need
from ....types import Frame
from ..images import ENDINGS
from .base import Format, Options, Source, Table, from_frame

TABLES = ("dataset_dict.json", "state.json")  # of a folder that is one table
FILE, FOLDER = "file", "folder"


class Images(Format):
    """A folder of images. Paths are relative to its parent folder, where the result is written by default."""

    title = "a folder of images"
    written = ".csv"

    def read(self, source: Source, options: Options) -> Table:
        return from_frame(image_frame(source.file), self)


def image_frame(folder: str | Path) -> Frame:
    """The images of a folder and of its folders as a data frame, in the order of their names.

    Its column "file" contains the paths, which begin with the name of the folder. If there are folders in it, the
    column "folder" contains the one that an image is in, and is empty for an image outside of them. It can be the
    target. Files and folders that begin with . or _ are ignored.
    """
    folder = Path(folder)
    found = images_in(folder)
    name = folder.resolve().name
    columns = {FILE: [f"{name}/{path.as_posix()}" for path in found]}
    if any(len(path.parts) > 1 for path in found):
        columns[FOLDER] = ["/".join(path.parts[:-1]) for path in found]
    frame = need("pandas").DataFrame(columns, dtype=object)
    frame.attrs["folder"] = str(folder.resolve().parent)
    return frame


def images_in(folder: str | Path, most: int | None = None) -> list[Path]:
    """Paths of the first `most` images in a folder, relative to it. Empty for a data set of Hugging Face."""
    folder = Path(folder)
    if any((folder / name).exists() for name in TABLES):
        return []
    return sorted(itertools.islice(_walked(folder), most))


def _walked(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        for name in sorted(files):
            if name[0] not in "._" and name.lower().endswith(ENDINGS):
                yield (Path(place) / name).relative_to(folder)
