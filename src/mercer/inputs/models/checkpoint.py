"""Weights that PyTorch saved before version 1.6. They are read without PyTorch, and only named tensors are read."""

import collections
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...errors import InputError


def saved_tensors(path: str | Path) -> dict[str, np.ndarray]:
    """A dict of the named tensors of a file, as arrays. Nothing in the file is executed."""
    try:
        with open(path, "rb") as file:
            magic, _, _ = (_Reader(file).load() for _ in range(3))
            if magic != 0x1950A86A20F9469CFC6C:
                raise ValueError("it is not a file of this format")
            reader = _Reader(file)
            found = reader.load()
            for key in _Reader(file).load():
                storage = reader.storages[key]
                number = int.from_bytes(file.read(8), "little")
                if number != len(storage):
                    raise ValueError("it is cut off")
                storage[:] = np.frombuffer(file.read(storage.nbytes), storage.dtype)
        return {str(name): value for name, value in found.items() if isinstance(value, np.ndarray)}
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, pickle.UnpicklingError) as error:
        raise InputError(f"{path} does not contain readable weights ({error}). Install the package again.") from None


class _Reader(pickle.Unpickler):
    """An unpickler that knows tensors and dictionaries only."""

    types: ClassVar[dict] = {"FloatStorage": np.float32, "LongStorage": np.int64, "HalfStorage": np.float16}

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.storages: dict[str, np.ndarray] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Only the types that a file of tensors needs."""
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in self.types:
            return self.types[name]
        raise pickle.UnpicklingError(f"it contains {module}.{name}")

    def persistent_load(self, pid: Any) -> np.ndarray:
        """An empty storage, filled later from the end of the file."""
        _, kind, key, _, number, _ = pid
        return self.storages.setdefault(key, np.zeros(int(number), dtype=kind))


def _tensor(storage: np.ndarray, offset: int, shape: tuple, strides: tuple, *rest: Any) -> np.ndarray:
    steps = [storage.itemsize * step for step in strides]
    if offset + sum((size - 1) * step for size, step in zip(shape, strides)) >= max(len(storage), 1):
        raise ValueError("a tensor is larger than its storage")
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps)
