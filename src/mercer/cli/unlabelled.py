"""`mercer embed`, `mercer cluster` and `mercer novelty`: the commands that need no labels."""

import re

import numpy as np

import mercer

from .job import BLOCK
from .screen import UsageError, did_you_mean
from .sources import Reading, claim, default_out, kernel_for, matrix, open_table, refuse_taken, row_names, shown, write

EMBEDDINGS = {"kpca": "KernelPCA", "robust": "RobustKernelPCA", "sparse": "SparseKernelPCA"}
DETECTORS = {"svdd": "SVDD", "kpca": "KPCANovelty", "density": "KernelDensityNovelty"}


def _open(screen, data, out, force, writes, *, id, ignore, scale, **source):
    """(table, matrix of its columns), with the output and the columns to write claimed."""
    claim(screen, out, force=force)
    screen.stage("reading the table", 0.1)
    ignore, reading = ignore or [], Reading(**source)
    table = open_table(screen, data, reading, [id, *ignore])
    refuse_taken(table, writes)
    return table, matrix(screen, table, [id, *ignore], reading, scale)[1]


def _known(method, methods):
    if method.lower() not in methods:
        raise UsageError(f"There is no method {method!r} here. {did_you_mean(method, list(methods))}")
    return getattr(mercer, methods[method.lower()])


def _words(kernel):
    """A kernel with no more digits than anyone reads."""
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", repr(kernel))


def embed(screen, data, method, components, kernel, out, force, seed, **source):
    """Positions on kernel principal components."""
    cls = _known(method, EMBEDDINGS)
    names = [f"component_{j + 1}" for j in range(components)]
    out = out or default_out(data, "embedded")
    with screen.stages() as stage:
        table, X = _open(screen, data, out, force, names, **source)
        if components > X.shape[0]:
            raise UsageError(f"{components} components were asked of {X.shape[0]} rows. Ask for fewer.")
        chosen, approx = kernel_for(X, kernel)
        stage(f"fitting {cls.__name__} to {X.shape[0]} rows", 0.9, counted=False)
        model = cls(n_components=components, kernel=chosen, approx=approx, random_state=seed)
        scores = model.fit_transform(X)
        stage("writing", 1.0)
        write(screen, table, dict(zip(names, np.round(scores.T, 6))), out, force)
    screen.result |= {"method": cls.__name__, "rows": len(table), "kernel": repr(model.kernel_)}
    share = getattr(model, "explained_variance_ratio_", None)
    if share is not None:
        screen.result["explained_variance_ratio"] = np.round(share, 6)
    screen.say(f"{len(table)} rows on {scores.shape[1]} components of {cls.__name__}, {_words(model.kernel_)}.")
    if share is not None:
        screen.say(f"They explain {share.sum():.0%} of the variance in feature space.")
    screen.say(f"Written to {shown(out)}.")


def cluster(screen, data, clusters, kernel, out, force, seed, **source):
    """Groups by kernel c-means, numbered from 1 by size."""
    out = out or default_out(data, "clustered")
    with screen.stages() as stage:
        table, X = _open(screen, data, out, force, ["cluster"], **source)
        if clusters > X.shape[0]:
            raise UsageError(f"{clusters} clusters were asked of {X.shape[0]} rows. Ask for fewer.")
        chosen, approx = kernel_for(X, kernel)
        stage(f"grouping {X.shape[0]} rows", 0.9)
        model = mercer.KernelCMeans(clusters, kernel=chosen, approx=approx, random_state=seed)
        model.set_params(verbose=lambda text, share: screen.step(f"grouping {X.shape[0]} rows, {text}", share)).fit(X)
        counts = np.bincount(model.labels_, minlength=clusters)
        order = np.argsort(-counts, kind="stable")
        rank = np.empty(clusters, dtype=int)
        rank[order] = np.arange(1, clusters + 1)
        stage("writing", 1.0)
        write(screen, table, {"cluster": rank[model.labels_]}, out, force)
    sizes = counts[order].tolist()
    screen.result |= {"sizes": sizes, "inertia": model.inertia_, "kernel": repr(model.kernel_)}
    sizes_shown = ", ".join(map(str, sizes[:12])) + (", …" if clusters > 12 else "")
    screen.say(f"{len(table)} rows in {clusters} groups of {sizes_shown} rows, {_words(model.kernel_)}.")
    screen.say(f"Written to {shown(out)}.")


def novelty(screen, data, method, share, kernel, out, force, seed, **source):
    """How unusual each row is, and which rows are beyond the threshold."""
    cls, method = _known(method, DETECTORS), method.lower()
    if not 0 < share <= 0.5:
        raise UsageError(f"--share {share:g} is not accepted: give a share of the rows above 0 and up to 0.5.")
    if method == "density" and kernel.lower() != "rbf":
        raise UsageError(f"The method density is Gaussian, not {kernel}. Use --kernel rbf, or --method svdd or kpca.")
    out = out or default_out(data, "novelty")
    with screen.stages() as stage:
        table, X = _open(screen, data, out, force, ["novelty", "novel"], **source)
        chosen, approx = kernel_for(X, kernel)
        options = {"contamination": share, "approx": approx, "random_state": seed}
        if method != "density":
            options["kernel"] = chosen
        if method == "svdd":
            options["nu"] = max(share, 0.05)
        if method == "kpca":
            options["n_components"] = 0.7  # at 0.9 a far row among fifty has a component of its own and looks normal
        n = X.shape[0]
        stage(f"fitting {cls.__name__} to {n} rows", 0.7, counted=False)
        model = cls(**options).fit(X)
        stage(f"scoring {n} rows", 0.9)
        score = np.empty(n)
        for begin in range(0, n, BLOCK):
            screen.step(f"scoring {n} rows", begin / n)
            score[begin : begin + BLOCK] = model.outlier_probability(X[begin : begin + BLOCK])
        order = np.lexsort((model.training_scores_, -score))  # most novel first
        outlier = np.zeros(len(score), dtype=bool)
        outlier[order[: max(1, int(share * len(score)))]] = True
        stage("writing", 1.0)
        new = {"novelty": np.round(score, 4), "novel": np.where(outlier, "yes", "no")}
        write(screen, table, new, out, force)
    worst = order[: min(10, outlier.sum())]
    names = row_names(table, source["id"])
    screen.result |= {"novel": int(outlier.sum()), "rows": len(table), "most_novel": [names[i] for i in worst]}
    screen.say(f"{int(outlier.sum())} of {len(table)} rows are the most unlike the others ({cls.__name__}).")
    screen.table([source["id"] or "row", "novelty"], [(names[i], f"{score[i]:.3f}") for i in worst])
    screen.say(f"Written to {shown(out)}.")
