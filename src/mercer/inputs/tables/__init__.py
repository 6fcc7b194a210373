"""Tables from files: reading whatever people have, turning columns into numbers, writing results back."""

from ..arrow import is_arrow
from .encoder import TableEncoder, as_pandas, is_frame
from .formats import Table, read_table, write_table
from .look import Column
from .model import TableClassifier, TableRegressor
from .target import NumberTarget, Target, given_cells, read_target, read_target_as
from .telling import Telling
