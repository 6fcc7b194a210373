"""The commands and their options. Nothing heavy is imported here, so that `mercer --help` answers at once."""

import functools
import inspect
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from .screen import run
from .usage import Commands, number

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # help without boxes: it can be read in any terminal and piped anywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _whole(*names, low, help, high=math.inf):
    return typer.Option(*names, parser=number(names[0], low, high, whole=True), metavar="N", help=help)


def _columns(*names, help):
    return typer.Option(*names, metavar="COLUMN", help=help)


Data = Annotated[Path, typer.Argument(metavar="DATA", help="Table: CSV, TSV, Parquet or NPZ.", show_default=False)]
Target = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column of labels; empty cells are the unlabelled rows."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Table to write; else beside DATA, under a longer name."),
]
Mark = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Table to write, with these rows marked; else none."),
]
Abstain = Annotated[
    float | None,
    typer.Option(
        "--abstain",
        parser=number("--abstain"),
        metavar="P",
        help="Leave rows unlabelled below this confidence (such as 0.9).",
    ),
]
Kind = Annotated[
    str | None,
    typer.Option("--as", metavar="KIND", help="numbers or classes: what numbers in TARGET are; found if not given."),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Ignore = Annotated[list[str] | None, _columns("--ignore", "-x", help="Column not to learn from; may be repeated.")]
Text = Annotated[list[str] | None, _columns("--text", help="Column to read as text; may be repeated.")]
Category = Annotated[list[str] | None, _columns("--category", help="Column to read as a category; may be repeated.")]
Number = Annotated[list[str] | None, _columns("--number", help="Column to read as a number; may be repeated.")]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows; not learnt from.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="MARK",
        help="Another mark for unlabelled cells, such as -1; may be repeated; '' if NA is a class.",
    ),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", metavar="CHAR", help="Column delimiter; found if not given.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Text encoding; found if not given.")]
Method = Annotated[
    str,
    typer.Option("--method", "-m", metavar="NAME", help="auto, all, or names from `mercer methods`, with commas."),
]
Seconds = Annotated[
    float,
    typer.Option("--seconds", parser=number("--seconds", 1), metavar="S", help="Time after which no method is begun."),
]
Seed = Annotated[int, _whole("--seed", low=0, high=2**32 - 1, help="Seed of everything random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Kernel = Annotated[
    str,
    typer.Option("--kernel", metavar="NAME", help="rbf, laplacian, matern32, matern52, linear, poly, cosine."),
]
Scale = Annotated[bool, typer.Option(help="Give every column the same say, also in a table of numbers only.")]

SHARED = {  # options of several commands, with their defaults
    "id": (Id, None),
    "ignore": (Ignore, None),
    "text": (Text, None),
    "category": (Category, None),
    "number": (Number, None),
    "missing": (Missing, None),
    "delimiter": (Delimiter, None),
    "encoding": (Encoding, None),
    "force": (Force, False),
    "seed": (Seed, 0),
    "quiet": (Quiet, False),
    "as_json": (Json, False),
    "debug": (Debug, False),
}
READING = ("id", "ignore", "text", "category", "number")


def _command(job, *without):
    """Make a function that has options and a description, but no body, a command.

    The function named `module:function` is called with all its options, the shared ones but `without` included.
    """

    def register(described):
        shared = {name: option for name, option in SHARED.items() if name not in without}

        def invoke(**options):
            run(job, options)

        command: Any = invoke
        own = list(inspect.signature(described).parameters.values())
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in shared.items()
        ]
        functools.update_wrapper(command, described)
        command.__signature__ = inspect.Signature([*own, *more])
        command.__annotations__ = described.__annotations__ | {name: kind for name, (kind, _) in shared.items()}
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


