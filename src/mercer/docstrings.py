"""Complete the docstrings of estimators with types and defaults of parameters and with texts common to many classes.

A class describes its own parameters. Those that it does not describe (`kernel`, `approx`, `random_state`, …) are added
from `parameter_texts`, and so are those of methods and functions (`X`, `y`, `drawn`, …). Defaults come from the
signature. The help of a class and the API reference are therefore complete, and a text is written once.
"""

import inspect
import re
import weakref
from dataclasses import MISSING, Field
from typing import Any, NamedTuple

from .parameter_texts import CALL, CONSTRUCTOR, INSTEAD, RETURNS

Texts = dict[str, tuple[str, str]]


class Patterns(NamedTuple):
    """Patterns that recognize the parts of a docstring.

    Attributes
    ----------
    section : a title and the line below it.
    entry : `name : type or text`.
    typed : a type, with its default or alone.
    kind : a type of few words, and what follows it.
    shape : a shape at the beginning of a text.
    elsewhere : a reference to the description of another parameter.
    """

    section: re.Pattern[str]
    entry: re.Pattern[str]
    typed: re.Pattern[str]
    kind: re.Pattern[str]
    shape: re.Pattern[str]
    elsewhere: re.Pattern[str]


def _patterns() -> Patterns:
    word = "(?:int|float|bool|str|callable|function|dict|list|None)"
    return Patterns(
        section=re.compile(r"(?<=\n\n)\w[\w ]*\n-{3,}\n"),
        entry=re.compile(r"^(\*{0,2}\w[\w, *]*?) : (.*)$"),
        typed=re.compile(
            r"default=|, optional$|array-like of|^(?:class name|estimator$|DataFrame|\(|\{|array|int|float|str|bool|"
            r"list|dict|tuple|callable|function|None\b|\")"
        ),
        kind=re.compile(rf"^({word}(?: in [(\[][^)\]]*[)\]])?(?:,? or {word})*)(?:[,;:] |$)(.*)$"),
        shape=re.compile(r"^\((?:[nmdlk], ?)*[nmdlk]?\),? (?:rows, or (?=\())?"),
        elsewhere=re.compile(r"^(?:rows,? )?(?:or a data frame, )?[Aa]s in\b|^[Ss]ee "),
    )


PATTERNS = _patterns()


def document(thing: Any) -> None:
    """Complete the docstring of a public function, or those of a class and of all its public methods, in place."""
    if not inspect.isclass(thing):
        if inspect.isfunction(thing) and thing.__doc__:
            thing.__doc__ = _of_call(thing, {})
        return
    complete(thing)
    own = [base for base in thing.__mro__ if base.__module__.split(".")[0] == "mercer"]
    texts = INSTEAD["kernel"] if any("kernel" in inspect.get_annotations(base) for base in own) else {}
    for base in own:
        for name, value in vars(base).items():
            method = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            if not name.startswith("_") and inspect.isfunction(method) and method.__doc__ and method not in _DONE:
                _DONE.add(method)
                method.__doc__ = _of_call(method, texts)


_DONE: weakref.WeakSet = weakref.WeakSet()  # classes, and methods that several classes inherit


def complete(cls: type) -> None:
    """Complete the parameters of the constructor in the docstring of a class, in place."""
    if vars(cls).get("__doc__") and cls not in _DONE:
        _DONE.add(cls)
        bare = cls.__init__ is object.__init__ and inspect.get_annotations(cls)  # type: ignore[misc]
        written = "__init__" in vars(cls) or not (bare or hasattr(cls, "__dataclass_fields__"))
        parameters = _arguments(cls.__init__) if written else _fields(cls)  # type: ignore[misc]
        cls.__doc__ = completed(inspect.cleandoc(vars(cls)["__doc__"]), parameters)


