"""Who may ask for what: the host that was meant, the page that asks, the token, the size and the pace of the body."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from .limits import Refused

MOST_BYTES = 64 * 1024  # of a body: an offer with 16 media has about 20 kB
PATIENCE = 5.0  # s for a body
PENALTY = 0.5  # s that a wrong token waits for its answer
MOST_PENALTIES = 16  # at a time; more guesses are turned away at once


def is_loopback(host: str) -> bool:
    """`host`, a name or an address, is this machine for itself."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guards:
    """Args:
    token: what requests have to bring; "": nothing, for a server that is reached from its own machine alone.
    local: answer only to the names of this machine, so that no other site's name can be pointed at it (DNS rebinding).
    """

    def __init__(self, token: str, local: bool) -> None:
        self._token, self._local = token.encode(), local
        self._penalties = 0

    def host(self, request: web.BaseRequest) -> None:
        """It was this server that was meant."""
        if self._local and not is_loopback(_name(request.host)):
            raise Refused(421, "host", "this server answers to localhost alone")

    def same_origin(self, request: web.BaseRequest) -> None:
        """No page of another site asks. Programs send no Origin; they have no user whose rights they could borrow."""
        origin = request.headers.get("Origin")
        foreign = origin is not None and urlsplit(origin).netloc.lower() != request.host.lower()
        if foreign or request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "origin", "another site's page may not ask this server")

    async def token(self, request: web.BaseRequest) -> None:
        """The token is there and right."""
        if not self._token:
            return
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(errors="replace"), self._token):
            return
        if self._penalties >= MOST_PENALTIES:
            raise Refused(429, "token", "too many wrong tokens at a time: try again later", Retry_After="5")
        self._penalties += 1
        try:
            await asyncio.sleep(PENALTY)
        finally:
            self._penalties -= 1
        text = "the token is wrong" if given else "this server wants a token"
        raise Refused(401, "token", text, WWW_Authenticate='Bearer realm="velavox"')


async def body(request: web.BaseRequest) -> dict[str, Any]:
    """The JSON object that a request brings."""
    if request.content_type != "application/json":
        raise Refused(415, "type", "send application/json")
    if (request.content_length or 0) > MOST_BYTES:
        raise Refused(413, "size", f"the body is larger than {MOST_BYTES} bytes", Connection="close")
    try:
        async with asyncio.timeout(PATIENCE):
            text = await request.content.read(MOST_BYTES + 1)
            while len(text) <= MOST_BYTES and (more := await request.content.read(MOST_BYTES + 1 - len(text))):
                text += more
    except TimeoutError:
        raise Refused(408, "slow", f"the body did not come within {PATIENCE:g} s", Connection="close") from None
    except (web.RequestPayloadError, ConnectionError):
        raise Refused(400, "body", "the body is broken", Connection="close") from None
    if len(text) > MOST_BYTES:
        raise Refused(413, "size", f"the body is larger than {MOST_BYTES} bytes", Connection="close")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused(400, "body", "the body is no JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "body", "the body is no JSON object")
    return found


def _name(host: str) -> str:
    """Of a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