@_command("labelling:label")
def label(
    data: Data,
    target: Target,
    out: Out = None,
    report: Annotated[Path | None, typer.Option("--report", "-r", metavar="FILE", help="HTML report to write.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", "-s", metavar="FILE", help="Model to write, for `mercer predict`.")
    ] = None,
    abstain: Abstain = None,
    method: Method = "auto",
    seconds: Seconds = 60.0,
    kind: Kind = None,
):
    """Fill in the labels that are missing.

    Writes the table, in its order, with three more columns:

    \b
      TARGET_predicted   the given label, or the predicted one
      TARGET_confidence  its calibrated probability, 1 for given labels
      TARGET_source      given, predicted or abstained

    Where the labels are numbers to predict (measurements; --as decides), TARGET_low and TARGET_high stand in place of
    the confidence: an interval that holds nine of ten true numbers.
    """


@_command("labelling:suggest")
def suggest(
    data: Data,
    target: Target,
    n: Annotated[int, _whole("-n", low=1, help="How many rows.")] = 20,
    out: Mark = None,
    method: Method = "auto",
    seconds: Seconds = 60.0,
    kind: Kind = None,
):
    """Say which rows to label next.

    They are those whose labels would help most; it works without any label too.
    """


@_command("labelling:check")
def check(
    data: Data,
    target: Target,
    n: Annotated[int, _whole("-n", low=1, help="Most rows to list.")] = 20,
    out: Mark = None,
    method: Method = "auto",
    seconds: Seconds = 60.0,
):
    """List the given labels that look wrong.

    A label looks wrong when a fit that does not know it contradicts it.
    """


@_command("labelling:compare", "force")
def compare(data: Data, target: Target, seconds: Seconds = 60.0):
    """Try every method and count the left-out labels it gets right."""


@_command("labelling:predict", *READING, "missing", "seed")
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model that `mercer label --save` wrote.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Table with the same columns.", show_default=False)],
    out: Out = None,
    abstain: Abstain = None,
):
    """Label new rows with a saved model."""


@_command("looking:look", "id", "missing", "force", "seed")
def look(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column of labels, if there is one.")
    ] = None,
):
    """Show what each column is taken for, how it is used and why.

    The options --text, --category, --number and --ignore, here and in all commands, decide otherwise.
    """


@_command("unlabelled:embed", "missing")
def embed(
    data: Data,
    method: Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="kpca, robust or sparse.")] = "kpca",
    components: Annotated[int, _whole("--components", "-d", low=1, help="Number of components.")] = 2,
    kernel: Kernel = "rbf",
    scale: Scale = True,
    out: Out = None,
):
    """Write every row's position on kernel principal components.

    The components are plain (kpca), robust to outliers, or sparse: combinations of few rows.
    """


@_command("unlabelled:cluster", "missing")
def cluster(
    data: Data,
    clusters: Annotated[int, _whole("--clusters", "-k", low=1, help="Number of groups.")],
    kernel: Kernel = "rbf",
    scale: Scale = True,
    out: Out = None,
):
    """Group the rows by kernel c-means."""


@_command("unlabelled:novelty", "missing")
def novelty(
    data: Data,
    method: Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="svdd, kpca or density.")] = "svdd",
    share: Annotated[
        float,
        typer.Option(
            "--share", parser=number("--share"), metavar="P", help="Share of the rows to call unusual, up to 0.5."
        ),
    ] = 0.05,
    kernel: Kernel = "rbf",
    scale: Scale = True,
    out: Out = None,
):
    """Find the rows that are unlike the others."""


@app.command()
def methods(quiet: Quiet = False, as_json: Json = False, debug: Debug = False):
    """List the methods: what each does and where it runs."""
    run("machine:methods", locals())


@app.command()
def info(quiet: Quiet = False, as_json: Json = False, debug: Debug = False):
    """Show versions, devices and memory."""
    run("machine:info", locals())


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the table, the report and the model.")
    ] = Path("out"),
    seed: Annotated[int, _whole("--seed", low=0, high=2**32 - 1, help="Which 20 digits are labelled.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Label 1 797 handwritten digits from 20 labels; check the answers."""
    run("demo:demo", locals())
