"""Accept requests only from a browser on this machine that opened the printed address.

A page on the web can make a browser send requests to 127.0.0.1, and can give its own name that address (rebinding). So
the Host header must be exactly that of this server. Requests caused by other sites are refused, and so is content that
is not JSON. All requests need a cookie, which other sites cannot send. A browser sends cookies to all ports of a host,
also to those of other users of this machine. So requests about the table need a key in addition. The page keeps it in
the storage of its origin, which no other port can read. The printed address works once. The next one is kept in a file
that only this user can read.

In a notebook the page is a frame of another site, in which browsers send no cookies. There only the key is required.
The notebook has it in the address of the frame, after a #, which is sent to no server. Only pages of this machine and
VS Code can show the frame.
"""

import json
import secrets
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
FRAMED = {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'",
        "frame-ancestors http://127.0.0.1:* http://localhost:* https://localhost:* vscode-webview: vscode-file:",
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
}
MOST_BYTES = 8_000_000  # of a request


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    app : the application. port : of the server.
    on_used : function that is called with the next address when one was used.
    embedded : whether the page is a frame in a notebook.

    Attributes
    ----------
    token : 256 random bits, another one after each use. key : 256 further bits, which the page sends with each request.
    """

    def __init__(
        self, app: "ASGIApp", port: int, on_used: Callable[[str], object] | None = None, embedded: bool = False
    ) -> None:
        self.embedded = embedded
        self._headers = {name: FRAMED.get(name, value) for name, value in HEADERS.items()} if embedded else HEADERS
        if embedded:
            self._headers = {name: value for name, value in self._headers.items() if name != "X-Frame-Options"}
        self.app, self.port, self._on_used, self.key = app, port, on_used, secrets.token_urlsafe(32)
        self.token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name = f"mercer_{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def url(self) -> str:
        """The address to open."""
        if self.embedded:
            return f"http://127.0.0.1:{self.port}/#{self.key}"
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refusal(scope, _headers(scope))
            if refused is None:
                await self.app(scope, _limited(receive), _with_headers(send, self._headers))
            else:
                await _answer(_with_headers(send, self._headers), *refused)

    def _refusal(self, scope: "Scope", headers: dict) -> tuple[int, str, dict] | None:
        """(status, sentence, more headers) for a request that is refused. None for one that is accepted."""
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421, "This server answers to 127.0.0.1 only.", {}
        opened = self.embedded and scope["method"] == "GET" and scope["path"] == "/"
        if not opened and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another site asked for this.", {}
        if "origin" in headers and headers["origin"] != f"http://{host}":
            return 403, "Another site asked for this.", {}
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given, known = asked.get("token", [""])[0], self.embedded or _same(_cookie(headers, self.name), self._cookie)
        if scope["method"] == "GET" and scope["path"] == "/" and given:
            return self._open(given, known)
        if not known:
            return 401, "Open the address that `mercer studio` printed.", {}
        key = headers.get("x-mercer-key") or (asked.get("key", [""])[0] if scope["path"] == "/api/events" else "")
        if scope["path"].startswith("/api/") and not _same(key, self.key):
            return 401, "This page has no key. Open the address that `mercer studio` printed.", {}
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return 415, "Send JSON.", {}
            length = headers.get("content-length", "0")
            if not length.isdecimal() or len(length) > 12 or int(length) > MOST_BYTES:
                return 413, "This request is too long.", {}
        return None

    def _open(self, given, known):
        """Exchange the token for cookie and key, once."""
        if _same(given, self.token):
            self.token = secrets.token_urlsafe(32)
            if self._on_used:
                self._on_used(self.url)
            cookie = f"{self.name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
            return 303, "", {"Location": f"/#{self.key}", "Set-Cookie": cookie}
        if known:  # opened again in the same browser
            return 303, "", {"Location": "/"}
        sentence = "This address was used already, or is of an earlier server. Each works once: run the same `mercer "
        return 401, sentence + "studio` command again in another terminal, which prints the next one.", {}


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(), wanted.encode())


def _headers(scope: "Scope") -> dict:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _cookie(headers: dict, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _limited(receive: Callable) -> Callable:
    """Bodies without a length are cut off at the same number of bytes."""
    seen = 0

    async def limited():
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= MOST_BYTES else {"type": "http.disconnect"}

    return limited


def _with_headers(send: Callable, headers: dict) -> Callable:
    async def sending(message: dict) -> None:
        if message["type"] == "http.response.start":
            own = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            message = message | {"headers": [*message.get("headers", []), *own]}
        await send(message)

    return sending


async def _answer(send: Callable, status: int, sentence: str, more: dict) -> None:
    body = json.dumps({"error": sentence}).encode() if sentence else b""
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **more}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
