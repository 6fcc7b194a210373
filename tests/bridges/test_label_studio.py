"""Exports of Label Studio in, predictions out, and the ML backend over HTTP with requests of its protocol."""

import json
import socket
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cli.command import here
from mercer import FewLabelClassifier, InputError
from mercer.bridges.label_studio import Project, backend
from mercer.inputs.tables import read_table, write_table
from mercer.inputs.tables.formats.label_studio import TASKS

pd = pytest.importorskip("pandas")
NAMES = np.array(["setosa", "versicolor", "virginica"])
PAGE = """<View>
  <Text name="note" value="$note"/>
  <Choices name="species" toName="note" choice="single">
    <Choice value="setosa"/><Choice value="versicolor"/><Choice value="virginica"/>
  </Choices>
</View>"""


def choice(name, number=1, **more):
    """An annotation as an export has it."""
    item = {"id": "x1", "from_name": "species", "to_name": "note", "type": "choices", "value": {"choices": [name]}}
    return {"id": number, "completed_by": 1, "was_cancelled": False, "result": [item], **more}


def flowers():
    X, y = load_iris(return_X_y=True)
    return [
        {"id": 100 + i, "data": {"note": f"flower {i}", **dict(zip("abcd", map(float, row)))}, "annotations": []}
        for i, row in enumerate(X)
    ], NAMES[y]


