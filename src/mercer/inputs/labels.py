"""Read y, which contains class names with any missing-label markers, or class probabilities.

A row is unlabeled when its entry is NaN, None, pd.NA, an empty string or, as in scikit-learn, -1. An ambiguous entry
raises an error that names both meanings. Nothing is guessed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..types import ColumnLike
from .entries import array_of, distinct, is_nothing

_ALSO_ONE = (
    'Pass missing_label=None if -1 is a class, or use other class names (such as 0 and 1) if -1 means "unlabeled".'
)


@dataclass(frozen=True)
class Labels:
    """The labels of n rows, k classes, l labeled rows."""

    classes: np.ndarray  # (k,) the class names, sorted
    codes: np.ndarray  # (n,) position of each row's (most likely) class in `classes`, -1 if unlabeled
    labeled: np.ndarray  # (l,) positions of the labeled rows, ascending
    given: np.ndarray  # (l, k) one-hot rows or class probabilities of the labeled rows
    soft: bool = False  # whether `given` contains probabilities other than 0 and 1
    weight: np.ndarray | None = None  # (l,) how much each label counts. None if each counts once

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def target(self) -> np.ndarray:
        """(n, k) `given` with a zero row for each unlabeled row."""
        out = np.zeros((len(self.codes), self.n_classes))
        out[self.labeled] = self.given
        return out

    @property
    def signs(self) -> np.ndarray:
        """(l, k') regression targets. Two classes have one column in [-1, 1], and more have a ±1 column per class."""
        if self.n_classes == 2:
            return self.given[:, 1:] - self.given[:, :1]
        return 2 * self.given - 1

    @property
    def counted(self) -> np.ndarray:
        """(l,) how much each label counts."""
        return np.ones(len(self.labeled)) if self.weight is None else self.weight

    @property
    def row_weight(self) -> np.ndarray:
        """(n,) the weight of every row, which is 1 for the unlabeled ones."""
        out = np.ones(len(self.codes))
        out[self.labeled] = self.counted
        return out

    @property
    def testable(self) -> np.ndarray:
        """(l,) labeled rows whose class has another label, so that the class is still known without their label."""
        codes = self.codes[self.labeled]
        return np.bincount(codes, minlength=self.n_classes)[codes] > 1

    def keep(self, which: np.ndarray) -> "Labels":
        """The same classes with only the labeled rows `which` (positions within `labeled`) still labeled."""
        labeled = self.labeled[which]
        codes = np.full_like(self.codes, -1)
        codes[labeled] = self.codes[labeled]
        weight = None if self.weight is None else self.weight[which]
        return Labels(self.classes, codes, labeled, self.given[which], self.soft, weight)

    def same_as(self, other: "Labels") -> bool:
        """Whether these are the same labels of the same rows."""
        both = (self.codes, other.codes), (self.given, other.given), (self.counted, other.counted)
        return all(np.array_equal(a, b) for a, b in both) and self.classes.tolist() == other.classes.tolist()

    def among(self, rows: np.ndarray) -> "Labels":
        """The labels of some rows, given by their numbers, ascending. Every labeled row is among them."""
        codes = self.codes[rows]
        return Labels(self.classes, codes, np.flatnonzero(codes >= 0), self.given, self.soft, self.weight)

    def folds(self, most: int, key: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, "Labels"]]:
        """At most `most` pairs (positions within `labeled` to test on, the labels without them), classes spread evenly.

        Every testable row is in one fold. If there are at most `most` of them, each is a fold by itself.

        key : (l,) numbers that depend on nothing but the row. With them the folds do not depend on the order of rows.
        """
        rows = np.flatnonzero(self.testable)
        if key is not None:
            rows = rows[np.argsort(key[rows], kind="stable")]
        rows = rows[np.argsort(self.codes[self.labeled[rows]], kind="stable")]
        number = min(len(rows), most)
        for fold in range(number):
            test = rows[fold::number]
            yield test, self.keep(np.setdiff1d(np.arange(len(self.labeled)), test))

    def counts(self, weight: np.ndarray | None = None) -> np.ndarray:
        """(k,) total weight of the labels of each class. `weight` has one entry per row."""
        return self.given.sum(axis=0) if weight is None else weight[self.labeled] @ self.given


