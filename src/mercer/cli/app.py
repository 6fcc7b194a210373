"""The commands. Nothing heavy is imported here, so that `mercer --help` is fast."""

import functools
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import run
from .options import argument, columns, data, file, flag, option, options_of, real, whole
from .usage import Commands, placed

app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,  # help without boxes, which any terminal can show
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _command(job, *named):
    """Make a function without a body a command. Its docstring is the help. It calls the function `module:function`.

    Parameters
    ----------
    job : module and function.
    named : keys of options, separated by spaces, and options that no other command has, in the order of the help.
    """
    parameters = [one for some in named for one in (options_of(some) if isinstance(some, str) else [some])]

    def register(described):
        def invoke(**options: Any) -> None:
            run(placed(job, options), options)

        command: Any = functools.update_wrapper(invoke, described)
        command.__signature__ = inspect.Signature(parameters)
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
    """Predict the missing labels of a table from a few labeled rows, and explore data without labels."""


@_command(
    "labeling:label",
    "data targets out report",
    file("--save -s", "Model to write, for `mercer predict`. With several targets NAME-TARGET for each."),
    "abstain probabilities coverage by-class",
    option(
        "--rank", "List the rows that are most likely of this class, and add the column TARGET_rank.", metavar="CLASS"
    ),
    real(
        "--wrong-at-most",
        "Mark predictions as accepted of which at most this fraction is wrong, with 95% certainty (such as 0.05).",
        None,
        "FRACTION",
    ),
    flag("--label-studio", "DATA is a JSON export of Label Studio. The output has predictions to import there."),
    "method seconds LABELED labels key FOLDERS protect force seed SCREEN",
)
def label():
    """Predict the missing labels of a table.

    Writes the table, in its order, with three more columns:

    \b
      TARGET_predicted   the given label, or the predicted one
      TARGET_confidence  its calibrated probability, 1 for given labels
      TARGET_source      given, predicted, accepted (--wrong-at-most) or abstained

    If the labels are numbers (measurements, see --as), the columns TARGET_low and TARGET_high replace the confidence.
    They are an interval that contains nine of ten true numbers.

    To correct a prediction, type the label into TARGET and use the output as DATA. Or type it into TARGET_predicted and
    write `given` into TARGET_source. Predictions of earlier runs are never used for training.

    If rows belong to none of the classes, label some of them with a word of their own, such as none. It is a class like
    the others. Several columns of labels (-t a -t b) are predicted one by one and written to one table. Cells with
    several labels (a;b) are predicted label by label.

    A JSON export of Label Studio is read as a table of its tasks. TARGET is the name of the control, such as the name
    of its Choices. It can be omitted with --label-studio if the project has a single control. If the output is JSON,
    the tasks have predictions with scores, which Label Studio imports.

    Guesses of the class by a language model, rules or an old system are read with --hint COLUMN. They are never learned
    from as if they were labels. How often each source is correct is learned from the labels, and the column is not a
    feature. `mercer audit` shows how accurate each source is.

    A column TARGET_how, such as `mercer suggest` writes, shows which labeled rows were drawn at random and which were
    chosen. The accuracy is estimated from the random ones only. Without this column all count as drawn at random.
    """


@_command(
    "advising:suggest",
    "data target",
    whole("-n", "How many rows.", 20, 1),
    option("--find", "Suggest the rows that are most likely of this class.", metavar="CLASS"),
    real("--audit", "Fraction of these rows to draw at random, so that accuracy can be estimated (such as 0.2).", 0.0),
    "marked only method seconds LABELED labels key protect force seed SCREEN",
)
def suggest():
    """Suggest rows to label next.

    These are the rows whose labels would help most. No label is needed to start. With --find they are the rows that are
    most likely of one class, such as a rare one. Suggested rows are harder than average, so accuracy on them is not
    representative. --audit adds rows drawn at random. The column TARGET_how shows which is which, and `mercer label`
    reads it.
    """


@_command(
    "advising:check",
    "data target",
    whole("-n", "Maximum number of rows to list.", 20, 1),
    real("--above", "List labels that are wrong with a probability above this.", 0.5),
    "marked method seconds LABELED labels key protect force seed SCREEN",
)
def check():
    """List the given labels that are probably wrong.

    Each label is held out and predicted from the others. The probability that a contradicted label is wrong depends on
    how often the model is correct, which the output shows.
    """


@_command(
    "auditing:audit",
    "data target",
    whole("-n", "How many rows to check next.", 20, 1),
    real("--random", "Fraction of the rows to check next that is drawn at random.", 0.5),
    "marked only report method seconds LABELED labels key protect force seed SCREEN",
)
def audit():
    """Measure how accurate other sources of labels are.

    A source is a column of guesses by a language model, rules, another person or an old system (--hint, may be
    repeated). TARGET has the labels that a person gave. For every source the output has the fraction of correct guesses
    with a 95% interval, overall and by class, the guesses that are probably wrong, and which rows to check next.

    The accuracy rests on rows that were drawn at random (see TARGET_how in `mercer suggest`). The model's predictions
    make the interval narrower, as if more rows had been checked, and do not make it less valid.

    With --out the table gets a column HINT_wrong, the probability that the guess is wrong.
    """


