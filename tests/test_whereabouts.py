"""The watch on where the sound server has the streams: what it notices, and that it ends with whoever has made it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from rig import RATE, Rig
from velavox.engine.card import DeviceError
from velavox.engine.soundserver import Direction
from velavox.engine.whereabouts import Watch

pytestmark = pytest.mark.live

_PROGRAMS: dict[Direction, tuple[str, str]] = {"input": ("parec", "source-output"), "output": ("pacat", "sink-input")}


class Watched:
    """A watch, and two programs that stand for the streams of a card."""

    def __init__(self, rig: Rig, **chosen: str) -> None:
        self._rig, self._programs = rig, list[Popen[bytes]]()
        self.gone = threading.Event()
        self.watch = Watch(chosen, self.gone.set)  # type: ignore[arg-type]
        with self.watch.marked():
            for program, _ in _PROGRAMS.values():
                form = ["--format=float32le", f"--rate={RATE}", "--channels=1", "--raw", f"--property=velavox.test={id(self)}"]
                with open("/dev/zero" if program == "pacat" else os.devnull, "rb") as source, open(os.devnull, "wb") as sink:
                    self._programs.append(Popen([program, *form], stdin=source, stdout=sink))
        self.wait(lambda: all(self.number(direction) for direction in _PROGRAMS))
        self.watch.verify()

    def move(self, direction: Direction, to: str) -> None:
        self._rig.pactl(f"move-{_PROGRAMS[direction][1]}", self.number(direction), to)

    def number(self, direction: Direction) -> str:
        """The server's number of the stream; "" while it is not there."""
        for block in self._rig.pactl("list", f"{_PROGRAMS[direction][1]}s").split("\n\n"):
            if f'velavox.test = "{id(self)}"' in block:
                return block.partition("#")[2].split()[0]
        return ""

    def wait(self, true: Callable[[], object]) -> None:
        until = time.monotonic() + 20
        while not true():
            assert time.monotonic() < until
            time.sleep(0.02)

    def end(self) -> None:
        self.watch.end()
        for program in self._programs:
            program.kill()
            program.wait()


@pytest.fixture
def server(fresh_rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """With another sink, and this process among its clients."""
    for name, value in fresh_rig.settings.items():
        monkeypatch.setenv(name, value)
    fresh_rig.pactl("load-module", "module-null-sink", "sink_name=other", "norewinds=1")
    return fresh_rig


@pytest.fixture
def watched(server: Rig) -> Iterator[Callable[..., Watched]]:
    every: list[Watched] = []

    def watch(**chosen: str) -> Watched:
        every.append(Watched(server, **chosen))
        return every[-1]

    yield watch
    for one in every:
        one.end()


def programs(folder: Path) -> list[str]:
    """Programs of this rig that watch."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"subscribe" in (entry / "cmdline").read_bytes() and os.fsencode(folder) in (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:  # it has ended
            continue
    return found


def tellers(folder: Path) -> list[int]:
    """Those of them that tell what changes, without the shells around."""
    return [int(number) for number in programs(folder) if b"sh" not in Path(f"/proc/{number}/comm").read_bytes()]


@pytest.mark.parametrize(
    ("direction", "to", "said"),
    [
        ("output", "other", "moved the output away from 'spk'"),
        ("input", "other.monitor", "moved the input away from 'fakemic'"),
    ],
)
def test_a_stream_that_is_moved_from_where_it_was_put_is_lost(
    watched: Callable[..., Watched], direction: Direction, to: str, said: str
) -> None:
    one = watched(input="fakemic", output="spk")
    one.move(direction, to)
    assert one.gone.wait(10)
    assert said in one.watch.lost
    with pytest.raises(DeviceError, match=said):
        one.watch.verify()


def test_a_stream_that_may_be_anywhere_may_be_moved(watched: Callable[..., Watched]) -> None:
    one, other = watched(), watched(input="fakemic")
    one.move("input", "anonmic")
    one.move("output", "other")
    other.move("output", "other")
    assert not one.gone.wait(1)
    assert not other.gone.is_set()
    one.watch.verify()


def test_an_input_that_is_moved_to_what_is_played_is_lost(watched: Callable[..., Watched]) -> None:
    one = watched()
    one.move("input", "spk.monitor")
    assert one.gone.wait(10)
    assert "'spk.monitor', which hears the output" in one.watch.lost


def test_a_device_that_goes_is_noticed(watched: Callable[..., Watched], server: Rig) -> None:
    one = watched(output="other")
    module = next(line.split()[0] for line in server.pactl("list", "short", "modules").splitlines() if "=other" in line)
    server.pactl("unload-module", module)
    assert one.gone.wait(10)
    # The server moves the stream, then removes the device: it depends on whether the news of both are read at once.
    assert one.watch.lost in ("the device has gone", "the sound server has moved the output away from 'other'")


def test_a_server_that_is_killed_is_noticed(server: Rig) -> None:
    gone = threading.Event()
    watch = Watch({"output": "other"}, gone.set)  # without streams, news of which would have it ask the server
    server.kill()
    assert gone.wait(10)
    assert watch.lost == "the sound server has ended"
    watch.end()


def test_a_server_that_is_killed_before_it_is_asked_about_news_is_noticed(watched: Callable[..., Watched], server: Rig) -> None:
    one = watched(output="other")
    teller = tellers(server.folder)[0]
    os.kill(teller, signal.SIGSTOP)
    server.pactl("set-sink-input-volume", one.number("output"), "50%")
    server.pactl("info")  # once this is answered, the news of that are on their way
    server.kill()
    os.kill(teller, signal.SIGCONT)
    assert one.gone.wait(10)
    assert one.watch.lost == "the sound server is not there"


def test_that_nobody_tells_any_more_is_noticed(watched: Callable[..., Watched], server: Rig) -> None:
    one = watched(output="other")
    for number in tellers(server.folder):
        os.kill(number, signal.SIGKILL)
    assert one.gone.wait(10)
    assert one.watch.lost == "the sound server has ended"


def test_what_is_not_there_is_refused_and_nothing_is_left(watched: Callable[..., Watched], fresh_rig: Rig) -> None:
    with pytest.raises(DeviceError, match="output 'nowhere' has gone"):
        watched(output="nowhere")
    assert not programs(fresh_rig.folder)


def test_it_ends_at_once_though_the_server_hangs(watched: Callable[..., Watched], fresh_rig: Rig) -> None:
    one = watched(output="spk")
    assert len(programs(fresh_rig.folder)) == 2
    fresh_rig.pause()
    began = time.monotonic()
    one.watch.end()
    assert time.monotonic() - began < 0.5
    fresh_rig.resume()
    one.wait(lambda: not programs(fresh_rig.folder))
    assert not one.watch.lost


def test_it_ends_with_a_process_that_is_killed(fresh_rig: Rig) -> None:
    code = (
        "from velavox.engine.whereabouts import Watch; w = Watch({'output': 'spk'}, print); print('there', flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with Popen([sys.executable, "-c", code], env=fresh_rig.env, text=True, **pipes) as program:  # type: ignore[call-overload]
        assert program.stdout.readline() == "there\n"
        assert len(programs(fresh_rig.folder)) == 2
        program.kill()
    until = time.monotonic() + 10
    while programs(fresh_rig.folder):
        assert time.monotonic() < until
        time.sleep(0.02)
