"""Read tables from files of many formats, turn their columns into numbers, and write results back."""

from ..frames import as_pandas, frame_of_gaps, is_arrow, is_frame
from .distinctive import DistinctiveCells
from .drawn import Selected, selected
from .encoder import TableEncoder
from .formats import Table, read_table, write_table
from .formats.images import image_frame
from .look import Column
from .model import TableClassifier, TableRegressor
from .renamed import renamed
from .target import NumberTarget, Target, given_cells, hint_columns, read_target, read_target_as
