"""Read safetensors files of weights as memory maps, and compute a fingerprint of the files of a model."""

import functools
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ...errors import InputError


def tensors(path: str | Path) -> dict[str, np.ndarray]:
    """A dict of the arrays of a safetensors file. They are read from the file when they are used."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(length)) if 0 < length <= path.stat().st_size else None
        if not isinstance(head, dict):
            raise ValueError("it has no header")
        about = {name: one for name, one in head.items() if name != "__metadata__"}
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
        return {name: _array(data, **one) for name, one in about.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a readable safetensors file ({error}). Copy the model again.") from None


def _array(data: np.ndarray, dtype: str, shape: list[int], data_offsets: list[int]) -> np.ndarray:
    part = data[slice(*data_offsets)]
    if dtype == "BF16":  # the upper half of a float32
        return (part.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1", "BOOL": "?"}
    return part.view(types[dtype]).reshape(shape)


def fingerprint(files: Iterable[str | Path]) -> str:
    """A short hash of the contents of files, in the order given."""
    marks = [_hashed(str(file), os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in files]
    return short_hash("".join(marks))


def short_hash(text: str) -> str:
    """16 hexadecimal digits that represent a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.lru_cache(maxsize=32)
def _hashed(path, size, changed):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
