"""Reading and writing tables: every kind of file that people have."""

import decimal
import os

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.inputs.tables import TableFeatures, read_table, read_target, write_table
from mercer.inputs.tables.write import harmless

ROWS = [("a", "1.5", "x"), ("b", "2.5", ""), ("c", "-3", "y")]


def put(folder, text, name="t.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def text_table(delimiter, header=("name", "size", "label"), rows=ROWS):
    return "\n".join(delimiter.join(row) for row in [header, *rows]) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_delimiters_and_encodings_are_found(tmp_path, delimiter, encoding):
    rows = [("Zoë", "1", "ä"), ("b, c; d" if delimiter not in ",;" else "b", "2", ""), ("Ünal", "3", "é")]
    table = read_table(put(tmp_path, text_table(delimiter, ("näme", "size", "label"), rows), encoding=encoding))
    assert table.delimiter == delimiter
    assert table.frame.columns.tolist() == ["näme", "size", "label"]
    assert table.frame["label"].tolist() == ["ä", "", "é"]


def test_windows_line_ends_quotes_and_line_breaks_in_cells(tmp_path):
    table = read_table(put(tmp_path, 'a,b\r\n"x, y",1\r\n"two\nlines",2\r\n'))
    assert table.frame["a"].tolist() == ["x, y", "two\nlines"]


def test_a_decimal_comma_is_not_a_delimiter(tmp_path):
    table = read_table(put(tmp_path, "a;b\n1,5;2,25\n3,5;4,125\n0,5;-1,75\n"))
    X = TableFeatures().fit_transform(table.frame)
    np.testing.assert_array_equal(X, [[1.5, 2.25], [3.5, 4.125], [0.5, -1.75]])
    assert table.decimal == ","


def test_thousands_separators_are_not_decimal_commas(tmp_path):
    table = read_table(put(tmp_path, 'a,b\n"1,234",1\n"5,678",2\n"12,345,678",4\n'))
    np.testing.assert_array_equal(TableFeatures().fit_transform(table.frame)[:, 0], [1234, 5678, 12345678])


def test_duplicate_and_empty_column_names_are_kept_apart_and_written_as_they_were(tmp_path):
    table = read_table(put(tmp_path, "a,a,,a\n1,2,3,4\n5,6,7,9\n"))
    assert table.frame.columns.tolist() == ["a", "a.2", "column 3", "a.3"]
    assert "more than once" in table.notes[0]
    write_table(table, {"new": ["x", "y"]}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,a,,a,new\n1,2,3,4,x\n5,6,7,9,y\n"


def test_lines_with_too_few_cells_are_noted(tmp_path):
    table = read_table(put(tmp_path, "a,b,c\n1,2,3\n4,5\n\n6\n"))
    assert table.frame.to_numpy().tolist() == [["1", "2", "3"], ["4", "5", ""], ["6", "", ""]]
    assert table.notes == [
        "2 lines, such as line 3, have fewer cells than there are columns; what is missing is read as empty."
    ]
    assert read_table(put(tmp_path, 'a,b\n"x\ny",2\n3,4\n')).notes == []


def test_numbers_too_long_to_differ_are_left_out_and_said():
    features, _ = fitted(size=SIZES, long=[str(2**60 + i) for i in range(N)])
    assert "differs only after the sixteenth digit" in features.notes_[0]


def test_a_file_without_header_is_noted(tmp_path):
    assert "header" in read_table(put(tmp_path, "1,2\n3,4\n5,6\n")).notes[0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "  \n\n", "is empty"),
        ("t.csv", "a,b\n", "no rows"),
        ("t.csv", "a,b\n1,2\n1,2,3,4\n", "not a regular table: Expected 2 fields in line 3, saw 4"),
        ("t.csv", 'a,b\n"1,2\n', "not a regular table"),
        ("t.csv", b"a,b\n\0\0\0,1\n", "bytes that no text has"),
        ("t.csv", b"PK\x03\x04rest", "Excel workbook"),
        ("t.csv", b"\x1f\x8brest", "gzip"),
        ("t.csv", b"%PDF-1.4", "PDF"),
        ("t.xlsx", b"whatever", "are not read"),
        ("t.parquet", b"not parquet", "not a readable Parquet file"),
        ("t.npz", b"not npz", "not a readable NPZ file"),
    ],
)
def test_files_that_are_no_tables_are_refused_by_name(tmp_path, name, content, words):
    with pytest.raises(InputError, match=words):
        read_table(put(tmp_path, content, name))


def test_missing_files_folders_and_unknown_encodings(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="'klingon' is not known"):
        read_table(put(tmp_path, "a,b\n1,2\n"), encoding="klingon")
    with pytest.raises(InputError, match="not valid ascii at byte"):
        read_table(put(tmp_path, "ä,b\n1,2\n"), encoding="ascii")


