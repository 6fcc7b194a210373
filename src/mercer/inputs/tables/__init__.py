"""Tables from files: reading whatever people have, turning columns into numbers, writing results back safely."""

from .encoder import TableEncoder, is_frame
from .look import Column
from .model import TableClassifier, TableRegressor
from .read import Table, read_table
from .target import NumberTarget, Target, read_target, read_target_as
from .write import write_table

__all__ = [
    "Column",
    "NumberTarget",
    "Table",
    "TableClassifier",
    "TableEncoder",
    "TableRegressor",
    "Target",
    "is_frame",
    "read_table",
    "read_target",
    "read_target_as",
    "write_table",
]
