"""`mercer.studio(frame)` shows the web app in a notebook. Its labels and predictions are data frames."""

import html
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ..files import replacing
from .answering import NONE
from .folder import ENDING
from .journal import Journal
from .ledger import CANNOT, Ledger

PATIENCE = 15.0  # seconds to wait until an earlier server of the same folder has ended


class Studio:
    """A web app that runs, see `studio`. Notebooks show it as a frame.

    Attributes
    ----------
    url : str
        The address, for a browser window of its own.
    data : Path
        The table on disk. The journal is in the folder of the same name with the ending `.mercer`.
    """

    def __init__(self, data: Path, target: str, index: Any, asked: dict, height: int) -> None:
        self.data, self.target, self.height, self._index = data, target, height, index
        self._server, self._port, self._key = _started({"data": str(data.absolute()), "target": target, **asked})
        self._finalizer = weakref.finalize(self, _stopped, self._server)
        self.url = f"http://127.0.0.1:{self._port}/#{self._key}"
        if index is None:
            self._index = pd.RangeIndex(json.loads(self._read("session"))["n"])

    @property
    def running(self) -> bool:
        """Whether the web app is open."""
        return self._server.poll() is None

    @property
    def labels(self) -> pd.DataFrame:
        """The labels given so far, one row each, with the index of the frame. Read from the journal, also after `stop`.

        The columns are the target, `via` (how the label was given), `when`, and `annotator` (None without a name).
        """
        ledger, times = self._ledger()
        rows = sorted(row for row, given in ledger.labels.items() if given.value != CANNOT)
        names = {one["id"]: one["name"] for one in ledger.classes}
        given = [ledger.labels[row] for row in rows]
        columns = {
            self.target: [one.value if ledger.numeric else names[one.value] for one in given],
            "via": [one.via for one in given],
            "when": pd.to_datetime([times[one.rev] for one in given]),
            "annotator": pd.Series([ledger.annotator(row) for row in rows], dtype=object).to_numpy(),
        }
        return pd.DataFrame(columns, index=self._index[rows])

    @property
    def predictions(self) -> pd.DataFrame:
        """The predictions for all rows, with the index of the frame. They are missing before the first model.

        The columns are the target, `confidence` (1 for given labels) and `source` (given or predicted). For numbers,
        `low` and `high` are the ends of the 90% interval instead of `confidence`.
        """
        ledger, _ = self._ledger()
        if ledger.numeric:
            return self._numbers(ledger)
        found = np.frombuffer(self._read("answers"), dtype=np.uint8).reshape(-1, 3)
        names = {one["id"]: one["name"] for one in json.loads(self._read("session"))["classes"]}
        value = np.array([names.get(int(c)) for c in found[:, 0]], dtype=object)
        sure = np.where(found[:, 0] == NONE, np.nan, found[:, 2] / 255.0)
        source = np.array([None if c == NONE else "predicted" for c in found[:, 0]], dtype=object)
        for row, given in ledger.labels.items():
            if given.value != CANNOT:
                value[row], sure[row], source[row] = names[given.value], 1.0, "given"
        return pd.DataFrame({self.target: value, "confidence": sure, "source": source}, index=self._index)

    def _numbers(self, ledger: Ledger) -> pd.DataFrame:
        value, reach = np.frombuffer(self._read("answers"), dtype="<f8").reshape(-1, 2).T.copy()
        source = np.array([None if np.isnan(one) else "predicted" for one in value], dtype=object)
        for row, given in ledger.labels.items():
            if given.value != CANNOT:
                value[row], reach[row], source[row] = given.value, 0.0, "given"
        ends = {"low": value - reach, "high": value + reach}
        return pd.DataFrame({self.target: value, **ends, "source": source}, index=self._index)

    @property
    def accuracy(self) -> dict:
        """The accuracy of the random checks: `value`, `low`, `high`, `checks`, and whether the goal is `reached`."""
        found = json.loads(self._read("accuracy"))
        random = found["random"] or {"value": None, "low": 0.0, "high": 1.0, "checks": 0}
        return {name: random[name] for name in ("value", "low", "high", "checks")} | {
            "reached": found["stop"]["reached"]
        }

    def export(self, what: str = "table", format: str = "csv") -> Path:
        """Write a file, and return its path.

        Parameters
        ----------
        what : str, default="table"
            table, labels, report, certificate, model, label_studio or cleanlab.
        format : str, default="csv"
            Format of a table, "csv" or "parquet".
        """
        return self.data.parent / json.loads(self._read("export", {"what": what, "format": format}))["path"]

    def stop(self) -> None:
        """Close the web app. Every label is on disk already. The same call of `studio` goes on with it."""
        self._finalizer()

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = self.url if self.running else "stopped"
        return f"Studio({self.data.name}, target={self.target!r}, {len(self.labels)} labels, {state})"

    def _repr_html_(self) -> str:
        if not self.running:
            return f"<p>{html.escape(repr(self))}</p>"
        return (
            f'<iframe src="{html.escape(self.url)}" width="100%" height="{self.height}" style="border: 1px solid #ddd; '
            f'border-radius: 8px" title="mercer studio" allow="clipboard-write"></iframe>'
        )

    def _ledger(self):
        """The present state, from the journal on disk. An unfinished last line is ignored."""
        path, ledger = self.data.with_name(self.data.name + ENDING) / "journal.jsonl", Ledger()
        events = Journal.read(path)
        for event in events:
            ledger.take(event)
        return ledger, {event["rev"]: event["t"] for event in events}

    def _read(self, path, body=None):
        if not self.running:
            raise InputError("This studio was stopped. Call mercer.studio again to go on with it.")
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/api/{path}",
            headers={"X-Mercer-Key": self._key} | ({} if body is None else {"Content-Type": "application/json"}),
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise InputError(json.loads(error.read())["error"]) from None


