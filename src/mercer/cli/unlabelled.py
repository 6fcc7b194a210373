"""`mercer embed`, `mercer cluster` and `mercer novelty`: the commands that need no labels."""

import re
from pathlib import Path

import numpy as np

import mercer

from ..inputs.tables import Telling
from ..jobs import sources
from ..jobs.job import BLOCK, Job
from ..jobs.sources import default_out, kernel_for
from ..jobs.usage import UsageError, did_you_mean
from ..report import render
from . import pages

EMBEDDINGS = {"kpca": "KernelPCA", "robust": "RobustKernelPCA", "sparse": "SparseKernelPCA"}
DETECTORS = {"svdd": "SVDD", "kpca": "KPCANovelty", "density": "KernelDensityNovelty"}


def _open(screen, data, out, report, force, writes, *, id, ignore, scale, **source):
    """The table and the matrix of its columns, with the outputs and the columns to write claimed."""
    sources.claim(screen, out, report, force=force)
    sources.keep(data, report)
    screen.stage("reading the table", 0.1)
    ignore, reading = ignore or [], sources.Reading(**source)
    table = sources.open_table(screen, data, reading, [id, *ignore])
    sources.refuse_taken(table, writes)
    notes = list(screen.notes)
    encoder, X = sources.matrix(screen, table, [id, *ignore], reading, data, scale)
    path = Path("standard input" if str(data) == "-" else data)
    telling = Telling(table.frame, encoder, X)
    names, notes = sources.row_names(table, id), notes + encoder.notes_
    return Job(path, table, "", None, encoder, X, names, telling, notes)


def _write(screen, stage, source, new, out, report, force, page):
    """Write the table with new columns, and the report if there is to be one; `page` makes its findings."""
    others = {}
    if report:
        stage("making the report", 0.95)
        text = render(page())
        others[report] = lambda path: path.write_text(text, encoding="utf-8")
    stage("writing", 1.0)
    sources.write(screen, source.table, new, out, force, others)
    if report:
        screen.result["report"] = str(report)


def _said(screen, out, report):
    screen.say(f"Written to {sources.shown(out)}.")
    if report:
        screen.say(f"Report: {report}.")


def known(method, methods):
    if method.lower() not in methods:
        raise UsageError(f"There is no method {method!r} here. {did_you_mean(method, list(methods))}")
    return getattr(mercer, methods[method.lower()])


def _words(kernel):
    """A kernel with no more digits than anyone reads."""
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", repr(kernel))


def embed(screen, data, method, components, kernel, out, report, force, seed, **source):
    """Positions on kernel principal components."""
    cls = known(method, EMBEDDINGS)
    names = [f"component_{j + 1}" for j in range(components)]
    out = out or default_out(data, "embedded")
    with screen.stages() as stage:
        opened = _open(screen, data, out, report, force, names, **source)
        table, X = opened.table, opened.X
        if components > X.shape[0]:
            raise UsageError(f"{components} components were asked of {X.shape[0]} rows. Ask for fewer.")
        chosen, approx = kernel_for(X, kernel)
        stage(f"fitting {cls.__name__} to {X.shape[0]} rows", 0.9, counted=False)
        model = cls(n_components=components, kernel=chosen, approx=approx, random_state=seed)
        scores = model.fit_transform(X)
        share = getattr(model, "explained_variance_ratio_", None)
        new = dict(zip(names, np.round(scores.T, 6)))
        _write(screen, stage, opened, new, out, report, force, lambda: pages.components(opened, scores, share, seed))
    screen.result |= {"method": cls.__name__, "rows": len(table), "kernel": repr(model.kernel_)}
    if share is not None:
        screen.result["explained_variance_ratio"] = np.round(share, 6)
    screen.say(f"{len(table)} rows on {scores.shape[1]} components of {cls.__name__}, {_words(model.kernel_)}.")
    if share is not None:
        screen.say(f"They explain {share.sum():.0%} of the variance in feature space.")
    _said(screen, out, report)


