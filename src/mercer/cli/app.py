"""The commands and their options. Nothing heavy is imported here, so that `mercer --help` answers at once."""

import functools
import inspect
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from .screen import run
from .usage import Commands, number, placed

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # help without boxes: it can be read in any terminal and piped anywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
NEEDED: Any = inspect.Parameter.empty


def _parameter(name, kind, default, info):
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


class path(str):
    """A path or an address as it was typed: pathlib would join the slashes of an address."""


def _argument(name, metavar, help, kind: Any = path):
    return _parameter(name, kind, NEEDED, typer.Argument(metavar=metavar, parser=kind, help=help, show_default=False))


def _option(flags, help, kind: Any = str, default: Any = None, metavar=None, parser=None, name=None):
    """An option, written once for all commands that have it; their functions get it under `name`."""
    flags = flags.split()
    kind = kind if default is not None else kind | None
    info = typer.Option(*flags, metavar=metavar, help=help, parser=parser)
    return _parameter(name or flags[0].lstrip("-").replace("-", "_"), kind, default, info)


def _file(flags, help):
    return _option(flags, help, Path, metavar="FILE")


def _columns(flags, help):
    return _option(flags, help, list[str], metavar="COLUMN")


def _flag(flags, help, name=None):
    return _option(flags, help, bool, False, name=name)


def _whole(flags, help, default, low, high=math.inf):
    return _option(flags, help, int, default, "N", number(flags.split()[0], low, high, whole=True))


def _real(flags, help, default, metavar="P", low=-math.inf):
    return _option(flags, help, float, default, metavar, number(flags.split()[0], low))


DATA_HELP = "Table: CSV, Excel, Parquet, JSON, NPZ, file.db::table."
DATA = _argument("data", "DATA", DATA_HELP)
CELLS = "Column of labels; empty cells are the unlabelled rows"
TARGET = _option("--target -t", f"{CELLS}.", str, NEEDED, "COLUMN")
TARGETS = _option("--target -t", f"{CELLS}; may be repeated.", list[str], NEEDED, "COLUMN")
OUT = _file("--out -o", "Table to write; else beside DATA, under a longer name.")
MARK = _file("--out -o", "Table to write, with these rows marked; else none.")
REPORT = _file("--report -r", "HTML report to write.")
ABSTAIN = _real("--abstain", "Leave rows unlabelled below this confidence (such as 0.9).", None)
PROBABILITIES = _flag("--probabilities", "Add a column TARGET_probability_CLASS for each class.")
SETS = [
    _real(
        "--coverage", "Add TARGET_set: classes among which the right one is in this share (such as 0.9).", None, "SHARE"
    ),
    _flag("--by-class", "Keep the promise of --coverage for every class by itself."),
]
SEARCH = [
    _option("--method -m", "auto, all, or names from `mercer methods`, with commas.", str, "auto", "NAME"),
    _real("--seconds", "Work to do, in seconds of one core.", 60.0, "S", 1),
]
KERNEL = [
    _option("--kernel", "rbf, laplacian, matern32, matern52, linear, poly, cosine, forest.", str, "rbf", "NAME"),
    _parameter(
        "scale", bool, True, typer.Option(help="Give every column the same say, also in a table of numbers only.")
    ),
]
ID = _option("--id", "Column that names the rows; not learnt from.", metavar="COLUMN")
COLUMNS = [
    _columns("--ignore -x", "Column not to learn from; may be repeated."),
    _columns("--text", "Column to read as text; may be repeated."),
    _columns("--category", "Column to read as a category; may be repeated."),
    _columns("--number", "Column to read as a number; may be repeated."),
    _columns("--image", "Column of paths of images; may be repeated."),
    _option("--text-model", "Sentence-transformers model, if it is here.", metavar="NAME"),
    _option("--image-model", "timm model that is here, or a TorchScript file.", metavar="NAME"),
]
INCLUDE = _columns("--include", "Column to learn from though it tells labelled rows apart.")
KIND = _option(
    "--as",
    "number or class: what numbers in TARGET are, found if not given; COLUMN=number for one of several targets.",
    list[str],
    metavar="KIND",
    name="kind",
)
MARKS = "Another mark for unlabelled cells, such as -1; may be repeated; '' if NA is a class."
MISSING = _option("--missing", MARKS, list[str], metavar="MARK")
FORMAT = [  # how a file is read, the vectors beside it included
    _option(
        "--embed",
        "Vectors: an NPY file with a row for each row, or a column; may be repeated.",
        list[str],
        None,
        "WHAT",
    ),
    _option("--delimiter", "Column delimiter; found if not given.", metavar="CHAR"),
    _option("--encoding", "Text encoding; found if not given.", metavar="NAME"),
    _option("--sheet", "Sheet of an Excel workbook.", metavar="NAME"),
    _option("--table", "Table of a database, or split of a datasets folder.", metavar="NAME"),
]
PROTECT = _flag("--protect", "Write CSV cells that a spreadsheet would run, such as =1, with an apostrophe.")
FORCE = _flag("--force -f", "Replace files that exist.")
SEED = _whole("--seed", "Seed of everything random.", 0, 0, 2**32 - 1)
SCREEN = [
    _flag("--quiet -q", "Print nothing but errors."),
    _flag("--json", "Print the result as one JSON object.", name="as_json"),
    _flag("--debug", "Show the traceback of an error."),
]
MORE = _option(
    "--more",
    "Table of answered rows, such as `mercer suggest --only` writes: its labels are added; may be repeated.",
    list[Path],
    metavar="FILE",
)
LABELLED = [KIND, ID, MORE, *COLUMNS, INCLUDE, MISSING, *FORMAT]  # how a table with labels is read


