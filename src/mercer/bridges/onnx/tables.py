"""Columns of a table in an ONNX graph, with an input for each used column and the encoding of `TableEncoder`."""

from functools import singledispatch
from typing import Any

import numpy as np

from ...errors import InputError
from ...inputs.tables import TableEncoder
from ...inputs.tables.cells import GAPS, LARGEST
from ...inputs.tables.kinds import SPELLINGS, Category, Number, Ordered, Vectors
from .graph import Graph, Value
from .kernels import unit


def rows_of(encoder: TableEncoder, graph: Graph) -> Value:
    """(n, d) matrix of the encoder, from an input (n, 1) of text or of numbers with NaN for gaps for each column."""
    blocks = [encoded(kind, graph) * float(kind.scale) for kind in encoder.encoders_]
    return blocks[0] if len(blocks) == 1 else graph.xp.concatenate(blocks, axis=1)


@singledispatch
def encoded(kind: Any, graph: Graph) -> Value:
    """(n, k) columns of the matrix before the scale, from inputs that are named after the columns of the table."""
    raise InputError(
        f"Column {kind.name!r} is read as {type(kind).__name__.lower()}, which cannot be exported to ONNX. Exclude it, "
        "or fit on the matrix TableEncoder().fit_transform(frame) and encode new rows before you call the ONNX model."
    )


@encoded.register
def _(kind: Number, graph: Graph) -> Value:
    return number(kind, graph.input(kind.name))


@encoded.register
def _(kind: Category, graph: Graph) -> Value:
    return category(kind, graph.input(kind.name, str))


@encoded.register
def _(kind: Ordered, graph: Graph) -> Value:
    if kind.positions:
        text = graph.input(kind.name, str)
        place, word = _looked_up(text, _cased(kind.positions), np.nan), category(kind.category, text)
    else:
        place = graph.input(kind.name)
        levels = np.array([float(level) if level else np.nan for level in kind.category.levels])
        if np.nanmax(np.abs(levels)) >= 1e6:  # larger numbers are not written with all their digits
            raise InputError(f"Column {kind.name!r} has codes of seven digits or more. Give it as number or category.")
        gap = _gone(place).cast(np.float64) * np.isnan(levels).astype(float)
        word = graph.add("Equal", place, levels).cast(np.float64) + gap
    blocks = [number(kind.number, place), word * float(kind.category.scale)]
    return graph.xp.concatenate(blocks, axis=1) * float(np.sqrt(0.5))


@encoded.register
def _(kind: Vectors, graph: Graph) -> Value:
    if len(kind.columns) == 1:
        raise InputError(
            f"Column {kind.name!r} contains lists, for which ONNX has no input. Fit on a frame with one column for "
            "each of their numbers."
        )
    xp = graph.xp
    rows = xp.concatenate([graph.input(name) for name in kind.columns], axis=1)
    gone = _gone(rows).cast(np.float64).reduce("Max", keep=True) > 0.0
    return unit(xp.where(gone, 0.0, rows))


def number(kind: Number, values: Value) -> Value:
    """The columns of `Number.block`."""
    xp, gone = values.graph.xp, _gone(values)
    values = xp.where(gone, kind.fill, values)
    if kind.step:
        above = (values - kind.low) / kind.step
        values = values.graph.add("Sign", above) * xp.log(xp.abs(above) + 1.0)
    values = (values - kind.center) / kind.spread
    return xp.concatenate([values, gone.cast(np.float64) * kind.flag], axis=1) if kind.flag else values


def category(kind: Category, text: Value) -> Value:
    """The columns of `Category.block`."""
    if kind.reading == "first word":
        raise InputError(
            f"The first word of column {kind.name!r} is used, which cannot be exported to ONNX. Fit on a frame whose "
            "column contains only the first word."
        )
    words = {level: place for place, level in enumerate(kind.levels)}
    spelled = {f"{word}.0": place for word, place in words.items() if word} | words  # whole numbers have no decimals
    if kind.reading == "boolean":
        for word, spellings in (("yes", {*SPELLINGS["yes"], "1", "1.0"}), ("no", {*SPELLINGS["no"], "0", "0.0"})):
            spelled |= _cased(dict.fromkeys(spellings, words[word])) if word in words else {}
    spelled |= dict.fromkeys(GAPS, words[""]) if "" in words else {}
    return text.graph.add("Equal", _looked_up(text, spelled, -1.0), np.arange(len(words), dtype=float)).cast(np.float64)


def _gone(values: Value) -> Value:
    """Whether each number is missing."""
    graph = values.graph
    return graph.add("Not", graph.xp.abs(values) < LARGEST)


def _cased(places: dict) -> dict:
    """The same places for words in lower case, in upper case, and with a capital first letter."""
    return {form: place for word, place in places.items() for form in (word, word.upper(), word.capitalize())}


def _looked_up(text: Value, places: dict, other: float) -> Value:
    """(n, 1) the number of each word."""
    return text.graph.add(
        "LabelEncoder",
        text,
        domain="ai.onnx.ml",
        keys_strings=list(places),
        values_floats=[float(place) for place in places.values()],
        default_float=float(other),
    ).cast(np.float64)
