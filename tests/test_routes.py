"""One row has one confidence in Python, `label`, `predict`, a folder, ONNX, Label Studio and the web app."""

import contextlib
import json
import multiprocessing
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from cli.command import here
from mercer import FewLabelClassifier
from mercer.bridges.label_studio import Project
from mercer.few_label import sizes
from mercer.few_label.sizes import Sizes
from mercer.studio.exports import file_name
from mercer.studio.learner import Learner
from mercer.studio.task import LearnerTask

METHODS = ["lssvm", "diffusion", "forest"]
QUICK = ("-m", ",".join(METHODS), "-x", "flower", "-q")
LABELED = {0: "setosa", 4: "setosa", 9: "setosa", 41: "versicolor", 47: "versicolor", 55: "versicolor", 90: "virginica"}
PAGE = '<View><Text name="note" value="$color"/><Choices name="kind" toName="note"/></View>'


@pytest.fixture(params=["all rows in the core", "a third of the rows in the core"])
def folder(request, tmp_path, monkeypatch):
    """A folder with a table of flowers. One class has a single label, so that the factor of the confidence is not 1."""
    if request.param != "all rows in the core":
        monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, core_rows=40))
    X, y = load_iris(return_X_y=True)
    # Each of two equal flowers is a node of a graph, and a new one is the mean of both, so they are removed.
    single = np.unique(X, axis=0, return_index=True)[1]
    rows = np.sort(np.random.default_rng(0).permutation(single)[:120])
    frame = pd.DataFrame(X[rows], columns=["sepal length", "sepal width", "petal length", "petal width"])
    frame["color"] = np.array(["blue", "white", "red"])[(y[rows] + (np.arange(120) % 5 == 0)) % 3]
    frame.insert(0, "flower", [f"f{i:03d}" for i in range(120)])
    frame["kind"] = [LABELED.get(i, "") for i in range(120)]
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    return tmp_path


@pytest.fixture
def python(folder):
    """(features, model, rows without a label) of the same table in Python."""
    frame = pd.read_csv(folder / "flowers.csv", keep_default_na=False)
    X, y = frame.drop(columns=["flower", "kind"]), frame["kind"].replace("", None).to_numpy(dtype=object)
    model = FewLabelClassifier(METHODS, missing_label=[None], random_state=0).fit(X, y)
    assert model.answers_.fit.calibration.seen < 0.99 and (model.library_.extension is not None) == (
        len(model.library_.core) == 40
    )
    return X, model, np.array([i not in LABELED for i in range(120)])


def written(path, rows):
    frame = pd.read_csv(path, keep_default_na=False)[rows]
    return frame["kind_predicted"].tolist(), frame["kind_confidence"].astype(float).tolist()


def same(found, model, confidence, rows):
    """Whether a table has these confidences, to the digits that are written, and the classes of the model."""
    classes, digits = found
    assert digits == np.round(confidence[rows], 4).tolist()
    assert classes == model.transduction_[rows].tolist()


def test_python_has_one_confidence(python):
    X, model, free = python
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[free], model.probabilities_[free], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(model.confidence_[free], model.confidence_of(model.probabilities_)[free])
    assert (model.confidence_of(P) < P.max(axis=1)).all()
    threshold = float(np.median(model.confidence_[free]))
    cautious = model.__class__(METHODS, missing_label=[None], random_state=0, abstain=threshold)
    cautious.fit(X, np.array([LABELED.get(i) for i in range(120)], dtype=object))
    np.testing.assert_array_equal(cautious.abstained_, (model.confidence_ < threshold))


def test_the_command_gives_the_confidence_of_python(folder, python):
    X, model, free = python
    path, saved = folder / "flowers.csv", folder / "m.mercer"
    assert here("label", path, "-t", "kind", "-o", folder / "label.csv", "-s", saved, *QUICK).exit_code == 0
    same(written(folder / "label.csv", free), model, model.confidence_, free)
    assert here("predict", saved, path, "-o", folder / "predict.csv", "-q").exit_code == 0
    same(written(folder / "predict.csv", free), model, model.confidence_, free)
    np.testing.assert_allclose(mercer.load(saved).predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)


def test_a_folder_gives_the_confidence_of_python(folder, python):
    _, model, free = python
    frame = pd.read_csv(folder / "flowers.csv", keep_default_na=False)
    (folder / "in").mkdir()
    for number in range(3):
        frame[40 * number : 40 * number + 40].to_csv(folder / "in" / f"{number}.csv", index=False)
    assert here("label", folder / "in", "-t", "kind", *QUICK).exit_code == 0
    parts = [
        pd.read_csv(folder / "in_labeled" / f"{number}.csv", dtype=str, keep_default_na=False) for number in range(3)
    ]
    pd.concat(parts).to_csv(folder / "joined.csv", index=False)
    same(written(folder / "joined.csv", free), model, model.confidence_, free)


def test_onnx_gives_the_confidence_of_python(python):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, model, _ = python
    expected = model.confidence_of(model.predict_proba(X))
    model.set_params(abstain=float(np.median(expected)))
    session = onnxruntime.InferenceSession(
        mercer.to_onnx(model, np.float64).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    cells = {one.name: X[one.name].to_numpy()[:, None] for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(None, {name: cell for name, cell in cells.items()})))
    np.testing.assert_allclose(model.confidence_of(found["predict_proba"]), expected, rtol=0, atol=1e-9)
    assert found["predict"].tolist() == model.predict(X).tolist() and 20 < (found["predict"] == "").sum() < 100


