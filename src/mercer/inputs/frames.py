"""Data frames of pandas, polars, pyarrow and datasets of Hugging Face, and arrays with gaps."""

from typing import Any

import numpy as np

from ..backend import need
from ..errors import InputError
from ..types import Frame, Rows


def is_arrow(X: Rows) -> bool:
    """Whether X is a pyarrow table, a batch of its rows, or a dataset of Hugging Face."""
    return hasattr(X, "column_names") and hasattr(X, "to_pandas") and not hasattr(X, "dtypes")


def from_arrow(arrow: Any) -> Any:
    """The table as a pandas frame. An index that pandas stored with it is a column again."""
    names = list(arrow.column_names)
    if len(set(names)) < len(names):  # to_pandas would read all columns of one name as the last of them
        frame = arrow.rename_columns([str(i) for i in range(len(names))]).replace_schema_metadata(None).to_pandas()
        return frame.set_axis(names, axis=1)
    frame = arrow.to_pandas()
    if not isinstance(frame.index, need("pandas").RangeIndex):
        return frame.reset_index()
    return frame.set_axis(range(len(frame)))


def is_frame(X: Rows) -> bool:
    """Whether X is a data frame (pandas or polars) or a pyarrow table."""
    return is_arrow(X) or all(hasattr(X, name) for name in ("columns", "dtypes", "__getitem__"))


def as_pandas(frame: Frame) -> Frame:
    """A pandas frame with text as column names, all different."""
    pd = need("pandas")
    frame = from_arrow(frame) if is_arrow(frame) else frame
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The table has two columns named {twice!r}. Give every column its own name.")
    if not isinstance(frame, pd.DataFrame):
        return pd.DataFrame({name: frame[own].to_list() for name, own in zip(names, frame.columns)})
    frame = frame.copy(deep=False)  # pandas 2 remembers columns with the `attrs` that the frame had before
    return frame if names == list(frame.columns) else frame.set_axis(names, axis=1)


def frame_of_gaps(X: Rows) -> Frame:
    """An array of numbers with NaN as a frame of the columns x0, x1, …, so that its gaps are read. Otherwise X."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or not np.isnan(X).any():
        return X
    return need("pandas").DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
