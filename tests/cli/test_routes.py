"""The same prediction for a data frame in the library and the same table as a file for the command."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from typer.testing import CliRunner

from mercer import FewLabelClassifier, load
from mercer.cli.app import app
from mercer.cli.console import Console
from mercer.cli.labeling import label
from mercer.inputs.tables import TableEncoder, read_table
from mercer.jobs.options import ReadOptions
from mercer.jobs.tables import encode

SUBJECTS = {"goal": ["striker", "keeper", "goal", "match", "kick"], "bank": ["rates", "loan", "bonds", "bank", "fund"]}


def generated(seed, n=90):
    """A table of every kind of column, some of them at random, with gaps at random; labels depend on several."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    subject = [list(SUBJECTS.values())[k] for k in y]
    columns = {
        "amount": np.exp(rng.normal(y, 1)) * 10.0 ** rng.integers(-3, 4),
        "ratio": rng.normal(size=n) + y,
        "age": rng.integers(18, 90, n),
        "stars": rng.integers(1, 6, n),
        "color": np.where(
            rng.random(n) < 0.7, np.where(y == 1, "red", "blue"), rng.choice(["green", "grün", "x y"], n)
        ),
        "member": rng.random(n) < 0.3 + 0.4 * y,
        "answer": rng.choice(["Yes", "no", "Y", "N"], n),
        "size": rng.choice(["small", "medium", "large"], n),
        "when": pd.Timestamp("2021-03-01 12:30") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        "car": [f"{'vw' if k else 'fiat'} model {i}" for i, k in enumerate(y)],
        "story": [f"the {' '.join(rng.choice(words, 4))} of day {i}" for i, words in enumerate(subject)],
        "vector": [rng.normal(size=6).tolist() for _ in range(n)],
        "code": [f"{k:04d}" for k in rng.integers(0, 20, n)],
        "rownames": rng.permutation(10 * n)[:n],
        "one": "same",
        "gone": [None] * n,
    }
    frame = pd.DataFrame(
        {name: columns[name] for name in rng.permutation(list(columns))[:11]} | {"ratio": columns["ratio"]}
    )
    for name in rng.choice(frame.columns, 3, replace=False):
        frame[name] = frame[name].astype(object).where(rng.random(n) > 0.15, None)
    return frame, np.array(["no", "yes"])[y]


def bundled(name):
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    rows = np.random.default_rng(0).permutation(len(data.data))[:120]
    return data.data.iloc[rows].reset_index(drop=True), data.target_names[data.target.iloc[rows]].astype(str)


TABLES = [*range(12), "plain", "iris", "wine", "breast_cancer", "digits"]


def table(which):
    if which == "plain":  # columns apart in memory, whose sums have another order than those of rows
        X, y = datasets.make_moons(300, noise=0.3, random_state=0)
        return pd.DataFrame({"left": X[:, 0], "right": X[:, 1]}), np.array(["up", "down"])[y]
    return bundled(which) if isinstance(which, str) else generated(which)


@pytest.mark.parametrize("which", TABLES)
def test_the_same_matrix_to_the_last_digit(tmp_path, which):
    frame, names = table(which)
    encoder = TableEncoder()
    rows = encoder.fit_transform(frame)
    for ending, sep, decimal in ((".csv", ",", "."), (".tsv", "\t", "."), (".csv", ";", ",")):
        path = tmp_path / f"t{sep == ';'}{ending}"
        frame.assign(kind=names).to_csv(path, index=False, sep=sep, decimal=decimal)
        found, X = encode(read_table(path), ["kind"], ReadOptions())
        assert {c.name: c.kind for c in found.columns_[:-1]} == {c.name: c.kind for c in encoder.columns_}
        np.testing.assert_array_equal(X, rows)
        np.testing.assert_array_equal(found.transform(frame), rows)


@pytest.mark.parametrize("which", [0, 1, 2, 3, "iris", "wine", "plain"])
def test_the_same_answers_to_the_last_digit(tmp_path, which):
    frame, names = table(which)
    shown = np.arange(len(names)) % 4 == 0
    y = np.where(shown, names, "")
    path, model = tmp_path / "t.csv", tmp_path / "m.mercer"
    frame.assign(kind=y).to_csv(path, index=False)
    [(by_command, _)] = label(Console(quiet=True), path, ["kind"], method="lssvm,diffusion", save=model)
    by_library = FewLabelClassifier(["lssvm", "diffusion"], random_state=0).fit(frame, y)
    np.testing.assert_array_equal(by_library.probabilities_, by_command.probabilities_)
    np.testing.assert_array_equal(by_library.transduction_, by_command.transduction_)
    again = load(model).predict_proba(read_table(path).frame.iloc[:20])
    np.testing.assert_array_equal(again, by_library.predict_proba(frame.iloc[:20]))


def test_look_shows_every_column_and_obeys(tmp_path):
    frame, names = generated(0)
    path = tmp_path / "t.csv"
    frame.assign(kind=names).to_csv(path, index=False)
    plain = CliRunner().invoke(app, ["look", str(path), "--target", "kind"])
    assert plain.exit_code == 0, plain.output
    lines = [line.split("\t") for line in plain.stdout.splitlines() if "\t" in line]
    assert lines[0] == ["column", "kind", "use", "why", "missing", "weight"]
    assert [line[0] for line in lines[1:]] == [*frame.columns, "kind"]
    assert lines[-1][1:4] == ["target", "left out", "the labels"]
    asked = ["--ignore", "ratio", "--category", frame.columns[0], "--json"]
    facts = json.loads(CliRunner().invoke(app, ["look", str(path), "-t", "kind", *asked]).stdout)
    kinds = {column["name"]: (column["kind"], column["why"]) for column in facts["columns"]}
    assert kinds["ratio"] == ("ignored", "as requested")
    assert kinds[frame.columns[0]] == ("category", "as requested")
    assert abs(sum(column["say"] for column in facts["columns"]) - 1) < 1e-9
    wrong = CliRunner().invoke(app, ["look", str(path), "--text", "stroy"])
    assert wrong.exit_code == 2
    assert "has no column 'stroy'" in wrong.output


@pytest.mark.parametrize("command", [["label", "-t", "kind"], ["cluster", "-k", "2"], ["novelty"], ["embed"]])
def test_every_command_obeys_the_options_on_columns(tmp_path, command):
    frame, names = generated(3)
    path = tmp_path / "t.csv"
    frame.assign(kind=np.where(np.arange(90) % 3, "", names)).to_csv(path, index=False)
    name, *rest = command
    done = CliRunner().invoke(app, [name, str(path), *rest, "--number", "ratio", "--text", "ratio"])
    assert done.exit_code == 3
    assert "Column 'ratio' is given as text and as number" in done.output
    done = CliRunner().invoke(app, [name, str(path), *rest, "--category", "ratio", "--json"])
    assert done.exit_code == 0, done.output
