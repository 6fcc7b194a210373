"""Sessions whose labels are numbers: journal, checks within a tolerance, numbers that look wrong, exports."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import mercer
from mercer import FewLabelRegressor
from mercer.evidence.anytime import anytime
from mercer.inputs.tables import TableEncoder
from mercer.jobs.usage import UsageError
from mercer.studio import number_answers
from mercer.studio.task import LearnerTask

from .test_annotators import person

COLUMNS = ["age", "bmi", "bp", "s5"]


def patients(folder, given=()):
    """(path, numbers): 120 rows of measurements, of which the rows `given` have their number in the file."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = X[COLUMNS].head(120).round(4)
    frame.insert(0, "name", [f"patient {i + 1}" for i in range(120)])
    frame["score"] = [f"{y[i]:g}" if i in given else "" for i in range(120)]
    path = folder / "patients.csv"
    frame.to_csv(path, index=False)
    return path, y.to_numpy()[:120]


@pytest.fixture
def numbers(offline, tmp_path):
    """(client, session) of a target without any number yet."""
    return offline(patients(tmp_path)[0], "score", kind=["number"])


def value_of(client):
    return {one["row"]: one["class"] for one in client.read("labels")["labels"]}


def test_a_number_is_kept_changed_and_taken_back(numbers):
    client, session = numbers
    assert client.read("session")["numeric"] and client.read("session")["classes"] == []
    client.label(3, 5)
    client.label(3, 12.25)
    client.label(4, "cannot")
    assert value_of(client) == {3: 12.25, 4: "cannot"} and type(session.ledger.value(3)) is float
    texts = [event["text"] for event in client.read("history?limit=3")["events"]]
    assert texts == ["patient 5: can't tell", "patient 4: 12.25 instead of 5", "patient 4: 5"]
    client.do("undo")
    client.do("undo")
    assert value_of(client) == {3: 5.0}
    client.do("redo")
    assert value_of(client) == {3: 12.25} and session.task().ids == [12.25]
    client.label(3, None)
    assert value_of(client) == {}


@pytest.mark.parametrize("body", [{"class": "12"}, {"class": True}, {"class": 1e999}, {"class": [3]}])
def test_only_numbers_are_accepted(numbers, body):
    client, session = numbers
    answer = client.http.post("/api/label", content=json.dumps({"id": "one", "rows": [3], **body}), headers=JSON)
    assert answer.status_code == 400 and "number" in answer.json()["error"]
    assert session.ledger.labels == {}


JSON = {"Content-Type": "application/json"}


def test_what_only_classes_have_is_refused(numbers):
    client, _ = numbers
    assert client.post("label", rows=[3, 4], **{"class": 5}).status_code == 400
    assert client.post("class", op="add", name="high").status_code == 409
    assert client.post("accept", above=0.95).status_code == 409
    assert client.post("settings", tolerance=0).status_code == 400
    assert client.post("settings", tolerance="10").status_code == 400


def test_numbers_of_the_file_come_first_and_the_kind_is_remembered(offline, tmp_path):
    path, y = patients(tmp_path, given=range(15))
    client, session = offline(path, "score")
    assert value_of(client) == dict(enumerate(y[:15]))
    client.label(20, 77)
    session.close()
    with pytest.raises(UsageError, match="as number, not as class"):
        offline(path, "score", kind=["class"])
    frame = pd.read_csv(path, keep_default_na=False).iloc[::-1].assign(score="")  # the table was changed
    frame.to_csv(path, index=False)
    again, session = offline(path, "score")
    assert session.ledger.numeric and value_of(again) == {119 - 20: 77.0} | {119 - i: y[i] for i in range(15)}


