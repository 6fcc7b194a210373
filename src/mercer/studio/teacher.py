"""The server's end of the learner process."""

import asyncio
import contextlib
import multiprocessing
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError
from .learner import learn


class Teacher:
    """Starts the learner, sends it labellings and questions, and passes on what it says.

    Parameters
    ----------
    arguments : those of `learner.learn` after the pipe.
    """

    _heard: Callable
    _loop: asyncio.AbstractEventLoop

    def __init__(self, arguments: tuple):
        self._waiting: dict[int, asyncio.Future] = {}
        self._number, self._ended = 0, False
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self.process = context.Process(target=learn, args=(other, *map(_plain, arguments)), daemon=True)
        self.process.start()
        other.close()  # so that the pipe ends with the process
        self._outbox: queue.SimpleQueue = queue.SimpleQueue()
        self._newest: Any = None  # task

    def listen(self, heard: Callable) -> None:
        """From now on `heard` is called in this event loop, with (kind, *content) of everything but replies."""
        self._heard, self._loop = heard, asyncio.get_running_loop()
        for act in (self._listen, self._write):
            threading.Thread(target=act, daemon=True).start()

    def send(self, kind: str, *content: Any) -> None:
        """Tell the learner something; a thread writes it, for a pipe that is full would hold up the server."""
        if kind == "task":
            self._newest = content[0]
        self._outbox.put((kind, *content))

    async def ask(self, kind: str, *content: Any, seconds: float = 120.0) -> Any:
        """The learner's reply; InputError with its sentence where it has none."""
        self._number += 1
        number, future = self._number, self._loop.create_future()
        self._waiting[number] = future
        if self._ended:
            raise InputError("The learner is gone. Start `mercer studio` again; every label is kept.")
        self.send(kind, number, *content)
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            raise InputError("The learner is busy. Ask again.") from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """End the process: it leaves when it next looks at the pipe, and is made to after two seconds."""
        self._ended = True
        self.send("quit")
        self.process.join(2 if hasattr(self, "_loop") else 0)  # nobody writes to it before `listen`
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._outbox.put(None)
        self._pipe.close()

    def _write(self):
        with contextlib.suppress(OSError, ValueError):
            while (message := self._outbox.get()) is not None:
                if message[0] != "task" or message[1] is self._newest:  # others were overtaken while they waited
                    self._pipe.send(message)

    def _listen(self):
        try:
            while True:
                message = self._pipe.recv()
                self._loop.call_soon_threadsafe(self._take, message)
        except (EOFError, OSError, RuntimeError):
            ended, self._ended = self._ended, True
            if not ended:
                try:
                    self._loop.call_soon_threadsafe(self._gone)
                except RuntimeError:  # the loop has ended before
                    return

    def _gone(self):
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(InputError("The learner is gone. Start `mercer studio` again; labels are kept."))
        self._heard("gone")

    def _take(self, message):
        kind, *content = message
        if kind != "reply":
            self._heard(kind, *content)
            return
        number, value, error = content
        future = self._waiting.get(number)
        if future is not None and not future.done():
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(InputError(error))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
