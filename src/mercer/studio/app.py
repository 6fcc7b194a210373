"""The routes of the page. Those that read are here, and those that change something are in `session`."""

import asyncio
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from ..bridges.http import json_object
from ..errors import InputError
from .annotators import HEADER, agreement_of, named
from .answering import no_accuracy, no_answers
from .changes import Refused
from .history import event_message, history
from .hub import event_text
from .ledger import CANNOT
from .regions import regions
from .session import Session

MOST_ROWS = 200
DIGITS = 12
SIDES = (192, 1200)  # pixels: of small pictures, and of the one on the card
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def application(session: Session, quit: Callable[[], object] | None = None) -> Starlette:
    """The ASGI application of a session. `quit` is called when the page requests the end."""
    pages = Pages(session, quit)
    posts = {
        "label": session.label,
        "accept": session.accept,
        "skip": session.skip,
        "note": session.note,
        "several": session.several,
        "undo": session.undo,
        "redo": session.redo,
        "class": session.change_class,
        "settings": session.change_settings,
        "export": session.export,
        "cancel": pages.cancel,
        "quit": pages.quit,
    }
    gets = "session map regions labels answers rows find queue suspicious accuracy history events"
    routes = [Route(f"/api/{name}", getattr(pages, name)) for name in gets.split()]
    routes += [Route(f"/api/{name}", _posting(session, act), methods=["POST"]) for name, act in posts.items()]
    routes += [Route("/api/why/{row}", pages.why), Route("/api/image/{row}", pages.image)]
    routes += [Route("/api/download/{name}", pages.download)]
    routes += [Route("/", pages.page), Route("/static/{name}", pages.static)]
    handlers: dict = {Refused: _refused, HTTPException: _no_such_thing}
    return Starlette(routes=routes, exception_handlers=handlers)


def _posting(session: Session, act: Callable) -> Callable:
    async def post(request: Request) -> Response:
        try:
            body = session.signed(json_object(await request.body()), annotator(session, request))
        except InputError as error:
            raise Refused(400, str(error)) from None
        except ClientDisconnect:
            raise Refused(400, "The request was cut off.") from None
        done = act(body)
        return JSONResponse(await done if asyncio.iscoroutine(done) else done)

    return post


def annotator(session: Session, request: Request) -> str | None:
    """The name of the person who sent a request, from the page or else from the session."""
    return named(request.headers.get(HEADER), encoded=True) or session.annotator


async def _refused(request: Request, error: Refused) -> Response:
    return JSONResponse({"error": str(error)}, error.status)


