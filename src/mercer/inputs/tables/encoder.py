"""Turn a table of numbers and categories into rows on which distances mean something.

Every column gets the same say: the expected squared difference between two rows is 2 in each. For numbers that is
variance 1. For a category it is a one-hot code divided by √(1 − Σ p²), since two rows differ with probability 1 − Σ p².
"""

import numpy as np

from ...errors import InputError

MOST_CATEGORIES = 50  # of a column that get a code; the rarer ones have none


def is_table(X):
    """Whether X is a data frame with a column that is not a plain number (or holds missing values)."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes") or not hasattr(X, "__getitem__"):
        return False
    return any(_kind(X[name]) != "number" or _missing(X[name]).any() for name in X.columns)


class TableEncoder:
    """One-hot codes and scaled numbers for a data frame (pandas or polars); missing values are their own category.

    Missing numbers take the column's median, and a 0/1 column says where. Columns of one value, and text columns in
    which nearly every value is different (names, identifiers), are left out.

    Attributes
    ----------
    columns_ : names of the columns of the frame.
    ignored_ : {name: why} of the columns left out.
    n_columns_ : width of the result.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", None]})
    >>> TableEncoder().fit_transform(frame).shape
    (4, 4)
    """

    def fit_transform(self, frame):
        """Learn the codes and return the rows, (n, n_columns_) float64."""
        self.columns_ = [str(name) for name in frame.columns]
        if len(set(self.columns_)) < len(self.columns_):
            twice = next(name for name in self.columns_ if self.columns_.count(name) > 1)
            raise InputError(f"The table has two columns named {twice!r}. Give every column its own name.")
        self.ignored_: dict = {}
        self.codes_: dict = {}
        for name in frame.columns:
            column = frame[name]
            learned = _learn_number(column) if _kind(column) in ("number", "date") else _learn_category(column)
            if isinstance(learned, str):
                self.ignored_[str(name)] = learned
            else:
                self.codes_[str(name)] = learned
        if not self.codes_:
            raise InputError(
                f"No column of the table can be used: {self.ignored_}. Give at least one column of numbers, or of "
                "categories that repeat."
            )
        rows = self.transform(frame)
        self.n_columns_ = rows.shape[1]
        return rows

    def transform(self, frame):
        """Rows of another frame with the same columns; a category never seen has the code of no category."""
        names = [str(name) for name in getattr(frame, "columns", [])]
        absent = [name for name in self.columns_ if name not in names]
        if absent:
            raise InputError(
                f"The table lacks the column(s) {absent} that the model was fitted with. "
                f"Accepted: a data frame with the columns {self.columns_}."
            )
        where = dict(zip(names, frame.columns))
        return np.hstack([_encode(frame[where[name]], learned) for name, learned in self.codes_.items()])


def _kind(column):
    """ "number", "date" or "category", for a pandas or polars column."""
    name = str(column.dtype).lower()
    if "datetime" in name or name == "date":
        return "date"
    plain = name.startswith(("int", "uint", "float", "bool"))
    return "number" if plain else "category"


def _missing(column):
    gone = column.isna() if hasattr(column, "isna") else column.is_null() | (column != column)
    return np.asarray(gone, dtype=object).astype(bool)


def _numbers(column):
    gone = _missing(column)
    values = column.to_numpy()
    if _kind(column) == "date":
        values = np.asarray(values, dtype="datetime64[s]").astype(np.int64)
    out = np.full(len(gone), np.nan)
    out[~gone] = np.asarray(values)[~gone].astype(np.float64)
    if np.isinf(out).any():
        raise InputError(f"Column {column.name!r} contains infinity. Accepted: finite numbers; leave a cell empty.")
    return out


def _learn_number(column):
    values = _numbers(column)
    gone = np.isnan(values)
    if gone.all():
        return "every value is missing"
    middle = float(np.median(values[~gone]))
    spread = float(np.where(gone, middle, values).std())
    share = float(gone.mean())
    if spread <= 1e-12 * abs(middle) and not gone.any():
        return "constant"
    return {"middle": middle, "spread": spread or np.inf, "gone": np.sqrt(share * (1 - share)) if share else 0.0}


def _text(column):
    gone = _missing(column)
    values = np.array([str(v) for v in column.to_list()], dtype=object)
    values[gone] = ""
    return values


def _learn_category(column):
    values, counts = np.unique(_text(column).astype(str), return_counts=True)
    n = counts.sum()
    if len(values) < 2:
        return "constant"
    if len(values) > MOST_CATEGORIES and len(values) > 0.5 * n:
        return "nearly every value is different"
    order = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    share = counts / n
    return {"names": values[order], "scale": 1.0 / np.sqrt(1.0 - np.sum(share**2))}


def _encode(column, learned):
    if "names" in learned:
        values = _text(column).astype(str)
        return learned["scale"] * (values[:, None] == learned["names"][None, :])
    values = _numbers(column)
    gone = np.isnan(values)
    scaled = (np.where(gone, learned["middle"], values) - learned["middle"]) / learned["spread"]
    if not learned["gone"]:
        return scaled[:, None]
    return np.column_stack([scaled, gone / learned["gone"]])