def studio(
    data: Any,
    target: str,
    *,
    folder: str | Path = "mercer-studio",
    classes: Any = (),
    goal: float | None = None,
    kind: str | None = None,
    tolerance: float | None = None,
    id: str | None = None,
    image: str | None = None,
    text: str | None = None,
    ignore: Any = None,
    hint: str | list[str] | None = None,
    embed: str | list[str] | None = None,
    text_model: str | None = None,
    image_model: str | None = None,
    annotator: str | None = None,
    outliers: bool = False,
    height: int = 780,
) -> Studio:
    """Label rows in a notebook. The web app of `mercer studio` is shown in the output of a cell.

    The server is a process of its own on this machine. It ends with the notebook's kernel. Every label is on disk
    before it is acknowledged, so a kernel that is killed loses none. The same call goes on with the same journal.

    Parameters
    ----------
    data : DataFrame or path
        The rows. A frame is written to `folder` as a table. The frame itself is never changed.
    target : str
        Column of labels. It need not be there yet.
    folder : path, default="mercer-studio"
        Folder of the table of a frame and its journal. Use one folder per frame. Pictures are read from this
        folder only, and their paths are relative to it.
    classes : list of str, default=()
        Names of classes to begin with.
    goal : float, default=None
        Accuracy to certify (0.9).
    kind : {"class", "number"}, default=None
        What the labels are. None infers it from the labels that are there, and is "class" without any.
    tolerance : float, default=None
        Largest error of a predicted number that counts as correct. It can be set in the web app, too.
    id, image, text : str, default=None
        Columns with the name, the path of a picture and a text of a row.
    ignore : list of str, default=None
        Columns not to learn from.
    hint : str or list of str, default=None
        Columns of guesses of the class by another source, such as a language model. They are not shown. Their accuracy
        is learned from the labels. See `hints` in `FewLabelClassifier.fit`.
    embed : str or list of str, default=None
        Columns and files of vectors, as `--embed` of the command.
    text_model, image_model : str, default=None
        Models for texts and images, as `--text-model` and `--image-model` of the command.
    annotator : str, default=None
        Name of the person who labels. It is stored with every label.
    outliers : bool, default=False
        Ask for the most unusual rows first, with the classes odd and ordinary. Each label corrects the order, as
        `OutlierDetector.teach` does.
    height : int, default=780
        Of the frame, in pixels.

    Returns
    -------
    studio : Studio
        With `labels` and `predictions` as data frames while it runs, `accuracy`, `export` and `stop`.

    Examples
    --------
    >>> import mercer  # doctest: +SKIP
    >>> work = mercer.studio(frame, target="segment")  # doctest: +SKIP
    >>> work  # the page, in a notebook  # doctest: +SKIP
    >>> work.labels, work.predictions  # doctest: +SKIP
    """
    if goal is not None and not 0 <= goal <= 1:
        raise InputError(f"Invalid goal={goal!r}; expected a number from 0 to 1.")
    if kind not in (None, "class", "number"):
        raise InputError(f"Invalid kind={kind!r}; expected 'class' or 'number'.")
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"Invalid tolerance={tolerance!r}; expected a number above 0.")
    if isinstance(data, pd.DataFrame):
        path, index = _written(data, target, Path(folder)), data.index
    else:
        path, index = Path(data), None
        if not path.exists():
            raise InputError(f"There is no file {path}. Give a DataFrame, or the path of a table.")
    options: dict = {"id": id, "image": image, "text": text, "exclude": list(ignore) if ignore is not None else None}
    options |= {"hint": _names(hint), "embed": _names(embed), "text_model": text_model, "image_model": image_model}
    options |= {"outliers": outliers or None, "kind": kind and [kind]}
    settings = {"goal": goal, "tolerance": tolerance}
    asked: dict = {"options": options, "settings": settings, "classes": [str(name) for name in classes]}
    asked["annotator"] = annotator
    return Studio(path, target, index, asked, height)


def _names(value: str | list[str] | None) -> list[str] | None:
    return None if value is None else [value] if isinstance(value, str) else [str(name) for name in value]


def _written(frame: pd.DataFrame, target: str, folder: Path) -> Path:
    """The path of a frame as a table on disk. A file with the same content is not written again."""
    if not frame.columns.is_unique or not all(isinstance(name, str) for name in frame.columns):
        raise InputError("The columns of the frame need different names that are strings. Rename them.")
    if not len(frame):
        raise InputError("The frame has no rows. Give at least two.")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "frame.csv"
    table = frame.to_csv(index=False)
    if not path.exists() or path.read_text(encoding="utf-8") != table:
        with replacing(path, force=True) as (part,):
            part.write_text(table, encoding="utf-8", newline="")
    return path


def _started(asked: dict) -> tuple[Any, int, str]:
    """(process, port, key) of a server. It waits for the server of a kernel that has just ended."""
    end = time.monotonic() + PATIENCE
    while True:
        server = subprocess.Popen(
            [sys.executable, "-m", "mercer.studio.embedded"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            server.wait()
            raise InputError("The server of the studio has ended. Run `mercer studio` in a terminal to see why.")
        said = json.loads(line)
        if "error" not in said:
            return server, said["port"], said["key"]
        _stopped(server)
        if not said["taken"] or time.monotonic() > end:
            raise InputError(said["error"])
        time.sleep(0.3)


def _stopped(server: Any) -> None:
    """Close the standard input of a server, which ends it. It is killed if it still runs after some seconds."""
    if server.stdin and not server.stdin.closed:
        server.stdin.close()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if server.stdout:
        server.stdout.close()