def read_labels(y: ColumnLike, missing_label: object = "auto", n_rows: int | None = None) -> Labels:
    """Turn y into `Labels`.

    Parameters
    ----------
    y : list, array, pandas, polars or pyarrow column of class names with marks for unlabeled rows, or a table (n, k)
        of class probabilities, with a row of NaN or of zeros if unlabeled. The columns of a data frame name the
        classes.
    missing_label : "auto", None, a mark or a list of marks
        If "auto", NaN, None, pd.NA, "" and -1 mark unlabeled rows. A mark or a list is used in addition to NaN, None
        and pd.NA, which cannot be class names, and -1 and "" are then classes like any other. If None, every row is
        labeled.
    n_rows : int, optional
        How many rows y must have.

    Examples
    --------
    >>> labels = read_labels(["good", None, "bad", "good"])
    >>> labels.classes.tolist(), labels.codes.tolist()
    (['bad', 'good'], [1, -1, 0, 1])
    """
    names, y = array_of(y)
    if n_rows is not None and len(y) != n_rows:
        raise InputError(f"X has {n_rows} rows and y has {len(y)}. Give one entry of y per row, labeled or not.")
    if y.ndim == 2:
        return _soft(names, y)
    values, codes = distinct(y)
    marked = _marked(values, missing_label)
    keep = np.flatnonzero(~marked)
    if len(keep) == 0:
        raise InputError(
            f"y contains no labels. All {len(y)} entries mark unlabeled rows "
            f"(missing_label={missing_label!r}). Label at least one row of each of two classes."
        )
    classes, rank = _sorted_classes(values, keep)
    position = np.full(len(values), -1)
    position[keep] = rank
    codes = position[codes]
    labeled = np.flatnonzero(codes >= 0)
    given = np.zeros((len(labeled), len(classes)))
    given[np.arange(len(labeled)), codes[labeled]] = 1.0
    if len(classes) < 2:
        minus_one = any(map(_minus_one, values[marked].tolist()))
        also = " -1 was read as an unlabeled mark. " + _ALSO_ONE if minus_one else ""
        raise InputError(
            f"y has one class only ({classes.tolist()[0]!r}, {len(labeled)} rows). A classifier needs labels of two "
            f"or more classes.{also}"
        )
    return Labels(classes, codes, labeled, given)


def weighed(labels: Labels, weight: np.ndarray) -> Labels:
    """The labels without those of rows of weight 0, and without the classes that only such rows have."""
    if np.all(weight[labels.labeled] > 0):
        return labels
    left = labels.keep(weight[labels.labeled] > 0)
    present = np.flatnonzero(left.counts() > 0)
    if len(present) < 2:
        raise InputError(
            "y has one class only once the rows with sample_weight 0 are left out. Give weight to rows of two or more "
            "classes."
        )
    if len(present) == labels.n_classes:
        return left
    rank = np.full(labels.n_classes + 1, -1)  # the last entry keeps the code -1 of unlabeled rows
    rank[present] = np.arange(len(present))
    return Labels(labels.classes[present], rank[left.codes], left.labeled, left.given[:, present], left.soft)


def read_filled(y: np.ndarray, missing_label: object = "auto") -> Labels:
    """Labels of an array of class names that is None in all other rows. Of very many rows only the names are read."""
    nothing: Any = None
    known = np.flatnonzero(np.not_equal(y, nothing))
    if not len(known):
        return read_labels(y, missing_label, n_rows=len(y))
    found = read_labels(y[known], missing_label=[])
    codes = np.full(len(y), -1)
    codes[known] = found.codes
    return replace(found, codes=codes, labeled=known[found.labeled])


def weigh_labels(labels: Labels, weight: np.ndarray | None, class_weight: ColumnLike) -> Labels:
    """The labels with their weights, each of which is the weight of its row times that of its class.

    Parameters
    ----------
    weight : (n,) of the rows, or None.
    class_weight : None, a dict or "balanced". A class that the dict does not name has weight 1. If "balanced", all
        classes have the same total.
    """
    if weight is not None:
        labels = weighed(labels, weight)
        labels = replace(labels, weight=weight[labels.labeled])
    if class_weight is None:
        return labels
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = labels.counted @ labels.given
        each = counts.sum() / (labels.n_classes * np.maximum(counts, 1e-12))
    elif isinstance(class_weight, dict) and set(class_weight) <= set(names := labels.classes.tolist()):
        each = np.array([class_weight.get(name, 1.0) for name in names], dtype=float)
    else:
        each = np.zeros(0)
    if not (len(each) and np.isfinite(each).all() and (each > 0).all()):
        raise InputError(
            f"class_weight={class_weight!r} is not accepted. Give None, 'balanced', or a dict of positive numbers by "
            f"class. The classes are {labels.classes.tolist()}."
        )
    return replace(labels, weight=labels.counted * (labels.given @ each))


