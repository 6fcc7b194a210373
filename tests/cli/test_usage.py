"""What a user types wrongly, the help, the streams, and the exit codes."""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import mercer
from mercer.cli import main

from .command import ENVIRONMENT, MERCER, here, installed, iris


def test_errors_as_installed(tmp_path, data):
    """One sentence on standard error, nothing on standard output, and an exit code that scripts can use."""
    (tmp_path / "empty.csv").touch()
    cases = [
        (["label", "iris.csv", "-t", "specis"], 2, "iris.csv has no column 'specis'. Did you mean 'species'?"),
        (["label", "iris.csv", "-t", "species", "-o", "no/out.csv"], 2, "There is no folder no. Create it first."),
        (["label", "empty.csv", "-t", "species", "--json"], 3, "empty.csv is empty. Give a table with a header row"),
    ]
    for arguments, code, words in cases:
        done = installed(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert done.stderr.startswith(f"mercer: {words}")
        assert done.stderr.count("\n") == 1
    done = subprocess.run([sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True)
    assert done.stdout == f"mercer {mercer.__version__}\n"


def test_help_needs_no_heavy_import(tmp_path):
    code = """
import sys
from mercer.cli import main
sys.argv = ["mercer", "--help"]
try:
    main()
except SystemExit as end:
    heavy = {"numpy", "sklearn", "pandas", "numba", "torch", "matplotlib"} & set(sys.modules)
    sys.exit(f"loaded {heavy}" if heavy else end.code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert [entry.value for entry in entry_points(group="console_scripts", name="mercer")] == ["mercer.cli:main"]
    for command in (
        "label",
        "suggest",
        "check",
        "compare",
        "predict",
        "look",
        "embed",
        "cluster",
        "novelty",
        "methods",
        "demo",
    ):
        assert command in done.stdout


def test_methods_and_info():
    assert here("--version").output == f"mercer {mercer.__version__}\n"
    found = json.loads(here("methods", "--json").stdout)["methods"]
    names = {row["name"] for row in found}
    assert {"KernelPCA", "SVDD", "SemiKPCA", "FewLabelClassifier", "KernelCMeans"} <= names
    assert all(row["does"].endswith(".") and row["runs_on"] for row in found)
    facts = json.loads(here("info", "--json").stdout)
    assert facts["versions"]["mercer"] == mercer.__version__
    assert facts["memory_available"] > 0


GOOD = "a,b,y\n" + "".join(f"{i},{(i * 7) % 11},{'p' if i % 2 else 'q'}\n" for i in range(12))


BAD_DATA = {
    "empty": ("", "is empty"),
    "header only": ("a,b,y\n", "no rows"),
    "one row": ("a,b,y\n1,2,p\n", "The only label"),
    "no label": ("a,b,y\n1,2,\n3,5,\n", "No row has a label"),
    "one class": ("a,b,y\n1,2,p\n3,5,\n4,1,p\n", "All 2 labels"),
    "all labeled": (GOOD, "nothing to fill in"),
    "numbers to predict": ("a,b,y\n1,2,0.5\n3,5,\n4,1,2.25\n", "Give at least 5 numbers"),
    "minus one": ("a,b,y\n1,2,-1\n3,5,1\n4,1,0\n", "--missing=-1"),
    "no feature": ("y,c\np,1\nq,1\n,1\n", "No column is left to learn from"),
    "ragged": ("a,b,y\n1,2,p\n1,2,3,4,5\n", "line 3"),
    "open quote": ('a,b,y\n1,2,"p\n', "not a regular table"),
    "binary": (b"\x00\x01\x02\x03" * 50, "bytes that do not occur in text"),
    "noise": (bytes(range(1, 256)) * 9, "bytes that do not occur in text"),
    "gzip": (b"\x1f\x8b" + b"x" * 50, "Give it the ending .csv.gz"),
    "pdf": (b"%PDF-1.4", "Export the table as CSV"),
    "excel": (b"PK\x03\x04" + b"x" * 50, "Excel"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_exit_3_with_one_sentence(tmp_path, case):
    content, words = BAD_DATA[case]
    path = tmp_path / "bad.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = here("label", path, "-t", "y")
    assert done.exit_code == 3, done.output
    assert words in done.output
    assert "Traceback" not in done.output
    assert os.listdir(tmp_path) == ["bad.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["label", "no.csv", "-t", "y"], "There is no file"),
        (["label", "good.csv", "-t", "yy"], "Did you mean 'y'"),
        (["label", "good.csv", "-t", "y", "--id", "nothing like it"], "Its columns are 'a', 'b', 'y'"),
        (["label", "good.csv"], "--target"),
        (["label", "good.csv", "-t", "y", "-m", "magic"], "There is no method 'magic'"),
        (["label", "good.csv", "-t", "y", "--abstain", "2"], "--abstain 2 is not accepted"),
        (["label", "good.csv", "-t", "y", "-o", "no/out.csv"], "no folder"),
        (["label", "good.csv", "-t", "y", "-o", "a.csv", "-r", "a.csv"], "same name"),
        (["label", "good.csv", "-t", "y", "-o", "good.csv"], "exists"),
        (["label", "good.csv", "-t", " Y "], "Did you mean 'y'"),
        (["label", "good.csv", "-t", "y", "-o", "."], ". is a folder"),
        (["label", "good.csv", "-t", "y", "-o", "out.ods"], "files of this ending cannot be written"),
        (["label", "good.csv", "-t", "y", "-o", "/proc/out.csv"], "/proc/out.csv cannot be written"),
        (["label", "good.csv", "-t", "y", "-r", "/dev/null", "--force"], "is not a regular file"),
        (["label", "good.csv", "-t", "y", "--abstain", "90"], "For 90% give 0.9"),
        (["label", "good.csv", "-t", "y", "--delimiter", "xx"], "Give one character, or tab"),
        (["label", "good.csv", "-t", "y", "--delimiter", "\n"], "Give one character, or tab"),
        (["label", "good.csv", "-t", "y", "--delimiter", '"'], "Give one character, or tab"),
        (["label", "good.csv", "-t", "y", "--delimiter", ";"], "give --delimiter"),
        (["label", "good.csv", "-t", "y", "--seed", "-1"], "--seed"),
        (["label", "good.csv", "-t", "y", "--seconds", "soon"], "--seconds"),
        (["suggest", "good.csv", "-t", "y", "-n", "0"], "-n"),
        (["label", "numbers.csv", "-t", "y"], "If the file lacks a row of column names"),
        (["cluster", "cluster.csv", "-k", "2"], "a column 'cluster' already"),
        (["embed", "component.csv", "-d", "1"], "a column 'component_1' already"),
        (["predict", "m.mercer", "good.csv"], "There is no file m.mercer"),
        (["novelty", "good.csv", "-m", "density", "--kernel", "linear"], "--method svdd or kpca"),
        (
            ["predict", "good.csv", "model.mercer"],
            "The model comes before the table. Run mercer predict model.mercer good.csv",
        ),
        (["demo", "--out", "good.csv"], "good.csv is a file"),
        (["demo", "--seed", "-1"], "--seed"),
        (["embed", "good.csv", "-m", "magic"], "There is no method 'magic'"),
        (["embed", "good.csv", "--kernel", "magic"], "There is no kernel 'magic'"),
        (["embed", "good.csv", "-d", "99"], "99 components were requested for 12 rows"),
        (["cluster", "good.csv", "-k", "99"], "99 clusters were requested for 12 rows"),
        (["novelty", "good.csv", "--share", "0.9"], "--fraction 0.9 is not accepted"),
        (["predict", "no.mercer", "good.csv"], "There is no file"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_bad_usage_is_exit_2(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "numbers.csv").write_text(GOOD.split("\n", 1)[1].replace("p", "1").replace("q", "0"))
    (tmp_path / "cluster.csv").write_text(GOOD.replace("y", "cluster"))
    (tmp_path / "component.csv").write_text(GOOD.replace("y", "component_1"))
    (tmp_path / "model.mercer").write_text("any")
    before = sorted(os.listdir(tmp_path))
    done = here(*arguments)
    assert done.exit_code == 2, done.output
    assert words in " ".join(done.output.split())
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("lable", "There is no command 'lable'. Did you mean label?"),
        ("xyz", "There is no command 'xyz'. Accepted: label, suggest,"),
        ("label", "label needs DATA (Table: CSV, Excel, Parquet, JSON, NPZ, file.db::table)."),
        ("check t.csv", "check needs --target COLUMN (Column of labels, with empty cells in unlabeled rows)."),
        ("label t.csv", "label needs --target COLUMN (Column of labels, with empty cells in unlabeled rows)."),
        ("label t.csv --tagret y", "label has no option --tagret. Did you mean --target?"),
        ("label t.csv -z", "label has no option -z. `mercer label --help` lists those there are."),
        ("label t.csv -t", "-t needs a value after it."),
        ("label t.csv -t y --quiet=3", "--quiet takes no value."),
        ("label t.csv -t petal width", "label does not know what 'width' is for. A name with spaces needs quotes"),
        ("label t.csv -t y --seconds soon", "--seconds soon is not accepted. Give a number of at least 1."),
        ("label t.csv -t y --seconds 0", "--seconds 0 is not accepted. Give a number of at least 1."),
        ("label t.csv -t y --abstain high", "--abstain high is not accepted. Give a number."),
        ("label t.csv -t y --seed -1", "--seed -1 is not accepted. Give a whole number from 0 to 4294967295."),
        ("suggest t.csv -t y -n 2.5", "-n 2.5 is not accepted. Give a whole number of at least 1."),
        ("--what", "mercer has no option --what. `mercer --help` lists those there are."),
    ],
)
def test_a_command_typed_wrongly_is_answered_in_one_sentence(arguments, sentence):
    done = here(*arguments.split())
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"mercer: {sentence}")
    assert done.stderr.count("\n") == 1


def test_help_is_plain_text_and_shown_when_nothing_is_asked():
    whole = here("--help").output
    assert here().output == here("help").output == whole
    assert "..." not in whole.split("Commands:")[1]  # no description is cut off
    assert here("help", "label").output == here("label", "-h").output
    for command in ("label", "embed", "demo"):
        page = here(command, "--help").output
        assert page.isascii()
        assert "<str>" not in page
    assert here("help", "label").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["label", "t.json", "-t", "y"], "contains no records"),
        (["label", "t.pkl", "-t", "y"], "to_csv or to_parquet"),
        (["label", "good.csv", "-t", "y", "--sheet", "a"], "--sheet is for Excel"),
        (["label", "good.csv", "-t", "y", "--embed", "no.npy"], "There is no file no.npy"),
        (["label", "t.xlsx", "-t", "y"], "In Excel choose File, Save as"),
        (["label", "t.parquet", "-t", "y"], "not a readable Parquet file"),
        (["label", "t.npz", "-t", "y"], "not a readable NPZ file"),
        (["label", "folder.csv", "-t", "y"], "is a folder"),
        (["label", "good.csv", "-t", "y", "--encoding", "klingon"], "'klingon' is not known"),
        (["label", "good.csv", "-t", "a"], "nothing to fill in"),
        (["suggest", "good.csv", "-t", "y"], "`mercer check` looks for wrong labels"),
        (["check", "one.csv", "-t", "y"], "The only label in 'y' is"),
        (
            ["check", "both.csv", "-t", "y"],
            "'p;q'. Only `mercer label` fills in such cells. Make a column of yes and no",
        ),
        (["embed", "one.csv"], "The table has 1 row"),
        (["cluster", "one.csv", "-k", "1"], "The table has 1 row"),
        (["predict", "model.mercer", "good.csv"], "not a mercer model"),
    ],
)
def test_files_and_choices_that_cannot_be_used_are_exit_3(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "one.csv").write_text("a,b,y\n1,2,p\n")
    (tmp_path / "both.csv").write_text("a,y\n1,p;q\n2,p\n3,\n")
    (tmp_path / "folder.csv").mkdir()
    for name in ("t.json", "t.pkl", "t.xlsx", "t.parquet", "t.npz", "model.mercer"):
        (tmp_path / name).write_text("{}")
    before = sorted(os.listdir(tmp_path))
    done = here(*arguments)
    assert done.exit_code == 3, done.output
    assert words in done.output
    assert "Traceback" not in done.output
    assert len([line for line in done.output.splitlines() if not line.startswith("note: ")]) == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "bad.csv").write_text("a,y\n1,\n2,\n")
    done = here("label", tmp_path / "bad.csv", "-t", "y", "--debug")
    assert done.exit_code == 3
    assert "Traceback" in done.output
    assert "mercer: No row has a label in 'y'" in done.output


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_terminal_can_show_the_answer(tmp_path, data, encoding):
    frame, _ = iris()
    frame["flower"] = frame["flower"] + " ✿"
    frame.to_csv(data, index=False)
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    command = [MERCER, "suggest", str(data), "-t", "species", "--id", "flower", "-n", "2"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert b" ?\t" in done.stdout
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, timeout=240)
    assert json.loads(done.stdout.decode(encoding))["suggestions"][0]["row"].endswith("✿")


def test_standard_input_and_output(tmp_path, data):
    command = [MERCER, "label", "-", "-t", "species"]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, input=data.read_bytes(), capture_output=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert b"41 rows labeled from 9 labels" in done.stderr
    assert here("label", data, "-t", "species", "-q").exit_code == 0
    assert done.stdout == (tmp_path / "iris_labeled.csv").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["iris.csv", "iris_labeled.csv"]
    done = here("label", data, "-t", "species", "-o", "-", "--json")
    assert done.exit_code == 2
    assert "--json and --out - both write to standard output" in done.output
    done = here("label", data, "-t", "species", "-r", "-")
    assert done.exit_code == 2
    assert "Only the table can be written to standard output" in done.output


def test_a_long_word_is_not_cut_off_on_a_narrow_terminal(capsys, monkeypatch):
    from mercer.cli.console import Console

    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    Console().table(["name", "what"], [("FewLabelClassifierOfAll", "labels all rows")])
    shown = capsys.readouterr().out
    assert "…" not in shown


def test_a_full_disk_and_a_closed_output_are_no_faults_of_mercer(tmp_path):
    full = subprocess.run(f"{MERCER} info > /dev/full", shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (2, "mercer: Writing failed: No space left on device.\n")
    closed = subprocess.run(f"{MERCER} methods >&-", shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "idna", "rot13", "base64", "nonsense"])
def test_codecs_that_are_no_encodings_of_files_are_refused(tmp_path, encoding):
    (tmp_path / "good.csv").write_text(GOOD)
    done = here("embed", tmp_path / "good.csv", "--encoding", encoding)
    assert (done.exit_code, done.stderr.count("\n")) == (3, 1), done.output
    assert f"The encoding {encoding!r} is not known" in done.stderr


def test_what_cells_and_names_hold_does_not_command_the_terminal(tmp_path):
    rows = "".join(f"\x1b]0;title{i},{i % 2},\x1b[31m\u202e{i}\n" for i in range(12))
    (tmp_path / "a.csv").write_text("id,b,c\x1b[2J\n" + rows, encoding="utf-8")
    for command in (["novelty", "--id", "id"], ["look"]):
        done = here(command[0], tmp_path / "a.csv", *command[1:])
        assert done.exit_code == 0, done.output
        assert not set(done.output) & set("\x1b\u202e")
        assert "\\x1b" in done.output


def test_a_sentence_is_one_line_of_three_hundred_characters_with_its_advice(tmp_path):
    names = ",".join(f"{word * 500} {k}" for k, word in enumerate(["long", "line\u2028", "a ", "b"]))
    (tmp_path / "a.csv").write_text(f"{names}\n1,2,3,4\n", encoding="utf-8")
    done = here("label", tmp_path / "a.csv", "-t", "y" * 2000)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert len(done.stderr) < 310
    assert done.stderr.startswith("mercer: a.csv has no column 'yyy")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_that_another_library_swallows_ends_the_command_all_the_same(monkeypatch, number, code):
    def swallowing(prog_name):
        try:
            signal.raise_signal(number)
        except BaseException:
            raise SystemExit(3) from None

    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr("mercer.cli.app.app", swallowing)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(SystemExit) as end:
            main()
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert end.value.code == code
