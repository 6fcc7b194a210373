"""What the commands share: opening the table, checking columns, writing columns back."""

from pathlib import Path

from ..errors import InputError
from ..tables import TableFeatures, read_table, write_table
from ..tables.write import refuse_existing
from .screen import UsageError

MANY_ROWS = 5000  # rows beyond which the commands approximate the kernel with landmarks
LANDMARKS = 1000


def open_table(screen, path, delimiter, encoding, columns=()):
    """The table at `path`, with every column the command names in it."""
    if not Path(path).exists():
        raise UsageError(f"There is no file {path}. Check the name and the folder.")
    table = read_table(path, delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter), encoding=encoding)
    for name in columns:
        if name is not None and name not in table.frame.columns:
            raise UsageError(_no_column(name, path, table))
    for sentence in table.notes:
        screen.note(sentence)
    return table


def _no_column(name, path, table):
    import difflib

    names = [str(column) for column in table.frame.columns]
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"{Path(path).name} has no column {name!r}. Did you mean {close[0]!r}?"
    shown = ", ".join(map(repr, names[:8])) + (" …" if len(names) > 8 else "")
    hint = " If that is not how the columns should be split, give --delimiter." if len(names) == 1 else ""
    return f"{Path(path).name} has no column {name!r}. Its columns are {shown}.{hint}"


def matrix(screen, table, exclude, include=(), standardise=None):
    """(fitted TableFeatures, matrix) of all columns but the excluded ones."""
    features = TableFeatures(exclude=list(exclude), include=list(include or ()))
    features.fit(table.frame)
    if standardise is not None:
        features.standardise_ = bool(standardise) or features.standardise_
    for sentence in features.notes_:
        screen.note(sentence)
    X = features.transform(table.frame)
    if X.shape[0] < 2:
        raise InputError(f"The table has {X.shape[0]} row. At least two rows are needed.")
    return features, X


def default_out(data, word):
    """data_word.csv beside data.csv."""
    data = Path(data)
    return data.with_name(f"{data.stem}_{word}{data.suffix or '.csv'}")


def claim(*paths, force):
    """Refuse outputs that are in the way, or that are the same file twice, before any work is done."""
    wanted = [Path(path) for path in paths if path is not None]
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise UsageError("Two outputs have the same name. Give each its own.")
    for path in wanted:
        refuse_existing(path, force)


def write(screen, table, new, out, force):
    """Write the table with new columns; refuse names that the table has already."""
    taken = [name for name in new if name in table.frame.columns]
    if taken:
        raise UsageError(f"The table has a column {taken[0]!r} already, which would be written. Rename or drop it.")
    for sentence in write_table(table, new, out, force):
        screen.note(sentence)
    screen.result["out"] = str(out)


def kernel_for(X, name):
    """(kernel, approx): the named kernel with the median width, landmarks for many rows; cosine for sparse text."""
    import scipy.sparse as sp

    from ..kernels import NAMES

    plain = ("rbf", "exponential", "laplacian", "matern32", "matern52", "linear", "poly", "cosine")
    if name not in plain:
        raise UsageError(f"There is no kernel {name!r}. Accepted: {', '.join(plain)}.")
    kernel = "cosine" if sp.issparse(X) and name == "rbf" else name
    return NAMES[kernel](), "auto" if X.shape[0] <= MANY_ROWS else LANDMARKS
