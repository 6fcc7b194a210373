"""Model files with right checksums and wrong content: hostile entries, attributes, classes, arrays, nesting, bombs."""

import copy
import hashlib
import io
import json
import os
import pickle

import numpy as np

import mercer
from mercer.io.registry import _HOMES

from .bytes import damage


class Exploit:
    """What a pickle would run."""

    def __reduce__(self):
        return (os.mkdir, ("PWNED",))


def forge(R, content):
    """A file with correct checksums and wrong content."""
    about = json.loads(content["model.json"])
    for _ in range(R.choice([1, 1, 2, 4])):
        change = R.choice(
            [
                _node,
                _node,
                _node,
                _attribute,
                _class,
                _number,
                _array,
                _array,
                _array,
                _nested,
                _version,
                _bomb,
                _shared,
            ]
        )
        about, content = change(R, about, content)
    try:
        content["model.json"] = json.dumps(about).encode()
    except (ValueError, RecursionError):
        content["model.json"] = b'{"format": 2, "sha256": [], "model": ' + b'{"tuple": [' * 50_000
    return content


def _places(node):
    """Every (container, key) of a tree of JSON."""
    found, left = [], [node]
    while left:
        node = left.pop()
        found += [(node, key) for key in (node if isinstance(node, dict) else range(len(node)))]
        left += [
            value for value in (node.values() if isinstance(node, dict) else node) if isinstance(value, dict | list)
        ]
    return found


def _pick(R, about, kind=object):
    places = [(node, key) for node, key in _places({"model": about["model"]}) if isinstance(node[key], kind)]
    return R.choice(places) if places else ({}, None)


def _node(R, about, content):
    """An entry replaced by another of a hostile kind."""
    hostile = [
        {"object": "os.system", "state": [["x", "true"]]},
        {"object": "builtins.eval", "state": []},
        {"object": "sklearn.FunctionTransformer", "state": [["func", "print"]]},
        {"object": "Callable", "state": [["function", {"object": "RBF", "state": []}]], "id": 10**6},
        {"object": "Picture", "state": [["name", "p"], ["paths", "/etc/passwd"]]},
        {"object": "Pipeline", "state": [["steps", []]]},
        {"same": R.randrange(30)},
        {"array": R.choice([-1, 0, 1, 10**9, "0", None, 0.5])},
        {"scalar": R.choice([-1, 0, 1, 99])},
        {"dtype": R.choice(["O", "V99999999999", "<U999999999", "M8[fs]", "object", "i8,(99999999,)i8", "no"])},
        {"scalar_type": "O"},
        {"objects": [1, 2, 3], "shape": R.choice([[2**40, 2**40], [-1], [3, 0], [0], "x", [[3]]])},
        {"sparse": "csr", "parts": [0, 1, 2], "shape": R.choice([[2**40, 2**40], [-1, 3], [5, 5]]), "old": False},
        {"sparse": R.choice(["dia", "dok", "lil", "bsr"]), "parts": [0, 0, 0], "shape": [2**20, 2**20], "old": True},
        {"float": R.choice(["nan", "inf", "1e5", None])},
        {"tree": {"dict": [["parameters", {"dict": [["kernel", "x"]]}], ["rows", {"array": 0}], ["weight", None]]}},
        {"tree": {"dict": []}},
        {"dict": [[[1], 2]]},
        {"dict": "ab"},
        {"slice": [1, 2, 3, 4]},
        {"tuple": {"a": 1}},
        {"set": [[1]]},
        {"reduce": ["os.system", "true"]},
        {},
        [],
        None,
        True,
        10**400,
        -1,
        "x" * 10_000,
        "__import__('os').mkdir('PWNED')",
    ]
    node, key = _pick(R, about)
    if key is not None:
        node[key] = R.choice(hostile)
        about = about if "model" in about else about | {"model": None}
    if R.random() < 0.1:
        about["model"] = R.choice(hostile)
    return about, content


def _attribute(R, about, content):
    """Attributes that are methods, properties or special names of the class, set to something else."""
    states = [node["state"] for node, _ in _places({"m": about["model"]}) if isinstance(node, dict) and "state" in node]
    names = [
        "__class__",
        "__dict__",
        "__reduce__",
        "__del__",
        "predict",
        "fit",
        "transform",
        "kernel_",
        "map_",
        "tile",
        "diag",
    ]
    names += [
        "_repr_html_",
        "__getattr__",
        "a.b",
        "",
        "n_features_in_",
        "classes_",
        "verbose",
        "random_state",
        "encoder",
    ]
    values = ["print", None, {"object": "RBF", "state": []}, 10**9, [1], {"array": 0}, {"float": "nan"}]
    for state in R.sample(states, min(len(states), 2)):
        if isinstance(state, list):
            state.insert(R.randrange(len(state) + 1), [R.choice(names), R.choice(values)])
            if R.random() < 0.3:
                del state[R.randrange(len(state))]
    return about, content


