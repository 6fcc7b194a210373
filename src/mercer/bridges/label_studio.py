"""An ML backend for Label Studio that learns from every annotation and predicts the other tasks.

    from mercer.bridges.label_studio import backend
    uvicorn.run(backend("tasks.json"), port=9090)

In Label Studio, choose Settings, Model, Connect Model, and enter http://localhost:9090. The backend handles
``/health``, ``/setup``, ``/predict``, ``/webhook`` and ``/versions``. It keeps all tasks that were predicted or
annotated, and also learns from those without a label. It needs starlette (extra `studio`).
"""

import json
import os
import threading
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..backend import need
from ..errors import InputError
from ..few_label.answers import confidence
from ..few_label.classifier import FewLabelClassifier
from ..few_label.regressor import FewLabelRegressor
from ..files import replacing
from ..inputs.tables.formats.label_studio import Control, given_of
from ..types import Estimator, Frame
from .http import NAMES, Local, json_object


class Project:
    """The tasks of one project and the model that is fitted to them.

    Parameters
    ----------
    model : estimator or None, default=None
        Classifier to fit. None uses `FewLabelClassifier`. Numbers are fitted with `FewLabelRegressor`.
    file : str, Path or None, default=None
        File that keeps the tasks. A change is appended to a second file with the ending `.new`, one task per line. The
        second file is merged into the first one before it becomes the larger of the two.
    """

    def __init__(self, model: Estimator = None, file: str | Path | None = None) -> None:
        self.model, self.file = model, None if file is None else Path(file)
        self.tasks: dict[str, dict] = {}
        self.control: Control | None = None
        self.fitted: Any = None
        self.fields: list[str] = []
        self.lock = threading.Lock()
        self.changed: dict[str, dict] = {}  # tasks that are not in the file yet
        if self.file is not None and self.file.exists():
            tasks = json.loads(self.file.read_text(encoding="utf-8"))
            self.tasks = {str(task.get("id", i)): task for i, task in enumerate(tasks) if not _wrong(task)}
            self.tasks |= {str(task.get("id")): task for task in self._appended() if not _wrong(task)}

    @property
    def version(self) -> str:
        """The version of the model, which changes with the number of labels."""
        return f"mercer {__version__}, {len(self._labels())} labels"

    def setup(self, config: str) -> None:
        """Read the labeling interface. Its first control of choices, a number or a rating is predicted."""
        try:
            interface = ET.fromstring(config)
        except ET.ParseError as error:
            raise InputError(f"The labeling interface is not valid XML ({error}).") from None
        for tag in interface.iter():
            if tag.tag in ("Choices", "Number", "Rating") and tag.get("name") and tag.get("toName"):
                control = Control(str(tag.get("name")), str(tag.get("toName")), tag.tag.lower())
                if control != self.control:
                    self.control, self.fitted = control, None
                return
        raise InputError("The labeling interface has no Choices, Number or Rating, so there is nothing to predict.")

    def learn(self, tasks: list, annotations: list | None = None) -> None:
        """Add tasks, and for each an annotation, which replaces an older one with the same number.

        If one of them is invalid, none is added. The file is written once.
        """
        for task, one in zip(tasks, annotations or [None] * len(tasks)):
            wrong = _wrong(task) or (one is not None and _wrong_annotation(one))
            if wrong:
                raise InputError(
                    f"Invalid {wrong} of a task. Send the JSON objects of Label Studio's protocol, with numbers or "
                    "texts as ids, data as an object, and annotations and their results as lists of objects. Nothing "
                    "of this request was kept."
                )
        with self.lock:
            for i, task in enumerate(tasks):
                if self._know(task, annotations[i] if annotations else None):
                    self.changed[str(task.get("id"))] = self.tasks[str(task.get("id"))]
            if self.changed:
                self.fitted = None
                self._keep()

    def _know(self, task: dict, annotation: dict | None) -> bool:
        """Add a task with its annotation, and return whether anything is new."""
        known = self.tasks.setdefault(str(task.get("id")), {"id": task.get("id"), "data": {}, "annotations": []})
        changed = task.get("data") is not None and known["data"] != task["data"]
        known["data"] = task.get("data") or known["data"]
        for one in [annotation] if annotation is not None else task.get("annotations") or []:
            others = [old for old in known["annotations"] if old.get("id") != one.get("id")]
            changed |= one not in known["annotations"]
            known["annotations"] = [*others, one]
        return changed

    def forget(self, numbers: set) -> None:
        """Drop annotations by their numbers."""
        with self.lock:
            for key, task in self.tasks.items():
                left = [one for one in task["annotations"] if one.get("id") not in numbers]
                if len(left) < len(task["annotations"]):
                    self.changed[key], task["annotations"] = task, left
            self.fitted = None
            if self.changed:
                self._keep()

    def predict(self, tasks: list) -> list[dict]:
        """A prediction with a score for every task. It is empty while there are too few labels."""
        self.learn(tasks)
        with self.lock:
            model = self._model()
            if model is None:
                return [{"model_version": self.version, "score": 0.0, "result": []} for _ in tasks]
            rows = self._frame(tasks)
            predicted = model.predict(rows)
            classes = hasattr(model, "predict_proba")
            scores = confidence(model, model.predict_proba(rows)) if classes else model.trust(rows)
            control: Any = self.control
            return [
                {
                    "model_version": self.version,
                    "score": round(float(score), 6),
                    "result": [control.answer(cell)],
                }
                for cell, score in zip(np.asarray(predicted).tolist(), scores)
            ]

    def _labels(self) -> dict:
        """The given labels by the numbers of their tasks."""
        if self.control is None:
            return {}
        found = {key: given_of(task, self.control) for key, task in self.tasks.items()}
        return {key: cell for key, cell in found.items() if cell is not None}

    def _model(self) -> FewLabelClassifier:
        labels = self._labels()
        if self.fitted is None and len(labels) >= 2 and self.control is not None:
            numbers = self.control.kind != "choices"
            if numbers or len(set(labels.values())) > 1:
                model: Estimator = FewLabelRegressor() if numbers else self.model or FewLabelClassifier()
                self.fields = list(dict.fromkeys(name for task in self.tasks.values() for name in task["data"]))
                y = np.array([labels.get(key) for key in self.tasks], dtype=object)
                self.fitted = model.fit(self._frame(list(self.tasks.values())), y)
        return self.fitted

    def _frame(self, tasks: list) -> Frame:
        cells = {name: [task["data"].get(name) for task in tasks] for name in self.fields}
        return need("pandas").DataFrame(cells)

    def _keep(self) -> None:
        """Write all changes to the file."""
        changed, self.changed = self.changed, {}
        if self.file is None:
            return
        lines = "".join(json.dumps(task, ensure_ascii=False) + "\n" for task in changed.values()).encode()
        before = self._more.stat().st_size if self._more.exists() else 0
        if self.file.exists() and before + len(lines) <= self.file.stat().st_size:
            with open(self._more, "ab") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            return
        with replacing(self.file, force=True) as (part,):
            part.write_text(json.dumps(list(self.tasks.values()), ensure_ascii=False, indent=1), encoding="utf-8")
        self._more.unlink(missing_ok=True)

    @property
    def _more(self) -> Path:
        assert self.file is not None
        return self.file.with_name(self.file.name + ".new")

    def _appended(self) -> list:
        """The tasks of the second file. An incomplete last line is cut off."""
        if not self._more.exists():
            return []
        raw = self._more.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            self._more.write_bytes(whole)
        return [json.loads(line) for line in whole.splitlines()]


