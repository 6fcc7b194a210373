"""Reading and writing of every kind of table file."""

import decimal
import os

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.inputs.tables import TableEncoder, read_table, read_target, write_table
from mercer.inputs.tables.cells import numbers
from mercer.inputs.tables.formats.base import unique

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
    X = TableEncoder().fit_transform(table.frame)
    np.testing.assert_array_equal(X, [[1.5, 2.25], [3.5, 4.125], [0.5, -1.75]])
    assert table.decimal == ","


def test_thousands_separators_are_not_decimal_commas(tmp_path):
    table = read_table(put(tmp_path, 'a,b\n"1,234",1\n"5,678",2\n"12,345,678",4\n'))
    assert numbers(table.frame["a"]).tolist() == [1234, 5678, 12345678]


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
        "2 lines, such as line 3, have fewer cells than there are columns. The missing cells are read as empty."
    ]
    assert read_table(put(tmp_path, 'a,b\n"x\ny",2\n3,4\n')).notes == []


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
        ("t.csv", b"a,b\n\0\0\0,1\n", "bytes that do not occur in text"),
        ("t.csv", b"PK\x03\x04rest", "Excel workbook"),
        ("t.csv", b"\x1f\x8brest", "gzip"),
        ("t.csv", b"%PDF-1.4", "PDF"),
        ("t.xlsx", b"whatever", "not a readable Excel workbook"),
        ("t.xls", b"whatever", "are not read"),
        ("t.json", b'{"a": 1, 2}', "not valid JSON"),
        ("t.json", b"[1, 2]", "contains no records"),
        ("t.csv.gz", b"not gzip", "cannot be read"),
        ("t.feather", b"not feather", "not a readable Feather file"),
        ("t.npy", b"not npy", "not a readable NPY file"),
        ("t.db", b"not a database at all", "not a readable SQLite file"),
        ("t.parquet", b"not parquet", "not a readable Parquet file"),
        ("t.npz", b"not npz", "not a readable NPZ file"),
    ],
)
def test_files_that_are_no_tables_are_refused_by_name(tmp_path, name, content, words):
    with pytest.raises(InputError, match=words):
        read_table(put(tmp_path, content, name))


def test_control_characters_in_every_cell_are_text_all_the_same(tmp_path):
    table = read_table(put(tmp_path, "bell,größe\n" + "\x07,\x07\n" * 50_000))  # the sample may end within a letter
    assert table.encoding == "utf-8" and set(table.frame["bell"]) == {"\x07"}
    write_table(table, {}, tmp_path / "again.csv")
    assert read_table(tmp_path / "again.csv").frame.equals(table.frame)


