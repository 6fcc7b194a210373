"""Every format gives back what it was given: rows in order, every cell as it was, and the new columns."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mercer.errors import BackendError, InputError
from mercer.inputs.tables import TableEncoder, read_table, write_table
from mercer.inputs.tables.formats import FORMATS, Format, default_out, fill, located, written_format
from mercer.inputs.tables.formats.base import from_rows
from mercer.inputs.tables.formats.images import image_frame
from mercer.inputs.tables.formats.sheet import escaped, with_columns

NASTY = [
    "+49 30 1234",
    "-",
    "=SUM(A1)",
    "@home",
    "'=1",
    "''-x",
    "'",
    "007",
    "1e5",
    "1,5",
    "NA",
    "null",
    "",
    " a ",
    "\\N",
]
NASTY += [
    'say "hi"',
    "a,b;c\td|e",
    "two\nlines",
    "cr\rlf\r\nend",
    "Zoë 中文 🎉",
    "<&>",
    "_x000D_",
    "TRUE",
    "1.50",
    "é",
    "\u2028",
]
NASTY += ["\ufeffx", "\xa0", "#", '="x"', "2020-01-01", "-0", "1" * 30, "x" * 300, "%41", "\\", "a\\"]
NEW = {"kind_predicted": ["a", "=b", "-c"], "sure": [0.5, 0.25, 1.0], "n": [3, 1, 2]}


def three(cells):
    return {"first": cells, "phone": ["+49 30", "0041-44", "=1+1"], "last": ["x", "y", "z"]}


def put_text(delimiter):
    def put(folder, columns):
        path = folder / ("t.tsv" if delimiter == "\t" else "t.csv")
        text = pd.DataFrame(columns).to_csv(None, sep=delimiter, index=False, quoting=1)
        path.write_bytes(text.encode())
        return path

    return put


def put_packed(ending, pack):
    def put(folder, columns):
        path = folder / f"t.csv{ending}"
        path.write_bytes(pack(pd.DataFrame(columns).to_csv(None, index=False, quoting=1).encode()))
        return path

    return put


def zstd(raw):
    import zstandard

    return zstandard.ZstdCompressor().compress(raw)


def put_excel(folder, columns):
    book = openpyxl.Workbook()
    for i, row in enumerate([list(columns), *zip(*columns.values())], start=1):
        for j, value in enumerate(row, start=1):
            cell = book.active.cell(i, j, escaped(value))
            cell.data_type = "s"
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def put_json(lines):
    def put(folder, columns):
        records = [dict(zip(columns, row)) for row in zip(*columns.values())]
        path = folder / ("t.jsonl" if lines else "t.json")
        path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records, indent=2))
        return path

    return put


def put_sqlite(folder, columns):
    with sqlite3.connect(folder / "t.db") as file:
        file.execute("DROP TABLE IF EXISTS people")
        file.execute(f"CREATE TABLE people ({', '.join(f'{name} TEXT' for name in columns)})")
        file.executemany("INSERT INTO people VALUES (?, ?, ?)", zip(*columns.values()))
    file.close()
    return folder / "t.db"


def put_npz(folder, columns):
    np.savez(folder / "t.npz", **{name: np.array(cells) for name, cells in columns.items()})
    return folder / "t.npz"


def put_npy(folder, columns):
    arrays = {name: np.array(cells) for name, cells in columns.items()}
    rows = np.empty(3, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        rows[name] = array
    np.save(folder / "t.npy", rows)
    return folder / "t.npy"


PUT = {
    "csv": put_text(","),
    "semicolons": put_text(";"),
    "tsv": put_text("\t"),
    "csv.gz": put_packed(".gz", gzip.compress),
    "csv.zst": put_packed(".zst", zstd),
    "csv.bz2": put_packed(".bz2", bz2.compress),
    "csv.xz": put_packed(".xz", lzma.compress),
    "xlsx": put_excel,
    "parquet": lambda folder, columns: pd.DataFrame(columns).to_parquet(folder / "t.parquet") or folder / "t.parquet",
    "feather": lambda folder, columns: pd.DataFrame(columns).to_feather(folder / "t.feather") or folder / "t.feather",
    "json": put_json(False),
    "jsonl": put_json(True),
    "npz": put_npz,
    "npy": put_npy,
    "sqlite": put_sqlite,
}
ENDINGS = sorted({"csv", "tsv", "csv.gz", "xlsx", "parquet", "feather", "json", "jsonl", "npz", "npy", "db"})


def as_text(column):
    """Cells as text, where Excel has no empty text and files no difference between it and none."""
    return ["" if cell is None or cell != cell else str(cell) for cell in column.tolist()]


def check(path, columns, out):
    table = read_table(path)
    assert table.frame.columns.tolist() == list(columns)
    for name, cells in columns.items():
        assert as_text(table.frame[name]) == cells
    write_table(table, NEW, out, force=True)
    back = read_table(out)
    assert back.frame.columns.tolist() == [*columns, *NEW]
    for name, cells in columns.items():
        assert as_text(back.frame[name]) == cells, name
    for name, cells in NEW.items():
        words = [word.replace(",", ".") for word in as_text(back.frame[name])]  # a comma is the table's decimal mark
        assert words == list(map(str, cells))


@pytest.mark.parametrize("start", range(0, len(NASTY) - 2, 3))
@pytest.mark.parametrize("kind", PUT)
def test_a_table_comes_back_with_every_cell_as_it_was(tmp_path, kind, start):
    columns = three(NASTY[start : start + 3])
    path = PUT[kind](tmp_path, columns)
    check(path, columns, default_out(path, "labeled"))
    assert default_out(path, "labeled").name == f"t_labeled{''.join(path.suffixes)}"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl", "npz", "sqlite"])
def test_cells_survive_a_change_of_format(tmp_path, kind, ending):
    columns = three(["+49 30", "two\nli\rnes", "_x0041_ <&>"])
    check(PUT[kind](tmp_path, columns), columns, tmp_path / f"out.{ending}")


# Control characters next to line ends are a sign of a file that is not a text. SQLite ends text at NUL.
letters = st.one_of(st.characters(exclude_categories=("Cs", "Cc")), st.sampled_from("\t\n\r,;'=+-@\"_x"))
cells = st.lists(st.text(letters, max_size=12), min_size=3, max_size=3)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "json", "jsonl", "sqlite"])
@quick
@given(words=cells)
def test_any_text_comes_back(tmp_path, kind, words):
    columns = three(words)
    path = PUT[kind](tmp_path, columns)
    check(path, columns, default_out(path, "labeled"))


@quick
@given(words=cells)
def test_protected_cells_run_in_no_spreadsheet_and_come_back(tmp_path, words):
    columns = three(words)
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    table = read_table(put_text(",")(tmp_path, columns))
    before = {name: as_text(table.frame[name]) for name in columns}
    write_table(table, NEW, out, force=True, protect=True)
    raw = pd.read_csv(out, dtype=str, na_filter=False, header=None)
    for cell in raw.to_numpy().ravel():
        number = pd.to_numeric(pd.Series([cell.replace(",", ".")]), errors="coerce").notna()[0]
        assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    back = read_table(out)
    assert {name: as_text(back.frame[name]) for name in columns} == before
    assert back.frame["kind_predicted"].tolist() == ["a", "=b", "-c"]
    write_table(back, {}, again, force=True)
    assert again.read_bytes() == out.read_bytes()


def test_apostrophes_of_a_file_that_is_not_protected_stay(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n'=1,x\n=2,y\n")
    table = read_table(tmp_path / "t.csv")
    assert table.frame["a"].tolist() == ["'=1", "=2"]
    write_table(table, {}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b\n'=1,x\n=2,y\n"


@quick
@given(
    st.lists(st.lists(st.text("ab '=\t.5é-", max_size=4), min_size=3, max_size=3), min_size=2, max_size=6),
    st.sampled_from(["\n", "\n\n", "\r\n"]),
)
def test_text_tables_hold_the_cells_that_pandas_reads(tmp_path, rows, end):
    text = end.join(["one,two,three", *map(",".join, rows), ""])
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = read_table(tmp_path / "t.csv", delimiter=",")
    expected = pd.read_csv(io.StringIO(text), dtype=str, na_filter=False)
    if not table.protect:
        pd.testing.assert_frame_equal(table.frame, expected)


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz"])
def test_a_compressed_file_may_have_parts_and_must_be_whole(tmp_path, ending):
    pack = {".gz": gzip.compress, ".zst": zstd, ".bz2": bz2.compress, ".xz": lzma.compress}[ending]
    text = b"".join(b"%d,%d\n" % (i, i * i % 97) for i in range(200))
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(pack(b"a,b\n") + pack(text))
    assert len(read_table(path)) == 200
    path.write_bytes(pack(b"a,b\n" + text)[:-30])
    with pytest.raises(InputError, match="cannot be read"):
        read_table(path)


@pytest.mark.parametrize("place", range(12, 60, 6))
def test_damaged_compression_is_refused(tmp_path, place):
    raw = bytearray(gzip.compress(b"".join(b"%d,%d\n" % (i, i * i % 97) for i in range(200))))
    raw[place] ^= 0xFF
    (tmp_path / "t.csv.gz").write_bytes(raw)
    with pytest.raises(InputError):
        read_table(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".csv.xz", ".xlsx", ".npz"])
def test_what_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch, ending):
    zeros, book = bytes(50_000_000), io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", zeros)
    packed = {".csv.gz": gzip.compress, ".csv.zst": zstd, ".csv.xz": lzma.compress}
    (tmp_path / f"t{ending}").write_bytes(packed[ending](zeros) if ending in packed else book.getvalue())
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 20_000_000)
    with pytest.raises(BackendError, match=r"Unpacking t.* needs .* and 20\.0 MB are available"):
        read_table(tmp_path / f"t{ending}")


def test_what_excel_cannot_hold_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text(f"a,b\n1,{'x' * 32_768}\n2,y\n")
    with pytest.raises(InputError, match=r"A cell has 32768 characters\. Excel accepts up to 32767\. Write \.csv"):
        write_table(read_table(tmp_path / "t.csv"), {}, tmp_path / "t.xlsx")
    (tmp_path / "t.csv").write_text(",".join(f"x{j}" for j in range(16_384)) + "\n" + ",".join("1" * 16_384) + "\n")
    with pytest.raises(InputError, match=r"16,384 columns\. Write \.csv"):
        write_table(read_table(tmp_path / "t.csv"), {"new": [1]}, tmp_path / "t.xlsx")
    assert not (tmp_path / "t.xlsx").exists()


@pytest.mark.parametrize(("code", "width"), [(0xD800, 2), (0x110000, 2), (0xD800, 2_500_000)])
def test_text_of_npy_that_is_no_unicode_is_refused(tmp_path, code, width):
    """Long text is checked in pieces, and the error is in the last one."""
    np.save(tmp_path / "t.npy", np.array([["ab", "c"], ["d", "e"]], dtype=f"U{width}"))
    assert read_table(tmp_path / "t.npy").frame.to_numpy().tolist() == [["ab", "c"], ["d", "e"]]
    raw = bytearray((tmp_path / "t.npy").read_bytes())
    raw[-8:-4] = code.to_bytes(4, "little")
    (tmp_path / "t.npy").write_bytes(raw)
    with pytest.raises(InputError, match="text that is not Unicode"):
        read_table(tmp_path / "t.npy")


def test_a_zip_of_other_things_is_no_npz(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
        file.writestr("notes.txt", "no array")
    with pytest.raises(InputError, match=r"contains 'notes\.txt', which is not an array"):
        read_table(tmp_path / "t.npz")


def test_half_a_letter_in_json_is_refused_and_a_whole_one_read(tmp_path):
    (tmp_path / "t.json").write_text(r'[{"a": "x\ud83d\ude00"}, {"a": "y"}]')
    assert read_table(tmp_path / "t.json").frame["a"][0] == "x😀"
    (tmp_path / "t.json").write_text(r'[{"a": "x\ud83d"}, {"a": "y"}]')
    with pytest.raises(InputError, match="half a letter in UTF-16"):
        read_table(tmp_path / "t.json")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"a": 1}\n' + "[" * 100_000])
def test_json_that_is_nested_too_deeply_is_refused(tmp_path, text):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InputError):
        read_table(tmp_path / "t.json")


# Types


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_arrow_types_are_kept_and_so_are_gaps_and_the_index(tmp_path, ending):
    columns = {
        "count": pa.array([1, None, 3], pa.int16()),
        "name": pa.array(["a", None, "c"], pa.large_string()),
        "when": pa.array([1, 2, None], pa.timestamp("ms", tz="Europe/Berlin")),
        "day": pa.array([datetime.date(2020, 1, 1), None, None], pa.date32()),
        "vector": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "level": pa.array(["x", "y", "x"]).dictionary_encode(),
        "amount": pa.array([1, None, 2], pa.decimal128(9, 2)),
    }
    source, out = tmp_path / f"t.{ending}", tmp_path / f"out.{ending}"
    original = pa.table(columns)
    try:
        pa.parquet.write_table(original, source) if ending == "parquet" else pa.feather.write_feather(original, source)
    except pa.ArrowNotImplementedError:  # pyarrow 17 writes no lists with gaps to Parquet
        original = original.drop_columns(["vector"])
        columns.pop("vector")
        pa.parquet.write_table(original, source)
    write_table(read_table(source), NEW, out)
    back = pa.parquet.read_table(out) if ending == "parquet" else pa.feather.read_table(out)
    assert back.select(list(columns)).equals(original)
    assert back.column_names == [*columns, *NEW]
    assert back.schema.field("sure").type == pa.float64()
    assert back.schema.field("n").type == pa.int64()
    indexed = pd.DataFrame({"a": [1.5, 2.5, 3.5]}, index=pd.Index(["p", "q", "r"], name="key"))
    (indexed.to_parquet if ending == "parquet" else lambda path: indexed.reset_index().to_feather(path))(source)
    table = read_table(source)
    assert table.frame["key"].tolist() == ["p", "q", "r"]
    write_table(table, NEW, out, force=True)
    assert (pd.read_parquet if ending == "parquet" else pd.read_feather)(out)["sure"].tolist() == NEW["sure"]


def test_json_keeps_what_a_record_lacks_and_how_deep_it_is(tmp_path):
    records = [{"a": 1, "b": {"c": [1, None]}}, {"b": None, "a": 2.5}, {"a": True, "d": "x", "big": 10**30}]
    for name in ("t.jsonl", "t.json"):
        path = PUT["jsonl" if name == "t.jsonl" else "json"](tmp_path, {"a": ["x"]})
        text = "\n".join(map(json.dumps, records)) if name == "t.jsonl" else json.dumps(records)
        path.write_text(text)
        write_table(read_table(path), NEW, tmp_path / f"out_{name}")
        written = (tmp_path / f"out_{name}").read_text()
        back = [json.loads(line) for line in written.splitlines()] if name == "t.jsonl" else json.loads(written)
        assert [{k: v for k, v in record.items() if k not in NEW} for record in back] == records
        assert [record["sure"] for record in back] == NEW["sure"]


def test_numbers_of_npy_keep_their_type(tmp_path):
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "t.npy", X)
    table = read_table(tmp_path / "t.npy")
    write_table(table, NEW, tmp_path / "out.npy")
    back = np.load(tmp_path / "out.npy", allow_pickle=False)
    assert back["x1"].dtype == np.float32
    assert back["x1"].tolist() == X[:, 1].tolist()
    assert back["kind_predicted"].tolist() == NEW["kind_predicted"]


# Excel


def workbook(path):
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active["B2"] = "keep me"
    sheet = book.create_sheet("data")
    sheet.append([])
    for row in (["", "size", "kind", "twice"], ["", 1.5, "a", "=B3*2"], [], ["", 2, None, "=B5*2"], ["", 3, "b", 6]):
        sheet.append([None if cell == "" else cell for cell in row])
    sheet["B3"].number_format = "0.00"
    sheet["B3"].font = openpyxl.styles.Font(bold=True)
    sheet["F9"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFFF00")
    book.save(path)


def test_a_workbook_keeps_its_sheets_formulas_and_styles(tmp_path):
    workbook(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", sheet="data")
    assert table.frame.columns.tolist() == ["size", "kind", "twice"]
    assert table.frame["size"].tolist() == [1.5, 2, 3]
    assert as_text(table.frame["kind"]) == ["a", "", "b"]
    assert any("2 formulas have no stored value" in note for note in table.notes)
    write_table(table, NEW, tmp_path / "out.xlsx")
    old, new = (openpyxl.load_workbook(tmp_path / name) for name in ("t.xlsx", "out.xlsx"))
    assert new.sheetnames == ["notes", "data"]
    assert new["notes"]["B2"].value == "keep me"
    for row in old["data"].iter_rows():
        for cell in row:
            other = new["data"][cell.coordinate]
            assert (other.number_format, other.font.bold, other.fill.fgColor.rgb) == (
                (cell.number_format, cell.font.bold, cell.fill.fgColor.rgb)
            )
            if cell.column < 5:
                assert other.value == cell.value
    assert [new["data"][f"E{i}"].value for i in (2, 3, 5, 6)] == ["kind_predicted", *NEW["kind_predicted"]]
    assert new["data"]["E5"].data_type != "f"  # =b is text
    assert [new["data"][f"F{i}"].value for i in (3, 4, 5, 6)] == [0.5, None, 0.25, 1.0]
    with zipfile.ZipFile(tmp_path / "t.xlsx") as before, zipfile.ZipFile(tmp_path / "out.xlsx") as after:
        changed = [name for name in before.namelist() if before.read(name) != after.read(name)]
    assert changed == ["xl/worksheets/sheet2.xml"]
    with pytest.raises(InputError, match=r"has no sheet 'dta'. It has 'data', 'notes'"):
        read_table(tmp_path / "t.xlsx", sheet="dta")
    found = read_table(tmp_path / "out.xlsx")  # a sheet of one row is not a table
    assert found.frame["size"].tolist() == [1.5, 2, 3]
    assert "2 sheets. 'data' is read, not 'notes' (--sheet names another)" in found.notes[0]


def test_stored_values_of_formulas_stay(tmp_path):
    workbook(tmp_path / "t.xlsx")
    content = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "t.xlsx") as old, zipfile.ZipFile(content, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(
                name,
                text.replace("<f>B3*2</f><v />", "<f>B3*2</f><v>3</v>").replace(
                    "<f>B5*2</f><v />", "<f>B5*2</f><v>4</v>"
                ),
            )
    (tmp_path / "t.xlsx").write_bytes(content.getvalue())
    table = read_table(tmp_path / "t.xlsx", sheet="data")
    assert table.frame["twice"].tolist() == [3, 4, 6]
    write_table(table, NEW, tmp_path / "out.xlsx")
    assert read_table(tmp_path / "out.xlsx", sheet="data").frame["twice"].tolist() == [3, 4, 6]


def test_columns_of_an_earlier_run_are_replaced_where_they_stand(tmp_path):
    for kind in ("xlsx", "sqlite", "parquet", "jsonl", "csv", "npz"):
        path = PUT[kind](tmp_path, three(["p", "q", "r"]))
        first, second = default_out(path, "one"), default_out(path, "two")
        write_table(read_table(path), NEW, first)
        table = read_table(first)
        table.drop(list(NEW))
        write_table(table, NEW | {"sure": [0.1, 0.2, 0.3]}, second)
        back = read_table(second).frame
        assert sorted(back.columns) == sorted(["first", "phone", "last", *NEW]), kind
        assert [float(cell) for cell in back["sure"]] == [0.1, 0.2, 0.3]
        assert back["first"].tolist() == ["p", "q", "r"]


def test_cells_are_put_in_order_into_any_writers_xml():
    """Some writers give the namespace a prefix, leave out the numbers of rows and cells, or hint at the width."""
    xml = '<x:dimension ref="A1:C2"/><x:row r="1" spans="1:2"><x:c r="A1"><x:v>1</x:v></x:c></x:row>'
    xml += '<x:row><x:c/><x:c r="C2" t="s"><x:v>3</x:v></x:c></x:row><x:row r="9"/>'
    out = with_columns(xml, {2: {1: "h", 2: 0.5}, 28: {2: "a<b"}})
    expected = '<x:dimension ref="A1:AB2"/><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c><x:c r="B1" t="inlineStr"><x:is>'
    expected += '<x:t xml:space="preserve">h</x:t></x:is></x:c></x:row><x:row><x:c/><x:c r="B2"><x:v>0.5</x:v></x:c>'
    expected += '<x:c r="C2" t="s"><x:v>3</x:v></x:c><x:c r="AB2" t="inlineStr"><x:is><x:t xml:space="preserve">a&lt;b'
    assert out == expected + '</x:t></x:is></x:c></x:row><x:row r="9"/>'


# Databases, folders, the clipboard


def test_sqlite_is_opened_read_only_and_copied_whole(tmp_path, monkeypatch):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE other (x BLOB)")
        file.execute("INSERT INTO other VALUES (x'00ff')")
        file.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, size REAL, kind TEXT, any)")
        file.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)", [(9, 1.5, "a", 1), (3, None, None, "x"), (5, 2, "b", b"\0")]
        )
        file.execute("CREATE VIEW seen AS SELECT size, kind FROM people")
    file.close()
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)
    for where in (f"{path}::people", "t.db::people", "sqlite:///t.db::people", f"sqlite:///{path}::people"):
        table = read_table(where)
        assert table.frame["id"].tolist() == [3, 5, 9]
        assert as_text(table.frame["size"]) == ["", "2.0", "1.5"]
        assert default_out(where, "labeled").resolve() == tmp_path / "t_labeled.db"
    assert read_table(path, table="people").frame.shape == (3, 4)
    assert "2 tables" not in read_table(path, table="seen").notes
    assert "has 3 tables. 'other' is read" in read_table(path).notes[0]
    with pytest.raises(InputError, match="has no table 'pople'"):
        read_table("t.db::pople")
    write_table(read_table("t.db::people"), NEW, path, force=True)
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT hex(x) FROM other").fetchall() == [("00FF",)]
        found = file.execute("SELECT id, size, kind, any, kind_predicted, typeof(n) FROM people ORDER BY id").fetchall()
        assert found[0] == (3, None, None, "x", "a", "integer")
        assert found[1] == (5, 2.0, "b", b"\0", "=b", "integer")
    file.close()
    path.write_bytes(before)
    write_table(read_table("t.db::seen"), NEW, tmp_path / "view.db")
    assert read_table(tmp_path / "view.db").frame["sure"].tolist() == NEW["sure"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("where", "package"),
    [("t.duckdb::a", "duckdb"), ("duckdb:///t.duckdb::a", "duckdb"), ("postgresql://u@h/base::a", "sqlalchemy")],
)
def test_databases_that_need_a_package_say_so(where, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"needs the package {package}, which .*: pip install {package}"):
        read_table(where)


def test_duckdb_where_it_is(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as file:
        file.execute("CREATE TABLE a AS SELECT 1.5 AS size, 'x' AS kind UNION ALL SELECT 2.5, 'y'")
    assert sorted(read_table(tmp_path / "t.duckdb").frame["kind"]) == ["x", "y"]


def test_sqlalchemy_where_it_is(tmp_path):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    with sqlalchemy.create_engine(f"sqlite+pysqlite:///{tmp_path}/t.db").begin() as link:
        link.execute(sqlalchemy.text("CREATE TABLE a (size REAL)"))
        link.execute(sqlalchemy.text("INSERT INTO a VALUES (1.5), (2.5)"))
    assert read_table(f"sqlite+pysqlite:///{tmp_path}/t.db::a").frame["size"].tolist() == [1.5, 2.5]


def put_split(folder, values):
    folder.mkdir(parents=True)
    for number, part in enumerate((values[:2], values[2:])):
        rows = pa.table({"size": part, "vector": [[float(v), 1.0] for v in part]})
        with pa.ipc.new_stream(folder / f"data-{number:05d}-of-00002.arrow", rows.schema) as file:
            file.write_table(rows)
    names = [{"filename": f"data-{number:05d}-of-00002.arrow"} for number in range(2)]
    (folder / "state.json").write_text(json.dumps({"_data_files": names}))


def test_a_folder_of_datasets_is_read_split_by_split(tmp_path):
    put_split(tmp_path / "set" / "train", [3, 1, 2])
    put_split(tmp_path / "set" / "test", [7, 8, 9])
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    table = read_table(tmp_path / "set")
    assert table.frame["size"].tolist() == [3, 1, 2]
    assert "2 splits. 'train' is read, not 'test'" in table.notes[0]
    assert read_table(tmp_path / "set", table="test").frame["size"].tolist() == [7, 8, 9]
    assert read_table(f"{tmp_path / 'set'}::test").frame["size"].tolist() == [7, 8, 9]
    assert read_table(tmp_path / "set" / "test").frame["size"].tolist() == [7, 8, 9]
    out = default_out(tmp_path / "set", "labeled")
    assert out == tmp_path / "set_labeled.parquet"
    write_table(table, NEW, out)
    assert pa.parquet.read_table(out).schema.field("vector").type == pa.list_(pa.float64())


def test_the_clipboard_is_read_as_text_or_said_to_be_absent(monkeypatch):
    clipboard = pytest.importorskip("pandas.io.clipboard")
    monkeypatch.setattr(clipboard, "clipboard_get", lambda: "id\tphone\r\n007\t+49 30\r\n008\t-\r\n")
    table = read_table("clipboard:")
    assert table.frame.to_numpy().tolist() == [["007", "+49 30"], ["008", "-"]]
    assert str(default_out("clipboard:", "labeled")) == "table_labeled.csv"

    def absent():
        raise RuntimeError("Pyperclip could not find a copy/paste mechanism for your system.")

    monkeypatch.setattr(clipboard, "clipboard_get", absent)
    with pytest.raises(InputError, match=r"There is no clipboard to read: Pyperclip .* Save the cells as a CSV file"):
        read_table("clipboard:")


def test_options_that_say_nothing_of_a_format_are_refused(tmp_path):
    path = PUT["csv"](tmp_path, three(["a", "b", "c"]))
    with pytest.raises(InputError, match="--sheet is for Excel, and t.csv is CSV"):
        read_table(path, sheet="data")
    with pytest.raises(InputError, match=r"--table is for SQLite, .*, and t.csv is CSV"):
        read_table(path, table="data")


def test_a_new_format_is_one_class(tmp_path, monkeypatch):
    class Lengths(Format):
        title = "lengths"
        endings = (".len",)

        def read(self, source, options):
            return from_rows(["word"], [[word] for word in source.raw.decode().split()], self)

        def write(self, path, table, new):
            path.write_text(" ".join(table.joined(new).iloc[:, -1]))

    monkeypatch.setattr("mercer.inputs.tables.formats.FORMATS", [*FORMATS, Lengths()])
    (tmp_path / "t.len.gz").write_bytes(gzip.compress(b"one two three"))
    assert located(tmp_path / "t.len.gz")[0].title == "lengths"
    table = read_table(tmp_path / "t.len.gz")
    write_table(table, {"kind": ["a", "b", "c"]}, default_out(tmp_path / "t.len.gz", "labeled"))
    assert gzip.decompress((tmp_path / "t_labeled.len.gz").read_bytes()) == b"a b c"


@pytest.mark.parametrize(("ending", "other"), [(".tsv", ","), (".csv", "|"), (".csv", ";"), (".csv", "\t")])
def test_a_text_table_is_written_so_that_its_delimiter_is_found_again(tmp_path, ending, other):
    names = other.join("abcdefg")
    cells = [other.join("1234567"), other.join("hijklmn")]
    table = from_rows([names], [[cell] for cell in cells], next(one for one in FORMATS if one.is_text))
    write_table(table, {"one": [0.5, 0.25], "two": ["x", "y"]}, tmp_path / f"out{ending}")
    again = read_table(tmp_path / f"out{ending}")
    assert again.names == [names, "one", "two"]
    assert again.frame.iloc[:, 0].tolist() == cells and again.frame.iloc[:, 2].tolist() == ["x", "y"]


class Harm:
    """Anyone who unpickles it makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("PWNED",)


