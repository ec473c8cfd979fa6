"""HTTP connections, none of which lasts: calls use none, so whoever is slow, or many, only keeps out others like them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

from aiohttp import web

HURRY = 10.0  # s until the first request's head is there
KEPT = 15.0  # s between one request and the next
LONGEST = 60.0  # s, then no further request is taken
LAST = 15.0  # s after that, for the one at hand: it is cut off
_CLOSING = b"HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"

_log = logging.getLogger("velavox.serve.http")  # aiohttp's lines hold addresses: who wants them gives it a handler
_log.addHandler(logging.NullHandler())
_log.propagate = False


class Connection(web.RequestHandler):
    """One that is closed where it is too slow."""

    __slots__ = ("_clocks",)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        doors = cast("Doors", self._manager)
        loop = asyncio.get_running_loop()
        self._clocks = [
            loop.call_later(HURRY, self._turn_away, b"408 Request Timeout", b"the request did not come in time\n"),
            loop.call_later(LONGEST, self.close),
            loop.call_later(LONGEST + LAST, transport.abort),  # type: ignore[attr-defined]
        ]
        if len(doors.connections) > doors.most:
            self._turn_away(b"503 Service Unavailable", b"too many connections: try again later\n")

    def connection_lost(self, exc: BaseException | None) -> None:
        for clock in self._clocks:
            clock.cancel()
        super().connection_lost(exc)

    def in_time(self) -> None:
        """A request's head is there."""
        self._clocks[0].cancel()

    def _turn_away(self, status: bytes, text: bytes) -> None:
        transport = self.transport
        if transport is not None and not transport.is_closing():
            transport.write(_CLOSING % (status, len(text), text))
            self.force_close()


class Doors(web.Server):
    """A low-level server of aiohttp, of at most so many connections at a time."""

    def __init__(self, handler: Any, most: int) -> None:
        super().__init__(handler, access_log=None, logger=_log, keepalive_timeout=KEPT, lingering_time=1.0)
        self.most = most

    def __call__(self) -> web.RequestHandler:
        return Connection(self, loop=asyncio.get_running_loop(), **self._kwargs)
