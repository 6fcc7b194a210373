"""Complete the docstrings of estimators: types and defaults of parameters, and the text that many classes share.

A class describes what is its own. Parameters that it does not describe (`kernel`, `approx`, `random_state`, …) are
added from `SHARED`, and standard methods without a description of their parameters from `METHODS`. So the help
of a class and the API reference are complete, and a text is written once.
"""

import inspect
import re
from dataclasses import MISSING, Field
from typing import Any

SHARED = {
    "kernel": (
        "Kernel, str or callable",
        'A kernel object such as ``RBF("median")``, a name, or a function of two rows. "rbf" is `RBF` with the median '
        'distance between rows as its bandwidth. "precomputed": X is a kernel matrix.',
    ),
    "approx": (
        '"auto", "exact", int or FeatureMap',
        '"auto" is exact for small tables and uses landmarks for large ones. A number is the number of landmarks. See '
        "the page on approximation.",
    ),
    "missing_label": (
        '"auto", None, value or list of values',
        'Values in y that mean "not labeled". "auto": NaN, None, empty string and −1. None: all values are classes.',
    ),
    "random_state": ("int, RandomState or None", "Seed. None means 0, so that results repeat."),
    "n_jobs": ("int or None", "Number of threads; None or −1 uses as many as the BLAS library may use."),
    "verbose": ("bool, int or callable", "Print progress, or call a function with (text, fraction done)."),
    "tol": ("float", "Tolerance at which the solver stops."),
    "max_iter": ("int", "Maximum number of iterations of the solver."),
    "n_init": ("int or None", "Number of starts of the solver, of which the best is kept. None: as many as it needs."),
    "center": ("bool", "Center the features, so that components are directions of largest variance."),
    "solver": ("str", "Solver of the eigenvalue problem; see `KernelPCA`."),
    "graph": (
        "Kernel, matrix or None",
        "Graph for an additional penalty on differences between neighbors, as in Laplacian RLS. None: no penalty.",
    ),
    "graph_weight": ("float", "Weight of the penalty of `graph`."),
    "invariance": (
        "callable, array or None",
        "Directions along which the classifier should hardly change, such as `ImageShifts`. None: no penalty.",
    ),
    "invariance_weight": ("float", "Weight of the penalty of `invariance`."),
    "label_folds": ("int or None", "Folds of the held-out predictions. None: one label at a time."),
    "contamination": ("float", "Fraction of the training rows below the threshold."),
    "label_weight": ("float", "Weight c of the loss on the labels."),
    "variance": ("float", "Variance of the scores over the training rows (s² / n in the paper)."),
    "n_removed": ('"constant" or int', "What is removed from the features before the fit; see `SemiKPCA`."),
    "gamma": ("str or float", "Weight of the errors; see the formula above."),
    "search": ("str", "How labels are searched; see `S2RLSClassifier`."),
    "bandwidth": (
        "float or str",
        'Length scale, or a rule for the training rows: "median" (distance between rows), "knn", "scale", "range", '
        '"neighbor" or "2neighbor". See the page on kernels.',
    ),
    "degree": ("float", "Degree of the polynomial, above 0."),
    "offset": ("float", "Constant that is added to the inner product."),
    "scale": ("float or None", "Factor of the inner product. None: 1 / number of columns."),
    "function": ("callable", "Function of two rows that returns a number, or of two matrices that returns a matrix."),
    "time_budget": ("float or None", "Seconds after which the search stops. None: no limit."),
}
_ROWS = 'X : array-like of shape (n_samples, n_features)\n    Rows; a kernel matrix if kernel="precomputed".\n'
_LABELS = "y : array-like of shape (n_samples,)\n    Labels, with markers for rows without one (see `missing_label`).\n"
_IGNORED = "y : array-like or None, default=None\n    Ignored, unless the text above gives it a meaning.\n"
_WEIGHT = "sample_weight : array-like of shape (n_samples,), default=None\n    Weights; 2 counts a row twice.\n"
_GROUPS = "groups : array-like of shape (n_samples,), default=None\n    Groups of rows, such as classes.\n"
_PARAMETERS = {"X": _ROWS, "y": _LABELS, "sample_weight": _WEIGHT, "groups": _GROUPS}
METHODS = {
    "fit": "self : the fitted estimator.",
    "fit_predict": "array of shape (n_samples,) : the predictions for the training rows.",
    "fit_transform": "array of shape (n_samples, n_components) : the features of the training rows.",
    "predict": "array of shape (n_samples,) : the predictions.",
    "predict_proba": "array of shape (n_samples, n_classes) : the class probabilities.",
    "predict_log_proba": "array of shape (n_samples, n_classes) : the logarithms of the class probabilities.",
    "decision_function": "array of shape (n_samples,) or (n_samples, n_classes) : the scores.",
    "score_samples": "array of shape (n_samples,) : the scores; higher is more normal.",
    "transform": "array of shape (n_samples, n_components) : the features of the rows.",
    "score": "float : the score, higher is better.",
}
_SECTION = re.compile(r"(?<=\n\n)\w[\w ]*\n-{3,}\n")
_WORDS = {"Real": "float", "Integral": "int", "RealNotInt": "float"}
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*?) : (.*)$")
_TYPED = re.compile(r"default=|^(?:\(|\{|array|int|float|str|bool|list|dict|tuple|callable|function|None\b|\")")