@pytest.mark.parametrize("name", ["t.pkl", "t.npy", "t.npz"])
def test_pickles_are_refused_and_not_run(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    cells = np.array([Harm(), Harm()], dtype=object)
    if name == "t.pkl":
        (tmp_path / name).write_bytes(pickle.dumps(cells))
    else:
        np.save(name, cells) if name == "t.npy" else np.savez(name, cells=cells)
    with pytest.raises(InputError, match="are not read"):
        read_table(tmp_path / name)
    assert not (tmp_path / "PWNED").exists()


def test_columns_of_one_name_and_several_types_keep_theirs(tmp_path):
    arrays = [pa.array([True, False]), pa.array(["a", "b"]), pa.array(["1", "2"])]
    pa.feather.write_feather(pa.Table.from_arrays(arrays, names=["x", "y", "x"]), str(tmp_path / "a.feather"))
    frame = read_table(tmp_path / "a.feather").frame
    assert frame["x"].tolist() == [True, False] and frame["x.2"].tolist() == ["1", "2"]


TITLED = "Sales report 2024{0}{0}{0}\nmade by the office{0}{0}{0}\n\n"
TITLED += "town{0}month{0}sum{0}kind\nBonn{0}May{0}3{0}a\nKiel{0}June{0}4{0}\nUlm{0}July{0}7{0}b\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bare", [False, True])
def test_lines_above_the_column_names_are_found_and_written_back(tmp_path, delimiter, bare):
    text = TITLED.format(delimiter)
    if bare:
        text = text.replace(3 * delimiter, "")
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv")
    assert table.frame.columns.tolist() == ["town", "month", "sum", "kind"]
    assert table.frame["kind"].tolist() == ["a", "", "b"]
    assert "The column names are in line 4. The 3 lines above it are not read" in table.notes[0]
    ending = "tsv" if delimiter == "\t" else "csv"
    write_table(table, {"new": ["x", "y", "z"]}, tmp_path / f"out.{ending}")
    written = (tmp_path / f"out.{ending}").read_text()
    assert written.splitlines()[:3] == text.splitlines()[:3]
    assert written.splitlines()[3:5] == [f"town{delimiter}month{delimiter}sum{delimiter}kind{delimiter}new"] + [
        f"Bonn{delimiter}May{delimiter}3{delimiter}a{delimiter}x"
    ]
    path = tmp_path / f"out.{ending}"
    code = written_format(path, table).code(path, table)
    assert eval(code, {"pd": pd}).columns.tolist() == ["town", "month", "sum", "kind", "new"]


