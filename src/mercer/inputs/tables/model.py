"""A classifier together with the reading of the table it was trained on: what `mercer label --save` writes."""

import numpy as np
from sklearn.base import BaseEstimator

from ...errors import InputError


class TableClassifier(BaseEstimator):
    """Predict the labels of tables with the columns it was trained on.

    Parameters
    ----------
    features : fitted `TableFeatures`.
    classifier : fitted few-label classifier on the matrix of these features.
    target : name of the label column.
    values : class name as text → the value as it stood in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import LSSVMClassifier
    >>> from mercer.inputs.tables import TableClassifier, TableFeatures
    >>> frame = pd.DataFrame({"size": [1.0, 1.5, 9.0, 9.5], "kind": ["small", None, "large", None]})
    >>> features = TableFeatures(exclude=["kind"]).fit(frame)
    >>> model = LSSVMClassifier().fit(features.transform(frame), frame["kind"])
    >>> TableClassifier(features, model, "kind", {"small": "small", "large": "large"}).predict(frame).tolist()
    ['small', 'small', 'large', 'large']
    """

    def __init__(self, features, classifier, target, values):
        self.features = features
        self.classifier = classifier
        self.target = target
        self.values = values

    @property
    def classes_(self):
        """Class names, in the order of the columns of `predict_proba`."""
        return self.classifier.classes_

    def predict_proba(self, frame):
        """(n, k) class probabilities."""
        return self.classifier.predict_proba(self._rows(frame))

    def predict(self, frame):
        """(n,) class names as text."""
        return np.asarray(self.classifier.predict(self._rows(frame)))

    def _rows(self, frame):
        if not hasattr(frame, "columns"):
            raise InputError(
                f"A table with named columns is needed, not {type(frame).__name__}. Pass a pandas DataFrame, "
                "or read a file with mercer.inputs.tables.read_table(path).frame."
            )
        return self.features.transform(frame)
