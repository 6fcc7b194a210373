"""Who may talk to the server: this machine's browser, with the cookie that the printed address sets; no one else.

A page on the web can make a browser send requests to 127.0.0.1, and can give its own name that address (rebinding). So
the Host must be ours to the letter, requests that other sites cause are refused, only JSON is taken, and nothing is
answered without the cookie, which other sites cannot send.
"""

import json
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

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
MOST_BYTES = 8_000_000  # of a request


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    app : the application. port : that the server listens on.

    Attributes
    ----------
    token : 256 random bits; the address that is printed has it once.
    """

    def __init__(self, app: Any, port: int):
        self.app, self.port = app, port
        self.token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name = f"mercer_{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refusal(scope, _headers(scope))
            if refused is None:
                await self.app(scope, _limited(receive), _with_headers(send))
            else:
                await _answer(_with_headers(send), *refused)

    def _refusal(self, scope, headers):
        """(status, sentence, more headers) for a request that is not answered; None for one that is."""
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421, "This server answers to 127.0.0.1 only.", {}
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another site asked for this.", {}
        if "origin" in headers and headers["origin"] != f"http://{host}":
            return 403, "Another site asked for this.", {}
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and scope["path"] == "/" and given:
            if not secrets.compare_digest(given.encode(), self.token.encode()):
                return 401, "This address is not of the server that runs now. Copy the one that it printed.", {}
            cookie = f"{self.name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
            return 303, "", {"Location": "/", "Set-Cookie": cookie}
        if not secrets.compare_digest(_cookie(headers, self.name).encode(), self._cookie.encode()):
            return 401, "Open the address that `mercer studio` printed.", {}
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return 415, "Send JSON.", {}
            if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", 0)) > MOST_BYTES:
                return 413, "This request is too long.", {}
        return None


def _headers(scope):
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _cookie(headers, name):
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _limited(receive):
    """Bodies without a length are cut off at the same number of bytes."""
    seen = 0

    async def limited():
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= MOST_BYTES else {"type": "http.disconnect"}

    return limited


def _with_headers(send):
    async def sending(message):
        if message["type"] == "http.response.start":
            own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = message | {"headers": [*message.get("headers", []), *own]}
        await send(message)

    return sending


async def _answer(send, status, sentence, more):
    body = json.dumps({"error": sentence}).encode() if sentence else b""
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **more}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
