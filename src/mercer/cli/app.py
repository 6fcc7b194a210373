"""The commands and their options. Nothing heavy is imported here, so that `mercer --help` answers at once."""

import math
from pathlib import Path
from typing import Annotated

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
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", "-x", metavar="COLUMN", help="Column not to learn from; may be repeated."),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="COLUMN", help="Column to use although it looks like an ID; may be repeated."),
]
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
Scale = Annotated[bool, typer.Option(help="Standardise the columns of numbers.")]


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


@app.command()
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
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Fill in the labels that are missing.

    Writes the table, in its order, with three more columns:

    \b
      TARGET_predicted   the given label, or the predicted one
      TARGET_confidence  its calibrated probability, 1 for given labels
      TARGET_source      given, predicted or abstained
    """
    run("labelling:label", locals())


@app.command()
def suggest(
    data: Data,
    target: Target,
    n: Annotated[int, _whole("-n", low=1, help="How many rows.")] = 20,
    out: Mark = None,
    method: Method = "auto",
    seconds: Seconds = 60.0,
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Say which rows to label next.

    They are those whose labels would help most; it works without any label too.
    """
    run("labelling:suggest", locals())


@app.command()
def check(
    data: Data,
    target: Target,
    n: Annotated[int, _whole("-n", low=1, help="Most rows to list.")] = 20,
    out: Mark = None,
    method: Method = "auto",
    seconds: Seconds = 60.0,
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """List the given labels that look wrong.

    A label looks wrong when a fit that does not know it contradicts it.
    """
    run("labelling:check", locals())


@app.command()
def compare(
    data: Data,
    target: Target,
    seconds: Seconds = 60.0,
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Try every method and count the left-out labels it gets right."""
    run("labelling:compare", locals())


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model that `mercer label --save` wrote.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Table with the same columns.", show_default=False)],
    out: Out = None,
    abstain: Abstain = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Label new rows with a saved model."""
    run("labelling:predict", locals())


@app.command()
def embed(
    data: Data,
    method: Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="kpca, robust or sparse.")] = "kpca",
    components: Annotated[int, _whole("--components", "-d", low=1, help="Number of components.")] = 2,
    kernel: Kernel = "rbf",
    scale: Scale = True,
    out: Out = None,
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Write every row's position on kernel principal components.

    The components are plain (kpca), robust to outliers, or sparse: combinations of few rows.
    """
    run("unlabelled:embed", locals())


@app.command()
def cluster(
    data: Data,
    clusters: Annotated[int, _whole("--clusters", "-k", low=1, help="Number of groups.")],
    kernel: Kernel = "rbf",
    scale: Scale = True,
    out: Out = None,
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Group the rows by kernel c-means."""
    run("unlabelled:cluster", locals())


@app.command()
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
    id: Id = None,
    exclude: Exclude = None,
    include: Include = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
):
    """Find the rows that are unlike the others."""
    run("unlabelled:novelty", locals())


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