def test_numbers_are_exported_without_a_model_and_two_people_agree_within_the_tolerance(numbers, tmp_path):
    client, _ = numbers
    anna, bert = person(client, "Anna"), person(client, "Bert")
    anna.do("settings", double_share=1.0, tolerance=2)
    for row, number in ((1, 10.0), (2, 20.0), (3, 1234567.125)):
        anna.label(row, number)
    bert.label(1, 11.5)
    bert.label(2, 25)
    found = client.read("accuracy")["agreement"]
    assert (found["same"], found["rows"], found["kappa"]) == (1, 2, None) and "two numbers within 2" in found["text"]
    assert [one["labels"] for one in found["different"]] == [["20", "25"]]
    name = client.do("export", what="labels")["path"]
    with open(tmp_path / name, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [one["label"] for one in rows] == ["10", "20", "1234567.125"] and rows[0]["second_label"] == "11.5"


@pytest.fixture(scope="module")
def taught():
    """(model, numbers, labeled rows, those drawn at random) of 442 rows, 60 of them with a number."""
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:60]
    drawn = np.arange(60) < 25
    model = FewLabelRegressor(["lssvm", "diffusion"], random_state=0).prepare(X)
    return model.taught(rows, y[rows], drawn=drawn), y, rows, drawn


def task_of(rows, y, checks, **more):
    ids, drawn = [float(y[row]) for row in rows], [row in checks for row in rows]
    found = [(row, float(y[row]), None) for row in checks] + more.pop("unknown", [])
    places = [rows, ids, drawn, rows, [], found, more.pop("waiting", 0), [400, 401], {}, 0.7, 0.25, 5, 20]
    return LearnerTask(9, *places, numeric=True, **more)


def test_a_prediction_within_the_tolerance_is_correct(taught):
    model, y, rows, drawn = taught
    checks, held_out = rows[drawn].tolist(), dict(zip(model.labels_.labeled, model.left_out_))
    outside = next(row for row in range(442) if row not in set(rows))  # its label was taken back since
    errors = [y[row] - held_out[row] for row in checks] + [y[outside] - model.predicted_[outside]]
    task = task_of(rows.tolist(), y, [*checks, outside], tolerance=60, unknown=[(440, "cannot", None)], waiting=2)
    found = number_answers.accuracy_of(model, task, True)
    right = int(np.sum(np.abs(errors) <= 60))
    rate = anytime(right, len(errors) + 3, 3)
    assert 0 < right < len(errors) and found["random"]["right"] == right
    assert (found["random"]["low"], found["random"]["high"]) == (rate.low, rate.high)
    assert found["random"]["error"] == pytest.approx(np.abs(errors).mean())
    assert "from the 25 numbers of random checks" in found["left_out"]["note"]


def test_without_a_tolerance_nothing_is_certified(taught):
    model, y, rows, drawn = taught
    found = number_answers.accuracy_of(model, task_of(rows.tolist(), y, rows[drawn].tolist()), True)
    assert found["random"]["value"] is None and found["random"]["low"] == 0 and found["random"]["error"] is None
    assert not found["stop"]["reached"] and "Set the tolerance" in found["stop"]["text"]
    wide = number_answers.accuracy_of(model, task_of(rows.tolist(), y, rows[drawn].tolist(), tolerance=1e6), True)
    assert wide["stop"]["reached"] and "at least 70% of the predictions are within ± 1,000,000" in wide["stop"]["text"]


def test_questions_mix_rows_that_help_with_checks(taught):
    model, y, rows, drawn = taught
    task = task_of(rows.tolist(), y, rows[drawn].tolist())
    items = number_answers.queue_of(model, task, [1, 2, 3], range(442))["items"]
    assert [one["row"] for one in items if one["via"] == "random"] == [400, 401]
    chosen = [one["row"] for one in items if one["via"] == "queue"]
    assert len(chosen) > 20 and not set(chosen) & set(rows.tolist()) and "of the variance" in items[-1]["reason"]
    first = number_answers.queue_of(None, task_of([], y, []), [7, 8], range(442))
    assert first["mode"] == "coverage" and [one["row"] for one in first["items"]] == [7, 8]


def test_a_slip_of_the_decimal_point_looks_wrong(taught):
    model, y, rows, _ = taught
    assert len(number_answers.suspicious_of(model, task_of(rows.tolist(), y, []), range(442))["items"]) <= 2
    slip = int(rows[40])
    wrong = model.taught([slip], [10 * y[slip]])
    (first, *_) = number_answers.suspicious_of(wrong, task_of(rows.tolist(), y, []), range(442))["items"]
    assert (first["row"], first["given"]) == (slip, 10 * y[slip]) and abs(first["proposed"] - y[slip]) < 200


