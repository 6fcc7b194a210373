"""The package has one version, the marker of type hints, and every file."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
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


def lines_of_code(path):
    """Lines of a file less those of its docstrings."""
    text = path.read_text(encoding="utf-8")
    firsts = [
        node.body[0]
        for node in ast.walk(ast.parse(text))
        if getattr(node, "body", None) and isinstance(node.body, list)
    ]
    prose = [one for one in firsts if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
    return len(text.splitlines()) - sum(one.end_lineno - one.lineno + 1 for one in prose)


def test_no_file_is_long():
    """At most 350 lines without docstrings, because a public class has many parameters to describe."""
    long = {str(path.relative_to(SOURCE)): lines_of_code(path) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}, "one idea per file"


def test_the_stub_names_every_public_name():
    stubs = ci("stubs")
    assert stubs.PAGE.read_text(encoding="utf-8") == stubs.text(), "run: make stubs"


MISTAKES = """\
import mercer

model = mercer.FewLabelClassifier(time_budgett=3.0)
mercer.RBF(1.0).tile([[0.0]])
mercer.FewLabelClasifier()
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checkers_find_three_planted_mistakes(tmp_path, checker):
    module = {"mypy": "mypy", "pyright": "basedpyright"}[checker]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    command = [sys.executable, "-m", module]
    (tmp_path / "planted.py").write_text(MISTAKES)
    path = f"{SOURCE.parent}{os.pathsep}{os.environ.get('MYPYPATH', '')}".rstrip(os.pathsep)
    settings = {"MYPYPATH": path, "PYTHONPATH": str(SOURCE.parent)}
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{SOURCE.parent}"]}}')
    found = subprocess.run(
        [*command, "planted.py"], cwd=tmp_path, env=os.environ | settings, capture_output=True, text=True
    ).stdout
    lines = {int(line) for line in re.findall(r"planted\.py:(\d+)", found)}
    assert {3, 4, 5} <= lines, found
