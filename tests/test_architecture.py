"""Counts that keep few_label and jobs simple, with values instead of mixins, one confidence and few attributes."""

import ast
import inspect
import io
import tokenize
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import FewLabelClassifier, FewLabelRegressor
from mercer.few_label._model import FewLabelModel
from mercer.few_label.candidates.base import Candidate, Fitted
from mercer.few_label.fit import Fit
from mercer.few_label.library import Library

SOURCE = Path(mercer.__file__).parent
FEW = sorted((SOURCE / "few_label").rglob("*.py"))
SHELLS = ("classifier.py", "regressor.py", "_model.py")
# Attributes and methods of a few-label model that other packages read, next to scikit-learn's own names.
READ_OUTSIDE = {
    "advice_rows",
    "answers_",
    "calibration_",
    "candidates_",
    "check_whole",
    "classes_",
    "compact",
    "confidence_",
    "drawn_",
    "encoder_",
    "estimate_",
    "hints_",
    "interrupted_",
    "labels_",
    "left_out_",
    "left_out_probabilities_",
    "sample_",
    "library_",
    "linear_",
    "majority_",
    "places",
    "predicted_",
    "probabilities_",
    "prepare",
    "reach",
    "relabel",
    "report_",
    "row_numbers",
    "sets_of",
    "skipped_",
    "taught",
    "transduction_",
    "trust",
}
SKLEARN = {"fit", "predict", "predict_proba", "score", "set_params", "get_params", "decision_function"}


@pytest.fixture(scope="module")
def models():
    X = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0.0], [4.0]], 20, axis=0)
    y = np.array(["a"] * 20 + ["b"] * 20, dtype=object)
    y[3:17] = y[23:37] = None
    numbers = np.where(np.arange(40) % 3 == 0, X[:, 0], np.nan)
    return FewLabelClassifier(["lssvm"]).fit(X, y), FewLabelRegressor(["lssvm"]).fit(X, numbers)


def trees():
    return ((path, ast.parse(path.read_text())) for path in FEW)


def test_a_fitted_model_has_few_attributes(models):
    for model in models:
        assert len(set(vars(model)) - set(model.get_params())) <= 12


def test_there_is_one_base_class_and_no_mixin():
    for cls in (FewLabelClassifier, FewLabelRegressor):
        own = [base for base in cls.__mro__ if base.__module__.startswith("mercer.few_label")]
        assert own == [cls, FewLabelModel]
    named = [node.name for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert not [name for name in named if "Mixin" in name]


def test_no_class_asks_for_a_method_by_its_name():
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                words = [part.value for part in (node.left, *node.comparators) if isinstance(part, ast.Constant)]
                assert "forest" not in words, f"{path.name}:{node.lineno}"


def lines_of_code(path):
    """Numbers of the lines with code, without documentation, comments, blank lines and lists of parameters."""
    source = path.read_text(encoding="utf-8")
    space = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in space:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found -= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.FunctionDef):
            found -= set(range(node.lineno + 1, node.body[0].lineno))
    return found


@pytest.mark.parametrize("name", SHELLS)
def test_shells_are_short(name):
    assert len(lines_of_code(SOURCE / "few_label" / name)) <= 200


def test_a_library_sees_no_label():
    fields = set(Library.__dataclass_fields__)
    assert not fields & {"labels", "y", "given", "codes", "targets", "classes", "names"}
    assert "labels" not in inspect.signature(Library.build).parameters
    assert "labels" not in inspect.signature(Library.of).parameters


def test_a_fit_sees_neither_rows_nor_names(models):
    assert not set(Fit.__dataclass_fields__) & {"X", "rows", "table", "names", "classes", "encoder"}
    fit = models[0].answers_.fit
    assert fit.labels.classes.tolist() == [0, 1] and models[0].classes_.tolist() == ["a", "b"]


