"""The learner's process. Nothing heavy is imported here: it loads its modules while the server loads its own."""

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
        """Wait so long for it to leave by itself, then make it."""
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.pipe.close()


def learn(pipe: Any) -> None:
    """Run the learning process: everything comes and goes through the pipe, and its end is the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the pipe
    with contextlib.suppress(OSError):
        os.nice(2)  # a label is on the disk before anything is learned from it
    warnings.simplefilter("ignore")
    from ..backend import single_threaded_blas
    from ..inputs.tables.images import stay_inside
    from .learner import Learner, warm

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), single_threaded_blas():
        stay_inside()
        warm()
        Learner(pipe, *pipe.recv()).run()
