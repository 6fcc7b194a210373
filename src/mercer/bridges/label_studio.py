"""An ML backend for Label Studio: predictions beside the tasks, learnt from every annotation that is made there.

    from mercer.bridges.label_studio import backend
    uvicorn.run(backend("tasks.json"), port=9090)

and in Label Studio: Settings, Model, Connect Model, http://localhost:9090. It answers the requests of their protocol:
``/health``, ``/setup``, ``/predict``, ``/webhook``, ``/versions``. Tasks that were predicted or annotated are known
from then on, and unlabelled ones help to answer for the others. Needs starlette (pip: mercer[studio]).
"""

import json
import threading
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..backend import need
from ..errors import InputError
from ..few_label.classifier import FewLabelClassifier
from ..few_label.regressor import FewLabelRegressor
from ..files import replacing
from ..inputs.tables.formats.label_studio import Control, given_of

CONTROLS = {
    "Choices": "choices",
    "Number": "number",
    "Rating": "rating",
}  # tag of a labelling page: type of its answers
DONE = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
FEWEST = 2  # labels of a class, or numbers, before anything is answered


class Project:
    """The tasks of one project and what is learnt from them.

    Parameters
    ----------
    model : classifier to fit, default=FewLabelClassifier(time_budget=20); numbers are fitted with `FewLabelRegressor`.
    file : where the tasks are kept, or None.
    """

    def __init__(self, model: Any = None, file: str | Path | None = None):
        self.model, self.file = model, None if file is None else Path(file)
        self.tasks: dict[str, dict] = {}
        self.control: Control | None = None
        self.fitted: Any = None
        self.fields: list[str] = []
        self.lock = threading.Lock()
        if self.file is not None and self.file.exists():
            self.tasks = {str(task.get("id", i)): task for i, task in enumerate(json.loads(self.file.read_text()))}

    @property
    def version(self) -> str:
        """The name of the model: it changes with the number of labels."""
        return f"mercer {__version__}, {len(self._labels())} labels"

    def setup(self, config: str) -> None:
        """Read the labelling page: its first control of choices, a number or a rating is answered."""
        try:
            page = ET.fromstring(config)
        except ET.ParseError as error:
            raise InputError(f"The labelling page is not valid XML ({error}).") from None
        for tag in page.iter():
            if tag.tag in CONTROLS and tag.get("name") and tag.get("toName"):
                control = Control(str(tag.get("name")), str(tag.get("toName")), CONTROLS[tag.tag])
                if control != self.control:
                    self.control, self.fitted = control, None
                return
        raise InputError("The labelling page has no Choices, Number or Rating: there is nothing to answer.")

    def learn(self, task: dict, annotation: dict | None = None) -> None:
        """Know a task, and an annotation of it, which replaces an older one of the same number."""
        with self.lock:
            key = str(task.get("id"))
            known = self.tasks.setdefault(key, {"id": task.get("id"), "data": {}, "annotations": []})
            changed = task.get("data") is not None and known["data"] != task["data"]
            known["data"] = task.get("data") or known["data"]
            for one in [annotation] if annotation is not None else task.get("annotations") or []:
                others = [old for old in known["annotations"] if old.get("id") != one.get("id")]
                changed |= one not in known["annotations"]
                known["annotations"] = [*others, one]
            if changed:
                self.fitted = None
                self._keep()

    def forget(self, numbers: set) -> None:
        """Drop annotations by their numbers."""
        with self.lock:
            for task in self.tasks.values():
                task["annotations"] = [one for one in task["annotations"] if one.get("id") not in numbers]
            self.fitted = None
            self._keep()

    def predict(self, tasks: list) -> list[dict]:
        """A prediction for every task: an answer with a score, or an empty one while there are too few labels."""
        for task in tasks:
            self.learn(task)
        with self.lock:
            model = self._model()
            if model is None:
                return [{"model_version": self.version, "score": 0.0, "result": []} for _ in tasks]
            rows = self._frame(tasks)
            answers = model.predict(rows)
            scores = model.predict_proba(rows).max(axis=1) if hasattr(model, "predict_proba") else model.trust(rows)
            control: Any = self.control
            return [
                {
                    "model_version": self.version,
                    "score": round(float(score), 6),
                    "result": [control.answer(cell)],
                }
                for cell, score in zip(np.asarray(answers).tolist(), scores)
            ]

    def _labels(self):
        """{number of a task: its given label}."""
        if self.control is None:
            return {}
        found = {key: given_of(task, self.control) for key, task in self.tasks.items()}
        return {key: cell for key, cell in found.items() if cell is not None}

    def _model(self):
        labels = self._labels()
        if self.fitted is None and len(labels) >= FEWEST and self.control is not None:
            numbers = self.control.kind != "choices"
            if numbers or len(set(labels.values())) > 1:
                model: Any = FewLabelRegressor() if numbers else self.model or FewLabelClassifier(time_budget=20.0)
                self.fields = list(dict.fromkeys(name for task in self.tasks.values() for name in task["data"]))
                y = np.array([labels.get(key) for key in self.tasks], dtype=object)
                self.fitted = model.fit(self._frame(list(self.tasks.values())), y)
        return self.fitted

    def _frame(self, tasks):
        cells = {name: [task["data"].get(name) for task in tasks] for name in self.fields}
        return need("pandas").DataFrame(cells)

    def _keep(self):
        if self.file is not None:
            with replacing(self.file, force=True) as (part,):
                part.write_text(json.dumps(list(self.tasks.values()), ensure_ascii=False, indent=1), encoding="utf-8")


