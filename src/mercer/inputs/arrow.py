"""Tables of pyarrow and of Hugging Face's datasets."""

from typing import Any

from ..backend import need
from ..types import Rows


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
