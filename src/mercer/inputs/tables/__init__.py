"""Tables from files: reading whatever people have, turning columns into numbers, writing results back."""

from .encoder import TableEncoder, is_frame
from .formats import Table, read_table, write_table
from .look import Column
from .model import TableClassifier
from .target import Target, read_target
from .telling import Telling
