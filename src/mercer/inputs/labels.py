"""Read y: any class names, any way of saying "unlabelled", class probabilities instead of names.

A row is unlabelled when its entry is NaN, None, pd.NA, an empty string or, as in scikit-learn, -1. What could be read
two ways is refused with both ways out; nothing is guessed.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..errors import InputError
from ..homes import home_of
from ..rows import host

_ALSO_ONE = (
    'Pass missing_label=None if -1 is a class, or use other class names (such as 0 and 1) if -1 means "unlabelled".'
)


@dataclass(frozen=True)
class Labels:
    """The labels of n rows, k classes, l labelled rows.

    Attributes
    ----------
    classes : (k,) the class names, sorted.
    codes : (n,) position of each row's class in `classes` (the likeliest one for soft labels), -1 where unlabelled.
    labelled : (l,) positions of the labelled rows, ascending.
    given : (l, k) what is known of the labelled rows: one-hot rows, or class probabilities.
    soft : whether `given` holds probabilities other than 0 and 1.
    """

    classes: np.ndarray
    codes: np.ndarray
    labelled: np.ndarray
    given: np.ndarray
    soft: bool = False

    @property
    def n_classes(self):
        return len(self.classes)

    @property
    def target(self):
        """(n, k) `given` with a zero row for each unlabelled row."""
        out = np.zeros((len(self.codes), self.n_classes))
        out[self.labelled] = self.given
        return out

    @property
    def signs(self):
        """(l, k') regression targets: one column in [-1, 1] for two classes, else a ±1 column per class."""
        if self.n_classes == 2:
            return self.given[:, 1:] - self.given[:, :1]
        return 2 * self.given - 1

    @property
    def testable(self):
        """(l,) labelled rows whose class has another label: without their own label the class is still known."""
        codes = self.codes[self.labelled]
        return np.bincount(codes, minlength=self.n_classes)[codes] > 1

    def keep(self, which):
        """The same classes with only the labelled rows `which` (positions within `labelled`) still labelled."""
        labelled = self.labelled[which]
        codes = np.full_like(self.codes, -1)
        codes[labelled] = self.codes[labelled]
        return Labels(self.classes, codes, labelled, self.given[which], self.soft)

    def counts(self, weight=None):
        """(k,) how much label mass each class has; `weight` has one entry per row."""
        return self.given.sum(axis=0) if weight is None else weight[self.labelled] @ self.given


def read_labels(y, missing_label="auto", n_rows=None):
    """Turn y into `Labels`.

    Parameters
    ----------
    y : list, array, pandas or polars column of class names with marks for unlabelled rows; or a table (n, k) of class
        probabilities, with a row of NaN or of zeros where unlabelled. The columns of a data frame name the classes.
    missing_label : "auto", None, a mark or a list of marks
        "auto": NaN, None, pd.NA, "" and -1 mark unlabelled rows. A mark or a list: those, and NaN, None and pd.NA, for
        they cannot be class names; -1 and "" are then classes like any other. None: every row is labelled.
    n_rows : int, optional
        How many rows y must have.

    Examples
    --------
    >>> labels = read_labels(["good", None, "bad", "good"])
    >>> labels.classes.tolist(), labels.codes.tolist()
    (['bad', 'good'], [1, -1, 0, 1])
    """
    names, y = _array(y)
    if n_rows is not None and len(y) != n_rows:
        raise InputError(f"X has {n_rows} rows and y has {len(y)}. Give one entry of y per row; mark unlabelled ones.")
    if y.ndim == 2:
        return _soft(names, y)
    values, codes = _distinct(y)
    marked = _marked(values, missing_label)
    keep = np.flatnonzero(~marked)
    if len(keep) == 0:
        raise InputError(
            f"No row of y carries a label: all {len(y)} entries mark unlabelled rows "
            f"(missing_label={missing_label!r}). Label at least one row of each of two classes."
        )
    classes, rank = _sorted_classes(values, keep)
    position = np.full(len(values), -1)
    position[keep] = rank
    codes = position[codes]
    labelled = np.flatnonzero(codes >= 0)
    given = np.zeros((len(labelled), len(classes)))
    given[np.arange(len(labelled)), codes[labelled]] = 1.0
    if len(classes) < 2:
        also = " -1 was read as an unlabelled mark. " + _ALSO_ONE if _holds_minus_one(values[marked]) else ""
        raise InputError(
            f"y has one class only ({classes.tolist()[0]!r}, {len(labelled)} rows): a classifier needs labels of two "
            f"or more classes.{also}"
        )
    return Labels(classes, codes, labelled, given)


def weighed(labels, weight):
    """The labels without those of rows of weight 0, and without the classes that only such rows have."""
    if np.all(weight[labels.labelled] > 0):
        return labels
    left = labels.keep(weight[labels.labelled] > 0)
    present = np.flatnonzero(left.counts() > 0)
    if len(present) < 2:
        raise InputError(
            "y has one class only once the rows with sample_weight 0 are left out. Give weight to rows of two or more "
            "classes."
        )
    if len(present) == labels.n_classes:
        return left
    rank = np.full(labels.n_classes + 1, -1)  # the last entry keeps the code -1 of unlabelled rows
    rank[present] = np.arange(len(present))
    return Labels(labels.classes[present], rank[left.codes], left.labelled, left.given[:, present], left.soft)


def unlabelled(y, missing_label="auto", classes=()):
    """(n,) which entries of y mark unlabelled rows; nothing that is among `classes` does.

    Unlike `read_labels` this takes y of one class, or with no mark at all: the rows a score is computed on.
    """
    _, y = _array(y)
    if y.ndim == 2:
        empty = np.isnan(y) | (y == 0)
        return empty.all(axis=1)
    values, codes = _distinct(y)
    known = set(np.asarray(classes).tolist())
    strange = np.array([_nothing(v) or v not in known for v in values.tolist()], dtype=bool)
    marked = np.zeros(len(values), dtype=bool)
    marked[strange] = _marked(values[strange], missing_label)
    return marked[codes]


def encode(y, classes):
    """(n,) position of each entry in the sorted `classes`, -1 where it is none of them.

    In a table of probabilities, the likeliest class; its columns are in the order in which `read_labels` found them.
    """
    names, y = _array(y)
    if y.ndim == 2:
        order = np.argsort(np.arange(y.shape[1]) if names is None else np.asarray(names), kind="stable")
        return np.where(np.nansum(y, axis=1) > 0, np.argmax(np.nan_to_num(y[:, order]), axis=1), -1)
    values, codes = _distinct(y)
    where = {name: i for i, name in enumerate(np.asarray(classes).tolist())}
    return np.array([-1 if _nothing(v) else where.get(v, -1) for v in values.tolist()], dtype=int)[codes]


def read_targets(y, n_rows):
    """(n,) float64 regression targets, NaN where unlabelled (NaN, None or pd.NA)."""
    _, y = _array(y)
    if y.ndim != 1 or (n_rows is not None and len(y) != n_rows):
        raise InputError(f"y has shape {y.shape}: give one number per row of X ({n_rows} rows), NaN where unlabelled.")
    if y.dtype.kind == "O":
        y = np.array([np.nan if _nothing(v) else v for v in y], dtype=object)
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y cannot be read as numbers ({error}). Give numbers, NaN where unlabelled.") from None
    if np.isinf(y).any():
        raise InputError(f"Input y contains infinity (row {np.flatnonzero(np.isinf(y))[0]}). Give finite numbers.")
    if np.isnan(y).all():
        raise InputError("Input y contains NaN only: no row carries a target. Give a number for at least one row.")
    return y


def _array(y):
    """(column names or None, y as a one- or two-dimensional NumPy array), whatever y came as."""
    names = None
    if y is None:
        raise InputError("requires y to be passed, but the target y is None. Give one entry per row of X.")
    if isinstance(y, np.ma.MaskedArray):
        hidden, y = np.ma.getmaskarray(y), y.data.astype(object)
        y[hidden] = None
    elif not home_of(y).on_host:
        y = host(y)
    elif hasattr(y, "to_numpy"):  # pandas, polars
        names = list(y.columns) if hasattr(y, "columns") else None
        if names is not None and len(names) == 1:
            y = y[names[0]]
        y = np.array(list(y), dtype=object) if _whole_with_gaps(y) else y.to_numpy()
    if not isinstance(y, np.ndarray):
        y = _from_sequence(y)
    if y.dtype.kind == "T":
        y = y.astype(object)
    if y.ndim == 2 and y.shape[1] == 1:
        if names is None:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected: it is read as one label per row.",
                DataConversionWarning,
                stacklevel=4,
            )
        y = y[:, 0]
    if y.ndim not in (1, 2) or y.dtype.kind not in "biufUSO":
        raise InputError(
            f"Unknown label type: y of shape {y.shape} and dtype {y.dtype}. "
            "Give one class name per row, or an (n, k) table of class probabilities."
        )
    if y.ndim == 2:
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"y has {y.shape[1]} columns that are not all numbers. Give one class name per row, "
                "or an (n, k) table of class probabilities."
            ) from None
    return names, y


