"""The type of each column, equal weights of columns, and options that override the type."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from mercer.errors import InputError
from mercer.inputs.tables import TableEncoder, is_frame
from mercer.inputs.tables.cells import numbers

to_numeric = pd.to_numeric

N = 12
SIZES = [float(i) ** 1.5 for i in range(N)]


def fitted(**columns):
    frame = pd.DataFrame(columns)
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    np.testing.assert_array_equal(encoder.transform(frame), X)
    return encoder, X


def kinds(encoder):
    return {column.name: column.kind for column in encoder.columns_}


def mean_difference(rows):
    """Expected squared difference between two rows."""
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=2).mean()


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    words = ["quick", "brown", "fox", "jumps", "over", "lazy", "dog", "while", "seven", "wizards", "mix", "potions"]
    return pd.DataFrame(
        {
            "size": rng.normal(100, 30, n).round(3),
            "income": np.exp(rng.normal(10, 1, n)).round(2),
            "color": rng.choice(["red", "blue", "green"], n, p=[0.6, 0.3, 0.1]),
            "good": rng.random(n) < 0.2,
            "stars": rng.integers(1, 6, n),
            "risk": rng.choice(["low", "medium", "high"], n),
            "day": pd.date_range("2024-01-01", periods=n) + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "story": [" ".join(rng.choice(words, 7)) for _ in range(n)],
            "vector": [rng.normal(size=8).tolist() for _ in range(n)],
            "same": "x",
            "id": [f"no{i}" for i in range(n)],
        }
    )


def test_every_column_has_the_same_say():
    """Over all pairs of rows, the expected squared difference is 2 for each used column, whatever its kind."""
    table = mixed()
    encoder = TableEncoder().fit(table)
    assert kinds(encoder) == {
        "size": "number",
        "income": "number",
        "color": "category",
        "good": "category",
        "stars": "ordered",
        "risk": "ordered",
        "day": "date",
        "gaps": "number",
        "story": "text",
        "vector": "embedding",
        "same": "constant",
        "id": "identifier",
    }
    assert encoder.ignored_ == {"same": "the same value in every row", "id": "different in every row"}
    for one in encoder.encoders_:
        np.testing.assert_allclose(mean_difference(one.encode(table)), 2.0, rtol=1e-9, err_msg=one.name)
    for column in encoder.columns_[:-2]:
        np.testing.assert_allclose(column.say, 0.1, rtol=1e-9)
    assert [column.missing for column in encoder.columns_ if column.name == "gaps"] == [table["gaps"].isna().mean()]
    assert {c.name: c.use for c in encoder.columns_}["income"] == "logarithm"


def test_a_rare_value_is_no_outlier():
    """Of 1,000 rows five differ: their distance stays within a few times that of a usual column."""
    rows = np.arange(1000) < 5
    for values in (np.where(rows, "t", "f"), rows.astype(int), rows):
        _, X = fitted(size=np.sin(np.arange(1000.0)) ** 3, odd=values)
        assert np.sum((X[0, 1:] - X[-1, 1:]) ** 2) <= 10.0 + 1e-9


def test_gaps_take_the_median_and_are_marked():
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0], "b": ["x", None, "x", "y"]})
    rows = TableEncoder().fit_transform(table)
    assert np.isfinite(rows).all()
    assert rows.shape == (4, 2 + 3)
    assert rows[1, 0] == 0.0 == rows[2, 0]  # the median of 1, 3, 5
    assert rows[1, 1] > 0
    assert np.all(rows[[0, 2, 3], 1] == 0)


def test_gaps_alone_may_tell_rows_apart():
    encoder, X = fitted(size=SIZES, fare=[5.0, None] * 6)
    assert kinds(encoder)["fare"] == "number"
    assert len(np.unique(X[:, 1:], axis=0)) == 2


@pytest.mark.parametrize("mark", ["", "NA", "?", "-", "\\N", "None", None, np.nan, "--"])
def test_marks_of_gaps(mark):
    cells = [mark if i % 3 == 0 else str(i * i) for i in range(N)]
    encoder, X = fitted(size=cells)
    assert encoder.columns_[0].kind == "number"
    assert encoder.columns_[0].missing == pytest.approx(1 / 3)
    assert len(set(X[::3, 0])) == 1
    texts = [
        mark if i % 2 else f"a long story about {word}" for i, word in enumerate(["one", "two", "three", "four"] * 5)
    ]
    stories = [text if i % 2 else f"{text} number {i * 7919}" for i, text in enumerate(texts)]
    assert kinds(fitted(story=stories)[0]) == {"story": "text"}


def test_numbers_in_one_unit_stay_as_they_are_and_others_do_not():
    pixels = np.random.default_rng(0).integers(0, 17, (60, 20)).astype(float)
    frame = pd.DataFrame(pixels, columns=[f"p{j}" for j in range(20)])
    encoder = TableEncoder()
    np.testing.assert_array_equal(encoder.fit_transform(frame), pixels)
    assert encoder.plain_
    assert encoder.columns_[0].use == "as it is"
    scaled = TableEncoder(scale=True).fit_transform(frame)
    np.testing.assert_allclose(scaled.var(axis=0), 1.0)
    frame["p3"] *= 1000
    frame["p4"] /= 1000
    frame["p5"] = np.exp(pixels[:, 5])
    units = TableEncoder().fit(frame[["p3", "p4", "p5"]])
    assert not units.plain_
    np.testing.assert_allclose(units.transform(frame).var(axis=0), 1.0)
    np.testing.assert_array_equal(TableEncoder(scale=False).fit_transform(frame), frame)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["7"] * N, "same value in every row"),
        (["red"] * N, "same value in every row"),
        (["7", "7.0"] * (N // 2), "same value in every row"),
        ([2**60 + i for i in range(N)], "differs only after the sixteenth digit"),
        ([[1, 2]] * N, "same value in every row"),
        ([""] * N, "is empty"),
        ([str(100 + i) for i in range(N)], "identifier"),
        ([f"k{i:04d}" for i in range(N)], "identifier"),
        ([f"0{1 + i % 9}/0{1 + i % 7}/2020" for i in range(N)], "cannot be distinguished"),
        ([{"a": i} for i in range(N)], "lists or objects"),
        ([[1] * i for i in range(N)], "lists or objects"),
        ([1e300 * (i + 1) for i in range(N)], "too large to use"),
        ([np.inf] * N, "too large to use"),
        ([str(2**60 + i) for i in range(N)], "differs only after the sixteenth digit"),
        ([str(2.54 * size) for size in SIZES], "the same as 'size'"),
    ],
)
def test_columns_of_no_use_are_left_out_with_a_reason(cells, words):
    encoder, X = fitted(size=SIZES, strange=cells)
    assert len(encoder.encoders_) == 1
    assert list(encoder.ignored_) == ["strange"]
    assert words in " ".join(encoder.notes_)
    np.testing.assert_array_equal(X[:, 0], SIZES)


@pytest.mark.parametrize(
    "cells",
    [[str(1000 + i) for i in range(N)], [f"k{i:04d}" for i in range(N)], [f"{i:05d}" for i in range(N)]],
)
def test_the_option_that_a_note_names_makes_an_identifier_a_feature(cells):
    frame = pd.DataFrame({"size": SIZES, "strange": cells})
    note = " ".join(TableEncoder().fit(frame).notes_)
    option = re.search(r"--(\w+) uses it", note).group(1)
    encoder = TableEncoder(**{option: ["strange"]}).fit(frame)
    assert not encoder.ignored_ and kinds(encoder)["strange"] == option


def test_row_numbers_of_a_sampled_table_are_left_out():
    rng = np.random.default_rng(0)
    chosen = rng.choice(5000, 60, replace=False)
    sizes = rng.normal(size=60)
    for name, values in (("rownames", chosen), ("case", np.sort(chosen)), ("id", chosen)):
        encoder, _ = fitted(size=sizes, **{name: values})
        assert kinds(encoder)[name] == "identifier", name
    assert kinds(fitted(size=sizes, weight=chosen)[0])["weight"] == "number"


def test_large_whole_numbers_are_different_values():
    encoder = TableEncoder().fit(pd.DataFrame({"size": SIZES, "year": [1000001, 1000002, 1000003] * (N // 3)}))
    assert [encoder.columns_[1].kind, encoder.encoders_[1].category.levels] == [
        "ordered",
        ["1000001", "1000002", "1000003"],
    ]


def test_codes_are_no_numbers():
    places = ["01067", "10115", "20095", "80331"] * 10
    sizes = np.sin(np.arange(40.0))
    encoder, _ = fitted(size=sizes, place=places)
    assert kinds(encoder)["place"] == "category"
    assert kinds(fitted(size=sizes, zip=[int(p) for p in places])[0])["zip"] == "category"
    assert kinds(fitted(size=sizes, zip=range(10115, 10155))[0])["zip"] == "code"


def test_the_first_word_of_a_name_is_a_category():
    makers = np.repeat(["toyota", "ford", "vw", "fiat"], 10)
    names = [f"{maker} {'abcdefghij'[i % 10]}{i}00" for i, maker in enumerate(makers)]
    encoder, X = fitted(name=names)
    assert encoder.columns_[0].use == "its first word"
    assert len(np.unique(X, axis=0)) == 4
    new = encoder.transform(pd.DataFrame({"name": ["Toyota zzz", "Lada 2105"]}))
    np.testing.assert_array_equal(new[0], X[0])
    assert not new[1].any()


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        ([f"{i * i}%" for i in range(N)], 1.0),
        ([f"€ {i * i},50" for i in range(N)], 1.5),
        ([f"${i * i}.25" for i in range(N)], 1.25),
        ([f"{i * i + 1},000 €" for i in range(N)], 2000.0),
        ([f"{i * i} kg" for i in range(N)], 1.0),
        ([f"{i * i}.5km/h" for i in range(N)], 1.5),
        ([f"{i * i} °C" for i in range(N)], 1.0),
    ],
)
def test_signs_of_money_percent_and_units_are_not_words(cells, first):
    encoder, X = fitted(price=cells)
    assert X[1, 0] == first
    assert encoder.sentence_ == "1 number"


def test_a_saved_unit_is_not_taken_for_another():
    encoder, X = fitted(weight=[f"{i * i} kg" for i in range(N)])
    again = encoder.transform(pd.DataFrame({"weight": ["1 kg", "1 lb"]}))
    assert again[0, 0] == X[1, 0]
    assert again[1, 0] == np.median(X[:, 0])


def test_infinity_in_a_column_of_numbers_is_a_gap_however_frequent():
    encoder, X = fitted(size=[np.inf, -1e200, np.nan, *SIZES[3:]])
    assert np.all(X[:3, 0] == 0.0)
    assert np.median(X[3:, 0]) == 0.0
    assert "2 cells such as inf read as gaps" in encoder.notes_[0]


def test_gaps_and_words_among_numbers_are_said():
    cells = ["1", "2", "NA", "", *map(str, range(3, 40)), "oops"]
    encoder, X = fitted(size=cells)
    assert X[2, 0] == X[3, 0] == X[-1, 0] == np.median(X[[0, 1, *range(4, 41)], 0])
    assert "'oops' read as gaps" in encoder.notes_[0]
    assert "gaps" in encoder.notes_[1]


def test_yes_and_no_in_many_spellings():
    _, X = fitted(flag=["Yes", "no", "Y", "N", "TRUE", "false", "1", "0", "yes", "No", "ja", "nein"])
    assert len(np.unique(X, axis=0)) == 2
    assert np.all(X[::2] == X[0])


@pytest.mark.parametrize(
    "levels", [["low", "medium", "high"], ["Never", "sometimes", "ALWAYS"], ["<18", "18-40", "65+"], ["1", "2", "3"]]
)
def test_steps_of_a_scale_are_in_order(levels):
    """The ends are further from each other than from the middle."""
    encoder, X = fitted(step=levels * 4)
    assert kinds(encoder) == {"step": "ordered"}
    low, middle, high = X[0], X[1], X[2]
    assert np.linalg.norm(low - high) > 1.2 * max(np.linalg.norm(low - middle), np.linalg.norm(middle - high))


def test_categories_new_categories_other_order():
    table = mixed()
    encoder = TableEncoder()
    rows = encoder.fit_transform(table)
    np.testing.assert_array_equal(encoder.transform(table[table.columns[::-1]]), rows)
    strange = table.iloc[:1].assign(color="violet")
    color = next(one for one in encoder.encoders_ if one.name == "color")
    assert not color.encode(strange).any()
    said = encoder.unread(strange)
    assert "'color' (1 cell such as 'violet')" in said[0]
    with pytest.warns(UserWarning, match="'size' is not in this table and counts as missing in every row"):
        without = encoder.transform(table.drop(columns="size"))
    np.testing.assert_array_equal(without, encoder.transform(table.assign(size=np.nan)))


def test_rare_categories_asked_for_share_one_code():
    values = [f"c{i}" for i in range(60) for _ in range(3)] + ["often"] * 100 + ["once", "never again"]
    X = TableEncoder(category=["c"]).fit_transform(pd.DataFrame({"c": values}))
    assert X.shape == (282, 50)
    assert not X[-2:].any()


def test_polars_gives_the_same_rows():
    table = mixed().drop(columns="vector")
    np.testing.assert_array_equal(
        TableEncoder().fit_transform(pl.from_pandas(table)), TableEncoder().fit_transform(table)
    )


def test_dates_are_expanded_and_day_first_is_found():
    days = [f"{d:02d}/03/2021" for d in range(2, 26, 2)]
    iso = [f"2021-03-{d:02d}" for d in range(2, 26, 2)]
    one, X = fitted(when=days)
    _, Y = fitted(when=iso)
    np.testing.assert_allclose(X, Y)
    assert X.shape[1] == 3  # days, and the two coordinates of the weekday
    assert "read as dates" in one.notes_[0]
    months = [f"03/{d:02d}/2021" for d in range(2, 26, 2)]
    np.testing.assert_allclose(fitted(when=months)[1], Y)
    np.testing.assert_allclose(fitted(when=pd.to_datetime(iso))[1], Y)


@pytest.mark.parametrize(
    "form",
    ["%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%y", "%B %d, %Y", "%b %d %Y", "%d %B %Y %H:%M", "%Y/%m/%d %H:%M"],
)
def test_dates_in_other_usual_spellings_are_dates(form):
    when = pd.Series(pd.date_range("2023-01-31", periods=40, freq="11D"), name="when")
    encoder, X = fitted(when=when.dt.strftime(form))
    assert encoder.notes_ == ["Column 'when' is read as dates."]
    np.testing.assert_allclose(X, fitted(when=when.dt.strftime("%Y-%m-%d"))[1], atol=1e-12)


def test_names_with_numbers_are_no_dates():
    names = [f"Item {i % 28 + 1} {2000 + i}" for i in range(40)]
    encoder, _ = fitted(a=range(5, 45), name=names, b=[i % 7 for i in range(40)])
    assert "dates" not in " ".join(encoder.notes_)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["€ 1,234.50", "€ 99.00", "€ 1,000,000.25"], [1234.5, 99, 1000000.25]),
        (["1.234,50", "99,00", "1.000.000,25", "1.234"], [1234.5, 99, 1000000.25, 1234]),
        (["1 234,50", "99,00", "12\u202f345,5", "7\u00a0000"], [1234.5, 99, 12345.5, 7000]),
        (["1'234.50", "99.00", "12’345"], [1234.5, 99, 12345]),
        (["1,234", "99", "5,678"], [1234, 99, 5678]),
        (["1.5", "2.25", "3.125"], [1.5, 2.25, 3.125]),
        (["-1,234.5 $", "+2.5 $", "3 $"], [-1234.5, 2.5, 3]),
        (["1.234,50 EUR", "-99,00 EUR", "7 EUR"], [1234.5, -99, 7]),
        (["USD 1,234.50", "USD -99", "USD 7"], [1234.5, -99, 7]),
    ],
)
def test_numbers_with_separated_thousands_are_numbers(cells, values):
    assert numbers(pd.Series(cells)).tolist() == values
    assert kinds(TableEncoder().fit(pd.DataFrame({"price": cells}))) == {"price": "number"}


@pytest.mark.parametrize("dtype", [object, str, "string[python]", "category"])
def test_numbers_are_read_to_the_last_digit(dtype):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    words = [repr(value) for value in values.tolist()]
    assert_array_equal(numbers(pd.Series(words, dtype=dtype)), values)
    assert_array_equal(numbers(pd.Series([*words, "?"], dtype=dtype)), [*values, np.nan])
    commas = [word.replace(".", ",") for word in words]
    assert_array_equal(numbers(pd.Series(commas, dtype=dtype)), values)


STORIES = {
    "English": (
        ["the striker scored a late goal", "a keeper saved the kick"],
        ["the bank raised its rates", "an investor sold bonds"],
    ),
    "German": (
        ["der Stürmer schoss ein Tor", "die Torhüterin hielt den Ball"],
        ["die Bank erhöhte die Zinsen", "der Anleger verkaufte Aktien"],
    ),
    "Chinese": (
        ["前锋在比赛最后时刻进球", "守门员在比赛中扑出点球"],
        ["银行今年再次提高贷款利率", "投资者出售银行股票和债券"],
    ),
}


@pytest.mark.parametrize("language", STORIES)
def test_text_of_one_subject_is_close_in_any_language(language):
    sport, money = STORIES[language]
    mark = (lambda i: chr(0x4E00 + 37 * i)) if language == "Chinese" else (lambda i: f" {'abcdefghij'[i % 10] * 3}{i}")
    cells = [f"{line}{mark(3 * k + i)}" for k, pair in enumerate((sport, money)) for i in range(10) for line in pair]
    encoder, X = fitted(story=cells, size=np.sin(np.arange(40.0)))
    assert kinds(encoder)["story"] == "text"
    near = ((X[:, None, :-1] - X[None, :, :-1]) ** 2).sum(axis=2)
    same = np.add.outer(np.arange(40) // 20, np.arange(40) // 20) != 1
    assert near[~same].mean() > 1.5 * near[same].mean()
    assert not encoder.encoders_[0].encode(pd.DataFrame({"story": ["", "\\N"]})).any()


def test_several_text_columns_and_a_text_that_repeats():
    table = mixed()
    table["title"] = table["story"].to_numpy()[::-1]
    table["notice"] = [f"the {i % 60}th notice of this year {'so' * (i % 60)}" for i in range(len(table))]
    encoder = TableEncoder().fit(table)
    assert [name for name, kind in kinds(encoder).items() if kind == "text"] == ["story", "title", "notice"]


def test_an_embedding_is_one_column_and_only_its_direction_counts():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(50, 64))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    frame = pd.DataFrame(V, columns=[f"x{j}" for j in range(64)]).assign(size=SIZES[:10] * 5)
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert [(c.name, c.kind) for c in encoder.columns_] == [("x0 … x63", "embedding"), ("size", "number")]
    assert [round(c.say, 9) for c in encoder.columns_] == [0.5, 0.5]
    longer = frame.assign(**{f"x{j}": 3 * V[:, j] for j in range(64)})
    np.testing.assert_allclose(encoder.transform(longer), X)
    lists = pd.DataFrame({"v": [row.tolist() for row in V], "size": frame["size"]})
    for cells in (lists["v"], lists["v"].map(np.array), lists["v"].map(str)):
        np.testing.assert_allclose(TableEncoder().fit_transform(lists.assign(v=cells)), X)
    codes = pd.DataFrame(rng.integers(0, 9, (50, 64)), columns=frame.columns[:64])
    assert len(TableEncoder().fit(codes).columns_) == 64


def test_the_user_has_the_last_word():
    table = mixed()
    encoder = TableEncoder(text=["id"], category=["stars"], number=["risk"], ignore=["story"])
    with pytest.raises(InputError, match="'risk' cannot be used as number, because it contains values such as"):
        encoder.fit(table)
    encoder.set_params(number=["stars"], category=["size", "id"], text=[])
    found = kinds(encoder.fit(table.assign(size=table["size"].round(-1))))
    assert (found["stars"], found["size"], found["story"]) == ("number", "category", "ignored")
    assert {c.why for c in encoder.columns_ if c.name in ("stars", "size", "story")} == {"as requested"}
    assert encoder.ignored_["id"] == "no value occurs three times"  # nothing can be learned from it, requested or not
    assert kinds(TableEncoder(text=["color"]).fit(table))["color"] == "text"
    rows = pd.DataFrame({"number": [str(i) for i in range(N)], "size": SIZES})
    assert kinds(TableEncoder(number=["number"]).fit(rows)) == {"number": "number", "size": "number"}
    with pytest.raises(InputError, match=r"text: the table has no column 'storey'\. Did you mean 'story'"):
        TableEncoder(text=["storey"]).fit(table)
    with pytest.raises(InputError, match="'size' is given as text and as ignore"):
        TableEncoder(text=["size"], ignore=["size"]).fit(table)


def test_what_is_a_frame():
    assert is_frame(mixed())
    assert is_frame(pl.DataFrame({"a": [1.0, 2.0]}))
    assert not is_frame(np.ones((2, 2)))


def test_refusals():
    with pytest.raises(InputError, match="two columns named 'a'"):
        TableEncoder().fit_transform(pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]))
    with pytest.raises(InputError, match="No column is left to learn from"):
        TableEncoder(ignore=["y"]).fit(pd.DataFrame({"y": ["a", "b"], "one": ["1", "1"]}))
    encoder, _ = fitted(size=SIZES, weight=SIZES[::-1])
    with pytest.raises(InputError, match="no column 'size', 'weight', which the model was trained with"):
        encoder.transform(pd.DataFrame({"length": [1.0]}))
    with pytest.raises(InputError, match="A table with the columns 'size', 'weight' is needed, not list"):
        encoder.transform([1.0])


def test_an_array_is_read_by_position_where_the_table_was_numbers():
    frame = pd.DataFrame({"age": np.arange(40.0) % 7, "income": np.exp(np.sin(np.arange(40.0)) * 5)})
    encoder = TableEncoder()
    rows = encoder.fit_transform(frame)
    assert not encoder.plain_
    np.testing.assert_array_equal(encoder.transform(frame.to_numpy()), rows)


def test_dates_that_no_calendar_has_are_left_out():
    frame = pd.DataFrame({"day": ["0000-00-00", "2021-13-45", ""], "size": [1.5, 2.5, 7.0]})
    encoder = TableEncoder().fit(frame)
    assert encoder.ignored_ == {"day": "dates that no calendar has"}


def test_a_wide_table_is_read_column_by_column_and_only_once(monkeypatch):
    frame = pd.DataFrame({f"c{j}x": ["1.5", "2.5", str(j)] for j in range(300)}, dtype=object)
    asked = []
    monkeypatch.setattr(pd, "to_numeric", lambda x, **how: asked.append(tuple(x)) or to_numeric(x, **how))
    assert TableEncoder().fit_transform(frame).shape == (3, 300)
    assert len(asked) == len(set(asked)) == 300