@pytest.fixture
def export(tmp_path):
    tasks, truth = flowers()
    for i in range(0, 150, 8):
        tasks[i]["annotations"] = [choice(truth[i], i)]
    tasks[1]["annotations"] = [choice("setosa", 900, was_cancelled=True)]
    tasks[2]["annotations"] = [choice("virginica", 901), choice(truth[2], 902), choice(truth[2], 903)]
    tasks[3]["predictions"] = [{"model_version": "theirs", "score": 0.4, "result": choice("virginica")["result"]}]
    tasks[4]["predictions"] = [{"model_version": "mercer 0.0", "score": 0.4, "result": choice("virginica")["result"]}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def test_an_export_is_a_table(export):
    table = read_table(export)
    _, truth = flowers()
    assert table.frame.columns.tolist() == ["note", "a", "b", "c", "d", "species"]
    given = table.frame["species"]
    assert given.notna().sum() == 20 and given[8] == truth[8]
    assert given[1] is None or pd.isna(given[1])  # cancelled
    assert given[2] == truth[2]  # two votes to one
    assert pd.isna(given[3])  # a prediction is not a label


def test_the_only_control_is_the_target_and_several_are_asked_about(export, tmp_path):
    done = here("label", export, "-x", "note", "-m", "lssvm")
    assert done.exit_code == 2 and "label needs --target COLUMN" in done.output
    tasks = json.loads(export.read_text())
    rating = {"from_name": "stars", "to_name": "note", "type": "rating", "value": {"rating": 4}}
    other = {"from_name": "origin", "to_name": "note", "type": "choices", "value": {"choices": ["wild"]}}
    two, three, none = (tmp_path / f"{name}.json" for name in ("two", "three", "none"))
    tasks[8]["annotations"][0]["result"].append(rating)
    two.write_text(json.dumps(tasks))  # the choice, if there is a rating, too
    assert TASKS.target(read_table(two)) == "species"
    tasks[8]["annotations"][0]["result"].append(other)
    three.write_text(json.dumps(tasks))
    done = here("label", "--label-studio", three)
    assert done.exit_code != 0 and "several controls: 'species', 'stars', 'origin'" in done.output
    assert "Name one of them with --target" in done.output
    none.write_text(json.dumps([{**task, "annotations": [], "predictions": []} for task in tasks]))
    done = here("label", "--label-studio", none)
    assert done.exit_code != 0 and "Label some tasks" in done.output


def test_the_command_reads_an_export_and_writes_predictions(export, tmp_path):
    done = here("label", "--label-studio", export, "-x", "note", "-m", "lssvm,diffusion", "--json")
    assert done.exit_code == 0, done.output
    out = json.loads((tmp_path / "export_labeled.json").read_text())
    tasks, truth = json.loads(export.read_text()), flowers()[1]
    assert [task["id"] for task in out] == [task["id"] for task in tasks]
    right = []
    for i, (before, after) in enumerate(zip(tasks, out)):
        assert after["data"] == before["data"] and after["annotations"] == before["annotations"]
        own = [one for one in after["predictions"] if one["model_version"].startswith("mercer ")]
        if i % 8 == 0 or i == 2:
            assert not own
            continue
        assert len(own) == 1 and 0 < own[0]["score"] < 1  # an older prediction of mercer is replaced
        (item,) = own[0]["result"]
        assert (item["from_name"], item["to_name"], item["type"]) == ("species", "note", "choices")
        right.append(item["value"]["choices"] == [truth[i]])
    assert out[3]["predictions"][0]["model_version"] == "theirs"
    assert np.mean(right) > 0.85
    model = FewLabelClassifier(["lssvm", "diffusion"], time_budget=60.0)
    table = read_table(export).frame
    model.fit(table[list("abcd")], table["species"])
    again = read_table(tmp_path / "export_labeled.json")
    assert again.frame["species"].notna().sum() == 20  # predictions are not learned from
    assert out[5]["predictions"][0]["result"][0]["value"]["choices"] == [model.predict(table[list("abcd")])[5]]


def test_numbers_and_ratings(tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    tasks = [{"id": i, "data": {"x": a, "z": b}, "annotations": []} for i, (a, b) in enumerate(x.tolist())]
    for i in range(0, 60, 2):
        item = {"from_name": "size", "to_name": "x", "type": "number", "value": {"number": 3 * x[i, 0] + 1}}
        tasks[i]["annotations"] = [{"id": i, "result": [item]}]
    path = tmp_path / "sizes.json"
    path.write_text(json.dumps(tasks))
    done = here("label", "--label-studio", path, "-t", "size", "--as", "number", "--json")
    assert done.exit_code == 0, done.output
    out = json.loads((tmp_path / "sizes_labeled.json").read_text())
    assert not out[0].get("predictions")
    found = [out[i]["predictions"][0]["result"][0] for i in range(1, 60, 2)]
    assert {item["type"] for item in found} == {"number"}
    gaps = np.array([item["value"]["number"] for item in found]) - (3 * x[1::2, 0] + 1)
    assert np.median(np.abs(gaps)) < 0.5


def test_what_is_no_export_is_refused(tmp_path, export):
    path = tmp_path / "plain.json"
    path.write_text('[{"a": 1, "b": "x"}, {"a": 2, "b": ""}]')
    done = here("label", "--label-studio", path, "-t", "b")
    assert done.exit_code != 0 and "is not an export of Label Studio" in " ".join(done.output.split())
    done = here("label", "--label-studio", export, "-t", "species", "-o", tmp_path / "out.csv")
    assert done.exit_code != 0 and "does not end in .json" in " ".join(done.output.split())
    table = read_table(export)
    write_table(table, {"species_predicted": ["x"] * 150, "species_source": [""] * 150}, tmp_path / "out.csv")
    assert "species_predicted" in (tmp_path / "out.csv").read_text().splitlines()[0]


# The ML backend

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")


@pytest.fixture
def server(tmp_path):
    """A client of the backend as a server of its own, and the file that it keeps."""
    file = tmp_path / "tasks.json"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = backend(file, FewLabelClassifier(["lssvm"]))
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client, file
    running.should_exit = True
    thread.join(timeout=10)


def event(task, name, number, action="ANNOTATION_CREATED"):
    """A webhook's body as Label Studio sends it."""
    return {
        "action": action,
        "annotation": {**choice(name, number), "task": task["id"], "lead_time": 3.1, "result_count": 1},
        "project": {"id": 7, "title": "Flowers", "label_config": PAGE},
        "task": {**task, "project": 7, "is_labeled": True},
    }


def test_a_labeling_session_over_http(server):
    client, file = server
    assert client.get("/health").json() == {"status": "UP", "model_class": "FewLabelClassifier"}
    body = {"project": "7.1700000000", "schema": PAGE, "hostname": "http://localhost:8080", "access_token": "t"}
    assert client.post("/setup", json=body).json()["model_version"].endswith("0 labels")
    tasks, truth = flowers()
    ask = {"tasks": tasks, "project": "7.1700000000", "label_config": PAGE, "params": {"login": None, "password": None}}
    first = client.post("/predict", json=ask).json()["results"]
    assert len(first) == 150 and all(one["result"] == [] for one in first)
    for number, i in enumerate(range(0, 150, 10)):
        assert client.post("/webhook", json=event(tasks[i], truth[i], number)).status_code == 201
    found = client.post("/predict", json=ask | {"tasks": tasks[:140]}).json()["results"]
    assert found[0]["model_version"].endswith("15 labels")
    answers = [one["result"][0]["value"]["choices"][0] for one in found]
    assert np.mean(np.array(answers) == truth[:140]) > 0.85
    assert all(0 < one["score"] < 1 for one in found) and found[0]["result"][0]["to_name"] == "note"
    frame = pd.DataFrame([task["data"] for task in tasks])
    y = [truth[i] if i % 10 == 0 else None for i in range(150)]
    wanted = FewLabelClassifier(["lssvm"]).fit(frame, y).predict(frame.iloc[:140])
    assert answers == wanted.tolist()
    assert len(json.loads(file.read_text())) == 150
    again = Project(FewLabelClassifier(["lssvm"]), file)
    again.setup(PAGE)
    assert again.version.endswith("15 labels")


def test_changed_and_deleted_annotations(server):
    client, _ = server
    tasks, truth = flowers()
    for number, i in enumerate((0, 60, 120)):
        client.post("/webhook", json=event(tasks[i], truth[i], number))
    client.post("/webhook", json=event(tasks[0], "virginica", 0, "ANNOTATION_UPDATED"))
    versions = client.get("/versions").json()["versions"]
    assert versions[0].endswith("3 labels")
    gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 2}], "project": {"id": 7}}
    assert client.post("/webhook", json=gone).json()["model_version"].endswith("2 labels")
    found = client.post("/predict", json={"tasks": tasks[:3], "label_config": PAGE}).json()["results"]
    assert {one["result"][0]["value"]["choices"][0] for one in found} <= {"virginica", "versicolor"}


