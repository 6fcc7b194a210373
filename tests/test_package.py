"""What is packaged: one version, the marker of type hints, and no file that a build would leave out."""

import re
import tomllib
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
    assert f"\n## {mercer.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_type_hints_are_announced():
    assert (SOURCE / "py.typed").exists()  # in the wheel as all of src/mercer is


def test_the_hooks_download_nothing():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert len(re.findall(r"language: system", hooks)) == len(re.findall(r"{id: ", hooks)) == 3


def test_no_file_is_long():
    long = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}, "one idea a file, at most 350 lines"