def unlabeled(y: ColumnLike, missing_label: object = "auto", classes: ColumnLike = ()) -> np.ndarray:
    """(n,) which entries of y mark unlabeled rows. An entry of `classes` never does.

    Unlike `read_labels` this takes y of one class, or without any mark, because a score may be computed on such rows.
    """
    _, y = array_of(y)
    if y.ndim == 2:
        return (np.isnan(y) | (y == 0)).all(axis=1)
    values, codes = distinct(y)
    known = set(np.asarray(classes).tolist())
    strange = np.array([is_nothing(v) or v not in known for v in values.tolist()], dtype=bool)
    marked = np.zeros(len(values), dtype=bool)
    marked[strange] = _marked(values[strange], missing_label)
    return marked[codes]


def encode(y: ColumnLike, classes: ColumnLike) -> np.ndarray:
    """(n,) position of each entry in the sorted `classes`, or -1 if it is not among them.

    In a table of probabilities, the most likely class. Its columns are in the order in which `read_labels` found them.
    """
    names, y = array_of(y)
    if y.ndim == 2:
        order = np.argsort(np.arange(y.shape[1]) if names is None else np.asarray(names), kind="stable")
        return np.where(np.nansum(y, axis=1) > 0, np.argmax(np.nan_to_num(y[:, order]), axis=1), -1)
    values, codes = distinct(y)
    where = {name: i for i, name in enumerate(np.asarray(classes).tolist())}
    return np.array([-1 if is_nothing(v) else where.get(v, -1) for v in values.tolist()], dtype=int)[codes]


def labeled_accuracy(
    y: ColumnLike, predicted: object, classes: ColumnLike, missing_label: object = "auto", weight: ColumnLike = None
) -> float:
    """Accuracy over the entries of y that are labels. A prediction that is not a class is wrong."""
    rows = ~unlabeled(y, missing_label, classes)
    if not rows.any():
        raise InputError("There is no row to score, because no entry of y is a label. Give labels to compare with.")
    truth, predicted = encode(y, classes)[rows], encode(predicted, classes)[rows]
    weight = None if weight is None else np.asarray(weight)[rows]
    return float(np.average((truth == predicted) & (truth >= 0), weights=weight))


def read_targets(y: ColumnLike, n_rows: int | None, several: bool = False) -> np.ndarray:
    """(n,) float64 regression targets, NaN if unlabeled (NaN, None or pd.NA). They may be (n, k) if `several`."""
    _, y = array_of(y)
    if y.ndim not in (1, 1 + several) or (n_rows is not None and len(y) != n_rows):
        raise InputError(f"y has shape {y.shape}. Give one number per row of X ({n_rows} rows), NaN if unlabeled.")
    if y.dtype.kind == "O":
        y = np.array([np.nan if is_nothing(v) else v for v in y.ravel()], dtype=object).reshape(y.shape)
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"y cannot be read as numbers ({error}). Give numbers, NaN if unlabeled.") from None
    if np.isinf(y).any():
        raise InputError(f"Input y contains infinity (row {np.flatnonzero(np.isinf(y))[0]}). Give finite numbers.")
    largest = 1e150  # squares must be numbers
    if (most := float(np.nanmax(np.abs(y), initial=0.0))) > largest:
        raise InputError(
            f"Input y contains a number of {most:.1e}. Accepted: up to {largest:.0e}. Divide y by its mean."
        )
    partly = np.isnan(y).any(axis=1) & ~np.isnan(y).all(axis=1) if y.ndim > 1 else np.zeros(1, dtype=bool)
    if partly.any():
        row = np.flatnonzero(partly)[0]
        raise InputError(f"Row {row} of y has some of its {y.shape[1]} numbers only. Give all of them, or NaN for all.")
    if np.isnan(y).all():
        raise InputError("Input y contains NaN only, so no row has a target. Give a number for at least one row.")
    return y


def _minus_one(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_) and value == -1


