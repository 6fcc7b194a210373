"""The command `mercer`, end to end: what a user types, what comes back, and with which exit code."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import mercer
from mercer.cli.app import app

MERCER = str(Path(sysconfig.get_path("scripts")) / "mercer")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1"}


def installed(*arguments, cwd):
    """The installed command in a process of its own."""
    command = [MERCER, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


def here(*arguments):
    """The same command in this process, for the many cases of bad input."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def iris(n_labels=3, every=3):
    data = load_iris()
    names = data.target_names[data.target][::every].astype(object)
    frame = pd.DataFrame(data.data[::every], columns=["sepal length", "sepal width", "petal length", "petal width"])
    frame.insert(0, "flower", [f"f{i:03d}" for i in range(len(frame))])
    shown = np.zeros(len(frame), dtype=bool)
    for name in data.target_names:
        shown[np.flatnonzero(names == name)[:n_labels]] = True
    return frame.assign(species=np.where(shown, names, "")), names


@pytest.fixture
def data(tmp_path):
    frame, _ = iris()
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def test_label_then_predict_as_installed(tmp_path, data):
    arguments = ["--report", "r.html", "--save", "m.mercer", "--abstain", "0.7", "--id", "flower"]
    done = installed("label", data, "--target", "species", *arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    frame, truth = iris()
    written = pd.read_csv(tmp_path / "iris_labelled.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(written[frame.columns], pd.read_csv(data, dtype=str, keep_default_na=False))
    assert written.columns.tolist()[-3:] == ["species_predicted", "species_confidence", "species_source"]
    source, predicted = written["species_source"], written["species_predicted"]
    assert (source[frame["species"] != ""] == "given").all()
    assert result["given"] == (source == "given").sum() == 9
    assert result["predicted"] == (source == "predicted").sum()
    assert result["abstained"] == (source == "abstained").sum()
    assert (predicted[source == "abstained"] == "").all()
    confidence = written["species_confidence"].astype(float)
    assert (confidence[source == "abstained"] < 0.7).all()
    assert (confidence[source == "predicted"] >= 0.7).all()
    right = (predicted == truth)[source == "predicted"]
    assert right.mean() > 0.85
    assert 0 <= result["left_out_interval"][0] <= result["left_out_accuracy"] <= result["left_out_interval"][1] <= 1
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "f000" in page
    assert "versicolor" in page

    new = iris(0)[0].drop(columns="species")
    new.to_csv(tmp_path / "new.tsv", sep="\t", index=False)
    done = installed("predict", "m.mercer", "new.tsv", "--out", "new.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = pd.read_csv(tmp_path / "new.csv")
    assert again["species_source"].eq("predicted").all()
    hidden = (source == "predicted").to_numpy()
    assert (again["species_predicted"].to_numpy()[hidden] == predicted[hidden]).mean() > 0.95

    model = mercer.load(tmp_path / "m.mercer")
    assert model.predict(new).tolist() == again["species_predicted"].tolist()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


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
        "embed",
        "cluster",
        "novelty",
        "methods",
        "demo",
    ):
        assert command in done.stdout


class Terminal:
    """The installed command with its progress bar on a terminal; Ctrl-C comes when the bar says a certain thing."""

    def __init__(self, *arguments, cwd):
        self.screen, slave = pty.openpty()
        command = [MERCER, *map(str, arguments)]
        environment = {**ENVIRONMENT, "TERM": "xterm"}
        self.process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.seen = ""

    def read(self):
        try:
            chunk = os.read(self.screen, 4096)
        except OSError:  # the other side is closed
            chunk = b""
        self.seen += chunk.decode(errors="replace")
        return bool(chunk)

    def interrupt_at(self, words):
        begin = len(self.seen)
        while words not in self.seen[begin:]:
            assert self.read(), self.seen
        self.process.send_signal(signal.SIGINT)
        return self

    def end(self):
        while self.read():
            pass
        self.said = self.process.stdout.read().decode()
        self.process.stdout.close()
        os.close(self.screen)
        return self.process.wait(timeout=120)


@pytest.fixture
def slow(tmp_path):
    """A table whose first neighbour graph takes a second or so, and all candidates more."""
    rng = np.random.default_rng(0)
    codes = np.arange(2000) % 3
    frame = pd.DataFrame((1.5 * rng.normal(size=(3, 20)))[codes] + rng.normal(size=(2000, 20)))
    frame["kind"] = np.where(np.arange(2000) < 12, np.array(["a", "b", "c"])[codes], "")
    frame.to_csv(tmp_path / "slow.csv", index=False)
    return tmp_path


def test_ctrl_c_during_the_search_keeps_the_best_so_far(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", "--report", "r.html", "-s", "m.mercer", cwd=slow)
    assert terminal.interrupt_at("building RBF").end() == 0, (
        terminal.seen
    )  # the candidates of the first space are fitted
    assert "note: Interrupted: the answer is that of the" in terminal.seen
    assert re.search(r"\d+%.*building RBF kernel", terminal.seen)  # a share done, beside what is being done
    assert "1988 rows labelled from 12 labels" in terminal.said
    truth = np.array(["a", "b", "c"])[np.arange(2000) % 3]
    assert (pd.read_csv(slow / "slow_labelled.csv")["kind_predicted"] == truth).mean() > 0.9
    page = (slow / "r.html").read_text(encoding="utf-8")
    assert "The search was interrupted, which left out" in page
    assert "Interrupted: the answer is that of the" in page
    assert sorted(os.listdir(slow)) == ["m.mercer", "r.html", "slow.csv", "slow_labelled.csv"]


def test_a_second_ctrl_c_stops_and_writes_nothing(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", "--report", "r.html", cwd=slow)
    terminal.interrupt_at("building RBF").interrupt_at("drawing the rows")
    assert terminal.end() == 130, terminal.seen
    assert "mercer: Stopped while making the report; nothing was written." in terminal.seen
    assert "Traceback" not in terminal.seen
    assert terminal.said == ""
    assert os.listdir(slow) == ["slow.csv"]


def test_ctrl_c_before_there_is_an_answer_says_so(slow):
    terminal = Terminal("compare", "slow.csv", "-t", "kind", cwd=slow)
    assert terminal.interrupt_at("building neighbour graph").end() == 130, terminal.seen
    assert "mercer: Stopped while trying every method on 2000 rows and 12 labels; nothing was written." in terminal.seen
    assert "Traceback" not in terminal.seen
    assert os.listdir(slow) == ["slow.csv"]


def test_ctrl_c_while_the_report_is_made_leaves_out_the_report(tmp_path, data, monkeypatch):
    def interrupt(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.cli.labelling.findings", interrupt)
    done = here("label", data, "-t", "species", "--report", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["report"] is None
    assert "the report is left out" in json.loads(done.stdout)["notes"][-1]
    assert sorted(os.listdir(tmp_path)) == ["iris.csv", "iris_labelled.csv"]


def test_ctrl_c_while_files_are_written_leaves_none(tmp_path, data, monkeypatch):
    def interrupt(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.inputs.tables.write._write_text", interrupt)  # report and model are written by then
    done = here("label", data, "-t", "species", "--report", tmp_path / "r.html", "-s", tmp_path / "m.mercer")
    assert done.exit_code == 130
    assert "Stopped while writing; nothing was written." in done.output
    assert os.listdir(tmp_path) == ["iris.csv"]


def test_ctrl_c_while_grouping_keeps_the_best_groups_so_far(tmp_path, data, monkeypatch):
    from mercer.solvers.lloyd import _Start

    whole, calls = _Start.step, iter(range(100))

    def step(self, *rest, **more):
        if next(calls) == 10:  # the ten starts have been evaluated once
            raise KeyboardInterrupt
        whole(self, *rest, **more)

    monkeypatch.setattr(_Start, "step", step)
    done = here("cluster", data, "-x", "species", "-k", "6", "-o", tmp_path / "c.csv", "--json")
    assert done.exit_code == 0, done.output
    assert "was interrupted after" in json.loads(done.stdout)["notes"][-1]
    assert set(pd.read_csv(tmp_path / "c.csv")["cluster"]) == {1, 2, 3, 4, 5, 6}


def test_a_killed_command_leaves_no_temporary_files(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", cwd=slow)
    while "building neighbour graph" not in terminal.seen:
        assert terminal.read(), terminal.seen
    terminal.process.terminate()
    assert terminal.end() == 143
    assert os.listdir(slow) == ["slow.csv"]


def test_nothing_is_overwritten_without_force_and_earlier_answers_are_not_features(tmp_path, data):
    assert here("label", data, "-t", "species", "-q").exit_code == 0
    first = pd.read_csv(tmp_path / "iris_labelled.csv")
    refused = here("label", data, "-t", "species")
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert here("label", data, "-t", "species", "-q", "--force").exit_code == 0
    # The loop of a user: correct the output and run again on it.
    again = here("label", tmp_path / "iris_labelled.csv", "-t", "species", "-o", tmp_path / "two.csv")
    assert again.exit_code == 0
    assert "Written by an earlier run, and not learnt from: 'species_predicted'" in again.output
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "two.csv"), first)


def test_suggest_check_and_compare(tmp_path, data):
    done = here("suggest", data, "-t", "species", "-n", "4", "--json", "--id", "flower", "-o", tmp_path / "next.csv")
    rows = json.loads(done.stdout)["suggestions"]
    assert len({row["row"] for row in rows}) == 4
    frame, truth = iris()
    given = set(frame["flower"][frame["species"] != ""])
    assert not given & {row["row"] for row in rows}
    assert all(0 < row["confidence"] < 1 for row in rows)
    marks = pd.read_csv(tmp_path / "next.csv")["label_next"]
    assert sorted(marks.dropna()) == [1, 2, 3, 4]

    wrong = frame.assign(species=np.where(np.arange(len(frame)) % 3, "", truth))
    wrong.loc[0, "species"] = "virginica"
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    every = frame.assign(species=np.where(np.arange(len(frame)) == 0, "virginica", truth))
    every.to_csv(tmp_path / "every.csv", index=False)
    done = here("check", tmp_path / "every.csv", "-t", "species", "--id", "flower", "--json")
    assert json.loads(done.stdout)["labels"][0]["row"] == "f000"  # also when no row is unlabelled
    done = here("check", tmp_path / "wrong.csv", "-t", "species", "--id", "flower", "--json")
    worst = json.loads(done.stdout)["labels"][0]
    assert (worst["row"], worst["given"], worst["others_say"]) == ("f000", "virginica", "setosa")

    done = here("label", data, "-t", "species", "-m", "ls_kpca", "-r", tmp_path / "r.html")
    assert done.exit_code == 0, done.output  # LS-KPCA is not linear in the labels: a report without suggestions
    assert "Rows to label next" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    done = here("label", data, "-t", "species", "-m", "diffusion,lssvm", "-r", tmp_path / "r.html", "--force")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Rows to label next" in page
    assert "20 more labels are expected to change" in page

    done = here("compare", data, "-t", "species", "--json")
    names = [row["method"] for row in json.loads(done.stdout)["methods"]]
    assert names[0] == "average"
    assert {"lssvm", "semi_kpca", "ls_kpca", "lr_kpca", "mv_kpca", "sgt", "s2rls", "rls"} <= set(names)


def test_suggest_without_any_label(tmp_path, data):
    frame, truth = iris(0)
    frame.to_csv(tmp_path / "none.csv", index=False)
    done = here("suggest", tmp_path / "none.csv", "-t", "species", "-n", "6", "--json")
    rows = [int(row["row"]) - 1 for row in json.loads(done.stdout)["suggestions"]]
    assert set(truth[rows]) == {"setosa", "versicolor", "virginica"}


@pytest.mark.parametrize("method", ["kpca", "robust", "sparse"])
def test_embed(tmp_path, data, method):
    done = here("embed", data, "-x", "species", "-m", method, "-d", "3", "-o", tmp_path / "e.csv")
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(tmp_path / "e.csv")
    scores = frame[["component_1", "component_2", "component_3"]].to_numpy()
    assert np.isfinite(scores).all()
    assert scores[:, 0].var() > scores[:, 2].var() > 0


def test_cluster(tmp_path, data):
    done = here("cluster", data, "-x", "species", "-k", "3", "-o", tmp_path / "c.csv", "--json")
    assert sum(json.loads(done.stdout)["sizes"]) == 50
    clusters = pd.read_csv(tmp_path / "c.csv")["cluster"].to_numpy()
    truth = iris()[1]
    assert set(clusters) == {1, 2, 3}
    assert len(set(clusters[truth == "setosa"])) == 1


@pytest.mark.parametrize("method", ["svdd", "kpca", "density"])
def test_novelty_finds_the_strange_row(tmp_path, method):
    frame, _ = iris()
    frame.loc[7, ["sepal length", "sepal width", "petal length", "petal width"]] = [4.0, 4.4, 6.9, 0.1]
    frame.to_csv(tmp_path / "n.csv", index=False)
    done = here(
        "novelty", tmp_path / "n.csv", "-x", "species", "-m", method, "--id", "flower", "--share", "0.1", "--json"
    )
    assert done.exit_code == 0, done.output
    assert "f007" in json.loads(done.stdout)["most_novel"][:3]
    written = pd.read_csv(tmp_path / "n_novelty.csv")
    assert written["novel"][7] == "yes"
    assert written["novel"].eq("yes").mean() == 0.1


def test_methods_and_info():
    assert here("--version").output == f"mercer {mercer.__version__}\n"
    found = json.loads(here("methods", "--json").stdout)["methods"]
    names = {row["name"] for row in found}
    assert {"KernelPCA", "SVDD", "SemiKPCA", "FewLabelClassifier", "KernelCMeans"} <= names
    assert all(row["does"].endswith(".") and row["runs_on"] for row in found)
    facts = json.loads(here("info", "--json").stdout)
    assert facts["versions"]["mercer"] == mercer.__version__
    assert facts["memory_available"] > 0


def test_parquet_npz_text_and_latin_tables(tmp_path):
    frame, _ = iris()
    frame.to_parquet(tmp_path / "t.parquet")
    assert here("label", tmp_path / "t.parquet", "-t", "species", "-q").exit_code == 0
    assert pd.read_parquet(tmp_path / "t_labelled.parquet")["species_source"].isin(["given", "predicted"]).all()

    codes = np.where(frame["species"] == "", -1, load_iris().target[::3])
    np.savez(tmp_path / "t.npz", X=frame.iloc[:, 1:5].to_numpy(float), y=codes)
    assert here("label", tmp_path / "t.npz", "-t", "y", "-q").exit_code == 3  # -1 may be a class
    assert here("label", tmp_path / "t.npz", "-t", "y", "-q", "--missing=-1").exit_code == 0
    with np.load(tmp_path / "t_labelled.npz") as out:
        assert (out["y_predicted"] == load_iris().target[::3]).mean() > 0.85

    parts = [["The {} striker scored a late goal", "A {} keeper saved the penalty kick"]] * 8
    parts += [["The {} bank raised its interest rates", "A {} investor sold the bonds and stocks"]] * 8
    adjectives = ["old", "new", "tall", "calm", "loud", "shy", "bold", "keen"] * 2
    stories = [line.format(word) for pair, word in zip(parts, adjectives) for line in pair]
    labels = ["sport, größer"] * 16 + ["money"] * 16
    shown = [label if i % 8 < 2 else "" for i, label in enumerate(labels)]
    text = "\n".join(["story;label", *(f"{story};{label}" for story, label in zip(stories, shown))])
    (tmp_path / "s.csv").write_bytes(text.encode("latin-1"))
    assert here("label", tmp_path / "s.csv", "-t", "label", "-q", "--report", tmp_path / "s.html").exit_code == 0
    out = pd.read_csv(tmp_path / "s_labelled.csv", sep=";", decimal=",", encoding="cp1252")
    assert (out["label_predicted"] == labels).mean() > 0.9


def test_labels_that_look_like_formulas_are_defused(tmp_path):
    frame, _ = iris()
    frame["species"] = frame["species"].map({"setosa": "=cmd()", "versicolor": "@x", "virginica": "ok", "": ""})
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "species")
    assert done.exit_code == 0
    assert "leading apostrophe" in done.output
    written = pd.read_csv(tmp_path / "t_labelled.csv")
    assert set(written["species_predicted"]) == {"'=cmd()", "'@x", "ok"}


GOOD = "a,b,y\n" + "".join(f"{i},{(i * 7) % 11},{'p' if i % 2 else 'q'}\n" for i in range(12))
BAD_DATA = {
    "empty": ("", "is empty"),
    "header only": ("a,b,y\n", "no rows"),
    "one row": ("a,b,y\n1,2,p\n", "All 1 labels"),
    "no label": ("a,b,y\n1,2,\n3,5,\n", "No row has a label"),
    "one class": ("a,b,y\n1,2,p\n3,5,\n4,1,p\n", "All 2 labels"),
    "all labelled": (GOOD, "nothing to fill in"),
    "numbers to predict": ("a,b,y\n1,2,0.5\n3,5,\n4,1,2.25\n", "a measurement"),
    "minus one": ("a,b,y\n1,2,-1\n3,5,1\n4,1,0\n", "--missing=-1"),
    "no feature": ("y,c\np,1\nq,1\n,1\n", "No column is left to learn from"),
    "ragged": ("a,b,y\n1,2,p\n1,2,3,4,5\n", "line 3"),
    "open quote": ('a,b,y\n1,2,"p\n', "not a regular table"),
    "binary": (b"\x00\x01\x02\x03" * 50, "bytes that no text has"),
    "noise": (bytes(range(1, 256)) * 9, "bytes that no text has"),
    "gzip": (b"\x1f\x8b" + b"x" * 50, "Decompress it first"),
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
        (["label", "good.csv", "-t", "y", "-o", "out.xlsx"], "this ending is not written"),
        (["label", "good.csv", "-t", "y", "-o", "/proc/out.csv"], "/proc/out.csv cannot be written"),
        (["label", "good.csv", "-t", "y", "-r", "/dev/null", "--force"], "is not a regular file"),
        (["label", "good.csv", "-t", "y", "--abstain", "90"], "For 90 % say 0.9"),
        (["label", "good.csv", "-t", "y", "--delimiter", "xx"], "give one character, or tab"),
        (["label", "good.csv", "-t", "y", "--delimiter", ";"], "give --delimiter"),
        (["label", "good.csv", "-t", "y", "--seed", "-1"], "--seed"),
        (["label", "good.csv", "-t", "y", "--seconds", "soon"], "--seconds"),
        (["suggest", "good.csv", "-t", "y", "-n", "0"], "-n"),
        (["label", "numbers.csv", "-t", "y"], "does the file lack a row of column names?"),
        (["cluster", "good.csv"], "--clusters"),
        (["cluster", "cluster.csv", "-k", "2"], "a column 'cluster' already"),
        (["embed", "component.csv", "-d", "1"], "a column 'component_1' already"),
        (["predict", "m.mercer", "good.csv"], "There is no file m.mercer"),
        (["novelty", "good.csv", "-m", "density", "--kernel", "linear"], "--method svdd or kpca"),
        (
            ["predict", "good.csv", "model.mercer"],
            "The model comes before the table: mercer predict model.mercer good.csv",
        ),
        (["demo", "--out", "good.csv"], "good.csv is a file"),
        (["demo", "--seed", "-1"], "--seed"),
        (["embed", "good.csv", "-m", "magic"], "There is no method 'magic'"),
        (["embed", "good.csv", "--kernel", "magic"], "There is no kernel 'magic'"),
        (["embed", "good.csv", "-d", "99"], "99 components were asked of 12 rows"),
        (["cluster", "good.csv", "-k", "99"], "99 clusters were asked of 12 rows"),
        (["novelty", "good.csv", "--share", "0.9"], "--share 0.9 is not accepted"),
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
        ("label", "label needs DATA (Table: CSV, TSV, Parquet or NPZ)."),
        ("label t.csv", "label needs --target COLUMN (Column of labels; empty cells are the unlabelled rows)."),
        ("label t.csv --tagret y", "label has no option --tagret. Did you mean --target?"),
        ("label t.csv -z", "label has no option -z. `mercer label --help` lists those there are."),
        ("label t.csv -t", "-t needs a value after it."),
        ("label t.csv -t y --quiet=3", "--quiet takes no value."),
        ("label t.csv -t petal width", "label does not know what 'width' is for. A name with spaces needs quotes"),
        ("label t.csv -t y --seconds soon", "--seconds soon is not accepted: give a number of at least 1."),
        ("label t.csv -t y --seconds 0", "--seconds 0 is not accepted: give a number of at least 1."),
        ("label t.csv -t y --abstain high", "--abstain high is not accepted: give a number."),
        ("label t.csv -t y --seed -1", "--seed -1 is not accepted: give a whole number from 0 to 4294967295."),
        ("suggest t.csv -t y -n 2.5", "-n 2.5 is not accepted: give a whole number of at least 1."),
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
        (["label", "t.json", "-t", "y"], "to_csv or to_parquet"),
        (["label", "t.xlsx", "-t", "y"], "In Excel choose File, Save as"),
        (["label", "t.parquet", "-t", "y"], "not a readable Parquet file"),
        (["label", "t.npz", "-t", "y"], "not a readable NPZ file"),
        (["label", "folder.csv", "-t", "y"], "is a folder"),
        (["label", "good.csv", "-t", "y", "--encoding", "klingon"], "'klingon' is not known"),
        (["label", "good.csv", "-t", "a"], "nothing to fill in"),
        (["suggest", "good.csv", "-t", "y"], "`mercer check` looks for wrong labels"),
        (["check", "one.csv", "-t", "y"], "All 1 labels in 'y'"),
        (["embed", "one.csv"], "The table has 1 row"),
        (["cluster", "one.csv", "-k", "1"], "The table has 1 row"),
        (["novelty", "text.csv", "-m", "density"], "Use --method svdd or kpca"),
        (["predict", "model.mercer", "good.csv"], "not a mercer model"),
    ],
)
def test_files_and_choices_that_cannot_be_used_are_exit_3(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "one.csv").write_text("a,b,y\n1,2,p\n")
    (tmp_path / "text.csv").write_text("\n".join(["story", *(f"one of {i} red stories" for i in range(9))]))
    (tmp_path / "folder.csv").mkdir()
    for name in ("t.json", "t.xlsx", "t.parquet", "t.npz", "model.mercer"):
        (tmp_path / name).write_text("{}")
    before = sorted(os.listdir(tmp_path))
    done = here(*arguments)
    assert done.exit_code == 3, done.output
    assert words in done.output
    assert "Traceback" not in done.output
    assert len([line for line in done.output.splitlines() if not line.startswith("note: ")]) == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_many_columns_alike_are_said_in_one_line(tmp_path):
    frame, _ = iris()
    wide = pd.concat([frame.iloc[:, 1:5] + step for step in range(3)], axis=1)
    wide.columns = [f"c{j}" for j in range(12)]
    wide.iloc[0, :8] = np.nan
    wide.assign(kind=frame["species"], one=1, two="x").to_csv(tmp_path / "w.csv", sep=";", decimal=",", index=False)
    done = here("label", tmp_path / "w.csv", "-t", "kind")
    assert done.exit_code == 0, done.output
    notes = [line for line in done.output.splitlines() if line.startswith("note:")]
    assert len(notes) == 3
    assert "'c0' (1 cell, 2%)" in notes[0] and "and 3 more have gaps" in notes[0]
    assert "and 7 more are read with decimal commas" in notes[1]
    assert "Columns 'one', 'two' have the same value in every row" in notes[2]


def test_the_loop_of_suggesting_labelling_and_checking(tmp_path, data):
    """The output of every command may be the input of the next; what mercer wrote is not learnt from."""
    names = ["flower", "sepal length", "sepal width", "petal length", "petal width", "species"]
    answers = ["species_predicted", "species_confidence", "species_source"]
    step = [data, *(tmp_path / f"{i}.csv" for i in range(1, 6))]
    assert here("suggest", step[0], "-t", "species", "-n", "3", "-o", step[1], "-q").exit_code == 0
    done = here("label", step[1], "-t", "species", "-o", step[2])
    assert "not learnt from: 'label_next'" in done.output
    direct = here("label", step[0], "-t", "species", "-o", tmp_path / "direct.csv", "-q")
    assert direct.exit_code == 0
    assert pd.read_csv(step[2]).columns.tolist() == [*names, "label_next", *answers]
    assert pd.read_csv(step[2])["species_confidence"].equals(pd.read_csv(tmp_path / "direct.csv")["species_confidence"])
    assert here("check", step[2], "-t", "species", "-o", step[3], "-q").exit_code == 0
    assert here("check", step[3], "-t", "species", "-o", step[4], "-q").exit_code == 0
    assert pd.read_csv(step[4]).columns.tolist() == [*names, "label_next", *answers, "species_doubtful"]
    assert here("suggest", step[4], "-t", "species", "-n", "3", "-o", step[5], "-q").exit_code == 0
    last = pd.read_csv(step[5])
    assert last.columns.tolist() == [*names, *answers, "species_doubtful", "label_next"]
    assert last["label_next"].equals(pd.read_csv(step[1])["label_next"])


def test_a_saved_model_reads_other_spellings_and_says_what_it_cannot_read(tmp_path):
    frame, truth = iris()
    colours = np.where(truth == "setosa", "blue", "white")
    frame.assign(colour=colours).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.mercer"
    assert here("label", tmp_path / "t.csv", "-t", "species", "-q", "-s", model).exit_code == 0
    frame.assign(colour=colours).to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    for name in ("t", "comma"):
        assert here("predict", model, tmp_path / f"{name}.csv", "-o", tmp_path / f"{name}_p.csv").exit_code == 0
    points, commas = pd.read_csv(tmp_path / "t_p.csv"), pd.read_csv(tmp_path / "comma_p.csv", sep=";", decimal=",")
    assert points["species_confidence"].equals(commas["species_confidence"])
    frame["sepal width"] = "wide"
    frame.assign(colour="violet").to_csv(tmp_path / "odd.csv", index=False)
    done = here("predict", model, tmp_path / "odd.csv", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)["notes"][-1]
    assert "'sepal width' (50 cells such as 'wide'), 'colour' (50 cells such as 'violet') hold" in said


def test_a_threshold_that_no_row_reaches_is_said(tmp_path, data):
    done = here("label", data, "-t", "species", "--abstain", "0.99", "-r", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "No row reaches --abstain 0.99: the highest confidence is 0." in done.output
    assert "No row reaches --abstain 0.99" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "0 rows labelled from 9 labels; 41 left unlabelled." in done.output


def test_predict_refuses_other_models_and_other_tables(tmp_path, data):
    mercer.save(mercer.RBF(1.0), tmp_path / "kernel.mercer")
    done = here("predict", tmp_path / "kernel.mercer", data)
    assert done.exit_code == 3
    assert "holds a RBF" in done.output
    (tmp_path / "text.mercer").write_text("hello")
    assert here("predict", tmp_path / "text.mercer", data).exit_code == 3
    assert here("label", data, "-t", "species", "-q", "-s", tmp_path / "m.mercer").exit_code == 0
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n")
    done = here("predict", tmp_path / "m.mercer", tmp_path / "other.csv")
    assert done.exit_code == 3
    assert "has no column 'sepal length'" in done.output


def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "bad.csv").write_text("a,y\n1,\n2,\n")
    done = here("label", tmp_path / "bad.csv", "-t", "y", "--debug")
    assert done.exit_code == 3
    assert "Traceback" in done.output
    assert "mercer: No row has a label in 'y'" in done.output


def test_only_a_sample_of_many_rows_is_drawn(tmp_path, data, monkeypatch):
    monkeypatch.setattr("mercer.cli.findings.MOST_POINTS", 20)
    assert here("label", data, "-t", "species", "-q", "-r", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "20 of 50 rows are drawn: the given labels" in page
    drawn = json.loads(page.split('id="points">')[1].split("</script>")[0])
    assert len(drawn["x"]) == 20
    assert sum(drawn["given"]) == 9


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_tables(tmp_path, n):
    rows = [f"{i * i},{'pq'[i] if i < 2 else ''}" for i in range(n)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows, "9,"]) + "\n")
    done = here("label", tmp_path / "t.csv", "-t", "y", "-r", tmp_path / "r.html", "-s", tmp_path / "m.mercer")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(tmp_path / "t_labelled.csv")["y_predicted"].isin(["p", "q"]).all()
    assert here("predict", tmp_path / "m.mercer", tmp_path / "t.csv", "-o", tmp_path / "p.csv").exit_code == 0


def test_one_label_a_class_has_no_accuracy_and_says_so(tmp_path):
    iris(1)[0].to_csv(tmp_path / "one.csv", index=False)
    done = here("label", tmp_path / "one.csv", "-t", "species", "-r", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert result["left_out_accuracy"] is None
    done = here("label", tmp_path / "one.csv", "-t", "species", "--force")
    assert "cannot be estimated" in done.output
    done = here("check", tmp_path / "one.csv", "-t", "species")
    assert done.exit_code == 3
    assert "no label can be checked" in done.output


def test_warnings_of_the_library_become_notes(tmp_path):
    rows = ["a,b", *["1,2", "3,4"] * 6]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    done = here("cluster", tmp_path / "t.csv", "-k", "5")
    assert done.exit_code == 0, done.output
    assert "note:" in done.output
    assert "clusters are empty" in done.output
    assert "UserWarning" not in done.output


def test_very_many_rows_are_fitted_by_a_sample(tmp_path, data, monkeypatch):
    monkeypatch.setattr("mercer.cli.job.FIT_ROWS", 20)
    monkeypatch.setattr("mercer.cli.job.FIT_LABELS", 7)
    _, truth = iris()
    done = here("label", data, "-t", "species", "-r", tmp_path / "r.html", "--json", "-s", tmp_path / "m.mercer")
    assert done.exit_code == 0, done.output
    assert "fitted to 20 of 50 rows" in json.loads(done.stdout)["notes"][-1]
    written = pd.read_csv(tmp_path / "iris_labelled.csv")
    assert (written["species_source"] == "given").sum() == 9
    assert (written["species_predicted"] == truth).mean() > 0.8
    done = here("suggest", data, "-t", "species", "-n", "5", "--json")
    rows = [int(row["row"]) - 1 for row in json.loads(done.stdout)["suggestions"]]
    assert written["species_source"][rows].eq("predicted").all()
    assert here("check", data, "-t", "species").exit_code == 0


def test_quiet_prints_nothing(tmp_path, data):
    done = here("cluster", data, "-x", "species", "-k", "2", "--quiet")
    assert done.exit_code == 0
    assert done.output == ""


def test_compare_names_the_methods_as_people_do(data):
    done = here("compare", data, "-t", "species")
    assert done.exit_code == 0, done.output
    head, *rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    assert head == ["method", "what it is", "right", "95 % interval", "--method"]
    by_key = {row[-1]: row for row in rows}
    assert by_key["sgt"][0] == "Spectral graph transducer"
    assert by_key["rls"][:2] == [
        "Regularised least squares",
        "learns from the labelled rows only (kernel ridge regression)",
    ]
    assert rows[0][0] == "Their average" and rows[0][-1] == "all"
    assert "_" not in "".join("".join(row[:4]) for row in rows)
    listed = {line.split("\t")[0] for line in here("methods").stdout.splitlines()}
    assert set(by_key) - {"all"} <= listed


def test_the_report_names_the_methods_as_people_do(tmp_path, data):
    assert here("label", data, "-t", "species", "-q", "-r", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Least-squares SVM on a graph<small>gamma=" in page
    assert not re.search(r"\b(lssvm|ls_kpca|sgt|semi_kpca)\b", page)


@pytest.mark.parametrize("option", ["-r", "-s"])
def test_neither_the_report_nor_the_model_may_replace_the_table(tmp_path, data, option):
    before = data.read_bytes()
    done = here("label", data, "-t", "species", option, data, "--force")
    assert done.exit_code == 2
    assert f"{data} is what is read, and would be replaced" in done.output
    assert data.read_bytes() == before


def test_predictions_may_not_replace_the_model(tmp_path, data):
    model = tmp_path / "model.csv"
    assert here("label", data, "-t", "species", "-q", "-s", model).exit_code == 0
    before = model.read_bytes()
    done = here("predict", model, data, "-o", model, "--force")
    assert done.exit_code == 2
    assert model.read_bytes() == before


def test_a_table_may_be_replaced_by_itself_with_labels_when_forced(data):
    assert here("label", data, "-t", "species", "-q", "-o", data, "--force").exit_code == 0
    assert pd.read_csv(data)["species_source"].isin(["given", "predicted"]).all()


def test_the_label_column_cannot_name_the_rows(data):
    done = here("label", data, "-t", "species", "--id", "species")
    assert done.exit_code == 2
    assert "--id and --target are both 'species'" in done.output


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("lsvm", "There is no method 'lsvm'. Did you mean lssvm?"),
        ("magic", "There is no method 'magic'. Accepted: auto, all, lssvm"),
        ("all,lssvm", "--method all stands alone, without other names."),
    ],
)
def test_a_wrong_method_is_explained(data, method, words):
    done = here("label", data, "-t", "species", "-m", method)
    assert done.exit_code == 2
    assert words in done.output


def test_names_of_methods_may_be_written_in_capitals(tmp_path, data):
    assert here("label", data, "-t", "species", "-q", "-m", "LSSVM").exit_code == 0
    assert here("embed", data, "-q", "-m", "KPCA").exit_code == 0
    assert here("novelty", data, "-q", "-m", "SVDD", "-o", tmp_path / "n.csv").exit_code == 0


def test_novelty_lists_no_row_that_it_does_not_call_novel(tmp_path, data):
    done = here("novelty", data, "-x", "species", "--id", "flower", "--share", "0.06")
    rows = [line for line in done.stdout.splitlines() if line.startswith("f") and "\t" in line]
    assert len(rows) == 1 + 3  # the head, and 6 % of 50 rows
    assert set(pd.read_csv(tmp_path / "iris_novelty.csv").query("novel == 'yes'")["flower"]) == {
        row.split("\t")[0] for row in rows[1:]
    }


def test_one_row_is_not_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n5,q\n2,\n")
    done = here("label", tmp_path / "t.csv", "-t", "y")
    assert "1 row labelled from 2 labels; 0 left unlabelled." in done.output


def test_the_width_of_a_kernel_is_said_in_few_digits(data):
    done = here("cluster", data, "-x", "species", "-k", "3")
    assert re.search(r"RBF\(bandwidth=\d\.\d{1,3}\)\.", done.output)


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
    assert b"41 rows labelled from 9 labels" in done.stderr
    assert here("label", data, "-t", "species", "-q").exit_code == 0
    assert done.stdout == (tmp_path / "iris_labelled.csv").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["iris.csv", "iris_labelled.csv"]
    done = here("label", data, "-t", "species", "-o", "-", "--json")
    assert done.exit_code == 2
    assert "--json and --out - both write to standard output" in done.output
    done = here("label", data, "-t", "species", "-r", "-")
    assert done.exit_code == 2
    assert "Only the table can be written to standard output" in done.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sales 2024,,\n,,\na,b,y\n1,2,p\n3,4,\n", "The name stands further down: remove the lines above the row of"),
        ("# made by hand\na,b,y\n1,2,p\n3,4,\n", "remove lines above the column names"),
        ("a,y\n1,p\n2,q\n3,unknown\n", "or name the word they hold with --missing"),
    ],
)
def test_usual_slips_of_tables_are_recognised(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    done = here("label", tmp_path / "t.csv", "-t", "y")
    assert done.exit_code in (2, 3)
    assert words in done.output


def test_a_long_word_is_not_cut_off_on_a_narrow_terminal(capsys, monkeypatch):
    from mercer.cli.screen import Screen

    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    Screen().table(["name", "what"], [("FewLabelClassifierOfAll", "labels all rows")])
    shown = capsys.readouterr().out
    assert "…" not in shown


def test_a_full_disk_and_a_closed_output_are_no_faults_of_mercer(tmp_path):
    full = subprocess.run(f"{MERCER} info > /dev/full", shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (2, "mercer: Writing failed: No space left on device.\n")
    closed = subprocess.run(f"{MERCER} methods >&-", shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_line_break_in_a_cell_does_not_break_a_piped_table(tmp_path):
    frame, _ = iris()
    frame["flower"] = "a\nflower\twith " + frame["flower"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = here("suggest", tmp_path / "t.csv", "-t", "species", "-n", "3", "--id", "flower")
    lines = [line for line in done.stdout.splitlines() if line.startswith("a flower with f")]
    assert [line.count("\t") for line in lines] == [3, 3, 3]