def test_npz_round_trip_and_objects_refused(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2) ** 2, np.array(["a", "b", "", "", "", ""])
    np.savez(tmp_path / "t.npz", X=X, y=y, extra=np.arange(3))
    table = read_table(tmp_path / "t.npz")
    assert table.frame.columns.tolist() == ["X[0]", "X[1]", "y"]
    np.testing.assert_array_equal(TableFeatures(exclude=["y"]).fit_transform(table.frame), X)
    write_table(table, {"y_predicted": ["a", "b", None, "a", "a", "b"]}, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_array_equal(out["X"], X)
        assert out["y_predicted"].tolist() == ["a", "b", "", "a", "a", "b"]
    np.savez(tmp_path / "bad.npz", X=np.array([{}, []], dtype=object))
    with pytest.raises(InputError, match="can run code"):
        read_table(tmp_path / "bad.npz")


def test_parquet_keeps_types(tmp_path):
    frame = pd.DataFrame({"n": [1, 2, 3], "when": pd.to_datetime(["2020-01-01", "2020-06-01", "2021-01-01"])})
    frame["label"] = ["x", None, "y"]
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert read_target(table.frame["label"]).given.tolist() == [True, False, True]
    write_table(table, {"p": ["x", "y", "y"]}, tmp_path / "out.parquet")
    back = pd.read_parquet(tmp_path / "out.parquet")
    assert back["n"].dtype == frame["n"].dtype
    assert back["p"].tolist() == ["x", "y", "y"]


# Columns


def fitted(**columns):
    frame = pd.DataFrame(columns)
    features = TableFeatures().fit(frame)
    return features, features.transform(frame)


N = 12
SIZES = [float(i) ** 1.5 for i in range(N)]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["7"] * N, "same value in every row"),
        (["red"] * N, "same value in every row"),
        ([""] * N, "is empty"),
        ([str(100 + i) for i in range(N)], "identifier"),
        ([f"k{i:04d}" for i in range(N)], "identifier"),
        ([f"0{1 + i % 9}/0{1 + i % 7}/2020" for i in range(N)], "cannot be told apart"),
        ([[1, 2]] * N, "lists or objects"),
        ([1e300 * (i + 1) for i in range(N)], "too large to use"),
        ([np.inf] * N, "too large to use"),
    ],
)
def test_columns_of_no_use_are_left_out_with_a_reason(cells, words):
    features, X = fitted(size=SIZES, strange=cells)
    assert len(features.encoders_) == 1
    assert words in " ".join(features.notes_)
    np.testing.assert_array_equal(X[:, 0], SIZES)


def test_include_overrules_the_look_of_an_identifier():
    frame = pd.DataFrame({"number": [str(i) for i in range(N)], "size": SIZES})
    features = TableFeatures(include=["number"]).fit(frame)
    np.testing.assert_array_equal(features.transform(frame)[:, 0], np.arange(N))


def test_infinity_in_a_column_of_numbers_is_a_gap_however_frequent():
    features, X = fitted(size=[np.inf, -1e200, np.nan, *SIZES[3:]])
    assert np.all(X[:3, 0] == np.median(SIZES[3:]))
    assert "2 cells such as inf read as gaps" in features.notes_[0]


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        ([f"{i * i}%" for i in range(N)], 1.0),
        ([f"€ {i * i},50" for i in range(N)], 1.5),
        ([f"${i * i}.25" for i in range(N)], 1.25),
        ([f"{i * i + 1},000 €" for i in range(N)], 2000.0),
    ],
)
def test_signs_of_money_and_percent_are_not_words(cells, first):
    features, X = fitted(price=cells)
    assert X[1, 0] == first
    assert features.sentence_ == "1 number"


ODD = {
    "category": lambda: pd.Categorical(["a", "b", None, "c"] * 3),
    "nullable integer": lambda: pd.array([1, 2, None, 4] * 3, dtype="Int64"),
    "nullable boolean": lambda: pd.array([True, None, False, True] * 3, dtype="boolean"),
    "decimal": lambda: [decimal.Decimal(i * i) / 7 for i in range(N)],
    "time with zone": lambda: pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"),
    "lists": lambda: [[1, 2]] * N,
    "bytes": lambda: [b"ab"] * N,
    "nothing": lambda: [None] * N,
}


@pytest.mark.parametrize("kind", ODD)
def test_every_type_of_a_parquet_column_is_read_and_written(tmp_path, kind):
    pd.DataFrame({"size": SIZES, "odd": ODD[kind]()}).to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert np.isfinite(TableFeatures().fit_transform(table.frame)).all()
    for ending in ("csv", "npz", "parquet"):
        write_table(table, {"new": list("ab" * 6)}, tmp_path / f"out.{ending}")
        assert read_table(tmp_path / f"out.{ending}").frame["new"].tolist() == list("ab" * 6)


