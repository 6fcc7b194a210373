"""Store the vectors of texts and images next to the table, so that a second run need not compute them again.

A folder `.mercer-vectors` contains files MODEL-CONTENT.npz, each with the hashes of some inputs and their vectors. A
file is written once and never changed, so that runs at the same time do not disturb each other.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...errors import InputError
from ...files import replacing

FOLDER = ".mercer-vectors"


def hashes(contents: Sequence[bytes]) -> np.ndarray:
    """(n,) 16 bytes that represent each input."""
    return np.array([hashlib.blake2b(one, digest_size=16).digest() for one in contents], dtype="S16")


def with_store(
    keys: np.ndarray, mark: str, folder: Path | None, compute: Callable[[np.ndarray, int, int], np.ndarray]
) -> np.ndarray:
    """(n, width) vectors, each computed once. Those of earlier runs come from the folder.

    Parameters
    ----------
    keys : (n,) from `hashes`.
    mark : fingerprint of the model.
    folder : folder of the table, or None to store nothing.
    compute : function of (positions of inputs, number already done, total number) that returns their vectors.
    """
    step = 2_000  # inputs in a file. At most as many are computed again after an interrupt
    most = 200_000  # inputs that are kept. At 384 numbers each they are 300 MB
    unique, first, place = np.unique(keys, return_index=True, return_inverse=True)
    known = {} if folder is None else _kept(folder, mark, set(unique.tolist()))
    missing = np.sort(first[[key not in known for key in unique.tolist()]])
    for begin in range(0, len(missing), step):
        part = missing[begin : begin + step]
        rows = np.ascontiguousarray(compute(part, len(unique) - len(missing) + begin, len(unique)), dtype=np.float32)
        known.update(zip(keys[part].tolist(), rows))
        if folder is not None and len(unique) <= most:
            _keep(folder, mark, keys[part], rows)
    return np.array([known[key] for key in unique.tolist()], dtype=np.float32)[place]


def _kept(folder: Path, mark: str, wanted: set) -> dict[bytes, np.ndarray]:
    found: dict[bytes, np.ndarray] = {}
    for file in sorted((folder / FOLDER).glob(f"{mark}-*.npz")):
        try:
            with np.load(file, allow_pickle=False) as arrays:
                keys, rows = arrays["keys"], arrays["rows"]
            if keys.dtype != "S16" or rows.ndim != 2 or len(keys) != len(rows) or not np.isfinite(rows).all():
                continue
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # another file, or cut off. They are recomputed
            continue
        found.update((key, row) for key, row in zip(keys.tolist(), rows) if key in wanted)
    return found


def _keep(folder: Path, mark: str, keys: np.ndarray, rows: np.ndarray) -> None:
    """Write a file, if the folder can be written."""
    name = f"{mark}-{hashlib.blake2b(keys.tobytes(), digest_size=8).hexdigest()}.npz"
    try:
        (folder / FOLDER).mkdir(exist_ok=True)
        with replacing(folder / FOLDER / name, force=True) as (part,), open(part, "wb") as file:
            np.savez(file, keys=keys, rows=rows)
    except (OSError, InputError):  # with a read-only folder vectors are computed each time
        pass