def complete(cls: type) -> None:
    """Complete the docstring of a class and of its standard methods, in place."""
    if vars(cls).get("__doc__"):
        written = "__init__" in vars(cls) or not hasattr(cls, "__dataclass_fields__")
        parameters = _arguments(cls) if written else _fields(cls)
        cls.__doc__ = completed(inspect.cleandoc(vars(cls)["__doc__"]), parameters)
    for name, value in vars(cls).items():
        if name in METHODS and inspect.isfunction(value) and "Parameters\n" not in (value.__doc__ or "Parameters\n"):
            value.__doc__ = _described(name, value)


def completed(doc: str, parameters: dict[str, tuple[str, str]]) -> str:
    """Return a docstring whose section of parameters has a type and a default for every parameter.

    parameters : {name: (type, default)} of the constructor, both as text.
    """
    head, title, rest = doc.partition("Parameters\n----------\n")
    if not title:  # the section comes before the first other one
        other = _SECTION.search(doc)
        at = other.start() if other else len(doc)
        head, rest = doc[:at].rstrip("\n") + "\n\n", doc[at:]
    found = _SECTION.search("\n\n" + rest)
    at = max(found.start() - 2, 0) if found else len(rest)
    own, tail = rest[:at].rstrip("\n"), rest[at:].lstrip("\n")
    entries, named = _entries(own, parameters)
    for name, (kind, default) in parameters.items():
        if name not in named and name in SHARED:
            kind, text = SHARED[name]
            entries.append(_entry(name, _with_default(kind, default), text))
    body = "\n".join(entries)
    return f"{head}Parameters\n----------\n{body}\n\n{tail}".rstrip("\n") + "\n" if body else doc


def _entries(own: str, parameters: dict[str, tuple[str, str]]) -> tuple[list[str], set[str]]:
    """Entries of a section, those of one line with type and default, and the names that they describe."""
    blocks = re.split(r"\n(?=\S)", own.strip("\n")) if own.strip() else []
    entries: list[str] = []
    named: set[str] = set()
    for block in blocks:
        first, _, more = block.partition("\n")
        found = _ENTRY.match(first)
        names = found[1].split(", ") if found else []
        named.update(names)
        if not found or _TYPED.search(found[2]) or not set(names) <= set(parameters):
            entries.append(block)
            continue
        text = " ".join([found[2], *map(str.strip, more.splitlines())]).strip()
        for name in names:
            kind, default = parameters[name]
            kind = SHARED[name][0] if kind == "object" and name in SHARED else kind
            entries.append(_entry(name, _with_default(kind, default), text[:1].upper() + text[1:]))
    return entries, named


def _with_default(kind: str, default: str) -> str:
    return kind if default == "required" else f"{kind}, default={default}"


def _entry(name: str, kind: str, text: str) -> str:
    return f"{name} : {kind}\n    {text}"


def _described(name: str, method: Any) -> str:
    """The docstring of a standard method with its parameters and what it returns."""
    arguments = list(inspect.signature(method).parameters.values())[1:]
    doc, given = inspect.cleandoc(method.__doc__), [one.name for one in arguments if one.kind != one.VAR_KEYWORD]
    ignored = any(one.name == "y" and one.default is None for one in arguments)
    known = [_IGNORED if one == "y" and ignored else _PARAMETERS[one] for one in given if one in _PARAMETERS]
    if not known or len(known) < len(given):
        return doc
    return f"{doc}\n\nParameters\n----------\n{''.join(known)}\nReturns\n-------\n{METHODS[name]}\n"


def _arguments(cls: type) -> dict[str, tuple[str, str]]:
    """{name: (type, default)} of the arguments of a constructor that is written out."""
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    given = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {
        one.name: (_kind(one.annotation, []), "required" if one.default is one.empty else repr(one.default))
        for one in given
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }


def _fields(cls: type) -> dict[str, tuple[str, str]]:
    """{name: (type, default)} of the constructor's parameters, inherited ones last."""
    found: dict[str, tuple[str, str]] = {}
    for base in cls.__mro__:
        kinds = inspect.get_annotations(base)
        for name, kind in kinds.items():
            value = base.__dict__.get(name, MISSING)
            value = base.__dict__.get("__dataclass_fields__", {}).get(name, value)
            if name.startswith("_") or name in found or "ClassVar" in str(kind):
                continue
            default = value.default if isinstance(value, Field) else value
            accepted = value.metadata.get("accepted", []) if isinstance(value, Field) else []
            if isinstance(value, Field) and not value.init:
                continue
            found[name] = (_kind(kind, accepted), "required" if default is MISSING else repr(default))
    return found


def _kind(annotation: Any, accepted: list) -> str:
    """A type in words, from the values that validation accepts or from an annotation."""
    words = []
    for one in accepted:
        options, of = getattr(one, "options", None), getattr(one, "type", None)
        if options is not None:
            named = sorted(map(repr, options), key=str)
            words += named if of is not str else ["{" + ", ".join(named).replace("'", '"') + "}"]
        elif of is not None:
            words.append(_WORDS.get(of.__name__, of.__name__))
        elif one is None:
            words.append("None")
        elif isinstance(one, str):
            words.append({"boolean": "bool", "random_state": "int, RandomState or None"}.get(one, one))
        else:
            words.append({"callable": "callable"}.get(getattr(one, "__name__", ""), getattr(one, "__name__", str(one))))
    if not words:
        words = [getattr(annotation, "__name__", str(annotation)).replace(" | ", " or ")]
        words = ["object"] if words == ["Any"] else words
    words = [word for word in dict.fromkeys(words) if word != "None"] + (["None"] if "None" in words else [])
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"