def test_bad_requests_get_a_sentence(server):
    client, _ = server
    answer = client.post("/setup", json={"schema": "<View><Text name='a' value='$a'/></View>"})
    assert answer.status_code == 400 and "nothing to predict" in answer.json()["error"]
    assert client.post("/setup", json={"schema": "<View>"}).status_code == 400
    assert client.post("/predict", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    with pytest.raises(InputError, match="not valid XML"):
        Project().setup("<View>")


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Host": "rebound.evil.com"}, 421),
        ({"Host": "rebound.evil.com:9090"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_a_page_of_the_web_cannot_ask_the_backend(server, headers, status):
    client, file = server
    tasks, truth = flowers()
    body = json.dumps(event(tasks[0], truth[0], 1))
    answer = client.post("/webhook", content=body, headers={"Content-Type": "application/json"} | headers)
    assert answer.status_code == status and not file.exists()


def test_names_that_are_allowed_are_answered(tmp_path):
    from starlette.testclient import TestClient

    app = backend(hosts=("labels.lan",))
    assert TestClient(app, base_url="http://labels.lan:9090").get("/health").status_code == 200
    assert TestClient(app, base_url="http://localhost:9090").get("/health").status_code == 421


@pytest.mark.parametrize(
    "task",
    [
        {"id": 1, "data": [1]},
        {"id": 1, "data": "x"},
        [1],
        {"id": 1, "data": {}, "annotations": [1]},
        None,
        {"id": {}, "data": {}},
        {"id": 1, "data": {}, "annotations": [{"id": [1]}]},
        {"id": 1, "data": {}, "annotations": [{"id": 1, "result": "x"}]},
        {"id": 1, "data": {}, "annotations": [{"id": 1, "result": ["x"]}]},
    ],
)
def test_a_task_that_is_none_is_refused_and_nothing_of_it_kept(server, task):
    client, file = server
    tasks, _truth = flowers()
    client.post("/setup", json={"schema": PAGE})
    answer = client.post("/predict", json={"tasks": [tasks[0], task], "label_config": PAGE})
    assert answer.status_code == 400 and "Nothing of this request was kept" in answer.json()["error"]
    assert not file.exists()
    assert client.post("/predict", json={"tasks": tasks[:2], "label_config": PAGE}).status_code == 200


@pytest.mark.parametrize("value", [1, "x", [1], None, {"choices": {}}, {"choices": [["a"]]}, {"choices": 1}])
def test_an_answer_that_is_not_of_its_control_is_no_label_and_breaks_nothing(server, value):
    client, file = server
    tasks, truth = flowers()
    client.post("/setup", json={"schema": PAGE})
    for number, (task, kind) in enumerate(zip(tasks[:4], truth[:4])):
        assert client.post("/webhook", json=event(task, kind, number)).status_code == 201
    strange = event(tasks[4], truth[4], 9)
    strange["annotation"]["result"][0]["value"] = value
    labels = client.post("/webhook", json=strange).json()["model_version"]
    assert labels.endswith("5 labels" if value == {"choices": [["a"]]} else "4 labels")
    gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": {}}, 3, {"id": 1}]}
    assert client.post("/webhook", json=gone).status_code == 201
    assert client.post("/predict", json={"tasks": tasks[:3], "label_config": PAGE}).status_code == 200
    again = Project(None, file)
    again.setup(PAGE)
    assert len(again.predict(tasks[:3])) == 3


def test_a_file_with_a_task_that_is_none_can_be_read(tmp_path):
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"id": 1, "data": [1], "annotations": []}, *flowers()[0][:3]]))
    project = Project(None, file)
    project.setup(PAGE)
    assert len(project.tasks) == 3 and len(project.predict(flowers()[0][:3])) == 3