def _whole_with_gaps(y):
    """Whether y is a column that `to_numpy` would turn into numbers with a fraction: 1 and <NA> into 1.0 and NaN."""
    if hasattr(y, "columns"):
        return False
    if callable(getattr(y, "null_count", None)):  # polars
        return y.null_count() > 0
    kind = getattr(y, "dtype", np.dtype(float))
    return not isinstance(kind, np.dtype) and kind.kind in "biu" and bool(y.isna().any())


def _from_sequence(y):
    """A list as an array whose entries keep their types: NumPy alone would turn [1, "a"] into text."""
    y = list(y) if not hasattr(y, "__array__") else np.asarray(y).tolist()
    kinds = {type(v) for v in y}
    if kinds <= {bool, int, float} or (len(kinds) == 1 and not kinds & {list, tuple, np.ndarray}):
        return np.array(y)
    if kinds & {list, tuple, np.ndarray}:
        try:
            return np.array([list(v) for v in y])
        except (TypeError, ValueError):
            raise InputError("The rows of y have different lengths. Give one class name per row.") from None
    out = np.empty(len(y), dtype=object)
    out[:] = y
    return out


def _distinct(y):
    """(distinct entries, position of each row's entry among them)."""
    if y.dtype.kind != "O":
        if y.dtype.kind == "f":
            _refuse_continuous(y)
        return np.unique(y, return_inverse=True)
    seen: dict = {}
    try:
        codes = np.array([seen.setdefault(v, len(seen)) for v in y.tolist()], dtype=int)
    except TypeError:
        raise InputError("Unknown label type: an entry of y is a list or an array. Give one name per row.") from None
    values = np.empty(len(seen), dtype=object)
    values[:] = list(seen)
    numbers = np.array([v for v in seen if isinstance(v, float | np.floating)], dtype=float)
    _refuse_continuous(numbers)
    return values, codes


