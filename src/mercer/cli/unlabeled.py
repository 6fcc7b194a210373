"""`mercer embed`, `mercer cluster` and `mercer novelty`: the commands that need no labels."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..inputs.tables.formats import default_out, located
from ..jobs import outliers, unlabeled, unlabeled_findings
from ..jobs.cluster_number import LEAST_ROWS, cluster_number
from ..jobs.options import ReadOptions
from ..kernels.base import KernelLike
from ..report import render
from .outputs import claim, keep, shown, write


def _read(console, stage, place, data, out: Path, report, force: bool, writes, *, scale, **source: Any):
    """Return the table and the matrix of its columns, with the outputs and the columns to write claimed."""
    claim(console, out, report, force=force)
    keep(data, report)
    stage("reading the table", 0.1)
    return unlabeled.read(place, ReadOptions(**source), scale, writes, console)


def _write(console, stage, dataset, new, out: Path, report, force: bool, page) -> None:
    """Write the table with new columns, and the report if there is to be one. `page` makes its findings."""
    others = {}
    if report:
        stage("making the report", 0.95)
        text = render(page())
        others[report] = lambda path: path.write_text(text, encoding="utf-8")
    stage("writing", 1.0)
    write(console, dataset.table, new, out, force, others)
    if report:
        console.result["report"] = str(report)


def _say_files(console, out: Path, report) -> None:
    console.say(f"Written to {shown(out)}.")
    if report:
        console.say(f"Report: {report}.")


def _words(kernel: KernelLike):
    """Return a kernel with no more digits than anyone reads."""
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", repr(kernel))


def embed(console, data, method, components, kernel, out, report, force, seed, **source):
    """Write positions on kernel principal components."""
    name, place = unlabeled.class_name(method, unlabeled.EMBEDDINGS), located(data)
    out, names = out or default_out(place, "embedded"), unlabeled.component_names(components)
    with console.stages() as stage:
        dataset = _read(console, stage, place, data, out, report, force, names, **source)
        n = len(dataset.names)
        stage(f"fitting {name} to {n} rows", 0.9, counted=False)
        found = unlabeled.embed(dataset, method, components, kernel, seed)
        share = getattr(found.model, "explained_variance_ratio_", None)
        page = lambda: unlabeled_findings.components(dataset, found.values, share, seed)  # noqa: E731
        _write(console, stage, dataset, found.columns, out, report, force, page)
    fitted_kernel = found.model.kernel_
    console.result |= {"method": name, "rows": n, "kernel": repr(fitted_kernel)}
    if share is not None:
        console.result["explained_variance_ratio"] = np.round(share, 6)
    console.say(f"{n} rows on {found.values.shape[1]} components of {name}, {_words(fitted_kernel)}.")
    if share is not None:
        console.say(f"They explain {share.sum():.0%} of the variance in feature space.")
    _say_files(console, out, report)


def cluster(console, data, clusters, kernel, out, report, force, seed, **source):
    """Write groups by kernel c-means, numbered from 1 by size."""
    place = located(data)
    out = out or default_out(place, "clustered")
    with console.stages() as stage:
        dataset = _read(console, stage, place, data, out, report, force, ["cluster"], **source)
        n = len(dataset.names)
        if clusters is None:
            stage("comparing numbers of groups", 0.4)
            clusters = _proposed(console, dataset.X, kernel, seed)
        stage(f"grouping {n} rows", 0.9)
        found = unlabeled.cluster(dataset, clusters, kernel, seed, console)
        codes, model = found.values - 1, found.model
        page = lambda: unlabeled_findings.groups(dataset, codes, model, kernel, seed, console)  # noqa: E731
        _write(console, stage, dataset, found.columns, out, report, force, page)
    sizes = np.bincount(codes, minlength=clusters).tolist()
    console.result |= {"sizes": sizes, "inertia": model.inertia_, "kernel": repr(model.kernel_)}
    sizes_shown = ", ".join(map(str, sizes[:12])) + (", …" if clusters > 12 else "")
    console.say(f"{n} rows in {clusters} groups of {sizes_shown} rows, {_words(model.kernel_)}.")
    _say_files(console, out, report)


def _proposed(console, X, kernel, seed):
    """Return the number of groups that is clearly best, or 2, and state this."""
    if len(X) < 2 * LEAST_ROWS:
        raise InputError(f"{len(X)} rows are too few to compare numbers of groups. Give --clusters.")
    found = cluster_number(X, kernel, seed, on_event=console)
    told = ", ".join(f"{number}: {score:.2f}" for number, score in found.separation.items())
    console.result |= {"separation": {str(number): score for number, score in found.separation.items()}}
    console.result |= {"proposed": found.proposed}
    rest = "" if found.proposed else " The rows are split into 2."
    console.note(f"{found.sentence}{rest} Separation from 0 to 1: {told}. --clusters names another number.")
    return found.proposed or 2


def novelty(
    console,
    data,
    method,
    share,
    false_alarms,
    discoveries,
    ordinary,
    target,
    kernel,
    out,
    report,
    force,
    seed,
    **source,
):
    """Write how unusual each row is, and which rows are flagged."""
    unlabeled.check_share(unlabeled.FRACTION if share is None else share, method, kernel)
    name, place = unlabeled.class_name(method, unlabeled.DETECTORS), located(data)
    out = out or default_out(place, "novelty")
    with console.stages() as stage:
        claim(console, out, report, force=force)
        keep(data, report)
        stage("reading the table", 0.1)
        options = ReadOptions(**{key: value for key, value in source.items() if key != "scale"})
        dataset, answers, drawn = outliers.read(place, options, source["scale"], target, console)
        matrix = None if ordinary is None else outliers.read_ordinary(ordinary, options, dataset, console)
        stage(f"fitting {name} to {len(dataset.names)} rows", 0.9, counted=False)
        detector = None
        if method.lower() != "auto":
            detector = unlabeled.detector(dataset.X, method, share or unlabeled.FRACTION, kernel, seed)
        found = outliers.find_outliers(
            dataset.X, answers, share, false_alarms, discoveries, seed, detector, matrix, drawn
        )
        worst = found.order[found.flagged[found.order]]
        why = outliers.reasons(dataset, found, worst[: outliers.EXPLAINED if report else 10])
        page = lambda: unlabeled_findings.unusual(dataset, found, why, seed)  # noqa: E731
        new = outliers.columns(found)
        if target and target not in dataset.table.frame.columns:
            new[target] = np.full(len(dataset.names), "")
        _write(console, stage, dataset, new, out, report, force, page)
    _say_outliers(console, dataset, found, worst, why[:10], name, source["id"])
    if share is None and false_alarms is None and discoveries is None:
        console.say("Another threshold: --fraction 0.01 flags 1% of the rows. See `mercer novelty --help`.")
    _say_files(console, out, report)
    if target:
        console.say(
            f"To correct the scores, write odd or ordinary into some cells of the column {target}, and run "
            f"`mercer novelty {shown(out)} --target {target} -o FILE`."
        )


def _say_outliers(console, dataset, found, worst, why, name: str, id) -> None:
    """Print which rows are flagged, the first ones with their reasons, and what is known of their number."""
    names, distinctive, score = dataset.names, dataset.distinctive, found.probability
    console.result |= {"novel": len(worst), "rows": len(names), "most_novel": [names[one.row] for one in why]}
    console.result["rows_shown"] = [
        {
            "row": names[one.row],
            "novelty": score[one.row],
            "reason": one.sentence,
            "cells": distinctive.cells(one.row),
            "columns": [dict(zip(("column", "part", "cell", "ordinary"), column)) for column in one.columns],
            "nearest": [names[i] for i in one.nearest],
        }
        for one in why
    ]
    console.result |= {"threshold": found.sentence, "fraction": found.fraction}
    console.say(f"{len(worst):,} of {len(names):,} rows are flagged as outliers ({name}). {found.sentence}")
    lines = [
        (names[one.row], distinctive.sentence(one.row), f"{score[one.row]:.3f}", one.sentence, _nearest(names, one))
        for one in why
    ]
    if lines:
        console.table([id or "row", "what it is", "novelty", "why", "nearest ordinary"], lines)
    console.say(found.fraction)


def _nearest(names, one):
    return ", ".join(names[i] for i in one.nearest[:2])
