"""Read an export of Label Studio in JSON, and write the same tasks with predictions, to be imported there.

The fields of a task become columns. Each control of the labeling page that describes the whole task (choices, a number
or a rating) also becomes a column. Several annotations of a task vote, and a tie goes to the latest.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .... import __version__
from ....errors import InputError
from .base import Table, from_rows, python
from .records import Json, are_tasks, records_in


@dataclass(frozen=True)
class Control:
    """A control of the labeling page, with its name, the name of the object it describes, and its type."""

    name: str
    of: str
    kind: str

    def read(self, value: dict) -> Any:
        """A cell from the value of an annotation. None if there is none. Several choices are joined by semicolons."""
        found = value.get(self.kind)
        if self.kind in ("number", "rating"):
            return found if type(found) in (int, float) else None
        if not isinstance(found, list):
            return found if isinstance(found, str) else None
        if self.kind == "taxonomy":
            found = ["/".join(map(str, path)) for path in found if isinstance(path, list)]
        return ";".join(map(str, found)) or None

    def answer(self, cell: Any) -> dict:
        """The annotation of this control with the value of a cell."""
        value: Any = cell
        if self.kind == "choices":
            value = str(cell).split(";")
        elif self.kind == "taxonomy":
            value = [path.split("/") for path in str(cell).split(";")]
        elif self.kind == "rating":
            value = round(float(cell))
        return {
            "from_name": self.name,
            "to_name": self.of,
            "type": self.kind,
            "value": {self.kind: value},
        }


def controls_of(tasks: list) -> list[Control]:
    """The controls with values in these tasks, those of annotations before those of predictions."""
    found: dict[str, Control] = {}
    kinds = ("choices", "taxonomy", "number", "rating")  # the type of a control is also the key of its value
    for group in ("annotations", "predictions"):
        for task in tasks:
            for annotation in task.get(group) or []:
                for item in _items(annotation):
                    if str(item.get("type")) in kinds and "id" not in item["value"]:
                        control = Control(str(item.get("from_name")), str(item.get("to_name")), item["type"])
                        found.setdefault(control.name, control)
    return list(found.values())


def _items(annotation: Any) -> list[dict]:
    """The items of an annotation or a prediction, one per control. Items that are not valid are ignored."""
    result = annotation.get("result") if isinstance(annotation, dict) else None
    items = [item for item in (result if isinstance(result, list) else []) if isinstance(item, dict)]
    return [item for item in items if isinstance(item.get("value"), dict)]


def given_of(task: dict, control: Control) -> Any:
    """The value of a control in the annotations of a task. None if there is none."""
    cells = []
    for annotation in task.get("annotations") or []:
        if isinstance(annotation, dict) and annotation.get("was_cancelled"):
            continue
        for item in _items(annotation):
            if item.get("from_name") == control.name and item.get("type") == control.kind:
                cells.append(control.read(item["value"]))
    cells = [cell for cell in cells if cell is not None]
    votes = Counter(cells)
    return max(cells[::-1], key=lambda cell: votes[cell]) if cells else None


class LabelStudio(Json):
    """Tasks of Label Studio. `origin` contains the tasks as they were read."""

    title = "an export of Label Studio"
    endings = ()
    scheme = "label-studio:"

    def read(self, source: Any, options: object) -> Table:
        records = records_in(source)
        if not are_tasks(records):
            raise InputError(
                f"{source.name} is not an export of Label Studio. Give its JSON (not JSON-MIN), which is a list of "
                'tasks with their fields under "data" and their labels under "annotations".'
            )
        return self.tasks(records)

    def tasks(self, tasks: list) -> Table:
        """The table of tasks that were read."""
        controls = controls_of(tasks)
        fields = list(dict.fromkeys(name for task in tasks for name in task["data"]))
        names = [control.name if control.name not in fields else f"{control.name} (label)" for control in controls]
        rows = [
            [task["data"].get(name) for name in fields] + [given_of(task, control) for control in controls]
            for task in tasks
        ]
        table = from_rows([*fields, *names], rows, self, (tasks, dict(zip(names, controls))))
        if not controls:
            table.notes.append("There are no labels yet. No task has an annotation of choices, a number or a rating.")
        return table

    def target(self, table: Table) -> str:
        """The column of the only control, or of the only one that is a choice."""
        controls = table.origin[1]
        choices = [name for name, control in controls.items() if control.kind in ("choices", "taxonomy")]
        for found in (list(controls), choices):
            if len(found) == 1:
                return found[0]
        if not controls:
            raise InputError(
                "No task has an annotation of choices, a number or a rating, so that there is nothing to learn from. "
                "Label some tasks, or name the control with --target."
            )
        raise InputError(
            f"The annotations come from several controls: {', '.join(map(repr, controls))}. Name one of them with "
            "--target, which may be repeated."
        )

    def records(self, table: Table, new: Any) -> list:
        """The tasks with predictions for the rows without a label. Columns of other kinds go to "meta"."""
        tasks, controls = table.origin
        columns = {name: [python(value) for value in values] for name, values in new.items()}
        out = [{**task} for task in tasks]
        words = ("predicted", "confidence", "source", "low", "high")
        used = {f"{name}_{word}" for name in controls for word in words}
        for name, control in controls.items():
            if f"{name}_predicted" not in columns:
                continue
            predicted, source = columns[f"{name}_predicted"], columns[f"{name}_source"]
            sure = columns.get(f"{name}_confidence", [None] * len(out))
            for task, cell, how, score in zip(out, predicted, source, sure):
                others = [old for old in task.get("predictions") or [] if not _ours(old, control)]
                if how in ("predicted", "accepted", "novel") and cell is not None and cell != "":
                    found = {"model_version": f"mercer {__version__}", "result": [control.answer(cell)]}
                    others.append(found if score is None else found | {"score": round(float(score), 6)})
                task["predictions"] = others
        for name in set(columns) - used:
            for task, cell in zip(out, columns[name]):
                task["meta"] = (task.get("meta") or {}) | {name: cell}
        return out


def _ours(prediction: dict, control: "Control") -> bool:
    version = prediction.get("model_version") if isinstance(prediction, dict) else None
    own = isinstance(version, str) and version.startswith("mercer ")
    return own and any(item.get("from_name") == control.name for item in _items(prediction))


TASKS = LabelStudio()
