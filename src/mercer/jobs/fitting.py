"""Fit a few-label model to a dataset, and predict with a saved one in blocks of rows."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..events import Event, Fact, Note, OnEvent, Progress
from ..few_label.catalog import methods_of
from ..few_label.sizes import Sizes
from ..types import Estimator, Frame
from .dataset import Dataset
from .options import check_methods

FAMILIAR = 0.5  # a row with a smaller trust is unlike all training rows


def fit_model(dataset: Dataset, model: Estimator, on_event: OnEvent) -> list[str]:
    """Fit a few-label model to the labels of a dataset. Return notes for the report.

    Ctrl-C ends the search and keeps the candidates fitted so far. A model that was fitted to other labels of the same
    rows keeps everything that does not depend on labels.
    """
    check_methods(model.methods, dataset.labels.numeric, dataset.target)
    methods = methods_of("numbers" if dataset.labels.numeric else "classes")

    def report(event: Event) -> None:
        if isinstance(event, Progress) and event.method is not None and event.method in methods:
            event = replace(event, text=f"trying {methods[event.method].title}")
        on_event(event)

    y, more = dataset.labels.of(np.arange(len(dataset.names))), {"hints": dataset.hints} if dataset.hints else {}
    if dataset.links is not None:
        more["graph"] = dataset.links
    if hasattr(model, "library_"):
        model.relabel(y, dataset.drawn)
    else:
        model.fit(dataset.X, y, drawn=dataset.drawn, on_event=report, **more)
    on_event(Fact("interrupted", model.interrupted_))
    if model.interrupted_:
        what = f"Interrupted. The prediction is that of the {len(model.candidates_)} candidates tried so far"
        on_event(Note(f"{what}. Ctrl-C again stops without writing."))
        return [f"{what}."]
    if model.skipped_:
        what = f"Not fitted within the time budget (--seconds {model.time_budget:g}): {', '.join(model.skipped_)}."
        on_event(Note(what))
        return [what]
    return []


def in_blocks(
    predict: Callable[[Frame], tuple[np.ndarray, ...]], frame: Frame, on_event: OnEvent, sizes: Sizes
) -> tuple[np.ndarray, ...]:
    """Return the arrays that `predict` returns for all rows, computed in blocks of rows."""
    found = []
    for begin in range(0, len(frame), sizes.block_rows):
        on_event(Progress(f"labeling {len(frame)} rows", begin / len(frame)))
        found.append(predict(frame.iloc[begin : begin + sizes.block_rows]))
    return tuple(map(np.concatenate, zip(*found)))