def _command(job, *parameters):
    """Make a function without a body a command: its docstring is the help, the function `module:function` is called.

    Parameters
    ----------
    job : module and function.
    parameters : what typer reads from the signature of a command.
    """

    def register(described):
        def invoke(**options):
            run(placed(job, options), options)

        command: Any = functools.update_wrapper(invoke, described)
        command.__signature__ = inspect.Signature(list(parameters))
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return app.command()(command)

    return register


def _version(wanted: bool):
    if wanted:
        from mercer import __version__

        print(f"mercer {__version__}")
        raise typer.Exit


@app.callback(epilog="To begin: mercer label data.csv --target COLUMN --report report.html")
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
):
    """Fill in the labels of a table of which only a few rows are labelled, and look at data without labels."""


SAVE = _file("--save -s", "Model to write, for `mercer predict`; of several targets NAME-TARGET each.")
FOLDERS = [
    _option("--scheduler", "For a folder of tables as DATA: the Dask scheduler to work on.", metavar="ADDRESS"),
    _whole("--workers", "For a folder: so many processes of this machine; else threads.", None, 1),
]
KEYED = [
    _file("--labels", "For a folder: table of the labels, beside the parts."),
    _option("--key", "Column that names the rows in the parts and in --labels.", metavar="COLUMN"),
]
LABEL = [OUT, REPORT, SAVE, ABSTAIN, PROBABILITIES, *SETS]


@_command("labelling:label", DATA, TARGETS, *LABEL, *SEARCH, *LABELLED, *KEYED, *FOLDERS, PROTECT, FORCE, SEED, *SCREEN)
def label():
    """Fill in the labels that are missing.

    Writes the table, in its order, with three more columns:

    \b
      TARGET_predicted   the given label, or the predicted one
      TARGET_confidence  its calibrated probability, 1 for given labels
      TARGET_source      given, predicted or abstained

    Where the labels are numbers to predict (measurements; --as decides), TARGET_low and TARGET_high stand in place of
    the confidence: an interval that holds nine of ten true numbers.

    To correct an answer, type it into TARGET, or into TARGET_predicted with `given` beside it in TARGET_source, and
    give the output as DATA: both are learnt from. Answers whose source is predicted are not, whatever they say.

    For rows that belong to none of the classes, label some of them with a word of their own, such as none: it is a
    class like the others. Several columns of labels (-t a -t b) are filled in one by one and written to one table;
    cells of several labels (a;b) are filled in label by label.

    A column TARGET_how, such as `mercer suggest` writes, says which labelled rows were drawn at random and which were
    chosen: the accuracy is then estimated from the random ones only. Without it all count as drawn at random.
    """


ONLY = _file("--only", "Table to write with these rows only, the labels first; for `mercer label --more`.")
AUDIT = _real("--audit", "Share of these rows to draw at random, so that accuracy can be estimated (such as 0.2).", 0.0)
NEXT = [_whole("-n", "How many rows.", 20, 1), AUDIT, MARK, ONLY]


@_command("advising:suggest", DATA, TARGET, *NEXT, *SEARCH, *LABELLED, PROTECT, FORCE, SEED, *SCREEN)
def suggest():
    """Say which rows to label next.

    They are those whose labels would help most; it works without any label too. Such rows are harder than others, so
    how often they come out right says little of all rows: --audit mixes in rows drawn at random. The column TARGET_how
    says which is which, and `mercer label` reads it.
    """