def _refuse_continuous(numbers):
    if np.isinf(numbers).any():
        raise InputError("Input y contains infinity. Class names are finite numbers or text; NaN marks unlabelled.")
    fractional = numbers[np.isfinite(numbers) & (numbers != np.round(numbers))]
    if len(fractional):
        raise InputError(
            f"Unknown label type: continuous. y holds {float(fractional[0])!r}, which is not a class name. "
            "Use a regressor, or give classes as whole numbers or text."
        )


def _nothing(value):
    """NaN, None, pd.NA, NaT: entries that cannot be a class name."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value


def _minus_one(value):
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_) and value == -1


def _holds_minus_one(values):
    return any(_minus_one(v) for v in values.tolist())


def _marked(values, missing_label):
    """(len(values),) which of the distinct entries mark unlabelled rows."""
    entries = values.tolist()
    nothing = np.array([_nothing(v) for v in entries], dtype=bool)
    if missing_label is None:
        if nothing.any():
            raise InputError(
                "Input y contains NaN or None, and missing_label=None says that every row is labelled. "
                'Use missing_label="auto", or fill these entries in.'
            )
        return nothing
    if not (isinstance(missing_label, str) and missing_label == "auto"):
        marks = missing_label if isinstance(missing_label, list | tuple | set) else [missing_label]
        marks = [m for m in marks if not _nothing(m)]
        return nothing | np.array([v in marks for v in entries], dtype=bool)
    if any(v in ("-1", b"-1") for v in entries if isinstance(v, str | bytes)):
        raise InputError(
            'y holds the text "-1", which may be a class or an unlabelled mark. '
            'Pass missing_label="-1" if it marks unlabelled rows, or missing_label=None if it is a class.'
        )
    marked = nothing | np.array([isinstance(v, str | bytes) and not v.strip() for v in entries], dtype=bool)
    minus_one = np.array([_minus_one(v) for v in entries], dtype=bool)
    others = [v for v, m in zip(entries, marked | minus_one) if not m]
    if minus_one.any() and len(others) == 1 and not isinstance(others[0], str | bytes) and others[0] == 1:
        if marked.any():  # NaN marks unlabelled here, and -1 as a second mark would leave one class
            return marked
        raise InputError(
            'y holds only -1 and 1: -1 is a class in papers on two classes and "unlabelled" in scikit-learn. '
            + _ALSO_ONE
        )
    return marked | minus_one


def _sorted_classes(values, keep):
    """(class names sorted, rank of each kept value); text and numbers do not mix."""
    names = values[keep].tolist()
    text = [isinstance(v, str | bytes) for v in names]
    if any(text) and not all(text):
        word = names[text.index(True)]
        number = names[text.index(False)]
        raise InputError(
            f"Unknown label type: y mixes text ({word!r}) and numbers ({number!r}). Write all class names as text, "
            "or all as numbers; missing_label= names further unlabelled marks."
        )
    if values.dtype.kind == "O" and not any(text):
        bad = next((v for v in names if not isinstance(v, int | float | np.number | np.bool_)), None)
        if bad is not None:
            raise InputError(f"Unknown label type: y holds {bad!r}. Class names are text, whole numbers or booleans.")
        classes = np.array(names)
    else:
        classes = values[keep]
    order = np.argsort(classes, kind="stable")
    rank = np.empty(len(keep), dtype=int)
    rank[order] = np.arange(len(keep))
    return classes[order], rank


def _soft(names, table):
    """Labels from an (n, k) table of class probabilities."""
    n, k = table.shape
    gone = np.isnan(table)
    empty = gone.all(axis=1) | (table == 0).all(axis=1)
    if (gone.any(axis=1) & ~empty).any():
        row = np.flatnonzero(gone.any(axis=1) & ~empty)[0]
        raise InputError(f"Row {row} of y has some probabilities missing. Give all {k}, or none (NaN) if unlabelled.")
    labelled = np.flatnonzero(~empty)
    given = table[labelled]
    if len(labelled) == 0:
        raise InputError("No row of y carries a label: every row of the table is NaN or zero. Label some rows.")
    wrong = (given < 0).any(axis=1) | (np.abs(given.sum(axis=1) - 1) > 1e-6)
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise InputError(
            f"Row {labelled[row]} of y is {given[row].tolist()}: class probabilities are at least 0 and sum to 1. "
            "Divide each row by its sum, or pass one class name per row."
        )
    if (given.sum(axis=0) > 0).sum() < 2:
        raise InputError("y has one class only: all probability is in one column. Label rows of two or more classes.")
    codes = np.full(n, -1)
    codes[labelled] = np.argmax(given, axis=1)
    classes = np.arange(k) if names is None else np.asarray(names)
    order = np.argsort(classes, kind="stable")  # classes are sorted, so the columns follow
    rank = np.empty(k, dtype=int)
    rank[order] = np.arange(k)
    codes[labelled] = rank[codes[labelled]]
    given = np.ascontiguousarray(given[:, order])
    return Labels(classes[order], codes, labelled, given, soft=bool(((given > 0) & (given < 1)).any()))
