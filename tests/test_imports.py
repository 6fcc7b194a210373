"""Who may import whom, and what `import mercer` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

SOURCE = Path(mercer.__file__).parent
# From left to right: a room imports only rooms to its left, and itself. Rooms of one line do not see each other.
ORDER = [
    ["errors"],
    ["backend"],
    ["files"],
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
    ["cli", "studio"],
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
    """Dotted names that a file imports, relative ones made absolute, wherever in the file the import stands."""
    package = ("mercer", *path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem, node.lineno
            yield from ((f"{stem}.{alias.name}", node.lineno) for alias in node.names)


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
    """torch, dask and triton come from backend.need; a plain import would break a core installation."""
    optional = {name for name, _ in imported(path)} & {"torch", "dask", "dask.array", "distributed", "triton"}
    assert optional <= ({"triton"} if path.name == "_triton.py" else set())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_solvers_see_no_data_kernel_or_estimator(path):
    if room_of(module_of(path)) != "solvers":
        return
    for name, line in imported(path):
        assert not name.startswith(("mercer.kernels", "mercer.geometry.maps")), f"{path.name}:{line}: {name}"


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
    assert getattr(mercer, name).__name__ == name
    assert name in dir(mercer)


def test_unknown_names():
    with pytest.raises(AttributeError, match="mercer has no attribute 'Nonsense'"):
        mercer.Nonsense  # noqa: B018
