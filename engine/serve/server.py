"""The server, put together: ready when started, and gone when stopped."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

from ..methods import METHODS
from . import choices
from .doors import Doors
from .guards import Guards, is_loopback
from .limits import Limits
from .load import Load
from .signalling import Signalling

_ALL = ("", "0.0.0.0", "::")  # every address of this machine, and as such none that a browser could be pointed at


class Server:
    """Args:
        host: to listen at. Any but a loopback address needs a token.
        port: 0 for one that is free.
        token: that requests have to bring; "" for none.
        tls: of a server that speaks HTTPS.
        default: the method of calls that ask for none.
        say: takes a line for the log, in which no addresses and no names of rooms stand.

    Raises:
        ValueError: a host that others reach, without a token.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        limits: Limits | None = None,
        load: Load | None = None,
        default: str = "mcadams",
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        local = is_loopback(host)
        if not local and not token:
            raise ValueError(f"host {host}: others reach it, so it needs a token")
        self._host, self._port, self._tls, self._token = host, port, tls, token
        self._limits = limits or Limits()
        self._guards = Guards(token, local and not token)
        self._load = load or Load()
        self._default, self._say = default, say
        self.signalling: Signalling | None = None
        self._doors: asyncio.Server | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """On which it listens."""
        assert self._doors is not None, "the server is not started"
        return int(self._doors.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        """On this machine."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        host = "localhost" if self._host in _ALL else host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}/"

    @property
    def hints(self) -> list[str]:
        """Where to point a browser, and what it will want; never the token."""
        hints = [f"open {self.url}" + ("#token=... with the token" if self._token else "")]
        if self._host in _ALL:
            hints.append("on other machines: the same, with a name or an address of this one instead of localhost")
        if not is_loopback(self._host) and self._tls is None:
            hints.append("browsers want HTTPS for a microphone: give --cert and --key, or put a proxy with HTTPS before it")
        return hints

    async def start(self) -> None:
        """Load every method, then listen; OSError if that is not allowed."""
        about = await asyncio.to_thread(self._ready)
        self.signalling = Signalling(self._limits, self._guards, self._load, about, self._default, self._say)
        self._http = Doors(self.signalling.handle, self._limits.connections)
        loop = asyncio.get_running_loop()
        self._doors = await loop.create_server(self._http, self._host, self._port, ssl=self._tls)
        self._watch = asyncio.ensure_future(self._load.watch())

    def _ready(self) -> list[dict[str, Any]]:
        """Each method prepared once, so that no call waits for a compiler or a disk; one that fails is not offered."""
        about = []
        for method in METHODS:
            try:
                stage = choices.stage(method, {})
                stage.prepare()
                about.append(choices.described(method, stage))
            except Exception as error:
                self._say(f"method {method} is not offered: {' '.join(str(error).split())}")
        if self._default not in [told["method"] for told in about]:
            raise ValueError(
                f"method {self._default!r}: cannot be used; give one of {', '.join(told['method'] for told in about)}"
            )
        return about

    async def stop(self) -> None:
        """End all calls, and listen no more."""
        if self._watch is not None:
            self._watch.cancel()
        if self._doors is not None:
            self._doors.close()
            await self._http.shutdown(1.0)
        if self.signalling is not None:
            await self.signalling.close()
