"""Tables from files: reading whatever people have, turning columns into numbers, writing results back safely."""

from .features import TableFeatures
from .model import TableClassifier
from .read import Table, read_table
from .target import Target, read_target
from .write import write_table

__all__ = [
    "Table",
    "TableClassifier",
    "TableFeatures",
    "Target",
    "read_table",
    "read_target",
    "write_table",
]