def test_many_protected_columns_come_back_as_they_were(tmp_path, monkeypatch):
    names = [f"x{i}" for i in range(500)]
    table = read_table(put(tmp_path, ",".join(names) + "\n" + ",".join(["=1", "2"] * 250) + "\n"))
    table.protect = True
    monkeypatch.delattr(pd.DataFrame, "isetitem")  # its time grows with the square of the columns
    write_table(table, {}, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().splitlines()[1].startswith("'=1,2,'=1,2")
    assert read_table(tmp_path / "again.csv").frame.equals(table.frame)


def test_missing_files_folders_and_unknown_encodings(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(InputError, match="folder without arrow files"):
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
    np.testing.assert_array_equal(TableEncoder(ignore=["y"]).fit_transform(table.frame), X)
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


N = 12
SIZES = [float(i) ** 1.5 for i in range(N)]
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
    assert np.isfinite(TableEncoder().fit_transform(table.frame)).all()
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
    with pytest.raises(InputError, match="'wave', of shape .6, 2. and type complex128, is ignored"):
        read_table(tmp_path / "bad.npz")


# Labels


def test_empty_cells_are_unlabeled_and_numbers_are_class_names():
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
def test_labels_that_cannot_be_learned_from_are_refused(cells, words):
    with pytest.raises(InputError, match=words):
        read_target(pd.Series(cells, name="y"))


def test_marks_named_by_the_user():
    cells = pd.Series(["-1", "0", "1", "NA"], name="y")
    assert read_target(cells, missing=["-1"]).labels.tolist() == [None, "0", "1", None]
    assert read_target(cells, missing=["-1", ""]).labels.tolist() == [None, "0", "1", "NA"]
    assert "1 cell of 'y' contains NA, which is read as unlabeled" in read_target(cells, missing=["-1"]).notes[0]
    with pytest.raises(InputError, match="contains -1"):
        read_target(cells, missing=["unknown"])
    assert read_target(cells, missing=[""]).labels.tolist() == ["-1", "0", "1", "NA"]
    noted = read_target(pd.Series(["a", "NA", "b"], name="y"))
    assert noted.labels.tolist() == ["a", None, "b"]
    assert "contains NA" in noted.notes[0]


# Writing


def test_cells_are_written_as_they_stood(tmp_path):
    text = "id;size;wörd\n007;1,50;ä\n008;2,5;=SUM(A1)\n009;-3;-x\n"
    table = read_table(put(tmp_path, text, encoding="cp1252"))
    write_table(table, {"sure": [0.5, 0.25, 1.0]}, tmp_path / "out.csv")
    expected = "id;size;wörd;sure\n007;1,50;ä;0,5\n008;2,5;=SUM(A1);0,25\n009;-3;-x;1,0\n"
    assert (tmp_path / "out.csv").read_bytes().decode("cp1252") == expected


def test_nothing_is_overwritten_unasked(tmp_path):
    table = read_table(put(tmp_path, "a,b\n1,2\n3,4\n"))
    out = put(tmp_path, "precious", "out.csv")
    with pytest.raises(InputError, match="--force"):
        write_table(table, {}, out)
    write_table(table, {}, out, force=True)
    assert out.read_text() == "a,b\n1,2\n3,4\n"
    with pytest.raises(InputError, match=r"cannot be written\. Use \.csv, .*\.parquet"):
        write_table(table, {}, tmp_path / "out.ods")
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "t.csv"]


def test_the_separator_line_of_spreadsheets_is_not_a_header(tmp_path):
    for line in ("sep=;\r\n", '"sep=;"\r\n', "SEP=;\n"):
        (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + (line + "a;b\r\n1,5;x\r\n2,5;y\r\n").encode())
        table = read_table(tmp_path / "t.csv")
        assert table.names == ["a", "b"]
        assert table.frame["b"].tolist() == ["x", "y"]
    (tmp_path / "t.csv").write_text("sep=|\na|b\n1|x\n2|y\n")
    assert read_table(tmp_path / "t.csv").delimiter == "|"


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


@pytest.mark.parametrize("word", ["Adeli", "Adellie", "Adeile", "Adelia"])
def test_a_label_with_one_wrong_letter_is_pointed_out(word):
    column = pd.Series(["Adelie", "Adelie", word, "Gentoo", "Gentoo", ""], name="kind")
    said = f"The label {word!r} occurs once and differs from 'Adelie' in one letter. Correct it if it is misspelled."
    assert read_target(column).notes == [said]


def test_class_names_that_are_alike_are_not_taken_for_misspelled():
    for often, once in (("typical", "atypical"), ("group a", "group b"), ("class 1", "class 2"), ("Gentoo", "Adelie")):
        assert read_target(pd.Series([often, often, once, ""], name="kind")).notes == []
    assert read_target(pd.Series(["house", "house", "horse", "horse"], name="kind")).notes == []


@pytest.mark.filterwarnings("error::pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_table_of_many_columns_is_read_and_written_cell_by_cell(tmp_path, quote):
    """One array of cells instead of a column each. Quoted cells are read by another parser."""
    names = [f"c{j}x" for j in range(1200)]
    rows = [[str(i * j % 7) if j % 5 else f" {i};é{j} " for j in range(1200)] for i in range(4)]
    rows[2][7], rows[3][1199] = "", "=1+1"
    lines = [",".join(f"{quote}{cell}{quote}" for cell in row) for row in (names, *rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(tmp_path / "wide.csv")
    assert table.frame.to_numpy().tolist() == rows and list(table.frame.columns) == names
    assert {str(dtype) for dtype in table.frame.dtypes} == {"object"}
    for name in ("out.csv", "out.parquet"):
        write_table(table, {"answer": ["a", "b", "a", "b"]}, tmp_path / name)
        again = read_table(tmp_path / name).frame
        assert again.iloc[:, :-1].to_numpy().tolist() == rows and again["answer"].tolist() == ["a", "b", "a", "b"]


def test_repeated_names_are_numbered_whatever_stands_between():
    names = unique(["a", "a.2", "a", "b", "a", "", "a.2", "a"], [])
    assert names == ["a", "a.2", "a.3", "b", "a.4", "column 6", "a.2.2", "a.5"]
    assert unique(["0"] * 100_000, [])[-1] == "0.100000"  # in one pass
