"""Checks of the sender, the size and the JSON of a request to a server on this machine.

A page on the web can make a browser send requests to 127.0.0.1, and can let its own name point to this address
(rebinding). A server without a password therefore checks the host name of the request and refuses requests that a
browser sends for another page. It only accepts JSON, which such a page cannot send without a preflight request.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_BYTES = 20_000_000  # size limit of a request
NAMES = ("localhost", "127.0.0.1", "[::1]", "host.docker.internal")


def json_object(raw: bytes) -> dict:
    """The JSON object in a request. Anything else raises InputError, also JSON that cannot be written to a file."""
    try:
        value = json.loads(raw)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise InputError(
            "The request is not valid JSON. Send UTF-8 without lone surrogates, finite numbers and few nested levels."
        ) from None
    if not isinstance(value, dict):
        raise InputError(f"The request is a JSON {type(value).__name__}. Send a JSON object.")
    return value


class Local:
    """ASGI middleware that accepts requests of programs and refuses those of web pages of other sites.

    Parameters
    ----------
    app : ASGIApp
        The application.
    names : tuple of str
        Accepted host names, without the port.
    """

    def __init__(self, app: "ASGIApp", names: tuple = NAMES) -> None:
        self.app, self.names = app, names

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        refused = self._refusal(scope) if scope["type"] == "http" else None
        if refused is None:
            await self.app(scope, _limited(receive), send)
            return
        status, sentence = refused
        body = json.dumps({"error": sentence}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: "Scope") -> tuple[int, str] | None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        if name not in self.names:
            return 421, f"The host name {name!r} is not accepted. Use {', '.join(self.names)}, or set hosts=."
        if "origin" in headers or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "The request came from a web page. Only requests of Label Studio itself are accepted."
        if scope["method"] in ("POST", "PUT", "PATCH"):
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return 415, "Send JSON, with the content type application/json."
            length = headers.get("content-length", "0")
            if not length.isdecimal() or len(length) > 12 or int(length) > MOST_BYTES:
                return 413, f"The request is longer than {MOST_BYTES // 1_000_000} MB. Send fewer tasks at once."
        return None


def _limited(receive: Callable) -> Callable:
    """Limit a body without a length to the same number of bytes."""
    seen = 0

    async def limited():
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= MOST_BYTES else {"type": "http.disconnect"}

    return limited
