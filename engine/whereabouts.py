"""Where the sound server has the streams of a card: it moves them to another device when theirs goes, and so may its user.

ALSA's plugin for it has no setting that forbids that, so the server is watched: `pactl subscribe` tells what changes, and
takes no time while nothing does. From the end of a device to the end of the stream it took 5 to 17 ms.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from . import soundserver
from .card import DeviceError
from .soundserver import KINDS, Direction

# Also ended when this process is: then nobody holds the other end of the shell's stdin. No news on the shell's stdout.
_SUBSCRIBE = "pactl subscribe & exec >&-; read _; kill -9 $!"
_EVENT = re.compile(rb"Event '(\w+)' on ([a-z-]+) #(\d+)")
_HEARING = 0.3  # s for the news of a question that was asked for its news
_QUESTIONS = 10
_MARK = "velavox.stream"  # a property of streams on the server


class Watch:
    """Sees to it that streams are at the nodes that were chosen, and the input does not hear the output.

    Make it, open the streams within `marked`, then call `verify`; `end` it at last.

    Args:
        chosen: the nodes' names; a direction that is missing may be anywhere.
        gone: called once, from a thread of the watch, when `lost` is set.

    Attributes:
        lost: what has happened to the streams, which are not to be used any more; "" while all is well.
    """

    def __init__(self, chosen: Mapping[Direction, str], gone: Callable[[], object]) -> None:
        self.lost = ""
        self._chosen, self._gone = dict(chosen), gone
        self._mark = secrets.token_hex(8)  # a process has several cards, and containers several processes of one number
        self._numbers: dict[Direction, str] = {}  # of the chosen nodes
        self._attached: dict[Direction, str] = {}  # numbers of the nodes that the streams were found at, all being well
        self._heard, self._ended = threading.Event(), False
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SUBSCRIBE],
            env=soundserver.in_english(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._follow, name="velavox whereabouts", daemon=True).start()
        try:
            self._find()
        except BaseException:
            self.end()
            raise

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Have what connects to the server now go to the chosen nodes, and be known: libpulse asks the environment, and
        refuses where a node has gone."""
        wanted = {
            "PULSE_SOURCE": self._chosen.get("input"),
            "PULSE_SINK": self._chosen.get("output"),
            "PULSE_PROP": f"{os.environ.get('PULSE_PROP', '')} {_MARK}={self._mark}",
        }
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update({name: value for name, value in wanted.items() if value})
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def verify(self) -> None:
        """DeviceError where a stream is not where it should be."""
        if self.lost or (why := self._astray()):
            raise DeviceError(self.lost or why, "plug it in as it was, or choose another device")

    def end(self) -> None:
        """Stop watching; at once, whatever hangs."""
        self._ended = True
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _find(self) -> None:
        """Number the chosen nodes, once news are heard: those of a question, as every client makes some."""
        for _ in range(_QUESTIONS):
            nodes = soundserver.nodes()
            if self._heard.wait(_HEARING):
                break
        else:
            raise DeviceError("the sound server does not tell what changes", "restart it")
        for direction, name in self._chosen.items():
            number = next((node.number for node in nodes if (node.direction, node.name) == (direction, name)), None)
            if number is None:
                raise DeviceError(f"the {direction} {name!r} has gone", "plug it in as it was")
            self._numbers[direction] = number

    def _follow(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with stdout:
            rest = b""
            while not self.lost and (news := os.read(stdout.fileno(), 65536)):
                *lines, rest = (rest + news).split(b"\n")
                self._heard.set()
                self._lose(self._told([found.groups() for line in lines if (found := _EVENT.match(line))]))
        self._lose("the sound server has ended")

    def _told(self, events: list[tuple[bytes, ...]]) -> str:
        """What has happened to the streams, "" where nothing."""
        told = [(verb.decode(), kind.decode(), number.decode()) for verb, kind, number in events]
        chosen = {("remove", KINDS[direction].node, number) for direction, number in self._numbers.items()}
        if chosen.intersection(told):
            return "the device has gone"
        streams = {kind.stream for kind in KINDS.values()}
        if not any(verb != "remove" and kind in streams for verb, kind, _ in told):
            return ""
        try:
            return self._astray()
        except DeviceError as error:
            return error.what

    def _lose(self, why: str) -> None:
        if why and not self.lost and not self._ended:
            self.lost = why
            self._gone()

    def _astray(self) -> str:
        """What is wrong with where the streams are; "" where nothing, or they are not there yet."""
        attached: dict[Direction, str] = {}
        for direction, kind in KINDS.items():
            for block in soundserver.blocks(soundserver.ask("list", f"{kind.stream}s")):
                if block.get(_MARK) == self._mark:
                    attached[direction] = block[kind.node.capitalize()]
        for direction, number in self._numbers.items():
            if attached.get(direction, number) != number:
                return f"the sound server has moved the {direction} away from {self._chosen[direction]!r}"
        if attached == self._attached:
            return ""
        nodes = {(node.direction, node.number): node for node in soundserver.nodes()}
        heard, played = (nodes.get((direction, attached.get(direction, ""))) for direction in KINDS)
        if heard is not None and played is not None and played.name in heard.chain:
            return f"the sound server has moved the input to {heard.name!r}, which hears the output"
        self._attached = attached
        return ""