def backend(file: str | Path | None = None, model: Any = None) -> Any:
    """The Starlette app.

    Parameters
    ----------
    file : JSON file in which the tasks are kept from one start to the next; an export of Label Studio to begin with.
    model : classifier to fit, as in `Project`.
    """
    applications, responses = need("starlette.applications"), need("starlette.responses")
    route, aside = need("starlette.routing").Route, need("starlette.concurrency").run_in_threadpool
    project = Project(model, file)

    async def health(request):
        return responses.JSONResponse({"status": "UP", "model_class": type(model or FewLabelClassifier()).__name__})

    async def setup(request):
        body = await request.json()
        project.setup(body.get("schema") or "")
        return responses.JSONResponse({"model_version": project.version})

    async def predict(request):
        body = await request.json()
        if body.get("label_config"):
            project.setup(body["label_config"])
        return responses.JSONResponse({"results": await aside(project.predict, body.get("tasks") or [])})

    async def webhook(request):
        body = await request.json()
        action, page = body.get("action"), (body.get("project") or {}).get("label_config")
        if page:
            project.setup(page)
        if action in DONE:
            each = body.get("annotations") or [body.get("annotation") or {}]
            tasks = body.get("tasks") or [body.get("task") or {}] * len(each)
            for task, annotation in zip(tasks, each):
                await aside(project.learn, {name: task.get(name) for name in ("id", "data")}, annotation)
        elif action == "ANNOTATIONS_DELETED":
            await aside(project.forget, {one.get("id") for one in body.get("annotations") or []})
        return responses.JSONResponse({"status": "ok", "model_version": project.version}, status_code=201)

    async def versions(request):
        return responses.JSONResponse({"versions": [project.version]})

    async def refused(request, error):
        return responses.JSONResponse({"error": str(error)}, status_code=400)

    routes = [route(path, health) for path in ("/", "/health")] + [route("/versions", versions)]
    routes += [route(f"/{one.__name__}", one, methods=["POST"]) for one in (setup, predict, webhook)]
    handlers = {InputError: refused, json.JSONDecodeError: refused}
    app = applications.Starlette(routes=routes, exception_handlers=handlers)
    app.state.project = project
    return app
