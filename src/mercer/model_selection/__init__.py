"""Model selection with few labels, with held-out predictions over grids, and splitters for partly labeled data."""

from .leave_one_label_out import LeftOut, leave_one_label_out
from .split import LabeledKFold, LabeledScorer, LeaveOneLabelOut, RepeatedLabeledKFold
