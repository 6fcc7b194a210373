"""A folder of tables: its parts, some of their rows, and the same work on each part, in threads or on a cluster.

The functions that workers run take paths and small values and return small values, so any engine can run them.
"""

import contextlib
import functools
import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from ..backend import n_threads, need, one_thread
from ..errors import BackendError, InputError
from ..files import replacing
from ..inputs.tables import read_table, read_target, write_table
from ..inputs.tables.formats.base import unpacked
from ..io import load
from .answers import _texts
from .job import BLOCK, new_columns, written_before
from .sets import Sets

ENDINGS = (".parquet", ".pq", ".csv", ".tsv")
PACKED = (".gz", ".bz2", ".xz", ".zst")
MODEL, ENCODER, JOB, MARK = "_model.mercer", "_encoder.mercer", "_job.json", "_SUCCESS"
HEADER = 2**16  # bytes beyond which a file is more than a header
OTHERS = ("dataset_dict.json", "state.json")  # of a folder that is one table


def parts_in(folder):
    """The tables in a folder by name, those that begin with . or _ left out; none if the folder is one table."""
    folder = Path(folder)
    if not folder.is_dir() or any((folder / name).exists() for name in OTHERS):
        return []
    names = [path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._"]
    return sorted(path for path in names if _ending(path) in ENDINGS)


def _ending(path):
    return (Path(path.stem) if path.suffix.lower() in PACKED else path).suffix.lower()


# What the workers run


def cells(path, column, missing, labels, options):
    """(number of rows, positions of the labelled ones, their labels) of a part.

    column : that of the labels; with `labels`, {key: label}, that of the keys; None counts only.
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
    words = [labels.get(key) for key in _texts(values)]
    at = np.array([i for i, word in enumerate(words) if word is not None], dtype=int)
    return len(words), at, [words[i] for i in at]


def _no_rows(path):
    """Whether a text file is empty or has a header only."""
    return path.stat().st_size < HEADER and len(unpacked(path).splitlines()) < 2


def rows_of(path, positions, options):
    """Some rows of a part as a data frame."""
    return read_table(path, **options).frame.iloc[positions].reset_index(drop=True)


def label_part(path, out, folder, known, how):
    """Write a part with its labels; {class: rows}, and how many were left unlabelled or unlike all training rows.

    known : (positions, labels) of the labelled rows. how : options, see `cli.folders.label`.
    """
    model = _loaded(str(folder / MODEL) if how["model"] is None else how["model"])
    table, classes = read_table(path, **how["options"]), [str(name) for name in model.classes_]
    table.drop(written_before(table, model.target))
    with one_thread():
        found = [model.answer(table.frame.iloc[i : i + BLOCK]) for i in range(0, len(table), BLOCK)]
    P, trust = map(np.concatenate, zip(*found))
    given, place = np.zeros(len(P), dtype=bool), {name: code for code, name in enumerate(classes)}
    at = np.array([i for i, word in zip(*known) if word in place], dtype=int)
    given[at] = True
    P[at] = np.eye(len(classes))[[place[word] for word in known[1] if word in place]]
    confidence, values = np.where(given, 1.0, P.max(axis=1)), [model.values[name] for name in classes]
    more = how["abstain"], how["probabilities"], (trust < 0.5) & ~given
    columns, left = new_columns(model.target, P, confidence, values, given, *more)
    if how["coverage"] is not None:
        sets = Sets(model.target, model.classifier, P, given, how["coverage"], how["by_class"])
        columns |= sets.columns(values, P.argmax(axis=1))
    write_table(table, columns, out, force=True, protect=how["protect"])
    codes = np.bincount(P.argmax(axis=1)[~left], minlength=len(classes))
    facts = {"rows": len(P), "given": int(given.sum()), "abstained": int(left.sum()), "novel": int(more[2].sum())}
    return facts | {"classes": dict(zip(map(str, values), codes.tolist()))}


def describe_part(path, out, folder, how):
    """Write a part with what a model without labels says of its rows: `how["columns"]` from the method of its kind."""
    encoder, model = _loaded(str(folder / ENCODER)), _loaded(str(folder / MODEL))
    table = read_table(path, **how["options"])
    taken = [name for name in how["columns"] if name in table.frame.columns]
    if taken:
        raise InputError(f"{Path(path).name} has a column {taken[0]!r} already, which would be written. Rename it.")
    with one_thread():
        frames = [encoder.transform(table.frame.iloc[i : i + BLOCK]) for i in range(0, len(table), BLOCK)]
        found = [SAYS[how["kind"]](model, rows, how) for rows in frames]
    answers: list = [np.concatenate(parts) for parts in zip(*found)]
    write_table(table, dict(zip(how["columns"], answers)), out, True, how["protect"])
    return {"rows": len(table)}


def _positions(model, rows, how):
    return np.round(model.transform(rows).T, 6)


def _groups(model, rows, how):
    return [np.asarray(how["rank"])[model.predict(rows)]]


def _unusual(model, rows, how):
    return np.round(model.outlier_probability(rows), 4), np.where(model.predict(rows) < 0, "yes", "no")


SAYS = {"embed": _positions, "cluster": _groups, "novelty": _unusual}


@functools.lru_cache(maxsize=4)
def _loaded(path):
    return load(path)


# Where they run


class Threads:
    """Parts side by side in this process."""

    def each(self, function, tasks):
        """(number of the task, function(*task)) of each, as they end."""
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

    def __init__(self, client, where):
        self.client, self.where = client, where

    def each(self, function, tasks):
        """(number of the task, function(*task)) of each, as they end; a task of a lost worker runs again elsewhere."""
        distributed = need("distributed")
        futures = {self.client.submit(function, *task, pure=False): n for n, task in enumerate(tasks)}
        try:
            for future in distributed.as_completed(futures):
                yield futures[future], future.result()
        except (InputError, BackendError):
            raise
        except distributed.KilledWorker as error:
            raise BackendError(
                "A part ended several workers, most likely for lack of memory. Finished parts are kept: split the "
                "large ones or give the workers more memory, then run the same command again."
            ) from error
        except (OSError, TimeoutError, distributed.client.FutureCancelledError) as error:
            raise BackendError(
                f"The scheduler at {self.where} was lost. Finished parts are kept; run the same command again to "
                "continue with the others."
            ) from error


@contextlib.contextmanager
def workplace(scheduler=None, workers=None):
    """Where the parts are worked on: a scheduler, so many processes of this machine, or the threads of this process."""
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


def _close(client):
    with contextlib.suppress(Exception):  # a scheduler that is lost cannot be told
        client.close(timeout=2)


def write_mark(path, facts):
    """A small JSON file, complete or not there."""
    with replacing(path, force=True) as (part,):
        part.write_text(json.dumps(facts, indent=1, default=str) + "\n", encoding="utf-8")