def _marked(values: np.ndarray, missing_label: object) -> np.ndarray:
    """(len(values),) which of the distinct entries mark unlabeled rows."""
    entries = values.tolist()
    nothing = np.array([is_nothing(v) for v in entries], dtype=bool)
    if missing_label is None:
        if nothing.any():
            raise InputError(
                "Input y contains NaN or None, and missing_label=None means that every row is labeled. "
                'Use missing_label="auto", or fill these entries in.'
            )
        return nothing
    if not (isinstance(missing_label, str) and missing_label == "auto"):
        marks = missing_label if isinstance(missing_label, list | tuple | set) else [missing_label]
        marks = [m for m in marks if not is_nothing(m)]
        return nothing | np.array([v in marks for v in entries], dtype=bool)
    if any(v in ("-1", b"-1") for v in entries if isinstance(v, str | bytes)):
        raise InputError(
            'y contains the text "-1", which may be a class or an unlabeled mark. '
            'Pass missing_label="-1" if it marks unlabeled rows, or missing_label=None if it is a class.'
        )
    marked = nothing | np.array([isinstance(v, str | bytes) and not v.strip() for v in entries], dtype=bool)
    minus_one = np.array([_minus_one(v) for v in entries], dtype=bool)
    others = [v for v, m in zip(entries, marked | minus_one) if not m]
    if minus_one.any() and len(others) == 1 and not isinstance(others[0], str | bytes) and others[0] == 1:
        if marked.any():  # NaN marks unlabeled here, and -1 as a second mark would leave one class
            return marked
        raise InputError(
            'y contains only -1 and 1. In papers on two classes -1 is a class, and in scikit-learn it is "unlabeled". '
            + _ALSO_ONE
        )
    return marked | minus_one


def _sorted_classes(values: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(class names sorted, rank of each kept value). Text and numbers do not mix."""
    names = values[keep].tolist()
    text = [isinstance(v, str | bytes) for v in names]
    if any(text) and not all(text):
        word = names[text.index(True)]
        number = names[text.index(False)]
        raise InputError(
            f"Unknown label type: y mixes text ({word!r}) and numbers ({number!r}). Write all class names as text, "
            "or all as numbers. missing_label= names further unlabeled marks."
        )
    if values.dtype.kind == "O" and not any(text):
        bad = next((v for v in names if not isinstance(v, int | float | np.number | np.bool_)), None)
        if bad is not None:
            raise InputError(
                f"Unknown label type: y contains {bad!r}. Class names are text, whole numbers or booleans."
            )
        classes = np.array(names)
    else:
        classes = values[keep]
    order = np.argsort(classes, kind="stable")
    return classes[order], np.argsort(order)


def _soft(names: list | None, table: np.ndarray) -> Labels:
    """Labels from an (n, k) table of class probabilities."""
    n, k = table.shape
    gone = np.isnan(table)
    empty = gone.all(axis=1) | (table == 0).all(axis=1)
    if (gone.any(axis=1) & ~empty).any():
        row = np.flatnonzero(gone.any(axis=1) & ~empty)[0]
        raise InputError(f"Row {row} of y has some probabilities missing. Give all {k}, or none (NaN) if unlabeled.")
    labeled = np.flatnonzero(~empty)
    given = table[labeled]
    if len(labeled) == 0:
        raise InputError("y contains no labels, because every row of the table is NaN or zero. Label some rows.")
    wrong = (given < 0).any(axis=1) | (np.abs(given.sum(axis=1) - 1) > 1e-6)
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise InputError(
            f"Row {labeled[row]} of y is {given[row].tolist()}, but class probabilities are at least 0 and sum to 1. "
            "Divide each row by its sum, or pass one class name per row."
        )
    if (given.sum(axis=0) > 0).sum() < 2:
        raise InputError("y has one class only, the one with all probability. Label rows of two or more classes.")
    codes = np.full(n, -1)
    codes[labeled] = np.argmax(given, axis=1)
    classes = np.arange(k) if names is None else np.asarray(names)
    order = np.argsort(classes, kind="stable")  # classes are sorted, so the columns follow
    codes[labeled] = np.argsort(order)[codes[labeled]]
    given = np.ascontiguousarray(given[:, order])
    return Labels(classes[order], codes, labeled, given, soft=bool(((given > 0) & (given < 1)).any()))