@_command("advising:compare", "data target seconds LABELED labels key seed SCREEN")
def compare():
    """Compare all methods by their predictions of held-out labels."""


@_command(
    "labeling:predict",
    argument("model", "MODEL", "Model that `mercer label --save` wrote.", Path),
    argument("new", "NEW", "Table with the same columns."),
    "out abstain probabilities coverage by-class",
    option(
        "--rename",
        "NEW=OLD renames a column NEW of the table, which the model knows as OLD. May be repeated.",
        list[str],
        metavar="NAMES",
    ),
    "MODELS FORMAT FOLDERS protect force SCREEN",
)
def predict() -> None:
    """Label new rows with a saved model.

    If NEW has labels in TARGET, the predictions are compared with them.
    TARGET_source is `novel` for rows unlike all training rows. Their confidence falls to the frequency of the class.
    """


@_command(
    "looking:look",
    "data",
    option("--target -t", "Column of labels, if there is one.", metavar="COLUMN"),
    "labels key COLUMNS MODELS FORMAT SCREEN",
)
def look():
    """Show the inferred type of each column, how it is used, and why.

    --text, --category, --number, --image, --embed and --ignore override it, here and in all commands.
    """


@_command(
    "unlabeled:embed",
    "data",
    option("--method -m", "kpca, robust, sparse or map.", str, "kpca", "NAME"),
    whole("--components -d", "Number of components.", 2, 1),
    "kernel scale out report id COLUMNS MODELS FORMAT FOLDERS protect force seed SCREEN",
)
def embed():
    """Write every row's position on kernel principal components.

    The components are plain (kpca), robust to outliers, or sparse (combinations of few rows). The method map writes the
    two coordinates of the neighbor embedding that reports and the web app show.
    """


@_command(
    "unlabeled:cluster",
    "data",
    whole("--clusters -k", "Number of clusters. If not given, the best separated of 2 to 8.", None, 1),
    "kernel scale out report id COLUMNS MODELS FORMAT FOLDERS protect force seed SCREEN",
)
def cluster():
    """Cluster the rows by kernel c-means."""


@_command(
    "unlabeled:novelty",
    "data",
    option("--method -m", "auto (several detectors combined), svdd, kpca or density.", str, "auto", "NAME"),
    option("--fraction --share", "Fraction of the rows to flag (0.05).", float, None, "P", name="share"),
    real("--false-alarms", "Flag rows that at most this fraction of ordinary rows exceeds, such as 0.01.", None),
    real("--discoveries", "Flag so that at most this fraction of flagged rows is ordinary. Needs --ordinary.", None),
    file("--ordinary", "Table of rows that are known to be ordinary. With it p-values are valid."),
    option("--target -t", "Column of corrections. Cells with odd or ordinary correct the scores.", metavar="COLUMN"),
    "kernel scale out report id COLUMNS MODELS FORMAT FOLDERS protect force seed SCREEN",
)
def novelty() -> None:
    """Find outliers, which are rows that are unlike the others."""


@_command("machine:methods", "SCREEN")
def methods() -> None:
    """List the methods, what each does and which arrays it takes."""


@_command("machine:info", "SCREEN")
def info() -> None:
    """Show versions, devices and memory."""


@_command(
    "demo:demo",
    option("--out -o", "Folder for the table, the report and the model.", Path, Path("out"), "FOLDER"),
    whole("--seed", "Which 20 digits are labeled.", 0, 0, 2**32 - 1),
    "SCREEN",
)
def demo() -> None:
    """Predict handwritten digits from 20 labels, and check them."""


@_command("manual:man", "SCREEN")
def man() -> None:
    """Print the manual page: `mercer man | man -l -` shows it."""


@_command(
    "serving:studio",
    data(None),
    option(
        "--target -t",
        "Column of labels. It need not be in the table yet. May be repeated.",
        list[str],
        metavar="COLUMN",
    ),
    "id",
    option("--image", "Column of image paths. The images are shown and used as features.", metavar="COLUMN"),
    option("--text", "Column to show and read as text.", metavar="COLUMN"),
    columns("--exclude --ignore -x", "Column not to learn from. May be repeated."),
    "hint",
    option("--annotator", "Name of the person who labels. It is stored with every label.", metavar="NAME"),
    whole("--port", "Port to listen on. 0 takes a free one.", 0, 0, 65535),
    flag("--no-browser", "Print the address and open nothing."),
    real("--goal", "Accuracy to certify (0.9).", None),
    real("--random-share", "Fraction of the rows to label that are drawn at random (0.25).", None),
    real("--tolerance", "Largest error of a predicted number that counts as correct.", None),
    real("--double-share", "Fraction of the rows that a second annotator labels, too (0.1).", None),
    "abstain as missing MODELS FORMAT protect",
    flag("--outliers", "Ask for the most unusual rows first, with the classes odd and ordinary."),
    flag("--demo", "Try it with handwritten digits, in the folder DATA or mercer-demo."),
    "SCREEN",
)
def studio() -> None:
    """Label rows in the browser.

    The predictions of all other rows follow as you label. The page asks for the most informative label next and
    estimates how many predictions are correct. Numbers are labeled, too (see --as), and a prediction within --tolerance
    is then correct. Every label is on the disk, in the folder DATA.mercer, before it is acknowledged. To continue, give
    DATA or this folder. DATA is never written to.
    """