def test_the_line_of_the_column_names_can_be_given(tmp_path):
    (tmp_path / "t.csv").write_text("about,this\nfile,x\na,b\n1,2\n3,4\n")
    assert read_table(tmp_path / "t.csv").frame.columns.tolist() == ["about", "this"]
    table = read_table(tmp_path / "t.csv", header=3)
    assert table.frame.to_dict("list") == {"a": ["1", "3"], "b": ["2", "4"]}
    with pytest.raises(InputError, match="--header 9"):
        read_table(tmp_path / "t.csv", header=9)
    np.savez(tmp_path / "x.npz", X=np.eye(3))
    with pytest.raises(InputError, match="--header is for CSV, TSV, Excel"):
        read_table(tmp_path / "x.npz", header=2)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2,3\n4,5,6\n",
        "id,,,\n1,2,3,4\n5,6,7,8\n",  # rows of numbers are not names
        'note\n"one, two, three, four"\n"five, six, seven, eight"\n',
        "a;b\n1;x, y, z, w\n2;x, y, u, v\n",
    ],
)
def test_tables_without_titles_keep_their_first_line(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv")
    assert len(table) == 2 and table.origin is None


def titled_book(path, *rows):
    book = openpyxl.Workbook()
    for place, row in rows:
        for column, value in enumerate(row, start=1):
            book.active.cell(place, column, value)
    book.save(path)
    return path


def test_title_rows_of_a_workbook_are_found_and_stay(tmp_path):
    rows = [(1, ["Sales report 2024"]), (2, ["made", "by us"]), (4, ["town", "month", "sum", "kind"])]
    rows += [(5, ["Bonn", "May", 3, "a"]), (6, ["Kiel", "June", 4, None]), (7, ["Ulm", "July", 7, "b"])]
    path = titled_book(tmp_path / "t.xlsx", *rows)
    table = read_table(path)
    assert table.frame.columns.tolist() == ["town", "month", "sum", "kind"]
    assert table.frame["sum"].tolist() == [3, 4, 7]
    assert "The column names are in row 4 of the sheet" in table.notes[0]
    write_table(table, {"new": ["x", "y", "z"]}, tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet["A1"].value == "Sales report 2024" and sheet["E4"].value == "new" and sheet["E6"].value == "y"
    assert eval(table.format.code(tmp_path / "out.xlsx", table), {"pd": pd})["new"].tolist() == ["x", "y", "z"]


def test_the_row_of_the_column_names_of_a_workbook_can_be_given(tmp_path):
    path = titled_book(tmp_path / "t.xlsx", (1, ["x", "y"]), (3, ["a", "b"]), (4, [1, 2]), (5, [3, 4]))
    assert read_table(path).frame.columns.tolist() == ["x", "y"]
    assert read_table(path, header=3).frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(InputError, match="--header 2: this row of the sheet 'Sheet' is empty"):
        read_table(path, header=2)


CHINESE = "城市,性别,职业,收入\n北京,男,工程师,12000\n上海,女,教师,8000\n广州,男,医生,15000\n深圳,女,学生,900\n"


@pytest.mark.parametrize(
    "text, encoding, language",
    [
        (CHINESE, "gb18030", "Chinese"),
        ("名前,都市,職業\nさくら,とうきょう,せんせい\nたろう,おおさか,がくせい\n", "euc_jp", "Japanese"),
        ("이름,도시,직업\n김민수,서울,선생님\n이영희,부산광역시,대학생\n박지훈,대구,의사\n", "euc_kr", "Korean"),
    ],
)
def test_east_asian_encodings_are_found_and_named(tmp_path, text, encoding, language):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    table = read_table(tmp_path / "t.csv")
    assert (table.names, table.encoding) == (text.splitlines()[0].split(","), encoding)
    assert f"is read as {encoding.upper()}, an encoding of {language}" in table.notes[-1]
    write_table(table, {"new": range(len(table))}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes().decode(encoding).splitlines()[0] == text.splitlines()[0] + ",new"
    assert not read_table(tmp_path / "t.csv", encoding=encoding).notes


def test_letters_with_accents_are_not_chinese_and_other_alphabets_get_a_hint(tmp_path):
    (tmp_path / "t.csv").write_bytes("näme,größe\nZoë,übel\nÉéé,àéîö\n".encode("cp1252"))
    table = read_table(tmp_path / "t.csv")
    assert table.encoding == "cp1252" and not [note for note in table.notes if "gb18030, " not in note]
    russian = "имя,город,работа\nИван,Москва,учитель\nОльга,Казань,врач\nПётр,Омск,инженер\n"
    (tmp_path / "r.csv").write_bytes(russian.encode("cp1251"))
    table = read_table(tmp_path / "r.csv")
    assert table.encoding == "cp1252"
    assert "name its encoding with --encoding gb18030, big5, shift_jis or windows-1251" in table.notes[-1]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("cell", ["x", '"a ""b"""', '"two\nlines"'])
def test_line_ends_are_kept(tmp_path, newline, cell):
    if newline == "\r" and "\n" in cell:
        return
    text = newline.join(["a,b", f"{cell},1", "y,2", ""])
    (tmp_path / "t.csv").write_bytes(text.encode())
    write_table(read_table(tmp_path / "t.csv"), {"c": [1, 2]}, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == newline.join(["a,b,c", f"{cell},1,1", "y,2,2", ""]).encode()


def test_lists_of_a_parquet_file_are_written_to_csv_whole(tmp_path):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=2000).tolist() for _ in range(3)]
    pq.write_table(pa.table({"v": rows, "kind": ["a", None, "b"]}), tmp_path / "t.parquet")
    write_table(read_table(tmp_path / "t.parquet"), {}, tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv").frame["v"]
    assert [json.loads(cell) for cell in found] == rows


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
        b"a,b\n1,x\n2,y\n",
    ],
)
def test_standard_input_is_known_by_its_content(tmp_path, monkeypatch, raw):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    table = read_table("-")
    assert table.frame.astype(str).to_dict("list") == {"a": ["1", "2"], "b": ["x", "y"]}
    fill(tmp_path / "out", table, {"c": ["u", "v"]}, "-")
    out = (tmp_path / "out").read_text()
    if raw.startswith(b"a"):
        assert out == "a,b,c\n1,x,u\n2,y,v\n"
    else:
        rows = [json.loads(line) for line in out.splitlines()] if raw.startswith(b"{") else json.loads(out)
        assert rows == [{"a": 1, "b": "x", "c": "u"}, {"a": 2, "b": "y", "c": "v"}]


def test_parquet_on_standard_input(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "t.parquet").read_bytes())))
    assert read_table("-").frame["a"].tolist() == [1, 2]


