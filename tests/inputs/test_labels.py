"""Labels, with every marker of "unlabeled", and errors with remedies for every ambiguity."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.inputs.labels import encode, read_labels, read_targets, unlabeled

nan = np.nan


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([0, 1, -1, 1], [0, 1], [0, 1, -1, 1]),
        ([0.0, 1.0, nan, 1.0], [0, 1], [0, 1, -1, 1]),
        (["b", "a", "", None, nan, pd.NA, -1, "b"], ["a", "b"], [1, 0, -1, -1, -1, -1, -1, 1]),
        (np.array([3, 7, None, -1], dtype=object), [3, 7], [0, 1, -1, -1]),
        (np.array(["no", "yes", " "]), ["no", "yes"], [0, 1, -1]),
        ([True, False, None], [False, True], [1, 0, -1]),
        ([2, 2, 5, 9], [2, 5, 9], [0, 0, 1, 2]),
        ([-1, 1, nan], [-1, 1], [0, 1, -1]),  # NaN marks here, so -1 must be a class
        ([-1, 0, 1], [0, 1], [-1, 0, 1]),
        (np.array([b"x", b"y", b""]), [b"x", b"y"], [0, 1, -1]),
        (np.array([[0], [1], [-1]]).ravel(), [0, 1], [0, 1, -1]),
        (np.ma.array([0, 1, 1], mask=[False, False, True]), [0, 1], [0, 1, -1]),
        (pd.Series([1, 0, None], dtype="Int64"), [0, 1], [1, 0, -1]),
        (pd.Series(["u", "v", None], dtype="string"), ["u", "v"], [0, 1, -1]),
        (pd.Categorical(["u", None, "v"], categories=["v", "u", "never"]), ["u", "v"], [0, -1, 1]),
        (pd.Series(["u", "v", None]).astype("category"), ["u", "v"], [0, 1, -1]),
        (pd.DataFrame({"label": [1, 0, -1]}), [0, 1], [1, 0, -1]),
        (pl.Series([1, 0, None]), [0, 1], [1, 0, -1]),
        (pl.Series(["u", "v", None]), ["u", "v"], [0, 1, -1]),
        (pl.Series(["u", "v", None], dtype=pl.Categorical), ["u", "v"], [0, 1, -1]),
        (torch.tensor([0, 1, -1]), [0, 1], [0, 1, -1]),
    ],
)
def test_every_mark_is_read(y, classes, codes):
    labels = read_labels(y)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert labels.labeled.tolist() == [i for i, c in enumerate(codes) if c >= 0]
    expected = np.array([[float(c == j) for j in range(len(classes))] for c in codes])
    np.testing.assert_array_equal(labels.target, expected)
    assert not labels.soft
    np.testing.assert_array_equal(unlabeled(y, classes=labels.classes), labels.codes < 0)
    np.testing.assert_array_equal(encode(y, labels.classes), labels.codes)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([1, 0, None], dtype="Int64"),
        pd.array([1, 0, None], dtype="Int64"),
        pd.DataFrame({"label": pd.Series([1, 0, None], dtype="Int64")}),
        pl.Series([1, 0, None]),
        pl.DataFrame({"label": [1, 0, None]}),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]}.{type(y).__name__}",
)
def test_whole_numbers_beside_a_gap_stay_whole(y):
    assert read_labels(y).classes.dtype.kind == "i"


@pytest.mark.parametrize(
    ("y", "missing_label", "classes", "codes"),
    [
        ([-1, 1, 1], None, [-1, 1], [0, 1, 1]),
        (["-1", "1"], None, ["-1", "1"], [0, 1]),
        (["-1", "1", "2"], "-1", ["1", "2"], [-1, 0, 1]),
        ([-1, 0, 1], 0, [-1, 1], [0, -1, 1]),
        (["a", "b", "?", "unknown"], ["?", "unknown"], ["a", "b"], [0, 1, -1, -1]),
        (["a", "b", "?", None, ""], "?", ["", "a", "b"], [1, 2, -1, -1, 0]),
        ([-1, 2, nan], nan, [-1, 2], [0, 1, -1]),
    ],
)
def test_missing_label_names_the_marks(y, missing_label, classes, codes):
    labels = read_labels(y, missing_label)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes


@pytest.mark.parametrize(
    ("y", "missing_label", "message"),
    [
        ([-1, 1, 1], "auto", r"only -1 and 1.*missing_label=None.*other class names"),
        (np.array([-1.0, 1.0]), "auto", r"only -1 and 1.*missing_label=None.*other class names"),
        (["-1", "a", "b"], "auto", r'text "-1".*missing_label="-1".*missing_label=None'),
        ([-1, -1], "auto", r"y contains no labels\. All 2 entries"),
        ([None, nan], "auto", "y contains no labels"),
        (["a", "a", None], "auto", r"one class only \('a', 2 rows\)"),
        ([-1, 3, 3], "auto", r"one class only \(3, 2 rows\).*-1 was read as an unlabeled mark.*missing_label=None"),
        ([1, nan], None, "missing_label=None means"),
        (["a", 1, 2], "auto", r"mixes text \('a'\) and numbers \(1\)"),
        ([0.5, 1.0, 2.0], "auto", "continuous.*0.5"),
        ([1.0, 2.0, np.inf], "auto", "contains infinity"),
        ([[1], [1, 2]], "auto", "different lengths"),
        (np.array([{1}, 2], dtype=object), "auto", "list or an array"),
        (np.array([(1,), 2], dtype=object), "auto", r"contains \(1,\)"),
        (np.array([1j, 2]), "auto", "Unknown label type"),
        (np.zeros((2, 2, 2)), "auto", "Unknown label type"),
        (None, "auto", "requires y to be passed"),
        ([["a", "b"], ["c", "d"]], "auto", "not all numbers"),
        ([[0.5, 0.6], [1, 0]], "auto", r"Row 0 of y is \[0.5, 0.6\].*sum to 1"),
        ([[-0.5, 1.5], [1, 0]], "auto", "at least 0"),
        ([[nan, 1.0], [1, 0]], "auto", "Row 0 of y has some probabilities missing"),
        ([[1.0, 0.0], [1, 0]], "auto", "one class only"),
        ([[0.0, 0.0], [nan, nan]], "auto", "y contains no labels"),
    ],
)
def test_what_cannot_be_read_is_refused_with_advice(y, missing_label, message):
    with pytest.raises(InputError, match=message):
        read_labels(y, missing_label)


def test_length_is_checked():
    with pytest.raises(InputError, match="X has 3 rows and y has 2"):
        read_labels([0, 1], n_rows=3)


def test_soft_labels_keep_their_probabilities_and_names():
    y = pd.DataFrame({"no": [0.25, nan, 1.0, 0.0], "maybe": [0.75, nan, 0.0, 0.0]})
    labels = read_labels(y)
    assert labels.classes.tolist() == ["maybe", "no"]  # sorted, and the columns with them
    np.testing.assert_array_equal(labels.target, [[0.75, 0.25], [0, 0], [0, 1], [0, 0]])
    assert labels.codes.tolist() == [0, -1, 1, -1]
    assert labels.soft
    np.testing.assert_allclose(labels.signs, [[-0.5], [1.0]])
    np.testing.assert_array_equal(unlabeled(y.to_numpy()), labels.codes < 0)


def test_signs_and_keep():
    labels = read_labels([0, 1, 2, -1, 1])
    np.testing.assert_array_equal(labels.signs, [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [-1, 1, -1]])
    fewer = labels.keep(np.array([True, False, True, True]))
    assert fewer.codes.tolist() == [0, -1, 2, -1, 1]
    np.testing.assert_array_equal(fewer.given, labels.given[[0, 2, 3]])
    np.testing.assert_array_equal(labels.counts(np.arange(5.0)), [0, 5, 2])


def test_a_class_named_minus_one_stays_a_class_when_scoring():
    assert unlabeled([-1, 1], classes=[-1, 1]).tolist() == [False, False]
    assert unlabeled([-1, 1, nan], classes=[-1, 1]).tolist() == [False, False, True]
    assert unlabeled([-1, 1], classes=[0, 1]).tolist() == [True, False]


def test_regression_targets():
    np.testing.assert_array_equal(read_targets([1, None, 2.5], 3), [1, nan, 2.5])
    np.testing.assert_array_equal(read_targets(pd.Series([1, None], dtype="Int64"), 2), [1, nan])
    for y, message in [
        ([1.0, np.inf], "row 1"),
        ([nan, nan], "no row has a target"),
        ([1.0], "one number per row"),
        (["a", "b"], "cannot be read as numbers"),
        ([1.0, 1e200], "contains a number of 1.0e\\+200"),
    ]:
        with pytest.raises(InputError, match=message):
            read_targets(y, 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["x", "y", "z", None, "", nan, -1]), min_size=1, max_size=30))
def test_reading_is_a_lookup(y):
    """Hypothesis: whenever it is accepted, code i names exactly the entry of row i."""
    names = sorted({v for v in y if v in ("x", "y", "z")})
    if len(names) < 2:
        with pytest.raises(InputError):
            read_labels(y)
        return
    labels = read_labels(y)
    assert labels.classes.tolist() == names
    assert [None if c < 0 else labels.classes[c] for c in labels.codes] == [v if v in names else None for v in y]