async def _no_such_thing(request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


class Pages:
    """The routes that the page reads."""

    def __init__(self, session: Session, quit: Callable[[], object] | None) -> None:
        self._session, self._quit = session, quit
        self._folder = resources.files(__package__) / "page"
        self._regions: list | None = None

    async def page(self, request: Request) -> Response:
        return await self._file("index.html")

    async def static(self, request: Request) -> Response:
        return await self._file(request.path_params["name"])

    async def _file(self, name: str) -> Response:
        """A file of the page. Names with a slash never reach this method."""
        folder = resources.files("mercer.report") if name == "theme.css" else self._folder
        known = {file.name: file for file in folder.iterdir() if file.is_file()}
        if name not in known or Path(name).suffix not in KINDS:
            raise Refused(404, "There is no such file.")
        return Response(known[name].read_bytes(), media_type=KINDS[Path(name).suffix])

    async def session(self, request: Request) -> Response:
        s = self._session
        return JSONResponse(
            {
                "annotator": annotator(s, request),
                "annotators": sorted(set(s.ledger.annotators.values())),
                "version": __version__,
                "session": s.folder.settings.get("session"),
                "file": s.data.name,
                "target": s.target,
                "targets": s.options.get("targets", [s.target]),
                "n": len(s.rows),
                "rev": s.journal.rev,
                "numeric": s.ledger.numeric,
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

    async def regions(self, request: Request) -> Response:
        """The dense regions of the map and their names."""
        s = self._session
        if s.map is None:
            raise Refused(404, "The map is not ready yet.")
        if self._regions is None:
            xy = np.frombuffer(s.map, dtype="<u2").reshape(-1, 2)
            self._regions = await run_in_threadpool(regions, xy, s.rows.texts)
        return JSONResponse({"regions": self._regions})

    async def labels(self, request: Request) -> Response:
        ledger, since = self._session.ledger, _number(request, "since", 0)
        blind = set(self._session.doubles.waiting(ledger, annotator(self._session, request)))
        changed = [row for row, rev in ledger.changed.items() if rev > since]
        labels = {row for row in changed if row in ledger.labels and row not in blind}
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
                    if row in labels
                ],
                "removed": [row for row in changed if row not in labels],
                "undo": bool(ledger.undoable),
                "redo": bool(ledger.redoable),
            }
        )

    async def answers(self, request: Request) -> Response:
        answer, n = self._session.answer, len(self._session.rows)
        body = no_answers(n, self._session.ledger.numeric) if answer is None else answer.content
        headers = {
            "X-Mercer-Rev": str(self._session.journal.rev if answer is None else answer.rev),
            "X-Mercer-Tier": "none" if answer is None else answer.tier,
            "X-Mercer-Digest": "" if answer is None else answer.digest,
        }
        return Response(body, media_type="application/octet-stream", headers=headers)

    async def rows(self, request: Request) -> Response:
        hidden = self._session.hidden(annotator(self._session, request))
        return JSONResponse({"rows": [self._row(self._known(row), hidden) for row in _numbers(request, "ids")]})

    def _row(self, row: int, hidden: set) -> dict:
        s = self._session
        guess = None
        if s.answer is not None and row not in hidden:
            guess = s.answer.likely(row)
        return {
            "row": row,
            "name": s.rows.name(row),
            "cells": s.rows.cells(row),
            "text": s.rows.shown_text(row),
            "image": bool(s.rows.image),
            "label": None if row in hidden else s.ledger.value(row),
            "note": s.ledger.notes.get(row, ""),
            "guess": guess,
        }

    async def find(self, request: Request) -> Response:
        words = request.query_params.get("q", "")
        rows, more = await run_in_threadpool(self._session.rows.find, words) if words else ([], False)
        return JSONResponse({"rows": rows, "more": more})

    async def image(self, request: Request) -> Response:
        row, side = self._known(_whole("row", request.path_params["row"])), _number(request, "side", 0)
        if side and side not in SIDES:
            raise Refused(400, f"Invalid side={side}; expected one of {', '.join(map(str, SIDES))}.")
        found = await run_in_threadpool(self._session.rows.picture, row, side or None)
        if found is None:
            raise Refused(404, "This row has no image.")
        return Response(found[0], media_type=found[1])

    async def download(self, request: Request) -> Response:
        """An exported file, by the name that `export` returned."""
        folder, name = self._session.folder.path / "exports", request.path_params["name"]
        known = {file.name: file for file in folder.iterdir() if file.is_file() and not file.is_symlink()}
        if name not in known:
            raise Refused(404, "There is no such export. Export it again.")
        return FileResponse(known[name], media_type="application/octet-stream", filename=name)

    async def queue(self, request: Request) -> Response:
        s = self._session
        found = s.queue or {"rev": s.journal.rev, "mode": "coverage", "items": []}
        ledger, name = s.ledger, annotator(s, request)
        hidden = s.hidden(name)
        items = [
            item
            for item in found["items"]
            if ledger.skipped.get(item["row"], (0,))[0] <= found["rev"]
            and (item["row"] in hidden if item["via"] == "random" else item["row"] not in ledger.labels)
        ]
        items = s.doubles.mixed(items, ledger, name)
        given = {row: one.value for row, one in ledger.labels.items() if one.value != CANNOT and row not in hidden}
        columns = s.rows.ordered(given)
        return JSONResponse(found | {"items": items, "checks": sorted(hidden), "columns": columns})

    async def suspicious(self, request: Request) -> Response:
        s = self._session
        hidden = s.hidden(annotator(s, request))
        items = [
            item
            for item in s.suspicious["items"]
            if item["row"] not in hidden
            and s.ledger.value(item["row"]) == item["given"]
            and s.ledger.labels[item["row"]].via != "review"
        ]
        return JSONResponse(s.suspicious | {"items": items})

    async def accuracy(self, request: Request) -> Response:
        s = self._session
        more = {"agreement": agreement_of(s.ledger), "promise": s.promise and s.promise["facts"]}
        return JSONResponse((s.accuracy or no_accuracy(s.task())) | more)

    async def why(self, request: Request) -> Response:
        row = self._known(_whole("row", request.path_params["row"]))
        return JSONResponse(await self._session.why(row, annotator(self._session, request)))

    async def history(self, request: Request) -> Response:
        s = self._session
        before, limit = _number(request, "before", s.journal.rev + 1), min(_number(request, "limit", 50), 500)
        blind = s.hidden(annotator(s, request))
        return JSONResponse({"events": history(s.journal.events, s.ledger, s.rows, before, limit, blind)})

    async def events(self, request: Request) -> Response:
        s = self._session
        last = request.query_params.get("since") or request.headers.get("last-event-id") or ""
        first = [event_text("hello", {"rev": s.journal.rev}, None)]
        if last.isascii() and last.isdecimal() and len(last) <= DIGITS:
            first += [event_text(*event_message(event), event["rev"]) for event in s.journal.events[int(last) :]]
        first.append(event_text("stage", s.stage))
        if s.problem:
            first.append(event_text("problem", s.problem))
        return StreamingResponse(s.hub.listen(first), media_type="text/event-stream")

    def cancel(self, body: dict) -> dict:
        """Stop computing the present predictions."""
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
    if len(words) > MOST_ROWS:
        raise Refused(400, f"{len(words)} {name} are too many; expected at most {MOST_ROWS} row numbers with commas.")
    return [_whole(name, word) for word in words]


def _number(request: Request, name: str, default: int) -> int:
    word = request.query_params.get(name, "")
    return _whole(name, word) if word else default


def _whole(name: str, word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= DIGITS):
        raise Refused(400, f"Invalid {name}={word[:40]!r}; expected a whole number of at most {DIGITS} digits.")
    return int(word)
