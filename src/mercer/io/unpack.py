"""Turn JSON and arrays back into objects."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .registry import class_named
from .trees import grown


class Unpacker:
    """The inverse of `Packer`. It accepts only what `Packer` writes.

    Parameters
    ----------
    arrays : the arrays of the file.
    name : name of the file for error messages.
    """

    def __init__(self, arrays: list[np.ndarray], name: str) -> None:
        self.arrays, self.name = arrays, name
        self._made: dict = {}

    def unpack(self, node: Any) -> Any:
        """The value that some JSON represents."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.unpack(v) for v in node]
        if "same" in node:
            return self._made[node["same"]]
        value = self._build(node)
        if "id" in node:
            self._made[node["id"]] = value
        return value

    def _build(self, node: dict):
        kind, content = next(iter(node.items()))
        match kind:
            case "float":
                return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[content]
            case "tuple" | "set" | "frozenset":
                return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](self.unpack(v) for v in content)
            case "slice":
                return slice(*(self.unpack(v) for v in content))
            case "dict":
                return {self.unpack(k): self.unpack(v) for k, v in content}
            case "dtype":
                return np.dtype(content)
            case "scalar_type":
                return np.dtype(content).type
            case "scalar":
                return self.arrays[content][()]
            case "array":
                return self.arrays[content]
            case "objects":
                out = np.empty(len(content), dtype=object)
                out[:] = [self.unpack(v) for v in content]
                return out.reshape(node["shape"])
            case "sparse":
                if content not in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
                    what = f"a sparse matrix of format {str(content)[:80]!r}"
                    raise InputError(f"{self.name} contains {what}, so it is refused.")
                data, *coords = (self.arrays[i] for i in node["parts"])
                make = sp.coo_matrix if node["old"] else sp.coo_array
                return make((data, tuple(coords)), shape=tuple(node["shape"])).asformat(content)
            case "tree":
                return grown(self.unpack(content))
            case "object":
                return self._instance(node, content)
        raise InputError(f"{self.name} contains an entry {kind[:80]!r} that mercer does not know, so it is refused.")

    def _instance(self, node: dict, name: list | str | None):
        name = str(name)[:80]
        cls = class_named(name)
        if cls is None:
            remedy = "Do not trust its source. If it came from a newer mercer, update."
            if name.startswith("user."):
                remedy = "If it is your own, pass that class to mercer.register before loading."
            raise InputError(
                f"{self.name} asks for an object of type {name!r}, which is not among those a model may contain, so it "
                f"is refused. {remedy}"
            )
        made: Any = object.__new__(cls)
        self._made[node.get("id")] = made  # before its attributes, which may point back to it
        for key, value in node["state"]:
            if not isinstance(key, str) or not key.isidentifier() or key.startswith("__"):
                what = f"sets an attribute {str(key)[:80]!r}"
                raise InputError(f"{self.name} {what}, so it is refused. Do not trust its source.")
            made.__dict__[key] = self.unpack(value)
        columns = made.__dict__.get("n_features_in_", 0)
        if not isinstance(columns, int | np.integer):  # a comparison with a huge sparse matrix would fill the memory
            raise InputError(
                f"{self.name} gives its number of columns as something other than a whole number, so it is refused."
            )
        return made
