"""Choosing with few labels: held-out predictions over grids, splitters and scorers for data with unlabeled rows."""

from .leave_one_label_out import LeftOut, leave_one_label_out
from .split import LabeledKFold, LabeledScorer, LeaveOneLabelOut, RepeatedLabeledKFold
