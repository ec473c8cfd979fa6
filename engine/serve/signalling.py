"""The routes: the page, what it has to know, a call made by POST and ended by DELETE, health and metrics."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from aiohttp import web

from ..resident import resident
from . import choices, guards, offer, page
from .call import Call
from .doors import Connection
from .limits import Limits, Refused
from .load import Load
from .metrics import Metrics
from .rooms import Room, Rooms

Route = Callable[[web.BaseRequest], Awaitable[web.Response]]


class Signalling:
    """Args:
    about: what the page is told of the methods.
    default: the method of who asks for none.
    say: takes a line for the log.
    """

    def __init__(
        self,
        limits: Limits,
        guard: guards.Guards,
        load: Load,
        about: list[dict[str, Any]],
        default: str,
        say: Callable[[str], None],
    ) -> None:
        self._limits, self._guard, self._load = limits, guard, load
        self._about, self._default, self._say = about, default, say
        self._page = page.Page()
        self.metrics = Metrics()
        self.rooms = Rooms(limits)
        self._numbers = itertools.count(1)
        self._where: dict[str, tuple[Room, Call]] = {}
        self._routes: Mapping[tuple[str, str], Route] = {
            ("GET", "/healthz"): self._health,
            ("GET", "/metrics"): self._metrics,
            ("GET", "/about"): self._tell,
            ("POST", "/calls"): self._begin,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Any request, to an answer; whatever happens, one with a status."""
        if isinstance(request.protocol, Connection):
            request.protocol.in_time()
        try:
            response = await self._route(request)
        except Refused as refused:
            self.metrics.refused[refused.cause] += 1
            response = web.json_response({"error": refused.text}, status=refused.status, headers=refused.headers)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._say(f"a request failed: {type(error).__name__}")
            response = web.json_response({"error": "the server has failed; nothing of it reached anybody"}, status=500)
        response.headers.update(page.HEADERS)
        response.headers["Server"] = "velavox"
        return response

    async def _route(self, request: web.BaseRequest) -> web.Response:
        self._guard.host(request)
        method, path = request.method, request.path
        if method in ("GET", "HEAD") and (file := self._page.file(path)) is not None:
            return file
        if method == "DELETE" and path.startswith("/calls/"):
            return await self._end(request, path.removeprefix("/calls/"))
        route = self._routes.get(("GET" if method == "HEAD" else method, path))
        if route is not None:
            return await route(request)
        known = [allowed for allowed, there in self._routes if there == path]
        if known or self._page.file(path) is not None or path.startswith("/calls/"):
            raise Refused(405, "method", f"{path} does not take {method}", Allow=", ".join(known or ["GET"]))
        raise Refused(404, "path", "there is nothing at this path")

    async def _health(self, request: web.BaseRequest) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _metrics(self, request: web.BaseRequest) -> web.Response:
        await self._guard.token(request)
        gauges = {
            "velavox_calls": ("Calls now.", float(len(self.rooms.calls))),
            "velavox_rooms": ("Rooms that somebody is in.", float(self.rooms.named)),
            "velavox_busy_ratio": ("Share of a core that is used.", self._load.share),
            "velavox_loop_late_seconds": ("How late the event loop wakes up, smoothed.", self._load.late),
            "velavox_loop_late_seconds_max": ("The same, the worst of the last seconds.", self._load.worst),
            "process_resident_memory_bytes": ("Memory in use.", float(resident())),
        }
        text = self.metrics.text(gauges)
        return web.Response(text=text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    async def _tell(self, request: web.BaseRequest) -> web.Response:
        await self._guard.token(request)
        told = {"methods": self._about, "default": self._default, "participants": self._limits.participants}
        return web.json_response(told)

    async def _begin(self, request: web.BaseRequest) -> web.Response:
        self._guard.same_origin(request)
        await self._guard.token(request)
        asked = await guards.body(request)
        method = asked.get("method", self._default)
        try:
            settings = choices.checked(method, asked.get("settings", {})) if isinstance(method, str) else None
        except ValueError as error:
            raise Refused(400, "method", str(error)) from None
        if settings is None or method not in [about["method"] for about in self._about]:
            raise Refused(400, "method", "method: give one that this server has")
        room = self.rooms.room(asked.get("room"))
        ears = offer.ears(asked.get("sdp"), room.voices)
        if reason := self._load.admit(len(self.rooms.calls)):
            raise Refused(503, "busy", f"{reason}: try again in a moment", Retry_After="10")
        stage = choices.stage(method, settings)
        call = Call(next(self._numbers), ears, stage, settings, self.metrics, self._ended)
        call.voice.muted = asked.get("muted") is True
        self.rooms.take(room, call)
        self._where[call.id] = (room, call)
        try:
            answer = await call.answer(asked["sdp"])
        except BaseException:
            await call.close()
            raise
        room.enter(call)
        self.metrics.calls += 1
        self._say(f"call {call.number} begins, {'hears itself' if room.loop else 'in a room'}: {self._counted()}")
        return web.json_response({"id": call.id, "number": call.number, "type": "answer", "sdp": answer}, status=201)

    async def _end(self, request: web.BaseRequest, id: str) -> web.Response:
        self._guard.same_origin(request)
        if id not in self._where:
            raise Refused(404, "call", "there is no such call")
        await self._where[id][1].close()
        return web.Response(status=204)

    def _ended(self, call: Call) -> None:
        room, _ = self._where.pop(call.id)
        self.rooms.release(room, call)
        if not call.answered:
            return
        voice = call.voice
        self.metrics.muted += voice.muted_hops
        self.metrics.dropped += voice.dropped + sum(ear.dropped for ear in call.ears)
        lasted = f"{monotonic() - call.began:.0f} s, {voice.muted_hops} hops muted, {voice.dropped} frames late"
        failed = call.trouble and f", failed: {call.trouble}"
        self._say(f"call {call.number} ends after {lasted}{failed}: {self._counted()}")

    def _counted(self) -> str:
        return f"{len(self.rooms.calls)} calls, {self.rooms.named} rooms"

    async def close(self) -> None:
        """End all calls."""
        await asyncio.gather(*(call.close() for _, call in list(self._where.values())), return_exceptions=True)
