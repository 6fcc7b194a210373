"""Docstrings of public names, in which every parameter has a type and a default and common texts are added."""

import ast
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import mercer
from mercer.docstrings import completed, document

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
    """The first lines of the section of parameters, by name."""
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


def pages():
    """Classes and functions that have a page of the API reference, by name."""
    path = Path(__file__).parent.parent / "docs" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate", path)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    places = [f"{name}" for name in mercer.__all__] + [path for paths in generate.BELOW.values() for path in paths]
    for place in places:
        module, _, name = place.rpartition(".")
        thing = getattr(importlib.import_module(f"mercer.{module}".rstrip(".")), name)
        document(thing)
        yield name, thing
        for member in generate.own_members(thing) if inspect.isclass(thing) else ():
            if inspect.isroutine(getattr(thing, member)):
                yield f"{name}.{member}", getattr(thing, member)


RESULTS = {"KernelEstimator", "Estimate", "Result"}  # made by the package, and described by their attributes


def test_every_parameter_of_the_reference_has_a_type_a_text_and_its_default():
    poor = []
    for name, thing in pages():
        try:
            parameters = list(inspect.signature(thing).parameters.values())
        except ValueError:  # an exception
            continue
        given = [
            one for one in parameters if one.name != "self" and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        ]
        section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n-+\n|\Z)", inspect.getdoc(thing) or "", re.S)
        blocks = re.split(r"\n(?=\S)", section[1] if section else "")
        heads = [block.partition("\n") for block in blocks]
        found = {one: (head, text) for head, _, text in heads for one in head.partition(" : ")[0].split(", ")}
        for one in given if name not in RESULTS else ():
            head, text = found.get(one.name, ("", ""))
            whole = f"{head} {text}"
            typed = " : " in head and not re.search(r" : object\b", head)
            default = one.default is one.empty or "default" in whole
            if not (typed and text.strip() and default) or re.match(r"\s*([Ss]ee|[Aa]s in) `\w+`\.?$", text):
                poor.append(f"{name}({one.name}): {head}")
    assert poor == []


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
