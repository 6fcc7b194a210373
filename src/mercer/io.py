"""Save fitted models and load them anywhere: a zip of JSON and plain arrays, with nothing in it that can run.

A file holds `model.json` (what the objects are, their parameters and fitted attributes), its checksum as the comment of
the zip, and `arrays/N.npy`, with their checksums in `model.json`. Loading
creates only objects of this package and of a short list of scikit-learn's, without calling their constructors, so a
file from a stranger can be wrong but not dangerous. Arrays that lived in torch or Dask are saved as NumPy arrays, so
a model trained on a GPU or a cluster loads without either.
"""

import hashlib
import importlib
import io
import json
import os
import zipfile
from contextlib import suppress
from pathlib import Path
from types import FunctionType

import numpy as np
import scipy.sparse as sp

from . import __version__
from .backend import require_memory
from .errors import BackendError, InputError
from .homes import home_of
from .rows import host

FORMAT = 1
_OURS = ("inputs", "graphs", "kernels", "geometry", "solvers", "estimators", "model_selection", "few_label")
_SKLEARN = {
    "sklearn.preprocessing._data": {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer"},
    "sklearn.preprocessing._encoders": {"OneHotEncoder", "OrdinalEncoder"},
    "sklearn.preprocessing._label": {"LabelEncoder"},
    "sklearn.impute._base": {"SimpleImputer"},
    "sklearn.compose._column_transformer": {"ColumnTransformer"},
    "sklearn.pipeline": {"Pipeline"},
    "sklearn.decomposition._truncated_svd": {"TruncatedSVD"},
    "sklearn.decomposition._pca": {"PCA"},
}


def save(model, path):
    """Write a fitted model to one file, which replaces an older one only when it is complete.

    Parameters
    ----------
    model : estimator, kernel or map of this package; scikit-learn pipelines of them with common scalers and encoders.
        Of a `FewLabelClassifier` its `compact` form is written.
    path : file name; by custom it ends in .mercer.

    Examples
    --------
    >>> import tempfile, mercer
    >>> model = mercer.LSSVMClassifier().fit([[0.0], [1.0], [0.2]], ["low", "high", None])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, f"{folder}/model.mercer")
    ...     mercer.load(f"{folder}/model.mercer").predict([[0.9]]).tolist()
    ['high']
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Create it first.")
    writer = _Writer()
    tree = writer.pack(model, type(model).__name__)
    arrays = [_npy(array) for array in writer.arrays]
    about = {
        "format": FORMAT,
        "mercer": __version__,
        "numpy": np.__version__,
        "model": tree,
        "sha256": [_digest(data).decode() for data in arrays],
    }
    text = json.dumps(about, allow_nan=False).encode()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            file.writestr("model.json", text)
            file.comment = _digest(text)
            for number, data in enumerate(arrays):
                file.writestr(f"arrays/{number}.npy", data)
        os.replace(part, path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def load(path):
    """Read a model that `save` wrote.

    A file that is damaged, was written by a newer version, or holds anything but models of this package is refused; no
    code in it can run.
    """
    path = Path(path)
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
        return _Reader(arrays, path.name).unpack(about["model"])
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Check the name and the folder.") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Give a file that mercer.save wrote.") from None
    except zipfile.BadZipFile:
        raise InputError(
            f"{path.name} is not a mercer model, or it is incomplete. Give a file that mercer.save wrote; copy it "
            "again if it was cut off."
        ) from None
    except (InputError, BackendError):
        raise
    except Exception as error:  # whatever else broken JSON, broken compression or missing members lead to
        raise _damaged(path.name, str(error) or type(error).__name__) from None


def _digest(data):
    """Guards against accidents; against malice there is the short list of what may be in a file."""
    return hashlib.sha256(data).hexdigest().encode()


def _damaged(name, why):
    return InputError(f"{name} is damaged ({why}). Copy the file again, or save the model again.")


def _check_version(about, name):
    version = about["format"]
    if not isinstance(version, int) or version > FORMAT:
        raise InputError(
            f"{name} was written by mercer {about.get('mercer')} in format {version}; this is mercer {__version__}, "
            f"which reads format {FORMAT}. Update mercer: pip install --upgrade mercer."
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
        raise InputError(f"{name} holds Python objects, which can run code, so it is refused. Do not trust its source.")
    # The header could promise more than the file holds, and NumPy would allocate it.
    if int(np.prod(shape, dtype=object)) * dtype.itemsize != len(data) - buffer.tell():
        raise _damaged(name, "an array is not as long as it says")
    buffer.seek(0)
    return np.lib.format.read_array(buffer, allow_pickle=False)


def _allowed(cls):
    """Whether objects of a class may be in a file."""
    module, name = cls.__module__, cls.__qualname__
    ours = module.startswith(tuple(f"mercer.{room}" for room in _OURS)) and "." not in name
    return isinstance(cls, type) and (ours or name in _SKLEARN.get(module, ()))


class _Writer:
    """Turns objects into JSON, arrays aside; an object met twice is written once."""

    def __init__(self):
        self.arrays, self.seen, self.kept = [], {}, []

    def pack(self, value, where):
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if isinstance(value, float) and type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list) and type(value) is list:
            return [self.pack(v, f"{where}[{i}]") for i, v in enumerate(value)]
        for kind in (tuple, set, frozenset):
            if type(value) is kind:
                return {kind.__name__: [self.pack(v, f"{where}[{i}]") for i, v in enumerate(value)]}
        if isinstance(value, slice):
            return {"slice": [self.pack(v, where) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(k, where), self.pack(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return {"dtype" if isinstance(value, np.dtype) else "scalar_type": np.dtype(value).str}
        if isinstance(value, np.generic):
            return {"scalar": self.store(np.asarray(value))}
        if id(value) in self.seen:
            return {"same": self.seen[id(value)]}
        self.seen[id(value)] = number = len(self.seen)
        self.kept.append(value)  # an id is unique only as long as the object lives
        return {**self.pack_new(value, where), "id": number}

    def pack_new(self, value, where):
        if not home_of(value).on_host:
            value = host(value)
        if isinstance(getattr(type(value), "compact", None), FunctionType):
            value = value.compact()  # a model that says what of it is worth keeping
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OT":
                cells = [self.pack(v, where) for v in value.ravel().tolist()]
                return {"objects": cells, "shape": list(value.shape)}
            return {"array": self.store(value)}
        if sp.issparse(value):
            coo = value.tocoo()
            parts = [self.store(a) for a in (coo.data, *(np.asarray(c) for c in coo.coords))]
            return {"sparse": value.format, "parts": parts, "shape": list(value.shape), "old": sp.isspmatrix(value)}
        special = _REBUILT.get(f"{type(value).__module__}.{type(value).__qualname__}")
        if special is not None:
            return {"rebuild": special[0], "state": self.pack(special[1](value), where)}
        if not _allowed(type(value)) or not hasattr(value, "__dict__"):
            raise InputError(
                f"{where} is of type {type(value).__module__}.{type(value).__qualname__}, which cannot be saved. "
                "Models may hold numbers, text, arrays, and estimators, kernels and maps of mercer; functions and "
                "random generators cannot be stored without code (pass a kernel object, an integer seed)."
            )
        state = [[k, self.pack(v, f"{where}.{k}")] for k, v in vars(value).items()]
        return {"object": f"{type(value).__module__}:{type(value).__qualname__}", "state": state}

    def store(self, array):
        # In its own memory order, also if it is a view: another order would change the last bit of products.
        self.arrays.append(np.array(array, order="K"))
        return len(self.arrays) - 1


class _Reader:
    """The way back: only what `_Writer` writes is understood."""

    def __init__(self, arrays, name):
        self.arrays, self.name, self.made = arrays, name, {}

    def unpack(self, node):
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.unpack(v) for v in node]
        if "same" in node:
            return self.made[node["same"]]
        value = self.build(node)
        if "id" in node:
            self.made[node["id"]] = value
        return value

    def build(self, node):
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
                    raise InputError(f"{self.name} holds a sparse matrix of format {content!r}, so it is refused.")
                data, *coords = (self.arrays[i] for i in node["parts"])
                make = sp.coo_matrix if node["old"] else sp.coo_array
                return make((data, tuple(coords)), shape=tuple(node["shape"])).asformat(content)
            case "rebuild":
                rebuild = {name: build for name, _, build in _REBUILT.values()}[content]
                return rebuild(self.unpack(node["state"]))
            case "object":
                return self.instance(node, content)
        raise InputError(f"{self.name} holds an entry {kind!r} that mercer does not know, so it is refused.")

    def instance(self, node, content):
        cls = _class(content, self.name)
        made = object.__new__(cls)
        self.made[node.get("id")] = made  # before its attributes, which may point back to it
        for key, value in node["state"]:
            if not isinstance(key, str) or not key.isidentifier() or key.startswith("__"):
                raise InputError(f"{self.name} sets an attribute {key!r}, so it is refused. Do not trust its source.")
            made.__dict__[key] = self.unpack(value)
        return made


def _class(content, name):
    """The class a file names, if it is on the list; nothing else is even imported."""
    module, _, qualname = str(content).partition(":")
    known = module in _SKLEARN or module.startswith(tuple(f"mercer.{room}" for room in _OURS))
    if known:
        with suppress(ImportError):
            cls = getattr(importlib.import_module(module), qualname, None)
            if isinstance(cls, type) and cls.__module__ == module and _allowed(cls):
                return cls
    raise InputError(
        f"{name} asks for an object of type {module}.{qualname}, which is not among those a model may hold, so it is "
        "refused. Do not trust its source; if it came from a newer mercer, update."
    )


# Search trees are not stored but grown again from their rows.


def _neighbours(state):
    from .graphs.neighbours import Neighbours

    return Neighbours(state["rows"])


def _density_state(density):
    rows, _, _, _ = density.tree_.get_arrays()
    weight = getattr(density.tree_, "sample_weight", None)
    return {
        "parameters": density.get_params(),
        "rows": np.asarray(rows),
        "weight": None if weight is None else np.asarray(weight),
    }


def _density(state):
    from sklearn.neighbors import KernelDensity

    return KernelDensity(**state["parameters"]).fit(state["rows"], sample_weight=state["weight"])


_REBUILT = {
    "mercer.graphs.neighbours.Neighbours": ("neighbours", lambda finder: {"rows": finder.rows}, _neighbours),
    "sklearn.neighbors._kde.KernelDensity": ("density", _density_state, _density),
}
