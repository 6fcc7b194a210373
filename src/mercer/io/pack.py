"""From objects to JSON and arrays."""

from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..rows import bring
from .registry import class_name
from .trees import tree_state


class Packer:
    """Turn objects into JSON and a list of arrays. An object that occurs twice is written once.

    Attributes
    ----------
    arrays : the arrays that the JSON refers to by their numbers.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._seen: dict[int, int] = {}
        self._kept: list = []

    def pack(self, value: Any, where: str) -> Any:
        """JSON for a value. `where` is its path within the model, for error messages."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return [self.pack(v, f"{where}[{i}]") for i, v in enumerate(value)]
        if type(value) in (tuple, set, frozenset):
            return {type(value).__name__: [self.pack(v, f"{where}[{i}]") for i, v in enumerate(value)]}
        if isinstance(value, slice):
            return {"slice": [self.pack(v, where) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(k, where), self.pack(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return {"dtype" if isinstance(value, np.dtype) else "scalar_type": np.dtype(value).str}
        if isinstance(value, np.generic):
            return {"scalar": self._store(np.asarray(value))}
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        self._seen[id(value)] = number = len(self._seen)
        self._kept.append(value)  # an id is unique only as long as the object exists
        return {**self._pack_new(value, where), "id": number}

    def _pack_new(self, value, where: str) -> dict:
        value = bring(value)
        if isinstance(getattr(type(value), "compact", None), FunctionType):
            value = value.compact()  # the part of a model that is saved
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OT":
                cells = [self.pack(v, where) for v in value.ravel().tolist()]
                return {"objects": cells, "shape": list(value.shape)}
            return {"array": self._store(value)}
        if sp.issparse(value):
            coo = value.tocoo()
            parts = [self._store(a) for a in (coo.data, *(np.asarray(c) for c in coo.coords))]
            return {"sparse": value.format, "parts": parts, "shape": list(value.shape), "old": sp.isspmatrix(value)}
        tree = tree_state(value)
        if tree is not None:
            return {"tree": self.pack(tree, where)}
        name = class_name(type(value))
        state = name and (value.__getstate__() or {})
        if not isinstance(state, dict) or not hasattr(value, "__dict__"):
            raise InputError(
                f"{where} is of type {type(value).__module__}.{type(value).__qualname__}, which cannot be saved. "
                "Models may contain numbers, text, arrays, and estimators, kernels and maps of mercer. A class of your "
                "own needs mercer.register(its class). Functions and random generators cannot be stored without code "
                "(pass a kernel object, an integer seed)."
            )
        return {"object": name, "state": [[k, self.pack(v, f"{where}.{k}")] for k, v in state.items()]}

    def _store(self, array: np.ndarray) -> int:
        # In its own memory order, also if it is a view. Another order would change the last bit of products.
        self.arrays.append(np.array(array, order="K"))
        return len(self.arrays) - 1
