"""The routes of the page. Reading is here; what changes something is in `session`."""

import asyncio
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from .answering import NONE, no_accuracy
from .changes import Refused
from .history import history
from .hub import event_text
from .session import Session, told

MOST_ROWS = 200
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def application(session: Session, quit: Any = None) -> Starlette:
    """The ASGI application of a session; `quit` is called when the page asks for the end."""
    pages = Pages(session, quit)
    posts = {
        "label": session.label,
        "undo": session.undo,
        "redo": session.redo,
        "class": session.change_class,
        "settings": session.change_settings,
        "export": session.export,
        "cancel": pages.cancel,
        "quit": pages.quit,
    }
    gets = "session map labels answers rows find queue suspicious accuracy history events"
    routes = [Route(f"/api/{name}", getattr(pages, name)) for name in gets.split()]
    routes += [Route(f"/api/{name}", _posting(act), methods=["POST"]) for name, act in posts.items()]
    routes += [Route("/api/why/{row:int}", pages.why), Route("/api/image/{row:int}", pages.image)]
    routes += [Route("/", pages.page), Route("/static/{name}", pages.static)]
    handlers: dict = {Refused: _refused, HTTPException: _no_such_thing}
    return Starlette(routes=routes, exception_handlers=handlers)


def _posting(act):
    async def post(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except (ValueError, ClientDisconnect):
            raise Refused(400, "The request is not JSON.") from None
        if not isinstance(body, dict):
            raise Refused(400, "Send a JSON object.")
        done = act(body)
        return JSONResponse(await done if asyncio.iscoroutine(done) else done)

    return post


async def _refused(request: Request, error: Any) -> Response:
    return JSONResponse({"error": str(error)}, error.status)


async def _no_such_thing(request: Request, error: Any) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


class Pages:
    """What the page reads."""

    def __init__(self, session: Session, quit: Any):
        self._session, self._quit = session, quit
        self._folder = resources.files(__package__) / "page"

    async def page(self, request: Request) -> Response:
        return await self._file("index.html")

    async def static(self, request: Request) -> Response:
        return await self._file(request.path_params["name"])

    async def _file(self, name: str) -> Response:
        """A file of the page by its own name: names with a slash never come here, and no others are known."""
        folder: Any = resources.files("mercer.report") if name == "theme.css" else self._folder
        known = {file.name: file for file in folder.iterdir() if file.is_file()}
        if name not in known or Path(name).suffix not in KINDS:
            raise Refused(404, "There is no such file.")
        return Response(known[name].read_bytes(), media_type=KINDS[Path(name).suffix])

    async def session(self, request: Request) -> Response:
        s = self._session
        return JSONResponse(
            {
                "version": __version__,
                "session": s.folder.settings.get("session"),
                "file": s.data.name,
                "target": s.target,
                "n": len(s.rows),
                "rev": s.journal.rev,
                **s.ledger.settings,
                "demo": s.demo,
                "stage": s.stage,
                "classes": s.ledger.classes,
                "columns": s.rows.columns,
                "text": s.rows.text,
                "image": s.rows.image,
                "id": s.rows.id,
                "map": s.map is not None,
                "problem": s.problem,
                "notes": s.rows.notes,
                "repaired": s.journal.repaired,
            }
        )

    async def map(self, request: Request) -> Response:
        if self._session.map is None:
            raise Refused(404, "The map is not ready yet.")
        return Response(self._session.map, media_type="application/octet-stream")

    async def labels(self, request: Request) -> Response:
        ledger, since = self._session.ledger, _number(request, "since", 0)
        changed, labels = [row for row, rev in ledger.changed.items() if rev > since], ledger.labels
        return JSONResponse(
            {
                "rev": self._session.journal.rev,
                "labels": [
                    {
                        "row": row,
                        "class": ledger.labels[row].value,
                        "via": ledger.labels[row].via,
                        "rev": ledger.changed[row],
                    }
                    for row in changed
                    if row in ledger.labels
                ],
                "removed": [row for row in changed if row not in labels],
                "undo": bool(ledger.undoable),
                "redo": bool(ledger.redoable),
            }
        )

    async def answers(self, request: Request) -> Response:
        answer, n = self._session.answer, len(self._session.rows)
        body = np.tile(np.array([NONE, NONE, 0], dtype=np.uint8), n).tobytes() if answer is None else answer.triples
        headers = {
            "X-Mercer-Rev": str(self._session.journal.rev if answer is None else answer.rev),
            "X-Mercer-Tier": "none" if answer is None else answer.tier,
            "X-Mercer-Digest": "" if answer is None else answer.digest,
        }
        return Response(body, media_type="application/octet-stream", headers=headers)

    async def rows(self, request: Request) -> Response:
        return JSONResponse({"rows": [self._row(self._known(row)) for row in _numbers(request, "ids")]})

    def _row(self, row):
        s = self._session
        guess = None
        if s.answer is not None:
            guess = [[int(c), float(p)] for c, p in zip(s.answer.top[row], s.answer.shares[row])]
        return {
            "row": row,
            "name": s.rows.name(row),
            "cells": s.rows.cells(row),
            "text": s.rows.shown_text(row),
            "image": bool(s.rows.image),
            "label": s.ledger.value(row),
            "guess": guess,
        }

    async def find(self, request: Request) -> Response:
        words = request.query_params.get("q", "")
        rows, more = await run_in_threadpool(self._session.rows.find, words) if words else ([], False)
        return JSONResponse({"rows": rows, "more": more})

    async def image(self, request: Request) -> Response:
        found = await run_in_threadpool(self._session.rows.picture, self._known(request.path_params["row"]))
        if found is None:
            raise Refused(404, "This row has no image.")
        return Response(found[0], media_type=found[1])

    async def queue(self, request: Request) -> Response:
        s = self._session
        found = s.queue or {"rev": s.journal.rev, "mode": "coverage", "items": []}
        skipped = set(_numbers(request, "exclude"))
        items = [item for item in found["items"] if item["row"] not in s.ledger.labels and item["row"] not in skipped]
        s.skip(skipped, len(items))
        return JSONResponse(found | {"items": items})

    async def suspicious(self, request: Request) -> Response:
        s = self._session
        items = [
            item
            for item in s.suspicious["items"]
            if s.ledger.value(item["row"]) == item["given"] and s.ledger.labels[item["row"]].via != "review"
        ]
        return JSONResponse(s.suspicious | {"items": items})

    async def accuracy(self, request: Request) -> Response:
        return JSONResponse(self._session.accuracy or no_accuracy(self._session.task()))

    async def why(self, request: Request) -> Response:
        return JSONResponse(await self._session.why(self._known(request.path_params["row"])))

    async def history(self, request: Request) -> Response:
        s = self._session
        before, limit = _number(request, "before", s.journal.rev + 1), min(_number(request, "limit", 50), 500)
        return JSONResponse({"events": history(s.journal.events, s.ledger, s.rows, before, limit)})

    async def events(self, request: Request) -> Response:
        s = self._session
        last = request.query_params.get("since") or request.headers.get("last-event-id") or ""
        first = [event_text("hello", {"rev": s.journal.rev}, None)]
        if last.isdecimal():
            first += [event_text(*told(event), event["rev"]) for event in s.journal.events[int(last) :]]
        first.append(event_text("stage", s.stage))
        if s.problem:
            first.append(event_text("problem", s.problem))
        return StreamingResponse(s.hub.listen(first), media_type="text/event-stream")

    def cancel(self, body: dict) -> dict:
        """Give up the answer that is being made."""
        if self._session.teacher:
            self._session.teacher.send("cancel")
        return {"rev": self._session.journal.rev}

    def quit(self, body: dict) -> dict:
        """End the server."""
        if self._quit:
            asyncio.get_running_loop().call_later(0.1, self._quit)
        return {"rev": self._session.journal.rev}

    def _known(self, row: int) -> int:
        if not 0 <= row < len(self._session.rows):
            raise Refused(404, f"There is no row {row}.")
        return row


def _numbers(request: Request, name: str) -> list[int]:
    words = [word for word in request.query_params.get(name, "").split(",") if word]
    if len(words) > MOST_ROWS or not all(word.isascii() and word.isdecimal() for word in words):
        raise Refused(400, f"{name} are not accepted: give at most {MOST_ROWS} row numbers with commas.")
    return [int(word) for word in words]


def _number(request: Request, name: str, default: int) -> int:
    word = request.query_params.get(name, "")
    if word and not (word.isascii() and word.isdecimal()):
        raise Refused(400, f"{name}={word!r} is not a number.")
    return int(word) if word else default