def test_a_tolerance_that_was_changed_after_a_check_is_counted(numbers):
    client, session = numbers
    client.do("settings", tolerance=5)
    client.do("settings", tolerance=6)
    assert session.task().retuned == 0
    check = session.draw.order[0]
    client.label(check, 3, via="random")
    client.do("settings", tolerance=6, goal=0.8)
    assert session.task().retuned == 0 and session.task().checks == [(check, 3.0, None)]
    client.do("settings", tolerance=50)
    assert session.task().retuned == 1 and session.task().tolerance == 50


def test_the_web_app_predicts_as_python_and_exports_can_be_read(tmp_path, started):
    path, y = patients(tmp_path)
    one = started(path, "--target", "score", "--id", "name", "--as", "number", "--tolerance", "80")
    client, rows = one.client, list(range(12))
    client.ready()
    for row in rows:
        rev = client.label(row, float(y[row]))
    found = client.answer(rev)
    frame = pd.read_csv(path)
    X = TableEncoder(ignore=["name", "score"]).fit_transform(frame)
    known = np.where(np.isin(np.arange(120), rows), y, np.nan)
    model = FewLabelRegressor(time_budget=20.0, random_state=0).fit(X, known, drawn=np.zeros(120, dtype=bool))
    shown, reach = np.frombuffer(found.content, "<f8").reshape(-1, 2).T
    np.testing.assert_array_equal(shown, model.predicted_)
    np.testing.assert_allclose(reach, model.reach(0.9, shown))
    first = found.headers["x-mercer-digest"]
    rev = client.label(50, 9.5)
    assert client.answer(rev).headers["x-mercer-digest"] != first
    assert client.answer(client.do("undo")["rev"]).headers["x-mercer-digest"] == first
    client.until(lambda: client.read("accuracy")["rev"] >= rev + 1)
    assert len(client.read("why/60")["near"]) == 4 and client.read("why/60")["near"][0]["class"] in y[rows]
    folder = tmp_path / "patients.csv.mercer" / "exports"
    for what in ("table", "certificate", "model", "label_studio", "report"):
        client.do("export", what=what)
    table = pd.read_csv(folder / "patients_labeled.csv")
    np.testing.assert_allclose(table["score_predicted"], np.where(np.isnan(known), shown, y), rtol=1e-5)
    assert (table["score_low"] <= table["score_predicted"]).all() and set(table["score_via"].dropna()) == {"click"}
    certificate = json.loads((folder / "patients_certificate.json").read_text())
    assert (certificate["tolerance"], certificate["checks"], certificate["reached"]) == (80, 0, False)
    saved = mercer.load(folder / "patients_model.mercer")
    np.testing.assert_allclose(saved.predict(frame)[20:], shown[20:], rtol=1e-6)
    tasks = json.loads((folder / "patients_label_studio.json").read_text())
    assert tasks[3]["annotations"][0]["result"][0]["value"] == {"number": y[3]}
    assert tasks[30]["predictions"][0]["result"][0]["type"] == "number"
    assert "score" in (folder / "patients_report.html").read_text()
    refused = client.post("export", what="cleanlab")
    assert refused.status_code == 409 and "cleanlab" in refused.json()["error"]


def test_a_notebook_reads_numbers(tmp_path):
    frame = load_diabetes(as_frame=True).data[COLUMNS].head(80)
    with mercer.studio(frame, "score", folder=tmp_path, kind="number", tolerance=50.0) as work:
        assert work.predictions["score"].isna().all()
        work._read("label", {"rows": [2], "class": 33.5, "via": "click"})
        assert work.labels["score"].tolist() == [33.5]
        found = work.predictions.iloc[2]
        assert (found["score"], found["low"], found["high"], found["source"]) == (33.5, 33.5, 33.5, "given")
    with pytest.raises(mercer.errors.InputError, match="kind='date'"):
        mercer.studio(frame, "score", folder=tmp_path, kind="date")
