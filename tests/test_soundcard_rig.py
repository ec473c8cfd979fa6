"""The sound card on a real server: bit for bit, and what it notices when the server dies or hangs."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cards import opened
from rig import Rig
from signals import noise
from velavox.engine import soundcard, soundserver
from velavox.engine.card import DeviceError, WrongDevice
from velavox.engine.exchange import Exchange
from velavox.engine.soundcard import SoundCard

pytestmark = pytest.mark.live


@pytest.fixture
def on_rig(fresh_rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A server of its own for this test, and this process among its clients."""
    for name, value in fresh_rig.settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(soundcard, "_looked", True)  # whatever PortAudio found before, it was elsewhere
    return fresh_rig


@pytest.fixture
def running(on_rig: Rig) -> Iterator[Callable[..., tuple[SoundCard, Any]]]:
    """Open a card, and give it and its counters."""
    cards: list[SoundCard] = []
    kept: list[Exchange] = []

    def run(source: str | None = None, sink: str | None = None, latency: float = 0.02) -> tuple[SoundCard, Any]:
        cards.append(SoundCard(source, sink, latency=latency))
        kept.append(opened(cards[-1])[1])
        return cards[-1], kept[-1]

    yield run
    for card in cards:
        card.close()


def until(true: Callable[[], Any], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(true())


@pytest.mark.parametrize("devices", [(None, None), ("fakemic", "spk")])
def test_what_is_captured_and_played_is_exact(
    on_rig: Rig, running: Callable[..., Any], devices: tuple[str | None, ...]
) -> None:
    card, exchange = running(*devices, latency=0.2)  # s: on a busy machine less means gaps
    x = noise(48_000)
    block, done = np.zeros((4800, 1), np.float32), threading.Event()

    def loop() -> None:
        while not done.is_set():
            frames = exchange.take(block)
            if frames:
                exchange.put(block[:frames, 0].copy(), frames)
            time.sleep(0.001)

    exchange.put(np.zeros(9600, np.float32), 9600)  # 0.2 s of slack, for a busy machine
    worker = threading.Thread(target=loop)
    worker.start()
    starved = int(exchange.counts.starved)  # while it was being opened
    try:
        with on_rig.recording() as take:
            assert on_rig.feed(x).wait(20) == 0
            time.sleep(1.0)
    finally:
        done.set()
        worker.join()
    assert card.active
    heard, played = take.sound[:, 0], take.sound[:, 1]
    assert exchange.counts.starved == starved
    starts = [int(np.flatnonzero(side == x[0])[0]) for side in (heard, played)]
    for side, start in zip((heard, played), starts, strict=True):
        np.testing.assert_array_equal(side[start : start + x.size], x)
    assert starts[1] - starts[0] > 9600


def test_a_second_clock_is_a_second_stream(on_rig: Rig, running: Callable[..., Any]) -> None:
    on_rig.pactl("load-module", "module-null-sink", "sink_name=other", "norewinds=1")
    card, exchange = running("fakemic", "other")
    assert until(lambda: exchange.counts.calls_in > 20 and exchange.counts.calls_out > 20)
    sink = next(line.split()[0] for line in on_rig.pactl("list", "short", "sinks").splitlines() if "\tother\t" in line)
    assert f"Sink: {sink}\n" in on_rig.pactl("list", "sink-inputs")
    assert card.active


def test_a_killed_server_is_noticed_and_its_return_too(on_rig: Rig, running: Callable[..., Any]) -> None:
    card, exchange = running()
    assert until(lambda: exchange.counts.calls_in)
    on_rig.kill()
    assert until(lambda: not card.active, 2)
    card.close()
    with pytest.raises(DeviceError):
        opened(card)
    on_rig.restart()
    _, again = opened(card)
    assert until(lambda: again.counts.calls_in)


def test_a_server_that_hangs_is_told_within_seconds(on_rig: Rig) -> None:
    on_rig.pause()
    began = time.monotonic()
    with pytest.raises(DeviceError, match="the sound server does not answer; restart it"):
        SoundCard().plan()
    assert time.monotonic() - began < 2 * soundserver.SECONDS


def test_the_monitor_of_the_output_is_refused(on_rig: Rig) -> None:
    with pytest.raises(WrongDevice, match=r"hears what output 'Remapped.*' plays; choose another input"):
        SoundCard("spk.monitor", "spk").plan()
    assert SoundCard("fakemic", "spk").plan().one_clock


def test_a_server_that_hangs_stays_active_without_calling(on_rig: Rig, running: Callable[..., Any]) -> None:
    card, exchange = running()
    assert until(lambda: exchange.counts.calls_in)
    on_rig.pause()
    time.sleep(0.3)
    calls = int(exchange.counts.calls_in)
    time.sleep(0.5)
    assert exchange.counts.calls_in == calls
    assert card.active
    on_rig.resume()
    assert until(lambda: exchange.counts.calls_in > calls)


def test_closing_that_hangs_does_not_keep_the_process(fresh_rig: Rig) -> None:
    code = """
import threading, time
from velavox.engine.exchange import Exchange
from velavox.engine.soundcard import SoundCard
card = SoundCard()
plan = card.plan()
exchange = Exchange(1, 1, plan.rate_in, plan.rate_out, captured=48000, playing=48000)
card.open(plan, exchange)
print("open", flush=True)
input()
closer = threading.Thread(target=card.close, daemon=True)
closer.start()
closer.join(0.5)
print("hangs" if closer.is_alive() else "closed", flush=True)
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", code], env=fresh_rig.env, text=True, **pipes) as program:  # type: ignore[call-overload]
        try:
            assert program.stdout.readline() == "open\n"
            fresh_rig.pause()
            out, _ = program.communicate("\n", timeout=10)
            assert out == "hangs\n"
            assert program.returncode == 0
        finally:
            program.kill()