@pytest.mark.parametrize("path", ["setup", "predict", "webhook"])
@pytest.mark.parametrize("content", ["[1]", "1", "{", "null", "[" * 100_000, '{"a": NaN}', '{"a": "\\ud800"}'])
def test_what_is_no_request_is_refused(server, path, content):
    client, _ = server
    answer = client.post(f"/{path}", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


def test_a_request_that_is_too_long_is_refused(server):
    client, file = server
    content = json.dumps({"tasks": [{"id": 1, "data": {"x": "y" * 21_000_000}}]})
    answer = client.post("/predict", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413 and not file.exists()


def test_many_tasks_are_written_once(tmp_path, monkeypatch):
    project, times = Project(None, tmp_path / "tasks.json"), []
    keep = project._keep
    monkeypatch.setattr(project, "_keep", lambda: (times.append(1), keep()))
    project.setup(PAGE)
    project.predict([{"id": i, "data": {"note": str(i)}} for i in range(3000)])
    assert len(times) == 1 and len(json.loads((tmp_path / "tasks.json").read_text())) == 3000


def test_an_annotation_is_appended_and_the_file_is_not_written_again(tmp_path):
    file = tmp_path / "tasks.json"
    project = Project(None, file)
    project.setup(PAGE)
    project.predict([{"id": i, "data": {"note": str(i)}} for i in range(300)])
    before = file.read_bytes()
    for i in range(20):
        project.learn([{"id": i, "data": {"note": str(i)}}], [{"id": 100 + i, "result": []}])
    project.forget({105})
    assert file.read_bytes() == before and len((tmp_path / "tasks.json.new").read_bytes().splitlines()) == 21
    with open(tmp_path / "tasks.json.new", "ab") as more:
        more.write(b'{"id": 7, "da')  # the machine stopped here
    again = Project(None, file)
    assert again.tasks == project.tasks and again.tasks["5"]["annotations"] == []
    again.setup(PAGE)
    again.learn([{"id": 8, "data": {"note": "other"}}])
    assert Project(None, file).tasks == again.tasks
    for i in range(300):  # the second file never becomes the larger one
        again.learn([{"id": i, "data": {"note": str(i)}}], [{"id": 1000 + i, "result": []}])
    size = (tmp_path / "tasks.json.new").stat().st_size if (tmp_path / "tasks.json.new").exists() else 0
    assert size <= file.stat().st_size and Project(None, file).tasks == again.tasks