def _wrong(task: dict) -> str:
    """The invalid part of a task with its value, or "" for a valid task."""
    if not isinstance(task, dict):
        return f"task={task!r:.80}"
    data, annotations = task.get("data"), task.get("annotations")
    if data is not None and not isinstance(data, dict):
        return f"data={data!r:.80}"
    if annotations is not None and not isinstance(annotations, list):
        return f"annotations={annotations!r:.80}"
    return _wrong_id(task) or next(filter(None, map(_wrong_annotation, annotations or [])), "")


def _wrong_annotation(one: object) -> str:
    """The invalid part of an annotation with its value, or "" for a valid one."""
    if not isinstance(one, dict):
        return f"annotation={one!r:.80}"
    result = one.get("result")
    if result is not None and not (isinstance(result, list) and all(isinstance(item, dict) for item in result)):
        return f"result={result!r:.80}"
    return _wrong_id(one)


def _wrong_id(one: dict) -> str:
    return "" if type(one.get("id")) in (int, str, type(None)) else f"id={one['id']!r:.80}"


def backend(file: str | Path | None = None, model: Estimator = None, hosts: tuple = NAMES) -> Any:
    """The Starlette app.

    Parameters
    ----------
    file : str, Path or None, default=None
        JSON file that keeps the tasks from one start to the next. It may be an export of Label Studio at first.
    model : estimator or None, default=None
        Classifier to fit, as in `Project`.
    hosts : tuple of str
        Accepted host names of the server. Requests with other names are refused, so that no web page can send them.
    """
    applications, responses = need("starlette.applications"), need("starlette.responses")
    route, aside = need("starlette.routing").Route, need("starlette.concurrency").run_in_threadpool
    project = Project(model, file)

    async def health(request):
        return responses.JSONResponse({"status": "UP", "model_class": type(model or FewLabelClassifier()).__name__})

    async def setup(request):
        body = json_object(await request.body())
        project.setup(str(body.get("schema") or ""))
        return responses.JSONResponse({"model_version": project.version})

    async def predict(request) -> np.ndarray:
        body = json_object(await request.body())
        if body.get("label_config"):
            project.setup(str(body["label_config"]))
        return responses.JSONResponse({"results": await aside(project.predict, _list(body, "tasks"))})

    async def webhook(request):
        body = json_object(await request.body())
        action, about = body.get("action"), body.get("project")
        if isinstance(about, dict) and about.get("label_config"):
            project.setup(str(about["label_config"]))
        if action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED"):
            each = _list(body, "annotations") or [body.get("annotation") or {}]
            tasks = _list(body, "tasks") or [body.get("task") or {}] * len(each)
            if any(not isinstance(task, dict) for task in tasks):
                raise InputError("The tasks are not JSON objects. Nothing of this request was kept.")
            pairs = [({name: task.get(name) for name in ("id", "data")}, one) for task, one in zip(tasks, each)]
            await aside(project.learn, [task for task, _ in pairs], [one for _, one in pairs])
        elif action == "ANNOTATIONS_DELETED":
            gone = {
                one.get("id")
                for one in _list(body, "annotations")
                if isinstance(one, dict) and type(one.get("id")) in (int, str)
            }
            await aside(project.forget, gone)
        return responses.JSONResponse({"status": "ok", "model_version": project.version}, status_code=201)

    async def versions(request):
        return responses.JSONResponse({"versions": [project.version]})

    async def refused(request, error: InputError):
        return responses.JSONResponse({"error": str(error)}, status_code=400)

    routes = [route(path, health) for path in ("/", "/health")] + [route("/versions", versions)]
    posts = {"setup": setup, "predict": predict, "webhook": webhook}
    routes += [route(f"/{name}", one, methods=["POST"]) for name, one in posts.items()]
    guard = need("starlette.middleware").Middleware(Local, names=tuple(hosts))
    handlers = {InputError: refused, need("starlette.requests").ClientDisconnect: refused}
    app = applications.Starlette(routes=routes, exception_handlers=handlers, middleware=[guard])
    app.state.project = project
    return app


def _list(body: dict, name: str) -> list:
    value = body.get(name) or []
    if not isinstance(value, list):
        raise InputError(f"{name}={value!r:.80} is not accepted. Send a list.")
    return value
