"""The file of a model, a zip of `model.json` and `arrays/N.npy` with checksums and without anything that can run.

`model.json` contains what the objects are and the checksums of the arrays. Its own checksum is the comment of the zip.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..backend import require_memory
from ..errors import BackendError, InputError

FORMAT = 4


def write(path: str | Path, tree: Any, arrays: list[np.ndarray]) -> None:
    """Write the JSON and the arrays that `Packer` made of a model."""
    data = [_npy(array) for array in arrays]
    about = {"format": FORMAT, "mercer": __version__, "numpy": np.__version__, "model": tree}
    about["sha256"] = [_digest(part).decode() for part in data]
    text = json.dumps(about, allow_nan=False).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("model.json", text)
        file.comment = _digest(text)
        for number, part in enumerate(data):
            file.writestr(f"arrays/{number}.npy", part)


def read(path: Path, build: Callable[[Any, list[np.ndarray], str], Any]) -> Any:
    """Return `build(tree, arrays, name of the file)` of a file. A fault of the file raises an `InputError`."""
    try:
        with zipfile.ZipFile(path) as file:
            total = sum(member.file_size for member in file.infolist())
            require_memory(total, f"Unpacking {path.name}", "Load it on a machine with more memory.")
            text = file.read("model.json")
            about = json.loads(text)
            _check_version(about, path.name)
            if file.comment != _digest(text):
                raise _damaged(path.name, "the description does not match its checksum")
            arrays = [
                _array(file.read(f"arrays/{number}.npy"), digest, path.name)
                for number, digest in enumerate(about["sha256"])
            ]
        return build(about["model"], arrays, path.name)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Check the name and the folder.") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Give a file that mercer.save wrote.") from None
    except zipfile.BadZipFile:
        raise InputError(
            f"{path.name} is not a mercer model, or it is incomplete. Give a file that mercer.save wrote, or copy it "
            "again if it was cut off."
        ) from None
    except (InputError, BackendError):
        raise
    except Exception as error:  # broken JSON, broken compression and missing members raise many types of errors
        raise _damaged(path.name, str(error) or type(error).__name__) from None


def _digest(data):
    """A checksum, which detects accidents. The registry of classes protects against malice."""
    return hashlib.sha256(data).hexdigest().encode()


def _damaged(name, why):
    return InputError(f"{name} is damaged ({_short(why)}). Copy the file again, or save the model again.")


def _short(text):
    """A text of a file, cut to a length that fits into a sentence."""
    text = " ".join(str(text).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _check_version(about, name):
    version = about["format"]
    if version == FORMAT:
        return
    own = f"This is mercer {__version__}, which reads format {FORMAT}."
    if isinstance(version, int) and version < FORMAT:
        raise InputError(
            f"{name} was written by a development version of mercer in format {_short(version)}. {own} "
            "Fit and save the model again."
        )
    raise InputError(
        f"{name} was written by mercer {_short(about.get('mercer'))} in format {_short(version)}. {own} "
        "Update mercer (pip install --upgrade mercer)."
    )


def _npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(data, digest, name):
    if _digest(data).decode() != digest:
        raise _damaged(name, "an array does not match its checksum")
    buffer = io.BytesIO(data)
    version = np.lib.format.read_magic(buffer)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(buffer)
    if dtype.hasobject:
        raise InputError(
            f"{name} contains Python objects, which can run code, so it is refused. Do not trust its source."
        )
    # The header could promise more than the file contains, and NumPy would allocate it.
    if int(np.prod(shape, dtype=object)) * dtype.itemsize != len(data) - buffer.tell():
        raise _damaged(name, "the length of an array does not match its header")
    buffer.seek(0)
    return np.lib.format.read_array(buffer, allow_pickle=False)
