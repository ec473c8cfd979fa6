"""The command that serves the voice-chat page: serve."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Method, check_number, fail, refuse, tell_of_compiling, told
from .progress import say

if TYPE_CHECKING:
    import ssl

    from .serve.server import Server

_MISSING = "serve needs aiortc and aiohttp: pip install 'velavox[serve]'"
_SHORT = 16  # characters of a token that nobody guesses


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at. Any but this machine's own needs --token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0: one that is free.", metavar="N")] = 8478,
    token: Annotated[
        str,
        typer.Option(
            envvar="VELAVOX_TOKEN",
            help="What browsers have to bring. The variable is seen by fewer.",
            metavar="TEXT",
        ),
    ] = "",
    cert: Annotated[Path | None, typer.Option(help="Certificate for HTTPS, PEM, with its chain.", metavar="FILE")] = None,
    key: Annotated[Path | None, typer.Option(help="Its private key, PEM, if that is in another file.", metavar="FILE")] = None,
    method: Method = "mcadams",
    rooms: Annotated[int, typer.Option(help="Most rooms at a time, 1 to 1000.", metavar="N")] = 20,
    participants: Annotated[int, typer.Option(help="Most people in a room, 2 to 16.", metavar="N")] = 6,
    calls: Annotated[int, typer.Option(help="Most people in all, 1 to 1000.", metavar="N")] = 50,
) -> None:
    """Serve a page for voice chats in which everybody hears the others' anonymized voices only, until Ctrl-C.

    THE SERVER HEARS THE RAW VOICES. It stores nothing and passes on none of them, whatever goes wrong, but whoever runs it
    could listen. It is better to run velavox at the speaker's side: `velavox live --virtual-mic`.

    Browsers give a microphone only to pages from their own machine (the default here) or by HTTPS: give --cert and --key, or
    put a proxy with HTTPS before this server. Sound goes by UDP, on ports that the system chooses, past that proxy and on every
    network of this machine. New calls are refused when the server is busy. /healthz says that it lives, /metrics how it does,
    for Prometheus.

    \b
    Examples:
      velavox serve
      VELAVOX_TOKEN=$(openssl rand -hex 16) velavox serve --host 0.0.0.0 --cert cert.pem --key key.pem
    """
    with told(ValueError):
        check_number("--port", port, 0, 65535)
        if key is not None and cert is None:
            refuse("--key needs --cert")
        tell_of_compiling()
        try:
            from .serve.guards import is_loopback
            from .serve.limits import BOUNDS, Limits
            from .serve.server import Server
        except ModuleNotFoundError as error:
            if error.name and error.name.partition(".")[0] in ("aiortc", "aiohttp", "av"):
                fail(_MISSING)
            raise
        if not is_loopback(host) and not token:
            refuse(f"--host {host}: others reach it, so give --token, and --cert and --key: browsers want HTTPS")
        if not token.isascii() or not token.isprintable() or " " in token:
            refuse("--token: give letters, digits and signs of ASCII, without spaces")
        for name, value in (("rooms", rooms), ("participants", participants), ("calls", calls)):
            check_number(f"--{name}", value, *BOUNDS[name])
        limits = Limits(rooms=rooms, participants=participants, calls=calls)
        tls = _tls(cert, key) if cert is not None else None
        server = Server(host=host, port=port, token=token, tls=tls, limits=limits, default=method, say=say)
        if token and len(token) < _SHORT:
            say(f"warning: a token of {len(token)} characters can be guessed: openssl rand -hex 16 makes a good one")
        try:
            asyncio.run(run(server))
        except OSError as error:
            cause = (error.strerror or str(error)).rpartition(": ")[2]  # asyncio's begins with what it tried
            fail(f"--host {host} --port {port}: {cause}; give others")
        except KeyboardInterrupt:  # before the server took it as its end
            pass
        say("ended")


def _tls(cert: Path, key: Path | None) -> ssl.SSLContext:
    import ssl

    if "-----BEGIN CERTIFICATE-----" not in _pem("--cert", cert):
        refuse(f"--cert {cert}: holds no certificate; give a file in PEM form")
    if "PRIVATE KEY-----" not in _pem("--key", key or cert):
        refuse(f"--key {key}: holds no private key; give a file in PEM form" if key else f"--cert {cert}: give its --key, too")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, password=lambda: refuse(f"--key {key or cert}: is encrypted; give one that is not"))
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            refuse(f"--key {key or cert}: is not the key of --cert {cert}; give the one that belongs to it")
        refuse(f"--cert {cert}: one of certificate and key is damaged; give files in PEM form")
    return context


def _pem(option: str, path: Path) -> str:
    try:
        return path.read_text("ascii", errors="replace")
    except OSError as error:
        refuse(f"{option} {path}: {error.strerror}; give a file in PEM form")


async def run(server: Server) -> None:
    """Until a signal ends it."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, about: _failed(about))
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            try:
                loop.add_signal_handler(number, ended.set)
            except NotImplementedError:  # Windows: Ctrl-C comes as KeyboardInterrupt
                break
    try:
        await server.start()
        say("this server hears the raw voices of those who call it; at the speaker's side, `velavox live` is the better way")
        for line in server.hints:
            say(line)
        await ended.wait()
    finally:
        await server.stop()


def _failed(about: dict[str, Any]) -> None:
    """A callback has failed: say so, without what asyncio would add, addresses among it."""
    error = about.get("exception")
    if not isinstance(error, ConnectionError):
        say(f"something failed, and calls go on: {type(error).__name__ if error else about['message']}")
