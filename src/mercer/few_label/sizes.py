"""Sizes and budgets of the few-label models, in one table for Python, the command and the web app.

`SIZES` is the only place with these numbers, so that the same table gets the same predictions by every route. It is
also in docs/approximation.md. The number of landmarks, and the rows up to which kernels are exact, are in
`mercer.geometry.open.POLICIES`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes and budgets.

    Attributes
    ----------
    core_rows : int
        Most rows that are decomposed. Of a larger table a random sample of so many is decomposed, and the other rows
        are predicted through their places in it. Of a folder at most so many rows and labels are read for the fit.
    seconds : float
        Seconds of work on one core, estimated from the sizes. The default of `time_budget` and of `--seconds`.
    first_rows, first_seconds : int, float
        The same for the first model of a session in the web app, which predicts until the model of the standard sizes
        is prepared.
    label_entries : int
        Most labels times classes that are fitted. Of more labels a random sample with every class in it is fitted.
    large_rows : int
        Rows above which one graph, one RBF and one linear space are enough, all on the leading components. Their
        features are in single precision, and typical margins are seen on `margin_rows` of them.
    support_rows : int
        Training rows that others are compared with, to see whether they are far from all of them.
    advice_rows : int
        Most rows that advice compares with each other.
    block_rows : int
        New rows that are predicted at once.
    thread_rows : int
        New rows that one thread predicts at once. A device searches for neighbors meanwhile.
    held_bytes : int
        Of the features of the rows outside the core. If they take more, they are computed each time that they are
        needed. Their neighbors in graphs are always kept.
    points : int
        Rows that are drawn in a report, which is then about half a megabyte.
    """

    core_rows: int = 50_000
    seconds: float = 60.0
    first_rows: int = 6_000
    first_seconds: float = 12.0
    label_entries: int = 2_000_000
    large_rows: int = 5_000
    margin_rows: int = 1_000
    support_rows: int = 2_000
    advice_rows: int = 5_000
    block_rows: int = 10_000
    thread_rows: int = 65_536
    held_bytes: int = 536_870_912
    points: int = 10_000


SIZES = Sizes()


def room_on(device: str | None, n_bytes: int, spare: int = 4) -> bool:
    """Whether a device can keep so many bytes. `spare` times as many must be free, if that is known."""
    from ..backend import memory_available  # which imports NumPy, and the command reads the sizes without it

    free = memory_available(device)
    return free is None or spare * n_bytes <= free
