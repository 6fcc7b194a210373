"""The commands. Nothing heavy is imported here, so that `mercer --help` answers at once."""

import functools
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    ABSTAIN,
    COLUMNS,
    DATA,
    DATA_HELP,
    FORCE,
    FORMAT,
    ID,
    KERNEL,
    LABELLED,
    MARK,
    MISSING,
    NEEDED,
    OUT,
    PROBABILITIES,
    PROTECT,
    REPORT,
    SCREEN,
    SEARCH,
    SEED,
    SETS,
    TARGET,
    TARGETS,
    argument,
    columns,
    file,
    flag,
    option,
    parameter,
    path,
    real,
    whole,
)
from .screen import run
from .usage import Commands, placed

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # help without boxes: it can be read in any terminal and piped anywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


SAVE = file("--save -s", "Model to write, for `mercer predict`; of several targets NAME-TARGET each.")
FOLDERS = [
    option("--scheduler", "For a folder of tables as DATA: the Dask scheduler to work on.", metavar="ADDRESS"),
    whole("--workers", "For a folder: so many processes of this machine; else threads.", None, 1),
]
KEYED = [
    file("--labels", "For a folder: table of the labels, beside the parts."),
    option("--key", "Column that names the rows in the parts and in --labels.", metavar="COLUMN"),
]
STUDIO = flag("--label-studio", "DATA is a JSON export of Label Studio; the output has predictions to import there.")
LABEL = [OUT, REPORT, SAVE, ABSTAIN, PROBABILITIES, *SETS, STUDIO]


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

    An export of Label Studio (JSON) is read as a table of its tasks: TARGET is the name of the control, such as the
    name of its Choices, and need not be given where the option for exports is and there is one control only. Written
    to JSON, the tasks have predictions with scores, to be imported there.

    A column TARGET_how, such as `mercer suggest` writes, says which labelled rows were drawn at random and which were
    chosen: the accuracy is then estimated from the random ones only. Without it all count as drawn at random.
    """


ONLY = file("--only", "Table to write with these rows only, the labels first; for `mercer label --more`.")
AUDIT = real("--audit", "Share of these rows to draw at random, so that accuracy can be estimated (such as 0.2).", 0.0)
NEXT = [whole("-n", "How many rows.", 20, 1), AUDIT, MARK, ONLY]


@_command("advising:suggest", DATA, TARGET, *NEXT, *SEARCH, *LABELLED, PROTECT, FORCE, SEED, *SCREEN)
def suggest():
    """Say which rows to label next.

    They are those whose labels would help most; it works without any label too. Such rows are harder than others, so
    how often they come out right says little of all rows: --audit mixes in rows drawn at random. The column TARGET_how
    says which is which, and `mercer label` reads it.
    """


ABOVE = real("--above", "List labels that are wrong with a probability above this.", 0.5)
DOUBTFUL = [whole("-n", "Most rows to list.", 20, 1), ABOVE, MARK]


@_command("advising:check", DATA, TARGET, *DOUBTFUL, *SEARCH, *LABELLED, PROTECT, FORCE, SEED, *SCREEN)
def check():
    """List the given labels that are probably wrong.

    Each label is withheld and predicted from the others. How likely a contradicted one is wrong depends on how often
    the model is right at all, which is said too.
    """


@_command("advising:compare", DATA, TARGET, SEARCH[1], *LABELLED, SEED, *SCREEN)
def compare():
    """Try every method and count the left-out labels it gets right."""


MODEL = argument("model", "MODEL", "Model that `mercer label --save` wrote.", Path)
PREDICT = [OUT, ABSTAIN, PROBABILITIES, *SETS, *FORMAT, *FOLDERS, PROTECT, FORCE]
NEW = argument("new", "NEW", "Table with the same columns.")


@_command("labelling:predict", MODEL, NEW, *PREDICT, *SCREEN)
def predict():
    """Label new rows with a saved model.

    TARGET_source is novel for rows unlike all training rows: there the confidence falls to the share of the class.
    """


LABELS = option("--target -t", "Column of labels, if there is one.", metavar="COLUMN")


@_command("looking:look", DATA, LABELS, *COLUMNS, *FORMAT, *SCREEN)
def look():
    """Show what each column is taken for, how it is used and why.

    The options --text, --category, --number, --image, --embed and --ignore, here and in all commands, decide otherwise.
    """


UNLABELLED = [*KERNEL, OUT, REPORT, ID, *COLUMNS, *FORMAT, *FOLDERS, PROTECT, FORCE, SEED, *SCREEN]


@_command(
    "unlabelled:embed",
    DATA,
    option("--method -m", "kpca, robust or sparse.", str, "kpca", "NAME"),
    whole("--components -d", "Number of components.", 2, 1),
    *UNLABELLED,
)
def embed():
    """Write every row's position on kernel principal components.

    The components are plain (kpca), robust to outliers, or sparse: combinations of few rows.
    """


@_command("unlabelled:cluster", DATA, whole("--clusters -k", "Number of groups.", NEEDED, 1), *UNLABELLED)
def cluster():
    """Group the rows by kernel c-means."""


@_command(
    "unlabelled:novelty",
    DATA,
    option("--method -m", "svdd, kpca or density.", str, "svdd", "NAME"),
    real("--share", "Share of the rows to call unusual, up to 0.5.", 0.05),
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


FOLDER = option("--out -o", "Folder for the table, the report and the model.", Path, Path("out"), "FOLDER")


@_command("demo:demo", FOLDER, whole("--seed", "Which 20 digits are labelled.", 0, 0, 2**32 - 1), *SCREEN)
def demo():
    """Label handwritten digits from 20 labels; check the answers."""


SHELL = argument("shell", "SHELL", "bash, zsh or fish.", str)


@_command("completion:completion", SHELL, *SCREEN)
def completion():
    """Print what completes the commands in a shell.

    \b
    bash: mercer completion bash > ~/.local/share/bash-completion/completions/mercer
    zsh:  mercer completion zsh > ~/.mercer.zsh, and a line in ~/.zshrc: source ~/.mercer.zsh
    fish: mercer completion fish > ~/.config/fish/completions/mercer.fish
    """


@_command("manual:man", *SCREEN)
def man():
    """Print the manual page: `mercer man | man -l -` shows it."""


STUDIO = [
    parameter("data", path, None, typer.Argument(metavar="DATA", parser=path, help=DATA_HELP, show_default=False)),
    option("--target -t", "Column of labels; it need not be in the table yet.", metavar="COLUMN"),
    ID,
    option("--image", "Column of paths of images, which are shown and learnt from.", metavar="COLUMN"),
    option("--text", "Column to show and read as text.", metavar="COLUMN"),
    columns("--exclude -x", "Column not to learn from; may be repeated."),
    whole("--port", "Port to listen on; 0 takes a free one.", 0, 0, 65535),
    flag("--no-browser", "Print the address and open nothing."),
    real("--goal", "Share of right answers to certify (0.9).", None),
    real("--random-share", "Share of rows to label that are drawn at random (0.25).", None),
    ABSTAIN,
    MISSING,
    *FORMAT[1:],
    flag("--demo", "Try it with handwritten digits, in the folder DATA or mercer-demo."),
]


@_command("serving:studio", *STUDIO, *SCREEN)
def studio():
    """Open a page in the browser on which rows are labelled.

    All other labels follow as you label; the page asks the most useful question next and says how many answers are
    right. Every label is on the disk, in the folder DATA.mercer, before it is acknowledged; give DATA or this folder to
    go on. DATA is never written to.
    """
