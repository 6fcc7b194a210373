"""Rows and labels from Hugging Face datasets, Arrow and Polars give the predictions of pandas and NumPy."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import FewLabelClassifier, KernelPCA, LSSVMClassifier, TableEncoder

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def frame():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["color"] = np.array(["red", "blue", "green"])[np.arange(150) % 3]
    frame["label"] = np.where(np.arange(150) % 6 == 0, y, -1)
    return frame


def sources():
    """Functions from a pandas frame to the same rows elsewhere."""

    def arrow(frame):
        return pytest.importorskip("pyarrow").Table.from_pandas(frame)

    def polars(frame):
        return pytest.importorskip("polars").from_pandas(frame)

    def hugging_face(frame):
        datasets = pytest.importorskip("datasets")
        return datasets.Dataset.from_pandas(frame, preserve_index=False)

    return [arrow, polars, hugging_face]


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.__name__)
def test_tables_with_words(source, frame):
    table = source(frame)
    y = table["label"]
    rows = source(frame.drop(columns="label"))
    plain = frame.drop(columns="label")
    wanted = FewLabelClassifier(["lssvm"]).fit(plain, frame["label"])
    found = FewLabelClassifier(["lssvm"]).fit(rows, y)
    np.testing.assert_array_equal(found.predict_proba(rows), wanted.predict_proba(plain))
    assert found.score(rows, y) == wanted.score(plain, frame["label"])
    np.testing.assert_array_equal(TableEncoder().fit_transform(rows), TableEncoder().fit_transform(plain))


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.__name__)
def test_tables_of_numbers_in_plain_estimators(source, frame):
    numbers = frame[["a", "b", "c", "d"]]
    rows = source(numbers)
    wanted = LSSVMClassifier().fit(numbers.to_numpy(), frame["label"].to_numpy())
    found = LSSVMClassifier().fit(rows, source(frame)["label"])
    np.testing.assert_allclose(found.decision_function(rows), wanted.decision_function(numbers.to_numpy()), atol=1e-9)
    assert list(found.feature_names_in_) == ["a", "b", "c", "d"]
    components = KernelPCA(2, kernel="rbf").fit(rows)
    plain = KernelPCA(2, kernel="rbf").fit(numbers.to_numpy())
    np.testing.assert_allclose(components.transform(rows), plain.transform(numbers.to_numpy()), atol=1e-9)


def test_class_labels_and_a_selection_of_a_dataset(frame):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {**{name: datasets.Value("float64") for name in "abcd"}, "label": datasets.ClassLabel(names=["x", "y", "z"])}
    )
    table = datasets.Dataset.from_pandas(frame[[*"abcd", "label"]], features=features, preserve_index=False)
    some = table.select(range(0, 150, 2))  # a dataset with an index in between
    rows = some.remove_columns("label")
    wanted = frame.iloc[::2]
    found = LSSVMClassifier().fit(rows, some["label"])
    plain = LSSVMClassifier().fit(wanted[[*"abcd"]].to_numpy(), wanted["label"].to_numpy())
    np.testing.assert_allclose(
        found.decision_function(rows), plain.decision_function(wanted[[*"abcd"]].to_numpy()), atol=1e-9
    )
    arrays = some.with_format("numpy", columns=[*"abcd"])
    assert len(arrays["a"][:]) == 75
