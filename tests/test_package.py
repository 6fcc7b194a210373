"""What is packaged: one version, the marker of type hints, and no file that a build would leave out."""

import importlib.util
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parent.parent
SOURCE = Path(mercer.__file__).parent


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_once_and_repeated_nowhere_wrongly(project):
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    lines = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', lines, re.M) == [mercer.__version__]
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == mercer.__version__
    released = re.search(r"^date-released: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    assert f"\n## {mercer.__version__} ({released})\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version = {{{mercer.__version__}}}" in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")


def test_type_hints_are_announced():
    assert (SOURCE / "py.typed").exists()  # in the wheel as all of src/mercer is


def test_the_hooks_download_nothing():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert len(re.findall(r"language: system", hooks)) == len(re.findall(r"{id: ", hooks)) == 3


def ci(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_builds_are_complete_and_the_same_byte_by_byte(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling is not installed, so that nothing is built")
    first, second, unpacked = ci("dist").twice(tmp_path)
    wheel, archive = f"mercer-{mercer.__version__}-py3-none-any.whl", f"mercer-{mercer.__version__}.tar.gz"
    assert first == second == {wheel: first[wheel], archive: first[archive]}
    assert unpacked == {wheel: first[wheel]}  # the source archive alone makes the same wheel
    with zipfile.ZipFile(tmp_path / "dist0" / wheel) as packed:
        names = set(packed.namelist())
    source = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {f"mercer/{path.relative_to(SOURCE)}" for path in source} <= names
    assert {Path(name).parts[0] for name in names} == {"mercer", f"mercer-{mercer.__version__}.dist-info"}
    with tarfile.open(tmp_path / "dist0" / archive) as packed:
        held = {str(Path(*Path(name).parts[1:])) for name in packed.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tests/test_package.py", "docs/conf.py"} <= held


def test_oldest_versions_are_those_declared(project):
    lines = ci("matrix").oldest()
    assert "numpy==2.1" in lines and "torch==2.13.0" in lines
    assert {line.split("==")[0] for line in lines} >= {
        re.match(r"[\w-]+", d)[0] for d in project["project"]["dependencies"]
    }


def test_every_promise_of_the_security_page_names_a_test_that_is_there():
    lines = (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    promises = [line for line in lines if line.startswith("| ") and not line.startswith("| promise")]
    assert len(promises) >= 19
    for promise in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", promise)
        assert named, promise
        for path, name in named:
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path} has no {name}"


def test_no_file_is_long():
    long = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}, "one idea a file, at most 350 lines"