def _class(R, about, content):
    """Another class of the registry for an object."""
    objects = [node for node, key in _places({"m": about["model"]}) if key == "object" and isinstance(node, dict)]
    if objects:
        R.choice(objects)["object"] = R.choice([*mercer.exports, *_HOMES, "user.X", "", 5, None, "RBF\n"])
    return about, content


def _number(R, about, content):
    node, key = _pick(R, about, int | float)
    if key is not None:
        node[key] = R.choice([0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 1e308, -1e-308, True, 0.5])
    return about, content


def _array(R, about, content):
    """An array of another type, shape or content, with a correct checksum."""
    names = [name for name in content if name.startswith("arrays/")]
    if not names or not isinstance(about.get("sha256"), list):
        return about, content
    name = R.choice(names)
    try:
        array = np.load(io.BytesIO(content[name]), allow_pickle=False)
    except (ValueError, EOFError, MemoryError):  # it was forged before
        array = np.zeros(3)
    new = _other(R, array)
    content[name] = new
    number = int(name.split("/")[1].split(".")[0])
    if number < len(about["sha256"]):
        about["sha256"][number] = hashlib.sha256(new).hexdigest()
    return about, content


def _other(R, array):
    if R.random() < 0.15:
        return R.choice([b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00v\x00", pickle.dumps(Exploit()), damage(R, _npy(array))])
    if R.random() < 0.15:
        shape = R.choice([(2**62, 4), (-1,), (10**15,), (2**31, 2**31, 2**31), (0, 2**62), (1,) * 70])
        head = {"descr": R.choice(["<f8", "|O", "|V0", "<U0"]), "fortran_order": False, "shape": shape}
        out = io.BytesIO()
        np.lib.format.write_array_header_2_0(out, head)
        return out.getvalue() + b"12345678"
    if R.random() < 0.1:
        return _npy(np.array([Exploit()], dtype=object), True)
    with np.errstate(all="ignore"):
        changes = [
            lambda: array.ravel()[: array.size // 2],
            lambda: np.full(array.shape, np.nan),
            lambda: np.full(array.shape, R.choice([2**31, -(2**31), -1, 10**9])),
            lambda: array.astype(R.choice(["f4", "i1", "c16", "U5", "S3", "?", "M8[s]"])),
            lambda: array[None],
            lambda: np.zeros((0, *array.shape[1:])),
            lambda: np.concatenate([array, array]) if array.ndim else array,
            lambda: np.zeros(array.shape, dtype=[("a", "f8"), ("b", "i4")]),
            lambda: array * R.choice([1e300, 0, -1]),
            lambda: np.roll(array, 1),
        ]
        try:
            return _npy(np.asarray(R.choice(changes)()))
        except (TypeError, ValueError, IndexError, OverflowError):
            return _npy(np.zeros(1))


def _npy(array, pickled=False):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def _nested(R, about, content):
    """Very deep, or very wide."""
    deep = about["model"]
    for _ in range(R.choice([10, 300, 900])):
        deep = R.choice([[deep], {"tuple": [deep]}, {"dict": [["a", deep]]}])
    about["model"] = deep if R.random() < 0.7 else [None] * 300_000
    return about, content


def _version(R, about, content):
    about[R.choice(["format", "mercer", "sha256", "model"])] = R.choice(
        ["9.9", 10**9, -1, None, [], {}, 2.0, True, "m" * 5000]
    )
    return about, content


def _bomb(R, about, content):
    """A small file that unpacks to much."""
    content[R.choice(["arrays/0.npy", "bomb", "model.json"])] = b"0" * R.choice([10**6, 5 * 10**7])
    return about, content


def _shared(R, about, content):
    """Two places that point to one object, and an object that contains itself."""
    node, key = _pick(R, about, dict)
    if key is not None:
        node[key] = copy.deepcopy(R.choice([{"same": 0}, {"tuple": [{"same": 0}]}, {"dict": [["a", {"same": 1}]]}]))
    return about, content
