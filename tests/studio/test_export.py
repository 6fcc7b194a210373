"""Every export, read back by what it is meant for."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import FewLabelClassifier
from mercer.advice.checks import Checks
from mercer.errors import InputError
from mercer.jobs.dataset import read
from mercer.jobs.options import ReadOptions
from mercer.studio.exports import ENDINGS, file_name, write_export
from mercer.studio.task import LearnerTask

from .conftest import iris

KINDS = ["setosa", "versicolor", "virginica"]
LABELED = list(range(0, 36, 2))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(folder with all exports, task, model, facts, truth)."""
    folder = tmp_path_factory.mktemp("exports")
    path, truth = iris(folder)
    (job,) = read(path, ["kind"], ReadOptions(id="name"), need_labels=False, new_target=True)
    ids = [KINDS.index(truth[row]) for row in LABELED]
    drawn = [row % 4 == 0 for row in LABELED]
    names = dict(enumerate(KINDS))
    checks = [(row, c, None) for row, c, check in zip(LABELED, ids, drawn) if check]
    checks += [(50, "cannot", None), (52, 0, 1)]  # the second was lassoed wrongly
    task = LearnerTask(30, LABELED, ids, drawn, LABELED, [], checks, 2, [], names, 0.9, 0.25, 9, 18)
    model = FewLabelClassifier(missing_label=[], random_state=0).prepare(job.X)
    model = model.taught(LABELED, [names[c] for c in ids], drawn=np.array(drawn))
    facts = {
        "annotators": {},
        "agreement": None,
        "protect": False,
        "labels": {row: ["queue", "2026-01-02T03:04:05.000+00:00", row + 5] for row in LABELED},
        "unseen": 3,
        "hash": "f" * 64,
        "rev": 30,
        "digest": "d" * 64,
        "accepted": {},
        "notes": {1: "ask again"},
        "order": [*KINDS[1:], KINDS[0]],
        "abstain": 0.6,
        "sha256": "a" * 64,
    }
    for what in ENDINGS.keys() - {"labels"}:
        write_export(what, folder / file_name("flowers", what), job, model, task, facts)
    write_export("table", folder / "flowers_labeled.parquet", job, model, task, facts)
    return folder, task, model, facts, truth


def test_the_table_is_what_the_command_writes_and_reads(done):
    folder, _, model, _, _ = done
    frame = pd.read_csv(folder / "flowers_labeled.csv", dtype=str, keep_default_na=False)
    added = [f"kind_{name}" for name in ("predicted", "confidence", "source", "via", "when", "rev", "note")]
    assert frame.columns.tolist()[-7:] == added and len(frame) == 120
    assert frame["kind_note"].tolist() == ["", "ask again", *[""] * 118]
    given = np.isin(np.arange(120), LABELED)
    left = (model.confidence_ < 0.6) & ~given
    expected = np.where(given, "given", np.where(left, "abstained", "predicted"))
    assert frame["kind_source"].tolist() == expected.tolist()
    assert frame["kind_predicted"][~left].tolist() == model.transduction_[~left].tolist()
    assert (frame["kind_predicted"][left] == "").all()
    assert (frame["kind_via"] != "").to_numpy().tolist() == given.tolist() and frame["kind_rev"][2] == "7"
    # The command learns from what is given, and from nothing else.
    (job,) = read(folder / "flowers_labeled.csv", ["kind"], ReadOptions(id="name"))
    assert np.flatnonzero(job.labels.given).tolist() == LABELED
    assert not {name for name in job.encoder.slices_} & set(added)


def test_parquet(done):
    folder, _, model, _, _ = done
    frame = pd.read_parquet(folder / "flowers_labeled.parquet")
    np.testing.assert_allclose(frame["kind_confidence"], np.round(model.confidence_, 4))


def test_label_studio(done):
    """Against the schema of its documentation: data, annotations and predictions with choices."""
    folder, _, model, _, truth = done
    tasks = json.loads((folder / "flowers_label_studio.json").read_text(encoding="utf-8"))
    assert len(tasks) == 120 and [task["id"] for task in tasks] == list(range(1, 121))
    for row, task in enumerate(tasks):
        assert set(task["data"]) >= {"name", "petal width"} and "kind" not in task["data"]
        assert ("annotations" in task) == (row in LABELED) != ("predictions" in task)
        (one,) = task.get("annotations") or task["predictions"]
        (result,) = one["result"]
        assert result["type"] == "choices" and {"from_name", "to_name", "value"} <= set(result)
        (choice,) = result["value"]["choices"]
        assert choice == (truth[row] if row in LABELED else model.classes_[model.predicted_[row]])
        if "predictions" in task:
            assert 0 <= one["score"] <= 1 and one["model_version"].startswith("mercer ")


