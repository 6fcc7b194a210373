"""--text-model, --image-model, --no-cache and --labels: the same model on every route, and labels of images."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import mercer
from cli.command import here
from mercer.inputs.models.stored import FOLDER
from mercer.inputs.tables import TableEncoder
from mercer.jobs.options import ReadOptions
from mercer.studio.start import REMEMBERED
from mercer.studio.table import read_options
from tiny_models import write_bert

GOOD = ["the film was very good", "a fine story", "good and fine", "fine film and good story"]
BAD = ["the film was poor", "a bad story", "bad and poor", "poor film and bad story"]
QUICK = ("-m", "lssvm", "-q")


@pytest.fixture
def reviews(tmp_path):
    """A table of reviews, eight of them labeled, and a sentence model."""
    texts = [
        f"{(GOOD, BAD)[i % 2][i % 4]} {(GOOD, BAD)[i % 2][(i // 4) % 4]} {'abcdefghij'[i % 10]}" for i in range(40)
    ]
    kinds = [["good", "bad"][i % 2] if i < 8 else "" for i in range(40)]
    pd.DataFrame({"said": texts, "kind": kinds}).to_csv(tmp_path / "t.csv", index=False)
    write_bert(tmp_path / "tiny")
    return tmp_path / "t.csv", tmp_path / "tiny"


def test_label_predict_a_folder_and_python_give_the_same_answers(reviews, tmp_path):
    data, model = reviews
    out, saved = tmp_path / "out.csv", tmp_path / "m.mercer"
    done = here("label", data, "-t", "kind", "--text-model", model, "-o", out, "-s", saved, "-m", "lssvm")
    assert done.exit_code == 0, done.output
    assert "'said' (tiny) is read as text, by TF-IDF and the vectors of a sentence model" in done.output
    label = pd.read_csv(out)
    assert here("predict", saved, data, "-o", tmp_path / "p.csv", "-q").exit_code == 0
    predict = pd.read_csv(tmp_path / "p.csv")
    free = label["kind_source"] == "predicted"
    assert label["kind_confidence"][free].tolist() == predict["kind_confidence"][free].tolist()
    frame = pd.read_csv(data, keep_default_na=False)
    python = mercer.FewLabelClassifier(["lssvm"], text_model=model).fit(frame[["said"]], frame["kind"])
    np.testing.assert_allclose(label["kind_confidence"], python.confidence_, atol=1e-4)
    without = mercer.FewLabelClassifier(["lssvm"], text_model="none").fit(frame[["said"]], frame["kind"])
    assert np.abs(without.confidence_ - python.confidence_).max() > 1e-3
    moved = shutil.move(model, tmp_path / "elsewhere")
    refused = here("predict", saved, data, "-o", tmp_path / "q.csv")
    assert refused.exit_code != 0 and "with which this model was trained, cannot be used here" in refused.output
    (tmp_path / "parts").mkdir()
    shutil.copy(data, tmp_path / "parts" / "a.csv")
    named = ("--text-model", moved, "-q")
    assert here("predict", saved, data, "-o", tmp_path / "q.csv", *named).exit_code == 0
    assert here("predict", saved, tmp_path / "parts", "-o", tmp_path / "f", *named).exit_code == 0
    for path in (tmp_path / "q.csv", tmp_path / "f" / "a.csv"):
        assert pd.read_csv(path)["kind_confidence"].tolist() == predict["kind_confidence"].tolist()
    write_bert(tmp_path / "other", seed=1)
    refused = here("predict", saved, data, "-o", tmp_path / "r.csv", "--text-model", tmp_path / "other")
    assert refused.exit_code != 0 and "is not the same here: its fingerprint is" in refused.output


@pytest.mark.parametrize(
    "command",
    [
        ("suggest", "-t", "kind", "-n", "3", *QUICK),
        ("check", "-t", "kind", *QUICK),
        ("compare", "-t", "kind", "--seconds", "1", "-q"),
        ("look", "-t", "kind"),
        ("embed", "-x", "kind", "-q"),
        ("cluster", "-x", "kind", "-k", "2", "-q"),
        ("novelty", "-x", "kind", "-m", "density", "-q"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_takes_the_model_and_keeps_its_vectors(reviews, command, monkeypatch):
    data, model = reviews
    name, *options = command
    done = here(name, data, *options, "--text-model", "none")
    assert done.exit_code == 0 and not (data.parent / FOLDER).exists(), done.output
    done = here(name, data, *options, "--text-model", model, "--no-cache", *(["-f"] if name in OUTPUT else []))
    assert done.exit_code == 0 and not (data.parent / FOLDER).exists(), done.output
    done = here(name, data, *options, "--text-model", model, *(["-f"] if name in OUTPUT else []))
    assert done.exit_code == 0 and len(os.listdir(data.parent / FOLDER)) == 1, done.output
    refused = here(name, data, *options, "--text-model", data, *(["-f"] if name in OUTPUT else []))
    assert refused.exit_code != 0 and "a file must be an ONNX model" in refused.output


OUTPUT = ("embed", "cluster", "novelty")


def test_the_studio_reads_the_table_with_the_same_models():
    assert {"embed", "text_model", "image_model", "no_cache"} <= set(REMEMBERED)
    help = here("studio", "--help").output
    assert all(option in help for option in ("--text-model", "--image-model", "--embed", "--no-cache"))
    read = read_options({"text_model": "none", "image_model": "x.onnx", "no_cache": True})
    assert read == ReadOptions(ignore=[], text_model="none", image_model="x.onnx", no_cache=True)
    assert read.encoder([]).get_params()["text_model"] == "none"
    assert read_options({}).encoder([]).get_params()["image_model"] == TableEncoder().image_model == "auto"


def test_a_folder_of_images_with_labels_in_a_file(tmp_path):
    (tmp_path / "photos").mkdir()
    for i in range(24):
        pixels = np.random.default_rng(i).integers(0, 90, size=(12, 12))
        pixels[4:8, :] += 150 * (i % 2)
        pixels[:, 4:8] += 150 * (1 - i % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "photos" / f"{i:02d}.png")
    few = pd.DataFrame({"file": [f"{i:02d}.png" for i in range(6)], "kind": ["a", "b"] * 3})
    few.to_csv(tmp_path / "few.csv", index=False)
    options = ("-t", "kind", "--labels", tmp_path / "few.csv", *QUICK)
    done = here("label", tmp_path / "photos", *options)
    assert done.exit_code == 0, done.output
    found = pd.read_csv(tmp_path / "photos_labeled.csv")
    assert found["kind_predicted"].tolist() == ["a", "b"] * 12
    assert found["kind_source"].tolist() == ["given"] * 6 + ["predicted"] * 18
    assert here("suggest", tmp_path / "photos", "-n", "2", *options).exit_code == 0
    plain = here("label", tmp_path / "photos", "--labels", tmp_path / "few.csv", "-o", tmp_path / "plain.csv", *QUICK)
    assert plain.exit_code == 0, plain.output  # the only other column is the target
    assert pd.read_csv(tmp_path / "plain.csv").equals(found)
    few.assign(size=1).to_csv(tmp_path / "two.csv", index=False)
    asked = here("label", tmp_path / "photos", "--labels", tmp_path / "two.csv", *QUICK)
    assert "two.csv has the columns file, kind, size. Name the one of the labels with --target." in asked.output
    refused = here("label", tmp_path / "few.csv", "-t", "kind", "--workers", "2")
    assert "--workers is for a folder of tables" in refused.output
