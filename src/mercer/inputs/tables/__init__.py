"""Tables from files: reading whatever people have, turning columns into numbers, writing results back safely."""

from .encoder import TableEncoder, is_frame
from .look import Column
from .model import TableClassifier
from .read import Table, read_table
from .target import Target, read_target
from .telling import Telling
from .write import write_table

__all__ = [
    "Column",
    "Table",
    "TableClassifier",
    "TableEncoder",
    "Target",
    "Telling",
    "is_frame",
    "read_table",
    "read_target",
    "write_table",
]
