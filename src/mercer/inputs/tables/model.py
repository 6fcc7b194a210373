"""A model together with the reading of the table it was trained on: what `mercer label --save` writes."""

import numpy as np
from sklearn.base import BaseEstimator


class TableClassifier(BaseEstimator):
    """Predict the labels of tables with the columns it was trained on.

    Parameters
    ----------
    encoder : fitted `TableEncoder`.
    classifier : fitted few-label classifier on the matrix of this encoder.
    target : name of the label column.
    values : class name as text → the value as it stood in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import LSSVMClassifier
    >>> from mercer.inputs.tables import TableClassifier, TableEncoder
    >>> frame = pd.DataFrame({"size": [1.0, 1.5, 9.0, 9.5], "kind": ["small", None, "large", None]})
    >>> encoder = TableEncoder(ignore=["kind"]).fit(frame)
    >>> model = LSSVMClassifier().fit(encoder.transform(frame), frame["kind"])
    >>> TableClassifier(encoder, model, "kind", {"small": "small", "large": "large"}).predict(frame).tolist()
    ['small', 'small', 'large', 'large']
    """

    def __init__(self, encoder, classifier, target, values):
        self.encoder = encoder
        self.classifier = classifier
        self.target = target
        self.values = values

    @property
    def classes_(self):
        """Class names, in the order of the columns of `predict_proba`."""
        return self.classifier.classes_

    def predict_proba(self, frame):
        """(n, k) class probabilities."""
        return self.classifier.predict_proba(self.encoder.transform(frame))

    def predict(self, frame):
        """(n,) class names as text."""
        return np.asarray(self.classifier.predict(self.encoder.transform(frame)))


class TableRegressor(BaseEstimator):
    """Predict the numbers of tables with the columns it was trained on.

    Parameters
    ----------
    encoder : fitted `TableEncoder`. regressor : fitted `FewLabelRegressor` on its matrix. target : name of the column.
    """

    def __init__(self, encoder, regressor, target):
        self.encoder = encoder
        self.regressor = regressor
        self.target = target

    def predict(self, frame):
        """(n,) numbers."""
        return self.regressor.predict(self.encoder.transform(frame))

    def predict_interval(self, frame, coverage=0.9):
        """(n, 2) low and high end for each row."""
        return self.regressor.predict_interval(self.encoder.transform(frame), coverage)
