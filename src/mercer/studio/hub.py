"""Send server-sent events to all listeners, in the same order."""

import asyncio
import json
from collections.abc import AsyncIterator

QUIET = 15.0  # seconds after which a comment is sent, so that a lost connection is noticed
MOST = 10_000  # events waiting for a listener; one that does not read is dropped, and connects again


class Hub:
    """The listeners of a session."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue] = set()
        self.closed = False

    def tell(self, name: str, content: dict, rev: int | None = None) -> None:
        """Send an event to all listeners. Call it in the event loop."""
        text = event_text(name, content, rev)
        for listener in list(self._listeners):
            try:
                listener.put_nowait(text)
            except asyncio.QueueFull:
                self._listeners.discard(listener)
                while not listener.empty():
                    listener.get_nowait()
                listener.put_nowait(None)

    async def listen(self, first: list[str]) -> AsyncIterator[str]:
        """The texts of the events from now on, after those in `first`."""
        queue: asyncio.Queue = asyncio.Queue(MOST)
        self._listeners.add(queue)
        try:
            for text in first:
                yield text
            while not self.closed or not queue.empty():
                try:
                    text = await asyncio.wait_for(queue.get(), QUIET)
                except TimeoutError:
                    yield ":\n\n"
                    continue
                if text is None:
                    return
                yield text
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        """Tell the listeners that the server ends, and end all streams."""
        self.tell("bye", {})
        self.closed = True
        for listener in self._listeners:
            listener.put_nowait(None)


def event_text(name: str, content: object, rev: int | None = None) -> str:
    """The text of one event, as it is sent."""
    number = "" if rev is None else f"id: {rev}\n"
    return f"{number}event: {name}\ndata: {json.dumps(content, separators=(',', ':'), ensure_ascii=False)}\n\n"