def test_arrays_of_an_npz_file_that_are_no_columns_are_named(tmp_path):
    labels = np.array([b"a", b"b", b"", b"", b"", b""])
    strange = {"wave": np.ones((6, 2), complex), "cube": np.ones((6, 2, 2)), "short": np.ones(5), "one": np.array(1.0)}
    np.savez(tmp_path / "t.npz", X=np.arange(12.0).reshape(6, 2) ** 2, y=labels, **strange)
    table = read_table(tmp_path / "t.npz")
    assert table.frame.columns.tolist() == ["X[0]", "X[1]", "y"]
    assert [note.split("'")[1] for note in table.notes] == list(strange)
    assert read_target(table.frame["y"]).labels.tolist() == ["a", "b", None, None, None, None]
    np.savez(tmp_path / "bad.npz", wave=strange["wave"])
    with pytest.raises(InputError, match="'wave', of shape .6, 2. and type complex128, is no column"):
        read_table(tmp_path / "bad.npz")


def test_gaps_and_words_among_numbers_take_the_median():
    cells = ["1", "2", "NA", "", *map(str, range(3, 40)), "oops"]
    features, X = fitted(size=cells)
    known = [1, 2, *range(3, 40)]
    assert X[2, 0] == X[3, 0] == X[-1, 0] == np.median(known)
    assert "'oops' read as gaps" in features.notes_[0]
    assert "gaps" in features.notes_[1]


def test_categories_become_zeros_and_ones_and_numbers_are_then_standardised():
    features, X = fitted(colour=["red", "blue", "green", ""] * 3, flag=["yes", "no"] * 6, size=SIZES)
    np.testing.assert_array_equal(X[:4, :3], [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(X[:, 3], [1, 0] * 6)
    assert abs(X[:, 4].mean()) < 1e-12
    assert abs(X[:, 4].std() - 1) < 1e-12
    unseen = features.transform(pd.DataFrame({"colour": ["violet"], "flag": ["no"], "size": [1.0]}))
    np.testing.assert_array_equal(unseen[0, :4], 0)


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
    stamped = fitted(when=pd.to_datetime(iso))[1]
    np.testing.assert_allclose(stamped, Y)


def test_text_alone_is_sparse_tfidf_and_beside_numbers_short():
    words = [f"the {w} ran over the {v} hill" for w in ("dog", "cat", "cow") for v in ("far", "old", "red", "wet")]
    features, X = fitted(story=words)
    assert X.shape[0] == 12
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)  # unit rows, so inner products are cosines
    again = features.transform(pd.DataFrame({"story": ["a dog unheard of"]}))
    assert again.nnz == 1
    mixed, Y = fitted(story=words, size=SIZES)
    assert Y.shape[1] <= 51
    assert isinstance(Y, np.ndarray)
    assert "text column" in mixed.sentence_


def test_a_table_without_features_is_refused():
    with pytest.raises(InputError, match="No column is left to learn from"):
        TableFeatures(exclude=["y"]).fit(pd.DataFrame({"y": ["a", "b"], "one": ["1", "1"]}))


def test_a_table_without_a_column_the_model_knows_is_refused():
    features, _ = fitted(size=SIZES, weight=SIZES[::-1])
    with pytest.raises(InputError, match="no column 'weight'"):
        features.transform(pd.DataFrame({"size": [1.0]}))


# Labels


def test_empty_cells_are_unlabelled_and_numbers_are_class_names():
    target = read_target(pd.Series(["1", "", "2", " ", "1"], name="y"))
    assert target.labels.tolist() == ["1", None, "2", None, "1"]
    assert target.classes == ["1", "2"]
    floats = read_target(pd.Series([1.0, np.nan, 2.0], name="y"))
    assert floats.labels.tolist() == ["1", None, "2"]
    assert floats.values["2"] == 2.0


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["", "", ""], "No row has a label in 'y'"),
        (["a", "", "a"], "All 2 labels in 'y' are 'a'"),
        (["-1", "0", "1"], "--missing=-1"),
        (["0.5", "1.25", ""], "a measurement"),
        ([str(i) for i in range(30)], "a measurement"),
        ([f"Ann {i}" for i in range(30)], "names of rows, not classes"),
    ],
)
def test_labels_that_cannot_be_learnt_from_are_refused(cells, words):
    with pytest.raises(InputError, match=words):
        read_target(pd.Series(cells, name="y"))


