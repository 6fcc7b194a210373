"""Choosing with few labels: left-out answers over grids, splitters and scorers for data with unlabelled rows."""

from .leave_one_label_out import LeftOut, leave_one_label_out
from .split import LabeledKFold, LabeledScorer, LeaveOneLabelOut, RepeatedLabeledKFold
