"""A model together with the encoder of the table it was trained on, as `mercer label --save` writes it."""

import numpy as np
from sklearn.base import BaseEstimator

from ...types import Frame
from .target import hint_columns


class TableClassifier(BaseEstimator):
    """Predict the labels of tables with the columns it was trained on.

    Parameters
    ----------
    encoder : fitted `TableEncoder`.
    classifier : fitted few-label classifier on the matrix of this encoder.
    target : name of the label column.
    values : class name as text → the value in the table.
    hints : list of str or None, default=None
        Columns of guesses by other sources, which the classifier was fitted with.
    missing : list of str or None, default=None
        Marks of empty cells among them.

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

    def __init__(self, encoder, classifier, target: str, values: dict, hints=None, missing=None) -> None:
        self.encoder = encoder
        self.classifier = classifier
        self.target = target
        self.values = values
        self.hints = hints
        self.missing = missing

    numeric = False

    @property
    def classes_(self) -> np.ndarray:
        """Class names, in the order of the columns of `predict_proba`."""
        return self.classifier.classes_

    def predict_proba(self, frame: Frame) -> np.ndarray:
        """(n, k) class probabilities."""
        return self.classifier.predict_proba(self.encoder.transform(frame), **self._hints(frame))

    def _hints(self, frame: Frame):
        """The hints of the rows, as an option of the classifier."""
        found = hint_columns(frame, self.hints, self.missing) if self.hints else {}
        return {"hints": found} if found else {}

    def answer(self, frame: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(class probabilities (n, k), confidence (n,), support by similar training rows (n,) from 0 to 1).

        The confidence is the probability that the most likely class is the true one.
        """
        rows = self.encoder.transform(frame)
        P = self.classifier.predict_proba(rows, **self._hints(frame))
        trust, confidence = (getattr(self.classifier, name, None) for name in ("trust", "confidence_of"))
        sure = P.max(axis=1) if confidence is None else confidence(P)
        return P, sure, np.ones(len(P)) if trust is None else trust(rows)

    def predict(self, frame: Frame) -> np.ndarray:
        """(n,) class names as text."""
        return np.asarray(self.classifier.predict(self.encoder.transform(frame), **self._hints(frame)))


class TableRegressor(BaseEstimator):
    """Predict the numbers of tables with the columns it was trained on.

    Parameters
    ----------
    encoder : fitted `TableEncoder`.
    regressor : fitted `FewLabelRegressor` on its matrix.
    target : name of the column.

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

    def __init__(self, encoder, regressor, target: str) -> None:
        self.encoder = encoder
        self.regressor = regressor
        self.target = target

    def predict(self, frame: Frame) -> np.ndarray:
        """(n,) numbers."""
        return self.regressor.predict(self.encoder.transform(frame))

    def predict_interval(self, frame: Frame, coverage: float = 0.9):
        """(n, 2) low and high end for each row."""
        return self.regressor.predict_interval(self.encoder.transform(frame), coverage)

    def answer(self, frame: Frame, coverage: float = 0.9) -> tuple:
        """(low and high end for each row (n, 2), support of the prediction by similar training rows (n,))."""
        rows = self.encoder.transform(frame)
        return self.regressor.predict_interval(rows, coverage), self.regressor.trust(rows)
