"""The options of the commands, each written once. Nothing heavy is imported here."""

import inspect
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..few_label.sizes import SIZES
from .usage import number

NEEDED: Any = inspect.Parameter.empty


def parameter(name: str, kind, default, info):
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


class path(str):
    """A path or an address as it was typed: pathlib would join the slashes of an address."""


def argument(name: str, metavar: str, help: str, kind: Any = path):
    return parameter(name, kind, NEEDED, typer.Argument(metavar=metavar, parser=kind, help=help, show_default=False))


def option(flags, help, kind: Any = str, default: Any = None, metavar=None, parser=None, name=None):
    """An option, written once for all commands that have it. Their functions get it under `name`."""
    flags = flags.split()
    kind = kind if default is not None else kind | None
    info = typer.Option(*flags, metavar=metavar, help=help, parser=parser)
    return parameter(name or flags[0].lstrip("-").replace("-", "_"), kind, default, info)


def file(flags, help):
    return option(flags, help, Path, metavar="FILE")


def columns(flags: str, help: str):
    return option(flags, help, list[str], metavar="COLUMN")


def flag(flags: str, help: str, name: str | None = None):
    return option(flags, help, bool, False, name=name)


def whole(flags: str, help: str, default: int | type | None, low: int, high: float = math.inf):
    return option(flags, help, int, default, "N", number(flags.split()[0], low, high, whole=True))


def real(flags: str, help: str, default: float | None, metavar: str = "P", low: float = -math.inf):
    return option(flags, help, float, default, metavar, number(flags.split()[0], low))


DATA_HELP = "Table: CSV, Excel, Parquet, JSON, NPZ, file.db::table."
DATA = argument("data", "DATA", DATA_HELP)
TARGET = option("--target -t", "Column of labels, with empty cells in unlabeled rows.", str, NEEDED, "COLUMN")
TARGETS = option(
    "--target -t",
    "Column of labels, with empty cells in unlabeled rows. May be repeated. --label-studio finds it.",
    list[str],
    metavar="COLUMN",
)
OUT = file("--out -o", "Table to write (default: next to DATA, with a suffix).")
MARK = file("--out -o", "Table to write, with these rows marked. Without it none is written.")
REPORT = file("--report -r", "HTML report to write.")
ABSTAIN = real("--abstain", "Leave rows below this confidence unlabeled (such as 0.9).", None)
PROBABILITIES = flag("--probabilities", "Add a column TARGET_probability_CLASS for each class.")
SETS = [
    real("--coverage", "Add TARGET_set: a prediction set with this coverage (such as 0.9).", None, "FRACTION"),
    flag("--by-class", "Reach --coverage in every class."),
]
RANK = option(
    "--rank", "List the rows that are most likely of this class, and add the column TARGET_rank.", metavar="CLASS"
)
FIND = option("--find", "Suggest the rows that are most likely of this class.", metavar="CLASS")
PROMISE = real(
    "--wrong-at-most",
    "Mark predictions as accepted of which at most this fraction is wrong, with 95% certainty (such as 0.05).",
    None,
    "FRACTION",
)
SEARCH = [
    option("--method -m", "auto, all, or names from `mercer methods`, with commas.", str, "auto", "NAME"),
    real("--seconds", "Work budget, in seconds of one core.", SIZES.seconds, "S", 1),
]
KERNEL = [
    option("--kernel", "rbf, laplacian, matern32, matern52, linear, poly, cosine, forest.", str, "rbf", "NAME"),
    parameter(
        "scale", bool, True, typer.Option(help="Give every column the same weight, also in a table of numbers only.")
    ),
]
ID = option("--id", "Column that names the rows. It is not used as a feature.", metavar="COLUMN")
COLUMNS = [
    columns("--ignore --exclude -x", "Column not to learn from. May be repeated."),
    columns("--text", "Column to read as text. May be repeated."),
    columns("--category", "Column to read as a category. May be repeated."),
    columns("--number", "Column to read as a number. May be repeated."),
    columns("--image", "Column of paths of images. May be repeated."),
]
MODELS = [  # what turns texts and images into vectors
    option(
        "--text-model",
        "Sentence model used next to TF-IDF: auto (the installed one), none, a name, a folder or an ONNX file.",
        metavar="MODEL",
    ),
    option(
        "--image-model",
        "Network used for images: auto (the installed one), none, a timm model, an ONNX or TorchScript file.",
        metavar="MODEL",
    ),
    option("--no-cache", "Do not keep the vectors of texts and images next to DATA.", bool),
]
INCLUDE = columns("--include", "Column to use although it leaks the label.")
KIND = option(
    "--as",
    "number or class: how to read numbers in TARGET, inferred by default. COLUMN=number for one of several targets.",
    list[str],
    metavar="KIND",
    name="kind",
)
MISSING = option(
    "--missing",
    "Another marker of unlabeled cells, such as -1. May be repeated. '' if NA is a class.",
    list[str],
    metavar="MARK",
)
FORMAT = [  # how a file is read, the vectors next to it included
    option(
        "--embed",
        "Vectors: an NPY file with a row for each row, or a column. May be repeated.",
        list[str],
        None,
        "WHAT",
    ),
    option("--delimiter", "Column delimiter, inferred by default.", metavar="CHAR"),
    option("--encoding", "Text encoding, inferred by default.", metavar="NAME"),
    option("--sheet", "Sheet of an Excel workbook.", metavar="NAME"),
    whole("--header", "Number of the line or row of column names, from 1, inferred by default.", None, 1),
    option("--table", "Table of a database, or split of a datasets folder.", metavar="NAME"),
]
PROTECT = flag("--protect", "Write CSV cells that a spreadsheet would run, such as =1, with an apostrophe.")
FORCE = flag("--force -f", "Replace files that exist.")
SEED = whole("--seed", "Seed of everything random.", 0, 0, 2**32 - 1)
SCREEN = [
    flag("--quiet -q", "Print nothing but errors."),
    flag("--json", "Print the result as one JSON object.", name="as_json"),
    flag("--debug", "Show the traceback of an error."),
]
MORE = option(
    "--more",
    "Table of labeled rows, as `mercer suggest --only` writes it. Its labels are added. May be repeated.",
    list[Path],
    metavar="FILE",
)
HINT = columns("--hint", "Column of guesses of the class by another source, such as a language model. May be repeated.")
LINKS = file("--links", "Table of links between the rows: two columns of row names, and a third of weights if any.")
LABELED = [
    KIND,
    ID,
    MORE,
    HINT,
    LINKS,
    *COLUMNS,
    *MODELS,
    INCLUDE,
    MISSING,
    *FORMAT,
]  # how a table with labels is read
