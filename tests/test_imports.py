"""Who may import whom, who may call what, and what `import mercer` may load."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

SOURCE = Path(mercer.__file__).parent
# A package imports only itself and packages to its left. Packages of one line do not import each other.
ORDER = [
    ["errors", "events", "types", "parameter_texts"],
    ["backend", "docstrings"],
    ["documentation"],
    ["files", "compilation"],
    ["homes"],
    ["rows"],
    ["linalg"],
    ["inputs"],
    ["graphs"],
    ["kernels"],
    ["geometry"],
    ["solvers"],
    ["evidence"],
    ["datasets"],
    ["estimators"],
    ["model_selection"],
    ["few_label"],
    ["advice"],
    ["report", "io"],
    ["plots"],
    ["jobs"],
    ["bridges"],
    ["studio"],
    ["cli"],
    ["__main__"],
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
FILES = sorted(SOURCE.rglob("*.py"))


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def room_of(parts):
    return parts[0] if parts else None


def imported(path):
    """Dotted names that a file imports, relative ones made absolute, where in the file the import stands."""
    package = ("mercer", *path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem, node.lineno
            yield from ((f"{stem}.{alias.name}", node.lineno) for alias in node.names)


def typing_lines(path):
    """Numbers of the lines under `if TYPE_CHECKING:`, which never run."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return range(node.lineno, node.end_lineno + 1)
    return range(0)


def test_every_file_is_in_a_known_room():
    rooms = {room_of(module_of(path)) for path in FILES} - {None}
    assert rooms <= set(RANK), f"rooms without a place in the order: {rooms - set(RANK)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_rooms_to_their_left(path):
    room = room_of(module_of(path))
    for name, line in imported(path):
        parts = name.split(".")
        if parts[0] != "mercer" or len(parts) < 2 or parts[1] not in RANK:
            continue
        if room is None:  # mercer/__init__.py loads everything by name, when it is used
            pytest.fail(f"mercer/__init__.py imports {name} at import time")
        other = parts[1]
        assert other == room or RANK[other] < RANK[room], f"{path.name}:{line} in {room} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_optional_packages_come_through_the_door(path):
    """torch, dask and triton come from backend.need. A plain import would break a core installation."""
    found = {name for name, line in imported(path) if line not in typing_lines(path)}
    optional = found & {"torch", "dask", "dask.array", "distributed", "triton"}
    assert optional <= ({"triton"} if path.stem == "_triton" else set())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_solvers_see_no_data_kernel_or_estimator(path):
    if room_of(module_of(path)) != "solvers":
        return
    for name, line in imported(path):
        assert not name.startswith(("mercer.kernels", "mercer.geometry.maps")), f"{path.name}:{line}: {name}"


# Private names belong to the package that defines them


# Private names of scikit-learn that have no public equivalent.
SKLEARN_PRIVATE = {
    "sklearn.utils._param_validation.Interval",
    "sklearn.utils._param_validation.Options",
    "sklearn.utils._param_validation.StrOptions",
    "sklearn.utils._safe_indexing",
    "sklearn.utils.validation._num_samples",
}
SKLEARN_METHODS = {"_validate_params"}  # of BaseEstimator, from outside the estimator


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name != "_replace"  # a NamedTuple's public method


def own(value):
    """Whether an expression represents the object or class that the code belongs to."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def defined(path):
    """Names of functions, classes, variables and attributes of self that a file defines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and own(node.value):
            yield node.attr


@functools.cache
def names_of(room):
    """Private names that a package defines, and that no package to its left defines, whose methods it may override."""
    names = {other: set() for other in RANK}
    for path in FILES:
        names.setdefault(room_of(module_of(path)), set()).update(defined(path))
    return names[room].difference(*(names[other] for other in RANK if RANK[other] < RANK.get(room, 0)))


