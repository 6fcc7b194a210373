"""The options of the commands, each written once. Nothing heavy is imported here."""

import inspect
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..few_label.sizes import SIZES
from .usage import number


def parameter(name: str, kind, default, info):
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def data(default: Any = inspect.Parameter.empty):
    """Return the argument DATA. Without a default it is needed."""
    help = "Table: CSV, Excel, Parquet, JSON, NPZ, file.db::table."
    return parameter("data", path, default, typer.Argument(metavar="DATA", parser=path, help=help, show_default=False))


class path(str):
    """A path or an address as it was typed. (pathlib would join the slashes of an address.)"""


def argument(name: str, metavar: str, help: str, kind: Any = path):
    return parameter(
        name, kind, inspect.Parameter.empty, typer.Argument(metavar=metavar, parser=kind, help=help, show_default=False)
    )


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


# Parameters by key, which is the name of the option, or another one if commands describe it differently.
OPTIONS: dict[str, inspect.Parameter] = {
    "data": data(),
    "target": option(
        "--target -t",
        "Column of labels, with empty cells in unlabeled rows.",
        str,
        inspect.Parameter.empty,
        "COLUMN",
    ),
    "targets": option(
        "--target -t",
        "Column of labels, with empty cells in unlabeled rows. May be repeated. --label-studio finds it.",
        list[str],
        metavar="COLUMN",
    ),
    "out": file("--out -o", "Table to write (default: next to DATA, with a suffix)."),
    "marked": file("--out -o", "Table to write, with these rows marked. Without it none is written."),
    "only": file("--only", "Table to write with these rows only, the labels first, for `mercer label --more`."),
    "report": file("--report -r", "HTML report to write."),
    "abstain": real("--abstain", "Leave rows below this confidence unlabeled (such as 0.9).", None),
    "probabilities": flag("--probabilities", "Add a column TARGET_probability_CLASS for each class."),
    "coverage": real(
        "--coverage", "Add TARGET_set, a prediction set with this coverage (such as 0.9).", None, "FRACTION"
    ),
    "by-class": flag("--by-class", "Reach --coverage in every class."),
    "method": option("--method -m", "auto, all, or names from `mercer methods`, with commas.", str, "auto", "NAME"),
    "seconds": real("--seconds", "Work budget, in seconds of one core.", SIZES.seconds, "S", 1),
    "kernel": option(
        "--kernel", "rbf, laplacian, matern32, matern52, linear, poly, cosine, forest.", str, "rbf", "NAME"
    ),
    "scale": parameter(
        "scale", bool, True, typer.Option(help="Give every column the same weight, also in a table of numbers only.")
    ),
    "labels": file("--labels", "Table of the labels, if they are not in DATA (such as for a folder of images)."),
    "key": option(
        "--key", "Column that names the rows in DATA and in --labels. For images it is the file name.", metavar="COLUMN"
    ),
    "scheduler": option("--scheduler", "Dask scheduler to work on, if DATA is a folder of tables.", metavar="ADDRESS"),
    "workers": whole(
        "--workers",
        "Number of processes, if DATA is a folder of tables. Without it threads are used.",
        None,
        1,
    ),
    "id": option("--id", "Column that names the rows. It is not used as a feature.", metavar="COLUMN"),
    "ignore": columns("--ignore --exclude -x", "Column not to learn from. May be repeated."),
    "text": columns("--text", "Column to read as text. May be repeated."),
    "category": columns("--category", "Column to read as a category. May be repeated."),
    "number": columns("--number", "Column to read as a number. May be repeated."),
    "image": columns("--image", "Column of paths of images. May be repeated."),
    "text-model": option(
        "--text-model",
        "Sentence model used next to TF-IDF: auto (the installed one), none, a name, a folder or an ONNX file.",
        metavar="MODEL",
    ),
    "image-model": option(
        "--image-model",
        "Network used for images: auto (the installed one), none, a timm model, an ONNX or TorchScript file.",
        metavar="MODEL",
    ),
    "no-cache": option("--no-cache", "Do not keep the vectors of texts and images next to DATA.", bool),
    "include": columns("--include", "Column to use although it leaks the label."),
    "as": option(
        "--as",
        "How to read numbers in TARGET (number or class), inferred by default. COLUMN=number for one of several "
        "targets.",
        list[str],
        metavar="KIND",
        name="kind",
    ),
    "missing": option(
        "--missing",
        "Another marker of unlabeled cells, such as -1. May be repeated. '' if NA is a class.",
        list[str],
        metavar="MARK",
    ),
    "embed": option(
        "--embed",
        "Vectors of the rows, as an NPY file or a column. May be repeated.",
        list[str],
        None,
        "WHAT",
    ),
    "delimiter": option("--delimiter", "Column delimiter, inferred by default.", metavar="CHAR"),
    "encoding": option("--encoding", "Text encoding, inferred by default.", metavar="NAME"),
    "sheet": option("--sheet", "Sheet of an Excel workbook.", metavar="NAME"),
    "header": whole("--header", "Number of the line or row of column names, from 1, inferred by default.", None, 1),
    "table": option("--table", "Table of a database, or split of a datasets folder.", metavar="NAME"),
    "more": option(
        "--more",
        "Table of labeled rows, as `mercer suggest --only` writes it. Its labels are added. May be repeated.",
        list[Path],
        metavar="FILE",
    ),
    "hint": columns(
        "--hint", "Column of guesses of the class by another source, such as a language model. May be repeated."
    ),
    "links": file(
        "--links", "Table of links between the rows, with two columns of row names and perhaps a third of weights."
    ),
    "protect": flag("--protect", "Write CSV cells that a spreadsheet would run, such as =1, with an apostrophe."),
    "force": flag("--force -f", "Replace files that exist."),
    "seed": whole("--seed", "Seed of everything random.", 0, 0, 2**32 - 1),
    "quiet": flag("--quiet -q", "Print nothing but errors."),
    "json": flag("--json", "Print the result as one JSON object.", name="as_json"),
    "debug": flag("--debug", "Show the traceback of an error."),
}
# Keys of options that belong together, by the name of the group in capitals.
GROUPS = {
    "COLUMNS": "ignore text category number image",
    "MODELS": "text-model image-model no-cache",  # what turns texts and images into vectors
    "FORMAT": "embed delimiter encoding sheet header table",  # how a file is read, with the vectors next to it
    "LABELED": "as id more hint links COLUMNS MODELS include missing FORMAT",  # how a table with labels is read
    "FOLDERS": "scheduler workers",
    "SCREEN": "quiet json debug",
}


def options_of(keys: str) -> list[inspect.Parameter]:
    """Return the options with these keys, separated by spaces. The name of a group means all of its options."""
    found = []
    for key in keys.split():
        found += options_of(GROUPS[key]) if key in GROUPS else [OPTIONS[key]]
    return found
