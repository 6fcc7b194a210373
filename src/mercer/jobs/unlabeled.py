"""Embed the rows of a table without labels, group them, and build outlier detectors."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import mercer

from ..estimators.kernel_cmeans import KernelCMeans
from ..events import OnEvent, Progress, ignore
from ..inputs.tables import DistinctiveCells, Table
from ..report.picture import PlaneEmbedding
from ..types import Estimator, Facts, Rows
from .dataset import Dataset, keeping, path_of
from .options import ReadOptions
from .tables import Data, encode, kernel_for, open_table, refuse_taken, row_names
from .usage import UsageError, did_you_mean

EMBEDDINGS = {"kpca": "KernelPCA", "robust": "RobustKernelPCA", "sparse": "SparseKernelPCA"}
MAP = "map"  # the method of `embed` for the map in reports and in the web app
FRACTION = 0.05  # of the rows that `novelty` flags
DETECTORS = {"auto": "OutlierDetector", "svdd": "SVDD", "kpca": "KPCANovelty", "density": "KernelDensityNovelty"}


@dataclass(frozen=True)
class Described:
    """A fitted method without labels and the columns to write.

    Attributes
    ----------
    values : (n, d) positions, or (n,) numbers of clusters from 1.
    """

    model: Estimator
    values: np.ndarray
    columns: Facts


def read(
    data: Data, options: ReadOptions, scale: str | bool, writes: Iterable[str], on_event: OnEvent = ignore
) -> Dataset:
    """Return a table without labels and the matrix of its columns. `writes` are the columns that will be added."""
    unused, notes = [options.id, *(options.ignore or [])], list[str]()
    table = open_table(data, options, unused, keeping(notes, on_event))
    return encoded(data, table, options, scale, unused, writes, notes, on_event)


def encoded(
    data: Data,
    table: Table,
    options: ReadOptions,
    scale: str | bool,
    unused: list[str | None],
    writes: Iterable[str],
    notes: list[str],
    on_event: OnEvent,
) -> Dataset:
    """Return the same of a table that is open already. Columns in `unused` are not features."""
    refuse_taken(table, writes)
    encoder, X = encode(table, unused, options, data, scale, on_event=on_event)
    distinctive, names = DistinctiveCells(table.frame, encoder, X), row_names(table, options.id)
    return Dataset(path_of(data), table, "", None, encoder, X, names, distinctive, [*notes, *encoder.notes_])


def class_name(method: str, methods: dict[str, str]) -> str:
    """Return the name of the estimator for a method on the command line."""
    if method.lower() not in methods:
        raise UsageError(f"There is no method {method!r} here. {did_you_mean(method, list(methods))}")
    return methods[method.lower()]


def embedding(X: Rows, method: str, components: int, kernel: str, seed: int) -> Estimator:
    """Return an embedding that is not fitted yet."""
    if components > X.shape[0]:
        raise UsageError(f"{components} components were requested for {X.shape[0]} rows. Ask for fewer.")
    if method.lower() == MAP:
        if components != 2:
            raise UsageError(f"--components {components} is not accepted with --method {MAP}, which has 2 components.")
        return PlaneEmbedding(seed)
    chosen, approx = kernel_for(X, kernel)
    cls = getattr(mercer, class_name(method, EMBEDDINGS | {MAP: MAP}))
    return cls(n_components=components, kernel=chosen, approx=approx, random_state=seed)


def clustering(X: Rows, clusters: int, kernel: str, seed: int, **more: int) -> KernelCMeans:
    """Return a clustering that is not fitted yet."""
    if clusters > X.shape[0]:
        raise UsageError(f"{clusters} clusters were requested for {X.shape[0]} rows. Ask for fewer.")
    chosen, approx = kernel_for(X, kernel)
    return KernelCMeans(clusters, kernel=chosen, approx=approx, random_state=seed, **more)


def check_share(share: float, method: str, kernel: str) -> None:
    """Refuse a fraction of unusual rows, or a kernel, that `novelty` does not take."""
    class_name(method, DETECTORS)
    if not 0 < share <= 0.5:
        raise UsageError(f"--fraction {share:g} is not accepted. Give a fraction of the rows above 0 and up to 0.5.")
    if method.lower() == "density" and kernel.lower() != "rbf":
        raise UsageError(f"The method density is Gaussian, not {kernel}. Use --kernel rbf, or --method svdd or kpca.")


def detector(X: Rows, method: str, share: float, kernel: str, seed: int) -> Estimator:
    """Return a detector of unusual rows that is not fitted yet."""
    cls, method = getattr(mercer, class_name(method, DETECTORS)), method.lower()
    if method == "auto":
        return cls(contamination=share, random_state=seed)
    chosen, approx = kernel_for(X, kernel)
    options = {"contamination": share} | ({} if method == "density" else {"kernel": chosen})
    if method == "svdd":
        options["nu"] = max(share, 0.05)
    if method == "kpca":
        options["n_components"] = 0.7  # at 0.9 a far row among fifty has a component of its own and looks normal
    return cls(approx=approx, random_state=seed, **options)


def embed(dataset: Dataset, method: str, components: int, kernel: str, seed: int) -> Described:
    """Return the positions of the rows on kernel principal components, or on the map."""
    model = embedding(dataset.X, method, components, kernel, seed)
    scores = model.fit_transform(dataset.X)
    return Described(model, scores, dict(zip(component_names(components), np.round(scores.T, 6))))


def component_names(components: int) -> list[str]:
    """Return the names of the columns that `embed` writes."""
    return [f"component_{j + 1}" for j in range(components)]


def cluster(dataset: Dataset, clusters: int, kernel: str, seed: int, on_event: OnEvent = ignore) -> Described:
    """Return groups by kernel c-means, numbered from 1 by size."""
    n = dataset.X.shape[0]
    model = clustering(dataset.X, clusters, kernel, seed)
    model.set_params(verbose=lambda text, done: on_event(Progress(f"grouping {n} rows, {text}", done)))
    model.fit(dataset.X)
    groups = rank_of(model)[model.labels_]
    return Described(model, groups, {"cluster": groups})


def rank_of(model: Estimator) -> np.ndarray:
    """Return the numbers of the groups of a clustering, from 1 by size."""
    counts = np.bincount(model.labels_, minlength=model.n_clusters)
    return np.argsort(np.argsort(-counts, kind="stable")) + 1
