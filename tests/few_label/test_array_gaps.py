"""NaN in arrays is read as in data frames."""

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier, FewLabelRegressor
from mercer.errors import InputError


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 10, 100]
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    X[rng.random(X.shape) < 0.1] = np.nan
    y[rng.permutation(80)[:50]] = None
    return X, y


def test_a_classifier_reads_them_alike():
    X, y = rows()
    of_array = FewLabelClassifier(["rls", "lssvm"]).fit(X, y)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    of_frame = FewLabelClassifier(["rls", "lssvm"]).fit(frame, y)
    np.testing.assert_array_equal(of_array.transduction_, of_frame.transduction_)
    np.testing.assert_array_equal(of_array.predict_proba(X[:9]), of_frame.predict_proba(frame[:9]))
    assert of_array.n_features_in_ == 3 and not hasattr(of_array, "feature_names_in_")


def test_a_regressor_reads_them_alike():
    X, y = rows()
    numbers = np.where(np.equal(y, None), np.nan, np.nan_to_num(X[:, 0]))
    of_array = FewLabelRegressor(["lssvm"]).fit(X, numbers)
    of_frame = FewLabelRegressor(["lssvm"]).fit(pd.DataFrame(X, columns=["x0", "x1", "x2"]), numbers)
    np.testing.assert_array_equal(of_array.predict(X), of_frame.predict(pd.DataFrame(X, columns=["x0", "x1", "x2"])))


def test_infinity_without_gaps_is_refused():
    X, y = rows()
    X = np.nan_to_num(X)
    X[3, 1] = np.inf
    with pytest.raises(InputError, match="infinity"):
        FewLabelClassifier(["rls"]).fit(X, y)
