"""The model of the standard sizes, prepared in a thread while the first, smaller model predicts."""

import contextlib
import threading
from collections.abc import Iterator

from ..errors import InputError
from ..events import Event
from ..few_label.classifier import FewLabelClassifier
from ..few_label.regressor import FewLabelRegressor
from ..types import Rows


class Preparation:
    """Prepares the model that Python would be on the same rows, within `going_on` only.

    Outside of that context the space that is being built is finished, and the next one is not begun.

    Parameters
    ----------
    model : FewLabelClassifier or FewLabelRegressor, with its parameters. X : (n, d) rows.
    more : further arguments of `prepare`, such as hints.
    """

    def __init__(self, model: FewLabelClassifier | FewLabelRegressor, X: Rows, more: dict | None = None) -> None:
        self._idle = threading.Event()
        self._found: list[FewLabelClassifier | FewLabelRegressor | Exception] = []
        self._thread = threading.Thread(target=self._prepare, args=(model, X, more or {}), daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        """Context in which no one waits for anything else."""
        self._idle.set()
        try:
            yield
        finally:
            self._idle.clear()

    @property
    def done(self) -> bool:
        """Whether there is a model, or a reason why there is none."""
        return not self._thread.is_alive()

    @property
    def model(self) -> FewLabelClassifier | FewLabelRegressor:
        """The prepared model. InputError with the reason if there is none."""
        (found,) = self._found
        if isinstance(found, Exception):
            raise InputError(f"The model of all rows could not be prepared: {found}")
        return found

    def _prepare(self, model: FewLabelClassifier | FewLabelRegressor, X: Rows, more: dict) -> None:
        try:
            self._found.append(model.prepare(X, on_event=self._wait, **more))
        except Exception as error:  # reported by `model`
            self._found.append(error)

    def _wait(self, event: Event) -> None:
        self._idle.wait()