def test_marks_named_by_the_user():
    cells = pd.Series(["-1", "0", "1", "NA"], name="y")
    assert read_target(cells, missing=["-1"]).labels.tolist() == [None, "0", "1", None]
    assert read_target(cells, missing=["-1", ""]).labels.tolist() == [None, "0", "1", "NA"]
    assert "1 cell of 'y' holds NA: read as unlabelled" in read_target(cells, missing=["-1"]).notes[0]
    with pytest.raises(InputError, match="holds -1"):
        read_target(cells, missing=["unknown"])
    assert read_target(cells, missing=[""]).labels.tolist() == ["-1", "0", "1", "NA"]
    noted = read_target(pd.Series(["a", "NA", "b"], name="y"))
    assert noted.labels.tolist() == ["a", None, "b"]
    assert "holds NA" in noted.notes[0]


# Writing


def test_cells_are_written_as_they_stood(tmp_path):
    text = "id;size;wörd\n007;1,50;ä\n008;2,5;=SUM(A1)\n009;-3;-x\n"
    table = read_table(put(tmp_path, text, encoding="cp1252"))
    notes = write_table(table, {"sure": [0.5, 0.25, 1.0]}, tmp_path / "out.csv")
    expected = "id;size;wörd;sure\n007;1,50;ä;0,5\n008;2,5;'=SUM(A1);0,25\n009;-3;'-x;1,0\n"
    assert (tmp_path / "out.csv").read_bytes().decode("cp1252") == expected
    assert "2 cells" in notes[0]


def test_formulas_are_defused_and_numbers_are_not():
    formulas = ["=1+1", "+49 30", "@cmd", "\tx", "-"]
    others = ["-5", "-5,5", "+3.5e2", "1e3", "plain", None, 3]
    assert harmless(formulas).tolist() == ["'" + cell for cell in formulas]
    assert harmless(others).tolist() == others


def test_nothing_is_overwritten_unasked(tmp_path):
    table = read_table(put(tmp_path, "a,b\n1,2\n3,4\n"))
    out = put(tmp_path, "precious", "out.csv")
    with pytest.raises(InputError, match="--force"):
        write_table(table, {}, out)
    write_table(table, {}, out, force=True)
    assert out.read_text() == "a,b\n1,2\n3,4\n"
    with pytest.raises(InputError, match=r"\.parquet or \.npz"):
        write_table(table, {}, tmp_path / "out.xlsx")
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "t.csv"]


def test_the_separator_line_of_spreadsheets_is_not_a_header(tmp_path):
    for line in ("sep=;\r\n", '"sep=;"\r\n', "SEP=;\n"):
        (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + (line + "a;b\r\n1,5;x\r\n2,5;y\r\n").encode())
        table = read_table(tmp_path / "t.csv")
        assert table.names == ["a", "b"]
        assert table.frame["b"].tolist() == ["x", "y"]
    (tmp_path / "t.csv").write_text("sep=|\na|b\n1|x\n2|y\n")
    assert read_table(tmp_path / "t.csv").delimiter == "|"


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
    frame = pd.DataFrame({"price": cells})
    encoder = TableFeatures().fit(frame).encoders_[0]
    assert encoder.encode(frame["price"], False).ravel().tolist() == values


def test_labels_that_differ_in_capitals_or_spaces_are_pointed_out():
    column = pd.Series(["Red", "red ", "RED", "blue", "light  blue", "light blue", ""], name="kind")
    target = read_target(column)
    assert target.classes == ["RED", "Red", "blue", "light  blue", "light blue", "red"]
    assert target.notes == [
        "The labels 'RED', 'Red', 'red' differ only in capitals or spaces and are different classes here. "
        "Spell them alike if they are one class.",
        "The labels 'light  blue', 'light blue' differ only in capitals or spaces and are different classes here. "
        "Spell them alike if they are one class.",
    ]
    assert read_target(pd.Series(["red", "blue", "red"], name="kind")).notes == []


@pytest.mark.parametrize(
    "form",
    ["%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%y", "%B %d, %Y", "%b %d %Y", "%d %B %Y %H:%M", "%Y/%m/%d %H:%M"],
)
def test_dates_in_other_usual_spellings_are_dates(form):
    when = pd.Series(pd.date_range("2023-01-31", periods=40, freq="11D"), name="when")
    features = TableFeatures().fit(pd.DataFrame({"when": when.dt.strftime(form)}))
    assert features.notes_ == ["Column 'when' is read as dates."]
    plain = TableFeatures().fit_transform(pd.DataFrame({"when": when.dt.strftime("%Y-%m-%d")}))
    X = features.transform(pd.DataFrame({"when": when.dt.strftime(form)}))
    np.testing.assert_allclose(X[:, : plain.shape[1]], plain, atol=1e-12)


def test_names_with_numbers_are_no_dates():
    names = [f"Item {i % 28 + 1} {2000 + i}" for i in range(40)]
    features = TableFeatures().fit(pd.DataFrame({"a": range(5, 45), "name": names, "b": [i % 7 for i in range(40)]}))
    assert "dates" not in " ".join(features.notes_)
