"""The process of the learner. It imports its modules while the server imports its own."""

import contextlib
import multiprocessing
import os
import signal
import warnings
from typing import Any


class Process:
    """A process that waits for the arguments of `Learner`, after the pipe, and then learns until the pipe is closed."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=learn, args=(other,), daemon=True)
        self._process.start()
        other.close()  # so that the pipe ends with the process

    def end(self, seconds: float = 0.0) -> None:
        """Wait so many seconds until it ends, then kill it."""
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.pipe.close()


def learn(pipe: Any) -> None:
    """Run the learning process until its pipe is closed. All messages go through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and closes the pipe
    with contextlib.suppress(OSError):
        os.nice(2)  # the server writes labels first
    warnings.simplefilter("ignore")
    from ..backend import single_threaded_blas
    from ..inputs.tables.images import stay_inside
    from .learner import Learner, warm

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), single_threaded_blas():
        stay_inside()
        warm()
        Learner(pipe, *pipe.recv()).run()
