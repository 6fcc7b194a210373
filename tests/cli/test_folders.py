"""Folders of tables: one part out for each part in, the same predictions as on one table, and work that goes on."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.jobs import parts as parts_of_folders
from mercer.jobs.parts import JOB, MARK, MODEL

from .command import here

OPTIONS = ["--method", "lssvm", "--json"]


def table():
    data = load_iris()
    order = np.random.default_rng(0).permutation(150)
    names = data.target_names[data.target][order].astype(object)
    frame = pd.DataFrame(data.data[order], columns=["length", "width", "petal", "leaf"])
    frame.insert(0, "flower", [f"f{i:03d}" for i in range(150)])
    return frame.assign(species=[name if i % 6 == 0 else None for i, name in enumerate(names)]), names


@pytest.fixture
def folder(tmp_path):
    """Four parts of unequal sizes, one of them without rows, and files that are not parts."""
    frame, _ = table()
    (tmp_path / "in").mkdir()
    for number, rows in enumerate((slice(0, 70), slice(70, 70), slice(70, 71), slice(71, 150))):
        frame[rows].to_parquet(tmp_path / "in" / f"part-{number}.parquet")
    (tmp_path / "in" / "_SUCCESS").touch()
    return tmp_path / "in"


def written(out, ending="parquet"):
    read = pd.read_parquet if ending == "parquet" else pd.read_csv
    found = [read(path) for path in sorted(out.glob(f"*.{ending}"))]
    return pd.concat([part for part in found if len(part)], ignore_index=True)


def run(*arguments):
    done = here(*arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_label_a_folder_as_one_table_of_the_same_rows(folder, tmp_path):
    frame, names = table()
    result = run("label", folder, "-t", "species", "-o", tmp_path / "out", "-x", "flower", *OPTIONS)
    frame.to_parquet(tmp_path / "whole.parquet")
    run("label", tmp_path / "whole.parquet", "-t", "species", "-s", tmp_path / "m", "-x", "flower", *OPTIONS)
    one, many = pd.read_parquet(tmp_path / "whole_labeled.parquet"), written(tmp_path / "out")
    assert many["flower"].tolist() == frame["flower"].tolist()  # every row once, in its order
    assert many["species_predicted"].tolist() == one["species_predicted"].tolist()
    assert many["species_source"].tolist() == one["species_source"].tolist()
    assert np.mean(many["species_predicted"] == names) > 0.85
    assert result["rows"] == 150 and result["given"] == 25 and result["parts"] == 4
    assert json.loads((tmp_path / "out" / MARK).read_text()) == {"parts": 4, "rows": 150}
    model, other = mercer.load(tmp_path / "out" / MODEL), mercer.load(tmp_path / "m")
    np.testing.assert_array_equal(model.predict_proba(frame), other.predict_proba(frame))
    predicted = run("predict", tmp_path / "m", folder, "-o", tmp_path / "again", "--json")
    assert predicted["rows"] == 150
    again = written(tmp_path / "again")["species_predicted"]
    free = frame["species"].isna()
    assert again[free].tolist() == many["species_predicted"][free].tolist()


def test_labels_beside_the_parts_found_by_a_key(tmp_path):
    frame, names = table()
    (tmp_path / "in").mkdir()
    for number in range(3):
        frame.drop(columns="species")[number::3].to_csv(tmp_path / "in" / f"{number}.csv", index=False)
    frame[frame["species"].notna()][["flower", "species"]].to_csv(tmp_path / "labels.csv", index=False)
    keyed = ["--labels", tmp_path / "labels.csv", "--key", "flower", "--id", "flower"]
    result = run("label", tmp_path / "in", "-t", "species", *keyed, "-o", tmp_path / "out", *OPTIONS)
    assert result["given"] == 25 and result["rows"] == 150
    many = written(tmp_path / "out", "csv").set_index("flower").loc[frame["flower"]]
    assert (many["species_predicted"].to_numpy() == names).mean() > 0.85
    given = (many["species_source"] == "given").to_numpy()
    np.testing.assert_array_equal(given, frame["species"].notna())
    assert (many["species_predicted"].to_numpy()[given] == names[given]).all()


def test_a_run_that_was_stopped_goes_on_with_the_missing_parts(folder, tmp_path, monkeypatch):
    out, ask = tmp_path / "out", ["label", folder, "-t", "species", "-o", tmp_path / "out", "-x", "flower", *OPTIONS]
    write, number = parts_of_folders.write_table, []

    def broken(*arguments, **options):
        number.append(1)
        if len(number) == 2:
            raise mercer.InputError("The disk is full.")
        return write(*arguments, **options)

    monkeypatch.setattr(parts_of_folders, "write_table", broken)
    done = here(*ask)
    assert done.exit_code == 3 and "The disk is full" in done.output
    finished = {path.name: path.read_bytes() for path in out.glob("*.parquet")}
    assert 1 <= len(finished) < 4 and not (out / MARK).exists() and not list(out.glob(".*.part"))
    stamp = {name: (out / name).stat().st_mtime_ns for name in finished}
    monkeypatch.setattr(parts_of_folders, "write_table", write)
    result = run(*ask)
    assert result["parts_before"] == len(finished) and (out / MARK).exists()
    assert all((out / name).stat().st_mtime_ns == stamp[name] for name in finished)
    assert written(out)["flower"].tolist() == table()[0]["flower"].tolist()
    assert run(*ask)["rows"] == 0  # nothing is left to do
    for change in (["--seed", "1"], ["--abstain", "0.9"]):
        other = here(*ask, *change)
        assert other.exit_code == 2 and "contains the predictions of another run" in other.output
    assert run(*ask, "--seed", "1", "--force")["rows"] == 150


def test_workers_write_the_same_bytes_as_threads(folder, tmp_path):
    ask = ["label", folder, "-t", "species", "-x", "flower", *OPTIONS]
    run(*ask, "-o", tmp_path / "threads")
    result = run(*ask, "-o", tmp_path / "workers", "--workers", "1")
    assert result["parts"] == 4
    for path in (tmp_path / "threads").glob("*.parquet"):
        assert path.read_bytes() == (tmp_path / "workers" / path.name).read_bytes()


def test_the_commands_without_labels_on_a_folder(folder, tmp_path):
    ask = ["-x", "species", "-x", "flower", "--json"]
    run("embed", folder, "-o", tmp_path / "e", *ask)
    places = written(tmp_path / "e")
    assert places[["component_1", "component_2"]].notna().all().all()
    frame = table()[0]
    frame.to_parquet(tmp_path / "whole.parquet")
    run("embed", tmp_path / "whole.parquet", *ask)
    one = pd.read_parquet(tmp_path / "whole_embedded.parquet")
    np.testing.assert_allclose(places["component_1"], one["component_1"], atol=2e-6)
    run("cluster", folder, "-k", "3", "-o", tmp_path / "c", *ask)
    sizes = written(tmp_path / "c")["cluster"].value_counts()
    assert sizes.index.tolist() == [1, 2, 3] and sizes.sum() == 150
    done = run("novelty", folder, "--share", "0.1", "-o", tmp_path / "n", *ask)
    assert 10 <= (written(tmp_path / "n")["novel"] == "yes").sum() == done["novel"] <= 20


def test_what_is_refused(folder, tmp_path):
    file = folder / "part-0.parquet"
    mercer.save(mercer.SemiKPCA(), tmp_path / "kernel.mercer")
    for arguments, sentence in [
        (["label", file, "-t", "species", "--workers", "2"], "--workers is for a folder of tables"),
        (["label", folder, "-t", "specie"], "Did you mean 'species'?"),
        (["label", folder, "-t", "species", "-o", folder], "is what is read"),
        (["label", folder, "-t", "species", "--key", "flower"], "--labels FILE and --key COLUMN go together"),
        (["label", folder, "-t", "species", "-t", "leaf"], "one --target at a time"),
        (["embed", folder, "-r", tmp_path / "r.html"], "--report is for one table"),
        (["predict", tmp_path / "kernel.mercer", folder], "contains a SemiKPCA. A folder takes classes"),
        (["label", folder, "-t", "leaf"], "a measurement, not classes"),
        (
            ["label", folder, "-t", "species", "--scheduler", "tcp://127.0.0.1:9"],
            "no Dask scheduler at tcp://127.0.0.1:9",
        ),
    ]:
        done = here(*arguments)
        assert done.exit_code in (2, 3) and sentence in " ".join(done.output.split()), done.output
    (tmp_path / "out").mkdir()
    file.rename(tmp_path / "out" / file.name)
    (folder / file.name).write_bytes((tmp_path / "out" / file.name).read_bytes())
    done = here("label", folder, "-t", "species", "-o", tmp_path / "out")
    assert (
        done.exit_code == 2 and "contains files of these names" in done.output and not (tmp_path / "out" / JOB).exists()
    )
