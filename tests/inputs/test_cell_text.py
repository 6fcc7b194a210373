"""Cells with thousands separators, dates in several formats, months and times."""

import numpy as np
import pandas as pd
import pytest

from mercer.inputs.tables import TableEncoder, read_target_as
from mercer.inputs.tables.cells import decimal_commas, numbers
from mercer.inputs.tables.dates import date_order, days


def column(*words):
    return pd.Series(words, name="x", dtype=object)


def fitted(words):
    encoder = TableEncoder().fit(pd.DataFrame({"x": words}))
    return encoder, encoder.columns_[0]


@pytest.mark.parametrize("more", [["1.250.000"], ["89.500,50"], ["800", "89.500"]])
def test_points_set_thousands_apart_if_other_cells_show_it(more):
    words = ["116.950", "75.000", *more]
    assert decimal_commas(words)
    found = numbers(column(*words), ",")
    np.testing.assert_array_equal(found[:2], [116_950, 75_000])
    assert not np.isnan(found).any()


@pytest.mark.parametrize(
    "words",
    [
        ["116.950", "75.125", "3.5"],  # a cell of one decimal
        ["116.950", "75.125", "22.500"],  # nothing shows it
        ["116.950", "0.950", "1.250.000"],  # no thousands begin with 0
        ["1.234", "2.345", "7"],  # whole numbers lose their zeros, and no cell ends in one
        ["116.950", "75.000", "1200"],  # a whole number above 1,000 without a point
        ["192.168.1.10", "10.0.0.1"],
    ],
)
def test_points_are_decimal_marks_otherwise(words):
    assert not decimal_commas(words)


def test_prices_above_a_million_are_not_gaps():
    rng = np.random.default_rng(0)
    prices = np.r_[rng.integers(20_000, 900_000, 60), rng.integers(1_000_000, 3_000_000, 6)]
    encoder, found = fitted([f"{price:,}".replace(",", ".") for price in prices])
    assert (found.kind, found.missing) == ("number", 0)
    assert encoder.encoders_[0].seen[:2] == (prices.min(), prices.max())
    assert any("points between thousands" in note for note in encoder.notes_)


def test_prices_to_predict_have_thousands_too():
    prices = [f"{17 * i}.950" for i in range(1, 30)]
    assert read_target_as(column("1.250.000", *prices)).numbers.max() == 1_250_000
    assert read_target_as(column("1.250", *prices)).numbers.max() == 493.95


def test_later_tables_are_read_with_the_marks_of_the_first():
    words = [
        "116.950",
        "75.000",
        "1.250.000",
        "99.900",
        "210.500",
        "180.000",
        "64.400",
        "88.800",
        "92.100",
        "1.000",
    ] * 3
    encoder = TableEncoder(scale=False).fit(pd.DataFrame({"x": words}))
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"x": ["116.950", "500"]}))[:, 0], [116_950, 500])


DAYS = pd.date_range("2023-01-31", periods=60, freq="11D")


def test_dates_in_several_formats_are_dates():
    forms = ["%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y", "%d %b %Y"]
    words = [day.strftime(forms[i % 4]) for i, day in enumerate(DAYS)]
    encoder, found = fitted(words)
    assert found.kind == "date"
    assert encoder.notes_ == ["Column 'x' is read as dates in several formats."]
    known = days(column(*words), encoder.encoders_[0].order)
    np.testing.assert_array_equal(known, (DAYS - pd.Timestamp(0)).days)


def test_the_order_of_day_and_month_is_found_from_the_cells_that_need_it():
    assert date_order(np.array(["2024-01-05", "13/02/2024", "01/02/2024"] * 5)) == "mixed day"
    assert date_order(np.array(["2024-01-05", "02/13/2024", "01/02/2024"] * 5)) == "mixed month"
    assert date_order(np.array(["2024-01-05", "02/03/2024", "01/02/2024"] * 5)) == "unclear"


def test_times_are_numbers_and_points_on_a_circle():
    seconds = np.arange(0, 86_400, 1_771)
    words = [f"{s // 3600}:{s % 3600 // 60:02}:{s % 60:02}" for s in seconds]
    assert "11:48:24" in words
    encoder, found = fitted(words)
    assert (found.kind, found.use) == ("date", "time, time of the day")
    assert encoder.notes_ == ["Column 'x' is read as times."]
    np.testing.assert_allclose(days(column(*words), "time") * 86_400, seconds, atol=1e-6)
    rows = encoder.transform(pd.DataFrame({"x": ["23:59:59", "0:00:00", "12:00:00"]}))
    near, far = np.linalg.norm(rows[0, 1:] - rows[1, 1:]), np.linalg.norm(rows[0, 1:] - rows[2, 1:])
    assert near < 0.01 < far


@pytest.mark.parametrize(
    ("word", "hours"),
    [("11:30", 11.5), ("11:30 PM", 23.5), ("12:15 am", 0.25), ("1 days 02:00:00", 26), ("100:30:00", 100.5)],
)
def test_other_spellings_of_times(word, hours):
    assert days(column(word), "time")[0] * 24 == hours


@pytest.mark.parametrize("form", ["%b-%Y", "%B %Y", "%b-%y", "%Y-%m", "%m/%Y", "%Y/%m"])
def test_months_are_dates(form):
    months = pd.date_range("2016-01-01", periods=40, freq="MS")
    _, found = fitted([month.strftime(form) for month in months])
    assert (found.kind, found.why) == ("date", "months")
    known = days(column(*(month.strftime(form) for month in months)), "months")
    np.testing.assert_array_equal(known, (months - pd.Timestamp(0)).days)


def test_what_only_looks_like_a_time_or_a_month_is_not_a_date():
    for words in (["3:2", "16:9", "4:3"] * 5, ["Mars-2018", "Venus-2019"] * 5, ["2018-77", "2019-88"] * 5):
        assert date_order(np.array(words)) == ""