def borrowed(path):
    """Private names that a file imports from another package, or reads from an object of another package."""
    room = room_of(module_of(path))
    for name, _ in imported(path):
        parts = name.split(".")
        if parts[0] == "mercer" and parts[1:2] != [room]:
            yield from filter(is_private, parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            value, name = node.value, node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr", "setattr"):
            value, name = node.args[0], getattr(node.args[1], "value", "")
        else:
            continue
        if (
            isinstance(name, str)
            and is_private(name)
            and not own(value)
            and name not in names_of(room) | SKLEARN_METHODS
        ):
            yield name


def test_private_names_stay_in_their_room():
    found = {(str(path.relative_to(SOURCE)), name) for path in FILES for name in borrowed(path)}
    assert not found, "private names of other rooms are used; make them public or do without"


# Places outside homes/ and rows.py that check the type of a backend, and why no operation does it.
ASKS_FOR_THE_HOME = {
    "estimators/kernel_density_novelty.py": 1,  # scikit-learn's trees take host rows
    "few_label/dask_sample.py": 1,  # of rows in Dask a sample is fitted
    "geometry/fused.py": 1,  # fused products exist on CUDA devices
    "geometry/maps/rows.py": 1,  # features are computed again on the host and stored elsewhere
    "geometry/open.py": 4,  # the place that decides
    "geometry/operators/radial.py": 1,  # prepared rows are NumPy rows
    "geometry/operators/recomputed.py": 3,  # threads on the host, one stream on a device
    "inputs/check.py": 1,  # scikit-learn's validation would turn tensors into NumPy arrays
    "inputs/sampling.py": 2,  # of labels in Dask the filled cells travel
}


def test_few_places_ask_for_the_home_of_an_array():
    found = {}
    for path in FILES:
        name = str(path.relative_to(SOURCE))
        if room_of(module_of(path)) not in ("homes", "rows", "backend"):
            code = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("def ")]
            number = sum(len(re.findall(r"\.on_host\b|\.lazy\b|(?<![\w.])on_gpu\(", line)) for line in code)
            found |= {name: number} if number else {}
    assert found == ASKS_FOR_THE_HOME and sum(found.values()) <= 15


def test_no_more_private_names_of_scikit_learn():
    found = {name for path in FILES for name, _ in imported(path) if name.startswith("sklearn")}
    private = {name for name in found if any(map(is_private, name.split(".")))}
    modules = {name.rpartition(".")[0] for name in SKLEARN_PRIVATE}
    assert private - modules <= SKLEARN_PRIVATE
    assert private >= SKLEARN_PRIVATE, "SKLEARN_PRIVATE lists names that are no longer imported; remove them"


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(SOURCE.parent)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_mercer_loads_nothing_heavy():
    heavy = "numba torch dask triton pandas matplotlib sklearn.cluster scipy.sparse.linalg"
    code = f"import sys, mercer; print([m for m in '{heavy}'.split() if m in sys.modules])"
    assert run(code) == "[]"


def test_a_first_fit_loads_neither_torch_nor_dask_nor_numba():
    code = (
        "import sys, numpy as np, mercer; mercer.KernelPCA(2, kernel='rbf').fit(np.eye(5)); "
        "mercer.LandmarkMap().fit(np.eye(5)); print([m for m in ('numba', 'torch', 'dask') if m in sys.modules])"
    )
    assert run(code) == "[]"


def there(name):
    home = mercer.exports[name].replace(".", "/")
    return (SOURCE / f"{home}.py").exists() or (SOURCE / home / "__init__.py").exists()


@pytest.mark.parametrize("name", [name for name in mercer.__all__ if there(name)])
def test_every_public_name_resolves(name):
    assert getattr(mercer, name).__name__.rpartition(".")[2] == name  # studio is a module that can be called
    assert name in dir(mercer)


def test_unknown_names():
    with pytest.raises(AttributeError, match="mercer has no attribute 'Nonsense'"):
        mercer.Nonsense  # noqa: B018


def test_loops_are_compiled_in_one_way():
    """`compilation.compiled` works without a cache if no folder is writable, and numba alone would fail there."""
    found = [str(path.relative_to(SOURCE)) for path in FILES if re.search(r"\bn?jit\(", path.read_text())]
    assert found == ["compilation.py"]