ABOVE = _real("--above", "List labels that are wrong with a probability above this.", 0.5)
DOUBTFUL = [_whole("-n", "Most rows to list.", 20, 1), ABOVE, MARK]


@_command("advising:check", DATA, TARGET, *DOUBTFUL, *SEARCH, *LABELLED, PROTECT, FORCE, SEED, *SCREEN)
def check():
    """List the given labels that are probably wrong.

    Each label is withheld and predicted from the others. How likely a contradicted one is wrong depends on how often
    the model is right at all, which is said too.
    """


@_command("advising:compare", DATA, TARGET, SEARCH[1], *LABELLED, SEED, *SCREEN)
def compare():
    """Try every method and count the left-out labels it gets right."""


MODEL = _argument("model", "MODEL", "Model that `mercer label --save` wrote.", Path)
PREDICT = [OUT, ABSTAIN, PROBABILITIES, *SETS, *FORMAT, *FOLDERS, PROTECT, FORCE]
NEW = _argument("new", "NEW", "Table with the same columns.")


@_command("labelling:predict", MODEL, NEW, *PREDICT, *SCREEN)
def predict():
    """Label new rows with a saved model.

    TARGET_source is novel for rows unlike all training rows: there the confidence falls to the share of the class.
    """


LABELS = _option("--target -t", "Column of labels, if there is one.", metavar="COLUMN")


@_command("looking:look", DATA, LABELS, *COLUMNS, *FORMAT, *SCREEN)
def look():
    """Show what each column is taken for, how it is used and why.

    The options --text, --category, --number, --image, --embed and --ignore, here and in all commands, decide otherwise.
    """


UNLABELLED = [*KERNEL, OUT, REPORT, ID, *COLUMNS, *FORMAT, *FOLDERS, PROTECT, FORCE, SEED, *SCREEN]


@_command(
    "unlabelled:embed",
    DATA,
    _option("--method -m", "kpca, robust or sparse.", str, "kpca", "NAME"),
    _whole("--components -d", "Number of components.", 2, 1),
    *UNLABELLED,
)
def embed():
    """Write every row's position on kernel principal components.

    The components are plain (kpca), robust to outliers, or sparse: combinations of few rows.
    """


@_command("unlabelled:cluster", DATA, _whole("--clusters -k", "Number of groups.", NEEDED, 1), *UNLABELLED)
def cluster():
    """Group the rows by kernel c-means."""


@_command(
    "unlabelled:novelty",
    DATA,
    _option("--method -m", "svdd, kpca or density.", str, "svdd", "NAME"),
    _real("--share", "Share of the rows to call unusual, up to 0.5.", 0.05),
    *UNLABELLED,
)
def novelty():
    """Find the rows that are unlike the others."""


@_command("machine:methods", *SCREEN)
def methods():
    """List the methods: what each does and where it runs."""


@_command("machine:info", *SCREEN)
def info():
    """Show versions, devices and memory."""


FOLDER = _option("--out -o", "Folder for the table, the report and the model.", Path, Path("out"), "FOLDER")


@_command("demo:demo", FOLDER, _whole("--seed", "Which 20 digits are labelled.", 0, 0, 2**32 - 1), *SCREEN)
def demo():
    """Label 1 797 handwritten digits from 20 labels; check the answers."""


STUDIO = [
    _parameter("data", path, None, typer.Argument(metavar="DATA", parser=path, help=DATA_HELP, show_default=False)),
    _option("--target -t", "Column of labels; it need not be in the table yet.", metavar="COLUMN"),
    ID,
    _option("--image", "Column of paths of images, which are shown and learnt from.", metavar="COLUMN"),
    _option("--text", "Column to show and read as text.", metavar="COLUMN"),
    _columns("--exclude -x", "Column not to learn from; may be repeated."),
    _whole("--port", "Port to listen on; 0 takes a free one.", 0, 0, 65535),
    _flag("--no-browser", "Print the address and open nothing."),
    _real("--goal", "Share of right answers to certify (0.9).", None),
    _real("--random-share", "Share of rows to label that are drawn at random (0.25).", None),
    ABSTAIN,
    MISSING,
    *FORMAT[1:],
    _flag("--demo", "Try it with handwritten digits, in the folder DATA or mercer-demo."),
]


@_command("serving:studio", *STUDIO, *SCREEN)
def studio():
    """Open a page in the browser on which rows are labelled.

    All other labels follow as you label; the page asks the most useful question next and says how many answers are
    right. Every label is on the disk, in the folder DATA.mercer, before it is acknowledged; give DATA or this folder to
    go on. DATA is never written to.
    """
