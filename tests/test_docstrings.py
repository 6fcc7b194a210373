"""Docstrings of public names: every parameter has a type and a default, shared texts are added."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import mercer
from mercer.docstrings import completed

CLASSES = [name for name in mercer.exports if inspect.isclass(getattr(mercer, name))]
ESTIMATORS = [name for name in CLASSES if issubclass(getattr(mercer, name), BaseEstimator | mercer.Kernel)]


def test_no_docstring_begins_with_what():
    """A docstring begins with what is returned or done."""
    source, found = Path(mercer.__file__).parent, []
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if documented and re.match(r"what\b", ast.get_docstring(node) or "", re.I):
                found.append(f"{path.relative_to(source)}:{node.body[0].lineno}")
    assert found == []


def entries(doc):
    """{name: first line} of the section of parameters."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n-+\n|\Z)", doc, re.S)
    found = re.findall(r"^(\w[\w, ]*) : (.*)$", section[1] if section else "", re.M)
    return {name: text for names, text in found for name in names.split(", ")}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_a_class_is_described(name):
    cls = getattr(mercer, name)
    wanted = {one.name for one in inspect.signature(cls).parameters.values() if one.kind != one.VAR_KEYWORD}
    assert wanted <= set(entries(inspect.getdoc(cls))), name


@pytest.mark.parametrize("name", ESTIMATORS)
def test_standard_methods_describe_their_parameters(name):
    for method in ("fit", "predict", "predict_proba", "transform", "fit_predict"):
        function = getattr(getattr(mercer, name), method, None)
        if function is not None and function.__module__.startswith("mercer.estimators"):
            assert "Parameters\n" in inspect.getdoc(function), f"{name}.{method}"


def test_a_docstring_is_completed():
    doc = "Do it.\n\nParameters\n----------\nlam : penalty\n    of the fit.\n\nNotes\n-----\nNone."
    found = completed(doc, {"lam": ("float", "0.1"), "random_state": ("object", "None")})
    assert (
        "lam : float, default=0.1\n    Penalty of the fit.\nrandom_state : int, RandomState or None, default=None\n"
        in found
    )
    assert found.endswith("\n\nNotes\n-----\nNone.\n") and found.count("Parameters\n") == 1


def test_a_section_is_added_before_the_others():
    found = completed("Do it.\n\nMore.\n\nNotes\n-----\nNone.", {"n_jobs": ("object", "None")})
    assert found.startswith("Do it.\n\nMore.\n\nParameters\n----------\nn_jobs : int or None, default=None\n")
    assert found.endswith("\n\nNotes\n-----\nNone.\n")
    assert completed("Do it.", {}) == "Do it."
    example = "Do it.\n\n>>> 1 + 1\n2"
    assert completed(example, {"n_jobs": ("object", "None")}).startswith(example + "\n\nParameters\n----------\nn_jobs")
