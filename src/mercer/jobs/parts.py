"""Read the parts of a folder of tables, and do the same work on each part, in threads or on a cluster.

The functions that workers run take paths and small values and return small values, so any engine can run them.
"""

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..backend import n_threads, need, one_thread
from ..errors import BackendError, InputError
from ..few_label.sizes import SIZES
from ..files import replacing
from ..inputs.tables import read_table, read_target, write_table
from ..inputs.tables.formats.base import unpacked
from ..io import load
from ..types import Estimator, Facts, Frame, Rows
from .classes import answer_table, columns
from .corrections import texts, written_before
from .options import DEFAULTS, AnswerOptions

Task: TypeAlias = tuple[object, ...]
"""The arguments of a function that workers run."""

Result = TypeVar("Result")

MODEL, ENCODER, JOB, MARK = "_model.mercer", "_encoder.mercer", "_job.json", "_SUCCESS"


def parts_in(folder: str | Path) -> list[Path]:
    """Return the tables in a folder by name, except those that begin with . or _. [] if the folder is one table."""
    folder = Path(folder)
    if not folder.is_dir() or any((folder / name).exists() for name in ("dataset_dict.json", "state.json")):
        return []
    names = [path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._"]
    return sorted(path for path in names if _ending(path) in (".parquet", ".pq", ".csv", ".tsv"))


def _ending(path: Path) -> str:
    packed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst")
    return (Path(path.stem) if packed else path).suffix.lower()


# What the workers run


def cells(
    path: Path,
    column: str | None,
    missing: list[str] | None,
    labels: Mapping[str, str] | None,
    options: Mapping[str, object],
) -> tuple[int, np.ndarray, list[str]]:
    """Return (number of rows, positions of the labeled ones, their labels) of a part.

    Parameters
    ----------
    column : the column of the labels. If `labels` are given, the column of the keys. None counts the rows only.
    labels : the labels by key, or None if the part contains them.
    options : options of `read_table`.
    """
    if _ending(path) in (".parquet", ".pq"):
        file = need("pyarrow.parquet").ParquetFile(path)
        if column is None or file.metadata.num_rows == 0:
            return file.metadata.num_rows, np.zeros(0, dtype=int), []
        names = [name for name in file.schema_arrow.names if name.strip() == column]
        if not names:
            raise InputError(f"{Path(path).name} has no column {column!r}.")
        values = file.read(columns=names[:1]).to_pandas()[names[0]]
    elif _no_rows(path):
        return 0, np.zeros(0, dtype=int), []
    else:
        frame = read_table(path, **options).frame
        if column is None:
            return len(frame), np.zeros(0, dtype=int), []
        if column not in frame.columns:
            raise InputError(f"{Path(path).name} has no column {column!r}.")
        values = frame[column]
    if labels is None:
        found = read_target(values.rename(column), missing, need_labels=False)
        at = np.flatnonzero(found.given)
        return len(values), at, found.labels[at].tolist()
    words = [labels.get(key) for key in texts(values)]
    at = np.array([i for i, word in enumerate(words) if word is not None], dtype=int)
    return len(words), at, [word for word in words if word is not None]


def _no_rows(path: Path) -> bool:
    """Return whether a text file is empty or has a header only."""
    return path.stat().st_size < 2**16 and len(unpacked(path).splitlines()) < 2  # a larger file has rows


def rows_of(path: Path, positions: np.ndarray, options: Mapping[str, object]) -> Frame:
    """Return some rows of a part as a data frame."""
    return read_table(path, **options).frame.iloc[positions].reset_index(drop=True)


@dataclass(frozen=True)
class PartOptions:
    """How the parts are read, predicted and written.

    Attributes
    ----------
    file : options of `read_table`. protect : see `write_table`.
    model : file of a saved model. None means the one in the folder of the predictions.
    answers : options of the predictions of `label` and `predict`.
    kind, columns : command of a method without labels, and the names of the columns that it writes.
    rank : numbers of the groups that `cluster` writes.
    models : other places of the text model and the image model that a saved model needs.
    """

    file: Facts
    protect: bool = False
    model: str | None = None
    answers: AnswerOptions = DEFAULTS
    kind: str = ""
    columns: tuple[str, ...] = ()
    rank: tuple[int, ...] = ()
    models: tuple[str | None, str | None] = (None, None)


def label_part(path: Path, out: Path, folder: Path, known: tuple[np.ndarray, list[str]], options: PartOptions) -> Facts:
    """Write a part with its predictions. Return the number of rows, in all and given, abstained, novel and by class.

    known : (positions, labels) of the labeled rows.
    """
    model = _loaded(str(folder / MODEL) if options.model is None else options.model)
    model.encoder.relocate(*options.models)
    table = read_table(path, **options.file)
    table.drop(written_before(table, model.target))
    with one_thread():
        found = answer_table(model, table.frame, options.answers, {int(i): word for i, word in zip(*known)})
    new = columns(found, options.answers.probabilities)
    write_table(table, new, out, force=True, protect=options.protect)
    numbers = {"given": found.given, "abstained": found.left, "novel": found.novel}
    counts = {name: int(rows.sum()) for name, rows in numbers.items()}
    return {"rows": len(table), **counts, "classes": found.counts}


def describe_part(path: Path, out: Path, folder: Path, options: PartOptions) -> Facts:
    """Write a part with what a method without labels finds in its rows."""
    encoder, model = _loaded(str(folder / ENCODER)), _loaded(str(folder / MODEL))
    table = read_table(path, **options.file)
    taken = [name for name in options.columns if name in table.frame.columns]
    if taken:
        raise InputError(f"{Path(path).name} has a column {taken[0]!r} already, which would be written. Rename it.")
    block, kinds = SIZES.block_rows, {"embed": _positions, "cluster": _groups, "novelty": _unusual}
    with one_thread():
        matrices = [encoder.transform(table.frame.iloc[i : i + block]) for i in range(0, len(table), block)]
        found = [kinds[options.kind](model, X, options) for X in matrices]
    new: Facts = dict(zip(options.columns, (np.concatenate(blocks) for blocks in zip(*found))))
    write_table(table, new, out, True, options.protect)
    return {"rows": len(table)} | ({"novel": int(np.sum(new["novel"] == "yes"))} if "novel" in new else {})


def _positions(model: Estimator, X: Rows, options: PartOptions) -> Sequence[np.ndarray]:
    return [*np.round(model.transform(X).T, 6)]


def _groups(model: Estimator, X: Rows, options: PartOptions) -> Sequence[np.ndarray]:
    return [np.asarray(options.rank)[model.predict(X)]]


def _unusual(model: Estimator, X: Rows, options: PartOptions) -> Sequence[np.ndarray]:
    if hasattr(model, "in_table"):
        probability, unusual = model.in_table(X)
    else:
        probability, unusual = model.outlier_probability(X), model.predict(X) < 0
    return np.round(probability, 4), np.where(unusual, "yes", "no")


@functools.lru_cache(maxsize=4)
def _loaded(path: str) -> Estimator:
    return load(path)


# Threads and clusters on which they run


class Threads:
    """Parts side by side in this process."""

    def each(self, function: Callable[..., Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield (number of the task, function(*task)) of each, as they end."""
        with ThreadPoolExecutor(n_threads()) as pool:
            futures = {pool.submit(function, *task): number for number, task in enumerate(tasks)}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class Cluster:
    """Parts on the workers of a Dask cluster, which see the same folders."""

    def __init__(self, client: Any, where: str) -> None:
        self.client, self.where = client, where

    def each(self, function: Callable[..., Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield (number of the task, function(*task)) of each, as they end. Tasks of a lost worker run again."""
        distributed = need("distributed")
        futures = {self.client.submit(function, *task, pure=False): n for n, task in enumerate(tasks)}
        try:
            for future in distributed.as_completed(futures):
                yield futures[future], future.result()
        except (InputError, BackendError):
            raise
        except distributed.KilledWorker as error:
            raise BackendError(
                "A part ended several workers, most likely for lack of memory. Finished parts are kept. Split the "
                "large ones or give the workers more memory, then run the same command again."
            ) from error
        except (OSError, TimeoutError, distributed.client.FutureCancelledError) as error:
            raise BackendError(
                f"The scheduler at {self.where} was lost. Finished parts are kept. Run the same command again to "
                "continue with the others."
            ) from error


@contextlib.contextmanager
def workplace(scheduler: str | None = None, workers: int | None = None) -> Iterator[Threads | Cluster]:
    """Yield the cluster of a scheduler, a cluster of `workers` processes, or the threads of this process."""
    if scheduler is None and workers is None:
        yield Threads()
        return
    distributed = need("distributed")
    with contextlib.ExitStack() as stack:
        where = scheduler
        if where is None:
            local = distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=":0")
            where = stack.enter_context(local).scheduler_address
        try:
            client = distributed.Client(where, timeout="10s")
        except (OSError, TimeoutError, ValueError) as error:
            raise BackendError(
                f"There is no Dask scheduler at {where}. Give its address, such as tcp://10.0.0.5:8786, or --workers."
            ) from error
        stack.callback(_close, client)
        yield Cluster(client, where)


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):  # the scheduler may be lost
        client.close(timeout=2)


def write_mark(path: Path, facts: Mapping[str, object]) -> None:
    """Write a small JSON file in one step, so that it is never incomplete."""
    with replacing(path, force=True) as (part,):
        part.write_text(json.dumps(facts, indent=1, default=str) + "\n", encoding="utf-8")
