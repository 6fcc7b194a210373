"""Label-free work is done once. Every decomposition of a fit is of another matrix, and teaching makes none."""

import numpy as np
import pytest
import scipy.linalg as sla
from sklearn.datasets import make_blobs

from mercer import FewLabelClassifier


@pytest.fixture
def decomposed(monkeypatch):
    """The matrices that LAPACK has decomposed since the last `clear`, as text."""
    seen = []

    def watched(function):
        def call(A, *args, **options):
            seen.append(np.asarray(A).tobytes())
            return function(A, *args, **options)

        return call

    for name in ("eigh", "svd"):
        monkeypatch.setattr(sla, name, watched(getattr(sla, name)))
    return seen


def few_labels(n=80, seed=0):
    X, y = make_blobs(n, 6, centers=3, cluster_std=3.0, random_state=seed)
    X = X * np.arange(1, 7)  # columns of different units have more views
    given = np.where(np.arange(n) < 12, y, -1)
    return X, y, given


def test_a_fit_decomposes_each_label_free_matrix_once_and_teaching_none(decomposed):
    X, y, given = few_labels()
    model = FewLabelClassifier().fit(X, given)
    first = list(decomposed)
    decomposed.clear()
    FewLabelClassifier().fit(X, np.where(np.arange(80) >= 60, y, -1))
    label_free = set(first) & set(decomposed)  # what another labeling decomposes too
    assert len(label_free) > 10
    assert max(first.count(matrix) for matrix in label_free) == 1
    for row in (20, 30):
        decomposed.clear()
        model.teach([row], [y[row]])
        assert label_free.isdisjoint(decomposed)
    decomposed.clear()
    model.unteach([20])
    assert label_free.isdisjoint(decomposed)
