"""The server's end of the learner process."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from ..errors import InputError
from .process import Process


class Teacher:
    """Sends labelings and requests to the learner, and passes on its messages.

    Parameters
    ----------
    process : in which it runs. arguments : those of `Learner` after the pipe.
    """

    _heard: Callable
    _loop: asyncio.AbstractEventLoop

    def __init__(self, process: Process, arguments: tuple) -> None:
        self._waiting: dict[int, asyncio.Future] = {}
        self._number, self._ended = 0, False
        self._process, self._pipe = process, process.pipe
        with contextlib.suppress(OSError):  # `listen` notices a process that has ended
            self._pipe.send(arguments)
        self._outbox: queue.SimpleQueue = queue.SimpleQueue()
        self._newest: Any = None  # task

    def listen(self, heard: Callable) -> None:
        """Call `heard` in this event loop from now on, with (kind, *content) of all messages except replies."""
        self._heard, self._loop = heard, asyncio.get_running_loop()
        for act in (self._listen, self._write):
            threading.Thread(target=act, daemon=True).start()

    def send(self, kind: str, *content: object) -> None:
        """Send a message to the learner. A thread writes it, because a full pipe would block the server."""
        if kind == "task":
            self._newest = content[0]
        self._outbox.put((kind, *content))

    async def ask(self, kind: str, *content: Any, seconds: float = 120.0) -> Any:
        """The reply of the learner. InputError is raised with a sentence if it has none."""
        self._number += 1
        number, future = self._number, self._loop.create_future()
        self._waiting[number] = future
        if self._ended:
            raise InputError("The learner is gone. Start `mercer studio` again. Every label is kept.")
        self.send(kind, number, *content)
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            raise InputError("The learner is busy. Ask again.") from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """End the process. It ends when it next reads the pipe, and is killed after two seconds."""
        self._ended = True
        self.send("quit")
        self._process.end(2 if hasattr(self, "_loop") else 0)  # no one writes to it before `listen`
        self._outbox.put(None)

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (message := self._outbox.get()) is not None:
                if message[0] != "task" or message[1] is self._newest:  # newer tasks replace those that waited
                    self._pipe.send(message)

    def _listen(self) -> None:
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

    def _gone(self) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(InputError("The learner is gone. Start `mercer studio` again. Labels are kept."))
        self._heard("gone")

    def _take(self, message) -> None:
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