def cluster(screen, data, clusters, kernel, out, report, force, seed, **source):
    """Groups by kernel c-means, numbered from 1 by size."""
    out = out or default_out(data, "clustered")
    with screen.stages() as stage:
        opened = _open(screen, data, out, report, force, ["cluster"], **source)
        table, X = opened.table, opened.X
        if clusters > X.shape[0]:
            raise UsageError(f"{clusters} clusters were asked of {X.shape[0]} rows. Ask for fewer.")
        chosen, approx = kernel_for(X, kernel)
        stage(f"grouping {X.shape[0]} rows", 0.9)
        model = mercer.KernelCMeans(clusters, kernel=chosen, approx=approx, random_state=seed)
        model.set_params(verbose=lambda text, share: screen.step(f"grouping {X.shape[0]} rows, {text}", share)).fit(X)
        counts = np.bincount(model.labels_, minlength=clusters)
        order = np.argsort(-counts, kind="stable")
        groups = np.argsort(order)[model.labels_] + 1
        page = lambda: pages.groups(screen, opened, groups - 1, model, chosen, approx, seed)  # noqa: E731
        _write(screen, stage, opened, {"cluster": groups}, out, report, force, page)
    sizes = counts[order].tolist()
    screen.result |= {"sizes": sizes, "inertia": model.inertia_, "kernel": repr(model.kernel_)}
    sizes_shown = ", ".join(map(str, sizes[:12])) + (", …" if clusters > 12 else "")
    screen.say(f"{len(table)} rows in {clusters} groups of {sizes_shown} rows, {_words(model.kernel_)}.")
    _said(screen, out, report)


def check_share(share, method, kernel):
    """Refuse a share of unusual rows, or a kernel, that `novelty` does not take."""
    if not 0 < share <= 0.5:
        raise UsageError(f"--share {share:g} is not accepted: give a share of the rows above 0 and up to 0.5.")
    if method == "density" and kernel.lower() != "rbf":
        raise UsageError(f"The method density is Gaussian, not {kernel}. Use --kernel rbf, or --method svdd or kpca.")


def detector(method, share, kernel):
    """The parameters of a detector, by its name on the command line."""
    options = {"contamination": share} | ({} if method == "density" else {"kernel": kernel})
    if method == "svdd":
        options["nu"] = max(share, 0.05)
    if method == "kpca":
        options["n_components"] = 0.7  # at 0.9 a far row among fifty has a component of its own and looks normal
    return options


def novelty(screen, data, method, share, kernel, out, report, force, seed, **source):
    """How unusual each row is, and which rows are beyond the threshold."""
    cls, method = known(method, DETECTORS), method.lower()
    check_share(share, method, kernel)
    out = out or default_out(data, "novelty")
    with screen.stages() as stage:
        opened = _open(screen, data, out, report, force, ["novelty", "novel"], **source)
        table, X = opened.table, opened.X
        chosen, approx = kernel_for(X, kernel)
        n = X.shape[0]
        stage(f"fitting {cls.__name__} to {n} rows", 0.7, counted=False)
        model = cls(approx=approx, random_state=seed, **detector(method, share, chosen)).fit(X)
        stage(f"scoring {n} rows", 0.9)
        score = np.empty(n)
        for begin in range(0, n, BLOCK):
            screen.step(f"scoring {n} rows", begin / n)
            score[begin : begin + BLOCK] = model.outlier_probability(X[begin : begin + BLOCK])
        order = np.lexsort((model.training_scores_, -score))  # most novel first
        outlier = np.zeros(len(score), dtype=bool)
        outlier[order[: max(1, int(share * len(score)))]] = True
        new = {"novelty": np.round(score, 4), "novel": np.where(outlier, "yes", "no")}
        worst = order[: outlier.sum()]
        page = lambda: pages.unusual(opened, score, worst, seed)  # noqa: E731
        _write(screen, stage, opened, new, out, report, force, page)
    names, worst = opened.names, worst[:10]
    odd = [opened.telling.odd(i)[1] for i in worst]
    screen.result |= {"novel": int(outlier.sum()), "rows": len(table), "most_novel": [names[i] for i in worst]}
    screen.result["rows_shown"] = [
        {"row": names[i], "novelty": score[i], "reason": reason, "cells": opened.telling.cells(i)}
        for i, reason in zip(worst, odd)
    ]
    screen.say(f"{int(outlier.sum())} of {len(table)} rows are the most unlike the others ({cls.__name__}).")
    lines = [(names[i], opened.telling.sentence(i), f"{score[i]:.3f}", reason) for i, reason in zip(worst, odd)]
    screen.table([source["id"] or "row", "what it is", "novelty", "why"], lines)
    _said(screen, out, report)
