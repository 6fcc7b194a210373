"""Limits of jobs and the command. Jobs know no console, one place computes a confidence, folders loop."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import mercer

SOURCE = Path(mercer.__file__).parent
JOBS = sorted((SOURCE / "jobs").glob("*.py"))
CLI = sorted((SOURCE / "cli").glob("*.py"))


def names_in(path):
    """Every name, attribute, argument and imported module of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))


def functions_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.name)
def test_jobs_know_no_console_and_print_nothing(path):
    forbidden = {"screen", "console", "cli", "print", "stdout", "stderr", "typer", "rich", "tempfile"}
    assert not forbidden & set(names_in(path))


def test_only_the_console_of_the_command_draws_and_a_folder_writes_no_temporary_file():
    assert "tempfile" not in set(names_in(SOURCE / "cli" / "folders.py"))
    drawing = {path.name for path in CLI if "rich" in set(names_in(path))}
    assert drawing == {"console.py"}


def test_no_command_calls_another_but_the_demo_which_shows_one():
    commands = {"label", "predict", "suggest", "check", "compare", "embed", "cluster", "novelty", "look"}
    for path in CLI:
        if path.name in ("app.py", "demo.py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not commands & called, path.name


def test_one_function_computes_a_confidence():
    """`Answers.confidence_of` takes the largest probability, and `Answers.abstained` compares it with a threshold.

    In jobs `decide` takes it of given probabilities, and `coverage` for the order of the held-out labels only.
    """
    found = {}
    for path in [*JOBS, *CLI]:
        for function in functions_of(path):
            text = ast.unparse(function)
            if re.search(r"\.max\(axis=1\)", text):
                found[function.name] = path.name
            assert not re.search(r"confidence\)? < ", text), function.name
    assert found == {"decide": "classes.py", "coverage": "quality.py"}


def test_sizes_stand_in_one_place():
    """No other module of jobs or of the command has a number of rows that decides what is fitted or predicted."""
    for path in [*JOBS, *CLI]:
        names = {
            target.id
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert not names & {"BLOCK", "FIT_ROWS", "FIT_LABELS", "MOST_POINTS"}, path.name


def test_no_value_is_taken_out_of_a_sentence():
    """Methods and settings of a candidate come from fields of a report, and not from its name."""
    for path in JOBS:
        assert "MERGE:" not in path.read_text(encoding="utf-8")
        for function in functions_of(path):
            assert not re.search(r"\[['\"]candidate['\"]\]", ast.unparse(function)), (path.name, function.name)


def test_every_function_of_jobs_and_report_has_types():
    for path in [*JOBS, *sorted((SOURCE / "report").glob("*.py"))]:
        for function in functions_of(path):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            bare = [one.arg for one in arguments if one.annotation is None and one.arg not in ("self", "cls")]
            assert not bare and function.returns is not None, f"{path.name}: {function.name} {bare}"


def test_a_command_is_two_files_its_module_and_the_app():
    """Every command is registered in app.py by `module:function`, and the module has this function."""
    found = re.findall(r'_command\(\s*"(\w+):(\w+)"', (SOURCE / "cli" / "app.py").read_text(encoding="utf-8"))
    assert len(found) >= 13
    for module, function in found:
        text = (SOURCE / "cli" / f"{module}.py").read_text(encoding="utf-8")
        assert re.search(rf"def {function}\(|import {function} as {function}", text), (module, function)


# Tests of what several modules of jobs do together
JOINT_TESTS = {"test_one_confidence.py"}


def test_the_tests_of_jobs_mirror_its_modules():
    """Each module has one file of tests with its own name, which imports it, and there are no other files."""
    folder = Path(__file__).parent / "jobs"
    modules = {path.stem for path in JOBS} - {"__init__"}
    assert {path.name for path in folder.glob("test_*.py")} - JOINT_TESTS == {f"test_{name}.py" for name in modules}
    for name in modules:
        text = (folder / f"test_{name}.py").read_text(encoding="utf-8")
        imported = rf"mercer\.jobs\.{name} import|from mercer\.jobs import [^\n]*\b{name}\b"
        assert re.search(imported, text), f"test_{name}.py does not import mercer.jobs.{name}"


def test_few_label_jobs_and_report_are_checked_strictly():
    """Mypy's strict flags are set for these packages, and no module of theirs is exempt."""
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    strict = {f"mercer.{package}.*" for package in ("few_label", "jobs", "report")}
    flags: dict = {}
    for override in settings["overrides"]:
        names = {override["module"]} if isinstance(override["module"], str) else set(override["module"])
        if strict <= names:
            flags |= override
        else:
            assert not [name for name in names if name.split(".")[1] in ("few_label", "jobs", "report")]
    for name in (
        "disallow_any_generics",
        "disallow_incomplete_defs",
        "disallow_subclassing_any",
        "disallow_untyped_calls",
        "disallow_untyped_decorators",
        "disallow_untyped_defs",
        "extra_checks",
        "strict_equality",
        "warn_return_any",
        "warn_unused_ignores",
    ):
        assert flags[name] is True, name
    assert flags["implicit_reexport"] is False
