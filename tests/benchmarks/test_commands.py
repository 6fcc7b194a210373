"""Every benchmark command and example named in prose exists, and takes the options it is named with."""

import io
import os
import re
import runpy
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROSE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")]
PROSE += sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/results/*.md")])
SOURCES = [path for folder in ("src", "benchmarks", "examples", "tests") for path in (ROOT / folder).rglob("*.py")]
COMMAND = re.compile(r"-m (benchmarks[\w.]*\w)((?:\s+[^\s`)]+)*)")
PATH = re.compile(r"\b(?:benchmarks|examples|tests)/[\w/]+\.py\b")


@cache
def scripts():
    """Modules of benchmarks/ that are run, by their name after ``python -m``."""
    paths = [p for p in (ROOT / "benchmarks").rglob("*.py") if '\nif __name__ == "__main__":' in p.read_text()]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__") for path in paths]
    return sorted(set(names) - {"benchmarks.scoreboard.worker"})  # started by the scoreboard only


@cache
def help_of(module):
    """What --help prints; the script runs in this process, so that NumPy and mercer are imported once for all."""
    said = io.StringIO()
    given = mock.patch("sys.argv", [module, "--help"])
    with mock.patch.dict(os.environ), given, redirect_stdout(said), pytest.raises(SystemExit) as end:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert end.value.code == 0
    return said.getvalue()


def commands(text):
    """(module, options) of every command; in a table, a code span or an indented line it ends with the line."""
    for line in text.splitlines():
        for found in COMMAND.finditer(line.split("  #")[0]):
            yield found[1], set(re.findall(r"--[a-z][a-z-]*", found[2]))


def undocumented(module, options):
    """Options that --help does not list at the start of a line."""
    listed = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", help_of(module), flags=re.M))
    return options - listed


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("module", scripts())
def test_the_docstring_of_a_script_gives_its_command(module):
    own = [options for name, options in commands(help_of(module)) if name == module]
    assert own, f"the docstring of {module} does not say: python -m {module}"
    for options in own:
        assert not undocumented(module, options)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("page", PROSE, ids=lambda path: path.name)
def test_commands_named_on_a_page_exist(page):
    for module, options in commands(page.read_text()):
        assert module in scripts(), f"{page.name} names python -m {module}, which is no script"
        assert not undocumented(module, options), f"{page.name} names an option that {module} does not have"


def test_the_pages_name_commands():
    named = {module for page in PROSE for module, _ in commands(page.read_text())}
    assert {"benchmarks.scoreboard", "benchmarks.speed.kernel_pca", "benchmarks.accuracy.book"} <= named


def test_files_named_in_prose_and_source_exist():
    for path in PROSE + SOURCES:
        for name in PATH.findall(path.read_text()):
            assert (ROOT / name).exists(), f"{path.name} names {name}, which is not there"
