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

    numeric = False

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


class TableRegressor(BaseEstimator):
    """Predict the numbers of tables with the columns it was trained on.

    Parameters
    ----------
    encoder : fitted `TableEncoder`. regressor : fitted `FewLabelRegressor` on its matrix. target : name of the column.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import FewLabelRegressor
    >>> from mercer.inputs.tables import TableEncoder, TableRegressor
    >>> price = [i / 2 if i % 2 else None for i in range(20)]
    >>> frame = pd.DataFrame({"size": [i / 4 for i in range(20)], "price": price})
    >>> encoder = TableEncoder(ignore=["price"]).fit(frame)
    >>> model = FewLabelRegressor(["lssvm"]).fit(encoder.transform(frame), frame["price"])
    >>> TableRegressor(encoder, model, "price").predict(frame.iloc[[10]]).round(1).tolist()
    [5.0]
    """

    numeric = True

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

    def answer(self, frame, coverage=0.9):
        """(low and high end for each row (n, 2), how far the answer rests on similar training rows (n,))."""
        rows = self.encoder.transform(frame)
        return self.regressor.predict_interval(rows, coverage), self.regressor.trust(rows)
