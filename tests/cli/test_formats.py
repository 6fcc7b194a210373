"""The commands on other files than CSV, on vectors next to a table and on images."""

import json
import sqlite3

import numpy as np
import openpyxl
import pandas as pd
import pytest
from PIL import Image

from .command import here, iris

FAST = ("-m", "lssvm", "-q")


def test_a_sheet_of_a_workbook_is_labeled_where_it_stands(tmp_path):
    frame, truth = iris()
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"note": ["=1+1", "kept"]}).to_excel(book, sheet_name="about", index=False)
        frame.replace("", None).to_excel(book, sheet_name="flowers", index=False)
    done = here(
        "label", tmp_path / "t.xlsx", "--sheet", "flowers", "-t", "species", "--report", tmp_path / "r.html", *FAST
    )
    assert done.exit_code == 0, done.output
    out = pd.read_excel(tmp_path / "t_labeled.xlsx", sheet_name=None)
    assert list(out) == ["about", "flowers"]
    assert (out["flowers"]["species_predicted"] == truth).mean() > 0.85
    pd.testing.assert_frame_equal(out["flowers"][frame.columns], pd.read_excel(tmp_path / "t.xlsx", "flowers"))
    assert "pd.read_excel(" in (tmp_path / "r.html").read_text()
    again = here(
        "label", tmp_path / "t_labeled.xlsx", "--sheet", "flowers", "-t", "species", "-o", tmp_path / "2.xlsx", *FAST
    )
    assert again.exit_code == 0, again.output
    names = [cell.value for cell in openpyxl.load_workbook(tmp_path / "2.xlsx")["flowers"][1]]
    assert names == [*frame.columns, "species_predicted", "species_confidence", "species_source"]


@pytest.mark.parametrize("ending", ["jsonl", "json", "feather", "csv.gz", "npz", "db"])
def test_every_format_is_labeled_and_the_answer_is_the_same(tmp_path, data, ending):
    frame, _ = iris()
    path = tmp_path / f"t.{ending}"
    if ending == "db":
        with sqlite3.connect(path) as file:
            frame.to_sql("flowers", file, index=False)
        file.close()
    elif ending == "npz":
        np.savez(
            path,
            **{
                name: frame[name].to_numpy(dtype=frame[name].dtype if frame[name].dtype.kind == "f" else "U")
                for name in frame
            },
        )
    else:
        write = {"jsonl": "to_json", "json": "to_json", "feather": "to_feather", "csv.gz": "to_csv"}[ending]
        more = {
            "jsonl": {"orient": "records", "lines": True},
            "json": {"orient": "records"},
            "csv.gz": {"index": False},
        }
        getattr(frame, write)(path, **more.get(ending, {}))
    assert here("label", data, "-t", "species", "-o", tmp_path / "one.csv", *FAST).exit_code == 0
    done = here(
        "label", f"{path}::flowers" if ending == "db" else path, "-t", "species", "-o", tmp_path / "two.csv", *FAST
    )
    assert done.exit_code == 0, done.output
    one, two = pd.read_csv(tmp_path / "one.csv"), pd.read_csv(tmp_path / "two.csv")
    assert one["species_predicted"].tolist() == two["species_predicted"].tolist()
    np.testing.assert_allclose(one["species_confidence"], two["species_confidence"])
    assert here("label", f"{path}::flowers" if ending == "db" else path, "-t", "species", *FAST).exit_code == 0
    assert (tmp_path / f"t_labeled.{ending}").exists()


def test_vectors_beside_a_table_are_learned_from_saved_and_predicted_with(tmp_path):
    frame, truth = iris()
    frame[["flower", "species"]].to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "v.npy", frame.iloc[:, 1:5].to_numpy(float) - frame.iloc[:, 1:5].to_numpy(float).mean(axis=0))
    common = ("-t", "species", "--id", "flower", "--embed", tmp_path / "v.npy")
    looked = here("look", tmp_path / "t.csv", "-t", "species", "--embed", tmp_path / "v.npy", "--json")
    kinds = {column["name"]: column["kind"] for column in json.loads(looked.output)["columns"]}
    assert kinds == {"flower": "identifier", "species": "target", "embedding": "embedding"}
    done = here("label", tmp_path / "t.csv", *common, "-s", tmp_path / "m.mercer", *FAST)
    assert done.exit_code == 0, done.output
    out = pd.read_csv(tmp_path / "t_labeled.csv")
    assert out.columns[:2].tolist() == ["flower", "species"] and out.shape[1] == 5
    assert (out["species_predicted"] == truth).mean() > 0.7
    np.save(tmp_path / "new.npy", np.load(tmp_path / "v.npy")[::-1])
    new = ("predict", tmp_path / "m.mercer", tmp_path / "t.csv", "-o", tmp_path / "p.csv", "-q", "--force")
    assert here(*new, "--embed", tmp_path / "new.npy").exit_code == 0
    backwards = pd.read_csv(tmp_path / "p.csv")["species_predicted"].tolist()[::-1]
    assert np.mean(np.array(backwards) == out["species_predicted"]) > 0.9
    without = here(*new)
    assert without.exit_code == 3
    assert "no column 'embedding'" in without.output
    assert here("suggest", tmp_path / "t.csv", *common, *FAST).exit_code == 0
    assert here("cluster", tmp_path / "t.csv", "-k", "2", "--embed", tmp_path / "v.npy", "-q").exit_code == 0


def test_images_are_found_beside_the_table_wherever_the_command_runs(tmp_path, monkeypatch):
    for folder in ("train", "new"):
        (tmp_path / folder).mkdir()
        for i in range(24):
            pixels = np.random.default_rng(i).integers(0, 90, size=(12, 12))
            pixels[4:8, :] += 150 * (i % 2)
            pixels[:, 4:8] += 150 * (1 - i % 2)
            Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / folder / f"{i}.png")
        labels = ["ab"[i % 2] if i < 6 and folder == "train" else "" for i in range(24)]
        frame = pd.DataFrame({"file": [f"{i}.png" for i in range(24)], "kind": labels})
        frame.to_csv(tmp_path / folder / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    done = here("label", "train/t.csv", "-t", "kind", "-s", "m.mercer", "-m", "lssvm")
    assert done.exit_code == 0, done.output
    assert "Column 'file' is read as images" in here("look", "train/t.csv", "-t", "kind").output
    assert pd.read_csv("train/t_labeled.csv")["kind_predicted"].tolist() == ["a", "b"] * 12
    done = here("predict", "m.mercer", "new/t.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv("new/t_labeled.csv")["kind_predicted"].tolist() == ["a", "b"] * 12
    (tmp_path / "train" / "3.png").unlink()
    said = here("look", "train/t.csv", "--image", "file", "--ignore", "kind").output
    done = here("embed", "train/t.csv", "--image", "file", "--ignore", "kind")
    assert "1 of 24 images cannot be read, first '3.png' (there is no file train/3.png)" in said
