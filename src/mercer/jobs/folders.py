"""Predict a folder of tables. Find the parts still to do, sample their rows, and loop over the parts."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..events import Fact, OnEvent, Progress, Stage, ignore
from ..few_label.sizes import SIZES, Sizes
from ..homes.blocks import draw
from ..inputs.tables import Table, read_table, read_target
from ..types import Facts, Frame
from .options import ReadOptions
from .parts import ENCODER, JOB, MARK, MODEL, Cluster, Result, Task, Threads, parts_in, rows_of, write_mark
from .tables import open_table
from .usage import UsageError

Counted = list[tuple[int, np.ndarray, list[str]]]  # (number of rows, positions of the labels, labels) of each part


class FolderRun:
    """The parts of a folder, the folder of the predictions, and which parts are still to do.

    The folder of the predictions keeps what was requested, the model, and a mark when all parts are there. A run that
    was stopped continues with the missing parts.

    Parameters
    ----------
    command : name of the command.
    data : the folder.
    out : the folder of the predictions. None means a folder next to `data`, named with `word`.
    asked : the options that the predictions depend on.
    force : whether to begin again.

    Attributes
    ----------
    parts : the tables. out : the folder of the predictions. left : numbers of the parts to do.
    """

    def __init__(
        self,
        command: str,
        data: str | Path,
        out: str | Path | None,
        word: str,
        asked: Mapping[str, object],
        force: bool = False,
        on_event: OnEvent = ignore,
    ) -> None:
        self.on_event, self.parts = on_event, parts_in(data)
        folder = Path(data)
        self.out = Path(out) if out else folder.with_name(f"{folder.name}_{word}")
        if self.out.resolve() == folder.resolve():
            raise UsageError(f"{data} is what is read. Give another folder with --out.")
        if self.out.exists() and not self.out.is_dir():
            raise UsageError(f"{self.out} is a file. A folder needs a folder with --out.")
        job = {"command": command, "parts": [part.name for part in self.parts], "asked": dict(asked)}
        self.job = json.loads(json.dumps(job, default=str))
        names = self.job["parts"]
        if force:
            for name in [*names, MODEL, ENCODER, JOB, MARK]:
                (self.out / name).unlink(missing_ok=True)
        if (self.out / JOB).exists():
            if json.loads((self.out / JOB).read_text(encoding="utf-8")) != self.job:
                raise UsageError(
                    f"{self.out} contains the predictions of another run (other options or other parts). "
                    "Give another folder with --out, or --force to start again."
                )
        elif any((self.out / name).exists() for name in names):
            raise UsageError(
                f"{self.out} contains files of these names. Give another folder, or --force to replace them."
            )
        self.left = [i for i, part in enumerate(self.parts) if not (self.out / part.name).exists()]

    def begin(self) -> None:
        """Make the folder and write what was requested, so that a later run can continue this one."""
        self.out.mkdir(parents=True, exist_ok=True)
        write_mark(self.out / JOB, self.job)
        self.on_event(Fact("out", str(self.out)))  # what is there is complete, whatever happens

    def each(
        self, place: Threads | Cluster, function: Callable[..., Result], tasks: Sequence[Task], stage: Stage
    ) -> list[Result]:
        """Return [function(*task)], computed as one stage in the threads or on the cluster `place`."""
        self.on_event(stage)
        found: dict[int, Result] = {}
        for done, (number, result) in enumerate(place.each(function, tasks), start=1):
            found[number] = result
            self.on_event(Progress(f"{stage.text}, {done} of {len(tasks)}", done / len(tasks)))
        return [found[number] for number in range(len(tasks))]

    def sample(
        self,
        place: Threads | Cluster,
        counted: Counted,
        rows: np.ndarray,
        file: Mapping[str, object],
        stage: Stage,
    ) -> Table:
        """Return the table of these rows, given by their numbers over all parts."""
        sizes = [n for n, _, _ in counted]
        ends = np.cumsum(sizes)
        owner, starts = np.searchsorted(ends, rows, side="right"), ends - sizes
        tasks = [(self.parts[k], rows[owner == k] - starts[k], file) for k in np.unique(owner)]
        frames = self.each(place, rows_of, tasks, stage)
        table = read_table(tasks[0][0], **file)
        joined = table.like(_joined(frames))
        joined.frame.attrs["folder"] = str(self.parts[0].parent)
        return joined

    def run(
        self,
        place: Threads | Cluster,
        function: Callable[..., Facts],
        counted: Counted,
        more: Callable[[int], Task],
        stage: Stage,
    ) -> Facts:
        """Write the parts that are missing and set the mark. Return the sums of the facts over these parts."""
        self.begin()
        whole = [i for i in self.left if counted[i][0]]
        for i in set(self.left) - set(whole):  # a part without rows has no predictions
            shutil.copyfile(self.parts[i], self.out / self.parts[i].name)
        tasks = [(self.parts[i], self.out / self.parts[i].name, self.out, *more(i)) for i in whole]
        total: Facts = {"classes": {}}
        for facts in self.each(place, function, tasks, stage):
            for name, count in facts.pop("classes", {}).items():
                total["classes"][name] = total["classes"].get(name, 0) + count
            total |= {name: total.get(name, 0) + number for name, number in facts.items()}
        missing = [part.name for part in self.parts if not (self.out / part.name).exists()]
        if missing:
            raise InputError(f"{len(missing)} parts are missing in {self.out}, such as {missing[0]}. Run again.")
        write_mark(self.out / MARK, {"parts": len(self.parts), "rows": int(sum(n for n, _, _ in counted))})
        return total


def labels_by_key(
    path: str | Path, target: str, key: str, missing: list[str] | None, on_event: OnEvent = ignore
) -> dict[str, str]:
    """Return the labels in a file, by key."""
    table = open_table(path, ReadOptions(), [key, target], on_event)
    found = read_target(table.frame[target], missing, need_labels=True)
    keys = [str(cell).strip().removesuffix(".0") for cell in table.frame[key].tolist()]
    return {name: word for name, word, given in zip(keys, found.labels.tolist(), found.given) if given}


def rows_to_sample(counted: Counted, seed: int, sizes: Sizes = SIZES) -> np.ndarray:
    """Return the numbers of the rows to fit.

    They are the labeled rows, or a sample of them if there are very many, and a sample of all rows.
    """
    starts = np.cumsum([0, *(n for n, _, _ in counted)])
    labeled = np.concatenate([start + at for start, (_, at, _) in zip(starts, counted)]).astype(int)
    words = np.array([word for _, _, some in counted for word in some], dtype=object)
    if len(labeled) > sizes.core_rows:
        kept = draw(len(labeled), sizes.core_rows, seed)
        first = np.unique(words.astype(str), return_index=True)[1]  # one of each class
        labeled = labeled[np.union1d(kept, first)]
    return np.union1d(labeled, draw(int(starts[-1]), sizes.core_rows, seed))


def labels_of(counted: Counted, rows: np.ndarray) -> list[str | None]:
    """Return the labels of these rows, None if there is none."""
    starts = np.cumsum([0, *(n for n, _, _ in counted)])
    known = {int(start + i): word for start, (_, at, some) in zip(starts, counted) for i, word in zip(at, some)}
    return [known.get(int(row)) for row in rows]


def _joined(frames: list[Frame]) -> Frame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)