def test_cleanlab_has_left_out_probabilities(done):
    folder, task, model, _, _ = done
    found = np.load(folder / "flowers_cleanlab.npz", allow_pickle=False)
    labels, P, classes = found["labels"], found["pred_probs"], found["classes"]
    assert classes.tolist() == KINDS and found["rows"].tolist() == LABELED
    assert labels.tolist() == task.ids and P.shape == (18, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.abs(P - model.probabilities_[LABELED]).max() > 0.01  # not those of the model that knows the label
    np.testing.assert_array_equal(P, model.left_out_probabilities_)
    cleanlab = pytest.importorskip("cleanlab")
    assert len(cleanlab.filter.find_label_issues(labels, P)) == len(labels)


def test_the_certificate_says_what_it_rests_on(done):
    folder, _, model, facts, _ = done
    found = json.loads((folder / "flowers_certificate.json").read_text())
    drawn = Checks.of(model)
    checks = Checks(drawn.right, drawn.number + 4, 1, 2)  # one cannot be told, two wait, one was lassoed wrongly
    assert (found["checks"], found["right"]) == (13, checks.right)
    assert (found["cannot_tell"], found["not_answered"], found["labels_not_looked_at"]) == (1, 2, 3)
    assert found["interval"] == [checks.rate.low, checks.rate.high] and found["reached"] is False
    assert found["random_rows"] == [*(row for row in LABELED if row % 4 == 0), 50, 52]
    assert found["journal_hash"] == facts["hash"] and found["answer_digest"] == facts["digest"]


def test_the_model_answers_for_new_tables(done):
    folder, _, model, _, _ = done
    saved = mercer.load(folder / "flowers_model.mercer")
    frame = pd.read_csv(folder / "flowers.csv", dtype=str, keep_default_na=False)
    np.testing.assert_allclose(saved.predict_proba(frame), model.predict_proba(saved.encoder.transform(frame)))
    assert (saved.predict(frame) == model.transduction_).mean() > 0.95 and saved.target == "kind"


def test_the_report_is_a_page(done):
    folder, *_ = done
    text = (folder / "flowers_report.html").read_text(encoding="utf-8")
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            seen.append(tag)

    Reader().feed(text)
    assert seen.count("html") == 1 and "table" in seen and "102" in text and "flowers.csv" in text
    palette = re.search(r'"palette":(\[\[.*?\]\])', text).group(1)
    assert json.loads(palette) == [["--c2", 0], ["--c0", 0], ["--c1", 0]]  # the colors of the page


def test_what_is_no_export_is_refused():
    with pytest.raises(InputError, match="Accepted: table"):
        file_name("x", "everything")
    with pytest.raises(InputError, match="csv or parquet"):
        file_name("x", "table", "xls")


def test_export_over_http_waits_for_the_answer(tmp_path, started):
    path, _truth = iris(tmp_path, labels=range(8))
    one = started(path, "--target", "kind", "--id", "name")
    found = one.client.do("export", what="certificate")
    assert found == {"file": "flowers_certificate.json", "path": "flowers.csv.mercer/exports/flowers_certificate.json"}
    certificate = json.loads((tmp_path / found["path"]).read_text())
    assert certificate["labels"] == 8 and certificate["journal_rev"] == one.client.read("session")["rev"]
    assert one.client.post("export", what="nothing").status_code == 400
    one.stop()


def test_formulas_are_protected_if_requested(offline, tmp_path):
    frame = pd.DataFrame({"name": ["=HYPERLINK(1)", "b", "c", "d"], "x": [1, 2, 3, 4], "kind": [None] * 4})
    frame.to_csv(tmp_path / "odd.csv", index=False)
    for protect in (None, True):
        client, session = offline(tmp_path / "odd.csv", protect=protect)
        if protect is None:
            client.do("class", op="add", name="@sum")
            client.label(0, 0)
        path = tmp_path / client.do("export", what="labels")["path"]
        text = path.read_text(encoding="utf-8")
        assert ("'=HYPERLINK" in text) == ("'@sum" in text) == bool(protect)
        session.close()