def test_a_folder_of_images_is_a_table(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for number, folder in enumerate(["", "", "cat", "cat", "dog", ".hidden"]):
        place = tmp_path / "photos" / folder
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (20, 20, 3), dtype=np.uint8)).save(place / f"{number}.png")
    (tmp_path / "photos" / "readme.txt").write_text("about")
    table = read_table(tmp_path / "photos")
    assert table.frame["file"].tolist() == [
        "photos/0.png",
        "photos/1.png",
        "photos/cat/2.png",
        "photos/cat/3.png",
        "photos/dog/4.png",
    ]
    assert table.frame["folder"].tolist() == ["", "", "cat", "cat", "dog"]
    encoder = TableEncoder(ignore=["folder"])
    rows = encoder.fit_transform(table.frame)
    assert encoder.columns_[0].kind == "image" and len(rows) == 5
    out = default_out(tmp_path / "photos", "labeled")
    assert out == tmp_path / "photos_labeled.csv"
    write_table(table, {"new": range(5)}, out)
    np.testing.assert_array_equal(encoder.transform(read_table(out).frame), rows)
    assert "folder" not in image_frame(tmp_path / "photos" / "cat").columns
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="without arrow files"):
        read_table(tmp_path / "empty")


def test_a_folder_of_tables_is_one_table(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "b.csv").write_text("kind,size\n,3\nb,4\n")
    (folder / "a.csv").write_text("size,kind\n1,a\n2,\n")
    (folder / "_job.csv").write_text("other\n1\n")
    table = read_table(folder)
    assert table.frame.to_dict("list") == {"size": ["1", "2", "3", "4"], "kind": ["a", "", "", "b"]}
    assert table.notes == ["parts is read as one table: 2 files, 4 rows."]
    assert table.frame.attrs["folder"] == str(folder)
    assert default_out(folder, "labeled") == tmp_path / "parts_labeled.csv"
    (folder / "c.csv").write_text("size\n1\n2\n")
    with pytest.raises(InputError, match="c.csv and the first part of parts do not both have the column 'kind'"):
        read_table(folder)
