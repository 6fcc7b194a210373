"""Tables of numbers and categories as rows: every column has the same say, and what cannot be used is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.inputs.tables.encoder import TableEncoder, is_table


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(100, 30, 200),
            "colour": rng.choice(["red", "blue", "green"], 200, p=[0.6, 0.3, 0.1]),
            "good": rng.random(200) < 0.2,
            "day": pd.date_range("2024-01-01", periods=200),
            "same": "x",
            "id": [f"no {i}" for i in range(200)],
        }
    )


def test_every_column_has_the_same_say():
    """Over all pairs of rows, the expected squared difference is 2 for each used column."""
    table = frame()
    encoder = TableEncoder()
    encoder.fit_transform(table)
    assert encoder.ignored_ == {"same": "constant", "id": "nearly every value is different"}
    for name in ("size", "colour", "good", "day"):
        rows = TableEncoder().fit_transform(table[[name]])
        pairs = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(pairs.mean(), 2.0, rtol=1e-9, err_msg=name)


def test_missing_values():
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0], "b": ["x", None, "x", "y"]})
    rows = TableEncoder().fit_transform(table)
    assert np.isfinite(rows).all()
    assert rows.shape == (4, 2 + 3)
    np.testing.assert_allclose(rows[1, 0], 0.0)  # the median of 1, 3, 5
    assert rows[1, 1] > 0
    assert np.all(rows[[0, 2, 3], 1] == 0)


def test_new_rows_new_categories_other_order():
    table = frame()
    encoder = TableEncoder()
    rows = encoder.fit_transform(table)
    again = encoder.transform(table[table.columns[::-1]])
    np.testing.assert_array_equal(again, rows)
    strange = table.iloc[:1].assign(colour="violet")
    assert np.sum(encoder.transform(strange) == 0) >= 3
    with pytest.raises(InputError, match=r"lacks the column\(s\) \['size'\]"):
        encoder.transform(table.drop(columns="size"))


def test_polars_gives_the_same_rows():
    table = frame().drop(columns="day")
    np.testing.assert_allclose(TableEncoder().fit_transform(pl.from_pandas(table)), TableEncoder().fit_transform(table))


def test_what_is_a_table():
    assert is_table(frame())
    assert is_table(pd.DataFrame({"a": [1.0, np.nan]}))
    assert not is_table(pd.DataFrame({"a": [1.0, 2.0]}))
    assert not is_table(np.ones((2, 2)))


def test_rare_categories_share_no_code():
    values = [f"c{i}" for i in range(60) for _ in range(3)] + ["often"] * 100
    rows = TableEncoder().fit_transform(pd.DataFrame({"c": values}))
    assert rows.shape == (280, 50)


def test_refusals():
    with pytest.raises(InputError, match="two columns named 'a'"):
        TableEncoder().fit_transform(pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]))
    with pytest.raises(InputError, match="No column of the table can be used"):
        TableEncoder().fit_transform(pd.DataFrame({"a": ["x", "x"]}))
    with pytest.raises(InputError, match="'a' contains infinity"):
        TableEncoder().fit_transform(pd.DataFrame({"a": [1.0, np.inf], "b": ["x", "y"]}))