def completed(doc: str, parameters: dict[str, tuple[str, str]], texts: Texts = CONSTRUCTOR) -> str:
    """Return a docstring whose section of parameters has a type, a text and a default for every parameter.

    Parameters
    ----------
    doc : docstring.
    parameters : {name: (type, default)} of the function or class, both as text.
    texts : {name: (type, text)} of parameters that the docstring does not describe.
    """
    head, title, rest = doc.partition("Parameters\n----------\n")
    if not title:  # the section comes before the first other one
        other = PATTERNS.section.search(doc)
        at = other.start() if other else len(doc)
        head, rest = doc[:at].rstrip("\n") + "\n\n", doc[at:]
    found = PATTERNS.section.search("\n\n" + rest)
    at = max(found.start() - 2, 0) if found else len(rest)
    own, tail = rest[:at].rstrip("\n"), rest[at:].lstrip("\n")
    entries, named = _entries(own, parameters, texts)
    for name, (kind, default) in parameters.items():
        if name not in named and name in texts:
            kind, text = texts[name]
            entries.append(_entry(name, _with_default(kind, default), text))
    body = "\n".join(entries)
    return f"{head}Parameters\n----------\n{body}\n\n{tail}".rstrip("\n") + "\n" if body else doc


def _entries(own: str, parameters: dict[str, tuple[str, str]], texts: Texts) -> tuple[list[str], set[str]]:
    """Entries of a section, with type, text and default, and the names that they describe."""
    blocks = re.split(r"\n(?=\S)", own.strip("\n")) if own.strip() else []
    entries: list[str] = []
    named: set[str] = set()
    for block in blocks:
        first, _, more = block.partition("\n")
        found = PATTERNS.entry.match(first)
        names = found[1].split(", ") if found else []
        named.update(names)
        if not found or not set(names) <= set(parameters):
            entries.append(block)
            continue
        # A longer line without a default is a sentence that continues below.
        whole = len(first) <= 90 or re.search(r"default=|, optional$", first)
        if PATTERNS.typed.search(found[2]) and more and whole:
            same = {parameters[name][1] for name in names}
            entries.append(f"{found[1]} : {_with_default(found[2], same.pop())}\n{more}" if len(same) == 1 else block)
            continue
        text = " ".join([found[2], *map(str.strip, more.splitlines())]).strip()
        entries += [_entry(name, *_typed(text, name, parameters[name], texts)) for name in names]
    return entries, named


def _typed(text: str, name: str, parameter: tuple[str, str], texts: Texts) -> tuple[str, str]:
    """(type with default, text) of an entry of one sentence: `int, default=8`, `(n,) weights.`, `int, how many.`"""
    kind, default = parameter
    if name in texts and (kind == "object" or "numpy." in kind):
        kind = texts[name][0]
    if found := PATTERNS.kind.match(text):
        kind, text = found[1] if name not in texts or kind == "object" else kind, found[2]
    text = re.sub(r"^default=\S+$", "", PATTERNS.shape.sub("", text)).strip()
    if name in texts and (not text or PATTERNS.elsewhere.match(text)):
        text = texts[name][1]
    return _with_default(kind, default), text[:1].upper() + text[1:]


def _with_default(kind: str, default: str) -> str:
    kind = kind.removesuffix(", optional")
    return kind if default == "required" or "default=" in kind else f"{kind}, default={default}"


def _entry(name: str, kind: str, text: str) -> str:
    return f"{name} : {kind}\n    {text}"


def _of_call(function: Any, texts: Texts) -> str:
    """The docstring of a function or method with its parameters and, for a standard method, its return value."""
    doc, given, known = inspect.cleandoc(function.__doc__), _arguments(function), CALL | texts
    if given.get("y", ("", "required"))[1] == "None":
        known = known | INSTEAD["ignored"]
    described = "Parameters\n---" in doc
    if not described and not set(given) <= set(known):
        return doc
    if given:
        doc = completed(doc, given, known)
    if not described and function.__name__ in RETURNS and "Returns\n---" not in doc:
        doc = f"{doc.rstrip()}\n\nReturns\n-------\n{RETURNS[function.__name__]}\n"
    return doc


def _arguments(function: Any) -> dict[str, tuple[str, str]]:
    """{name: (type, default)} of the arguments of a function that is written out."""
    if not inspect.isfunction(function):
        return {}
    given = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
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
    words, numbers = [], {"Real": "float", "Integral": "int", "RealNotInt": "float"}
    for one in accepted:
        options, of = getattr(one, "options", None), getattr(one, "type", None)
        if options is not None:
            named = sorted(map(repr, options), key=str)
            words += named if of is not str else ["{" + ", ".join(named).replace("'", '"') + "}"]
        elif of is not None:
            words.append(numbers.get(of.__name__, of.__name__))
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
