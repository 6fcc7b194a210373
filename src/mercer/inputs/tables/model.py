"""A classifier together with the reading of the table it was trained on: what `mercer label --save` writes."""

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

    def answer(self, frame):
        """(class probabilities (n, k), how far they rest on similar training rows (n,) from 0 to 1)."""
        rows = self.encoder.transform(frame)
        P, trust = self.classifier.predict_proba(rows), getattr(self.classifier, "trust", None)
        return P, np.ones(len(P)) if trust is None else trust(rows)

    def predict(self, frame):
        """(n,) class names as text."""
        return np.asarray(self.classifier.predict(self.encoder.transform(frame)))