def test_library_fit_and_answers_are_frozen_and_shared(models):
    model = models[0]
    with pytest.raises(AttributeError):
        model.library_.n_rows = 3
    with pytest.raises(AttributeError):
        model.answers_.fit.labels = None
    taught = model.taught([4], ["a"])
    assert taught.library_ is model.library_ and taught.answers_.fit.library is model.library_
    assert taught.candidates_[0].space.Z is model.candidates_[0].space.Z


def test_candidates_have_no_label_and_fitted_ones_know_their_candidate(models):
    fit = models[0].answers_.fit
    assert all(isinstance(one, Candidate) for one in fit.candidates)
    assert all(isinstance(one, Fitted) and one.candidate is two for one, two in zip(fit.fitted, fit.candidates))
    assert not hasattr(fit.candidates[0], "solution") and not hasattr(fit.candidates[0], "left_out")


def test_one_function_computes_the_confidence():
    """`seen`, the factor of the confidence, is read in Answers and in the export to ONNX only."""
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "seen" and isinstance(node.value, ast.Attribute)
    }
    assert found == {"few_label/answers.py", "bridges/onnx/models.py"}


# Names of the variables and attributes that are models in other packages
MODELS = {"model", "estimator", "fast", "prepared", "classifier", "regressor", "fitted", "before", "after", "found"}


def read_outside():
    """Attributes of few-label models that other packages read, as attributes of a variable or attribute in `MODELS`."""
    names = {name for cls in (FewLabelClassifier, FewLabelRegressor) for name in dir(cls)}
    names |= {"library_", "answers_", "encoder_", "hints_", "dask_", "weight_"} | set(FewLabelClassifier().get_params())
    for room in ("advice", "report", "bridges", "plots", "io", "jobs", "cli", "studio"):
        for path in (SOURCE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and node.attr in names and not node.attr.startswith("__"):
                    value = node.value
                    word = getattr(value, "id", getattr(value, "attr", ""))
                    if word in MODELS:
                        yield node.attr


def test_few_attributes_of_a_model_are_read_outside():
    found = set(read_outside()) - SKLEARN - set(FewLabelClassifier().get_params())
    assert found <= READ_OUTSIDE, sorted(found - READ_OUTSIDE)
    assert found >= READ_OUTSIDE, f"no longer read: {sorted(READ_OUTSIDE - found)}"
    assert len(READ_OUTSIDE) <= 35


# Counts over all of src/mercer. They may only fall, so lower a ceiling with its count.
CEILINGS = {"Any": 370, "names for Any": 1380, "functions without types": 525, "module constants": 354}
# Aliases of mercer.types that are Any to a checker
ALIASES = {"Rows", "Block", "ColumnLike", "Estimator"}


def counts():
    """How often `Any` or an alias of it is written, functions that lack a type, and module constants."""
    found = dict.fromkeys(CEILINGS, 0)
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                bare = [one for one in arguments if one.annotation is None and one.arg not in ("self", "cls")]
                found["functions without types"] += bool(bare) or node.returns is None
            found["Any"] += isinstance(node, ast.Name) and node.id == "Any"
            found["names for Any"] += isinstance(node, ast.Name) and node.id in ALIASES
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [name for target in targets for name in getattr(target, "elts", [target])]
            found["module constants"] += sum(isinstance(name, ast.Name) and name.id.isupper() for name in names)
    return found


def test_types_grow_and_constants_fall():
    found = counts()
    assert {name: number for name, number in found.items() if number > CEILINGS[name]} == {}


def test_each_class_has_a_name_of_its_own():
    named = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                named.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: files for name, files in named.items() if len(files) > 1} == {}


# Packages whose sizes are in `Sizes`. Their tests replace that table and not a constant of a module.
UPPER = ("few_label", "jobs", "report", "cli", "studio", "evidence", "advice")


def patched(room):
    """Constants of modules that the tests of a package replace. `SIZES` is the table of sizes."""
    for path in (Path(__file__).parent / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
                for name in [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]:
                    last = str(name).rpartition(".")[2]
                    if last.isupper() and last != "SIZES":
                        yield f"{path.name}: {last}"


def test_few_constants_are_replaced_in_tests():
    found = [one for room in UPPER for one in patched(room)]
    assert len(found) <= 10, found