def test_label_studio_shows_the_confidence_of_python(python):
    X, model, free = python
    bridge = Project(FewLabelClassifier(METHODS, missing_label=[None], random_state=0))
    bridge.setup(PAGE)
    tasks = [{"id": i, "data": row} for i, row in enumerate(X.to_dict("records"))]
    for i, name in LABELED.items():
        item = {"from_name": "kind", "to_name": "note", "type": "choices", "value": {"choices": [name]}}
        tasks[i]["annotations"] = [{"id": i, "result": [item]}]
    found = bridge.predict(tasks)
    scores = np.array([one["score"] for one in found])
    np.testing.assert_array_equal(scores, np.round(model.confidence_of(model.predict_proba(X)), 6))
    np.testing.assert_array_equal(np.round(scores, 4)[free], np.round(model.confidence_, 4)[free])


@pytest.fixture(params=["the first model is the last one", "the first model has 20 rows"])
def web_app(request, folder):
    """(the learner, its last prediction, folder of its exports) after labels and three exports at once."""
    first = sizes.SIZES if request.param == "the first model is the last one" else Sizes(first_rows=20)
    names, path = sorted(set(LABELED.values())), folder / "flowers.csv"
    rows, ids = list(LABELED), [names.index(name) for name in LABELED.values()]
    task = LearnerTask(7, rows, ids, [True] * 7, rows, [], [], 2, [], dict(enumerate(names)), 0.9, 0.25, 7, 7)
    facts = {"labels": {row: ["queue", "2026-01-02T03:04:05.000+00:00", 1] for row in rows}, "abstain": None}
    facts |= {"accepted": {}, "annotators": {}, "agreement": None, "protect": False, "notes": {}, "order": names}
    (folder / "exports").mkdir()
    server, pipe = multiprocessing.Pipe()
    learner = Learner(pipe, path, "kind", {"id": "flower"}, 0, folder, first)

    def learn():
        with contextlib.suppress(EOFError):
            learner.run()

    thread = threading.Thread(target=learn, daemon=True)
    thread.start()
    server.send(("task", task))
    answers, replies = [], {}
    for number, what in enumerate(("table", "label_studio", "model")):
        server.send(("export", number, what, str(folder / "exports" / file_name("flowers", what)), facts, task))
    while len(replies) < 3 or not answers or answers[-1].tier != "full":
        assert server.poll(100)
        kind, *content = server.recv()
        assert kind != "failed", content
        if kind == "answer":
            answers.append(content[0])
        elif kind == "reply":
            replies[content[0]] = content[2]
    server.send(("quit",))
    thread.join()
    assert replies == {0: None, 1: None, 2: None} and learner.preparation is None
    assert [one.tier for one in answers] == ["fast", "full", "full"][: 2 if first is sizes.SIZES else 3]
    return learner, answers[-1], folder / "exports"


def test_the_web_app_predicts_and_exports_what_python_does(folder, web_app):
    learner, answer, exports = web_app
    frame = pd.read_csv(folder / "flowers.csv", keep_default_na=False)
    X, y = frame.drop(columns=["flower", "kind"]), frame["kind"].replace("", None).to_numpy(dtype=object)
    model, free = FewLabelClassifier().fit(X, y), (frame["kind"] == "").to_numpy()
    np.testing.assert_array_equal(learner.model.library_.core, model.library_.core)
    np.testing.assert_array_equal(learner.model.probabilities_, model.probabilities_)
    shown = np.frombuffer(answer.triples, np.uint8).reshape(-1, 3)
    np.testing.assert_array_equal(shown[:, 2], np.round(255 * model.confidence_))
    np.testing.assert_array_equal(model.classes_[shown[:, 0]], model.transduction_)
    same(written(exports / "flowers_labeled.csv", free), model, model.confidence_, free)
    tasks = json.loads((exports / "flowers_label_studio.json").read_text())
    scores = [one["predictions"][0]["score"] for one in tasks if "predictions" in one]
    np.testing.assert_array_equal(scores, model.confidence_[free])
    np.testing.assert_array_equal(
        mercer.load(exports / "flowers_model.mercer").predict_proba(X), model.predict_proba(X)
    )


def test_the_command_predicts_what_the_web_app_exports(folder, web_app):
    exports, path, names = web_app[2], folder / "flowers.csv", ["kind_predicted", "kind_confidence", "kind_source"]
    saved = exports / "flowers_model.mercer"
    assert here("label", path, "-t", "kind", "-x", "flower", "-o", folder / "label.csv", "-q").exit_code == 0
    assert here("predict", saved, path, "-o", folder / "predict.csv", "-q").exit_code == 0
    label, predict, export = (
        pd.read_csv(file, dtype=str, keep_default_na=False)
        for file in (folder / "label.csv", folder / "predict.csv", exports / "flowers_labeled.csv")
    )
    pd.testing.assert_frame_equal(export[names], label[names])
    free = export["kind_source"] == "predicted"
    pd.testing.assert_frame_equal(export.loc[free, names[:2]], predict.loc[free, names[:2]])
