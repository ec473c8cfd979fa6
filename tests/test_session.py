"""A live stream over a dummy card in virtual time: what it plays, its delay, two clocks, any block size, stalls, overload."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from doubles import Minus
from pulses import Delays, expected, offline_difference, train
from signals import F32, voice
from velavox import Engine, Identity, McAdams
from velavox.engine.dummy import DummyCard
from velavox.engine.live import Live
from velavox.engine.stage import Stage
from velavox.engine.status import State
from watching import Tape, after_each_wait, watched

RATE, BLOCK = 48_000, 480


class Busy(Identity):
    """Takes `seconds` of the card's time for a hop."""

    def __init__(self, card: DummyCard | None = None, seconds: float = 0.0, begin: float = 0.0, end: float = 1e9) -> None:
        super().__init__()
        self.card, self.seconds, self.begin, self.end = card, seconds, begin, end

    def step(self, x: F32, y: F32) -> None:
        super().step(x, y)
        if self.card is not None and self.begin <= self.card.now() < self.end:
            self.card.wait(self.seconds)


@pytest.mark.parametrize(("stage", "block"), [(Identity, 480), (McAdams, 480), (McAdams, 128), (McAdams, 1024)])
def test_with_one_clock_it_plays_what_the_engine_gives_offline(stage: type[Stage], block: int) -> None:
    x, tape = np.concatenate([np.zeros(RATE, np.float32), voice(2.0, rate=RATE)]), Tape()
    card = DummyCard(x, block_in=block, block_out=block, listener=tape)
    live = Live(stage(), card=card, seed=7)
    live.run(2.9)
    assert offline_difference(tape.sound[:, 0], x, lambda: Engine(stage(), sample_rate=RATE, seed=7), block) < 1e-5
    status = live.status()
    assert (status.corrections, status.drift_ppm, status.xruns) == (0, 0.0, 0)


@pytest.mark.parametrize(("block", "burst"), [(480, 1), (128, 1), (960, 1), (480, 3)])
def test_the_delay_reported_is_the_delay_measured(block: int, burst: int) -> None:
    delays = Delays(RATE, block, RATE)
    card = DummyCard(train(RATE), block_in=block, block_out=block, burst=burst, listener=delays)
    live = Live(Identity(), card=card)
    live.run(4.0)
    measured = np.median([late for _, late in delays.found[2:]])
    assert measured == pytest.approx(expected(live), abs=2e-4)
    assert live.status().xruns == 0


def test_a_block_is_handed_over_in_one_block() -> None:
    live = Live(McAdams(), card=DummyCard(voice(1.0, rate=RATE)))
    live.run(1.0)
    parts = live.status().delay_parts_ms
    assert parts["handover"] == pytest.approx(10.0, abs=0.05)
    assert parts["engine"] + parts["handover"] + parts["match"] <= 36.0


@pytest.mark.parametrize("ppm", [200.0, -200.0])
def test_two_clocks_are_followed_for_two_hours(ppm: float) -> None:
    block = 960
    delays = Delays(RATE, block, RATE, ppm_out=ppm)
    card = DummyCard(train(RATE), block_in=block, block_out=block, one_clock=False, ppm_out=ppm, phase=3e-3, listener=delays)
    live = Live(Identity(), card=card)
    live.run(7200.0)
    status = live.status()
    late = np.array([late for _, late in delays.found[20:]])
    assert len(late) > 14_000
    target = expected(live)
    assert np.abs(late - target).max() < block / RATE
    assert status.corrections > 0
    assert status.drift_ppm == pytest.approx(-ppm, abs=60)
    assert (status.xruns, status.starved_ms, status.dropped_ms) == (0, 0.0, 0.0)


@pytest.mark.parametrize(("rate_in", "rate_out"), [(16_000, 48_000), (48_000, 44_100), (44_100, 48_000), (48_000, 16_000)])
def test_cards_of_different_rates_make_one_stream(rate_in: int, rate_out: int) -> None:
    delays = Delays(rate_in, rate_in // 100, rate_out)
    card = DummyCard(train(rate_in), rate_in=rate_in, rate_out=rate_out, one_clock=False, listener=delays)
    live = Live(Identity(), card=card)
    live.run(6.0)
    measured = np.median([late for _, late in delays.found[3:]])
    assert measured == pytest.approx(expected(live), abs=2e-3)
    assert live.status().xruns == 0


@pytest.mark.parametrize(("block", "burst"), [(480, 1), (480, 3), (128, 4), (64, 4), (31, 3)])
def test_with_two_clocks_bursts_are_borne_and_the_delay_is_the_one_reported(block: int, burst: int) -> None:
    delays = Delays(RATE, block, RATE)
    card = DummyCard(train(RATE), block_in=block, block_out=block, one_clock=False, burst=burst, phase=0.7e-3, listener=delays)
    live = Live(Identity(), card=card)
    live.run(20.0)
    late = np.array([late for when, late in delays.found if when > 2])
    assert len(late) > 30
    assert np.abs(late - expected(live)).max() < 5e-3 + burst * block / RATE  # callbacks of a burst come late by up to that
    assert np.ptp(late) < max(7e-3, block / RATE)
    status = live.status()
    assert (status.xruns, status.starved_ms, status.dropped_ms) == (0, 0.0, 0.0)
    assert abs(status.drift_ppm) < 500  # the lines settle within 10 s


@pytest.mark.parametrize("block", [1, 16, 32, 8192])
@pytest.mark.parametrize("one_clock", [True, False])
def test_blocks_of_any_size_run(block: int, one_clock: bool) -> None:
    card = DummyCard(voice(1.0, rate=RATE), block_in=block, block_out=block, one_clock=one_clock)
    live = Live(Identity(), card=card)
    live.run(2.0 if block < 100 else 6.0)
    status = live.status()
    assert (status.xruns, status.starved_ms, status.dropped_ms) == (0, 0.0, 0.0)


def test_silence_while_the_device_is_settled_is_no_trouble() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    live = Live(Identity(), card=card)
    live.run(0.2)
    assert (live.status().starved_ms, live.status().xruns) == (0.0, 0)


@pytest.mark.parametrize("one_clock", [True, False])
def test_after_a_worker_stalled_the_delay_is_back_within_a_second(one_clock: bool) -> None:
    delays = Delays(RATE, BLOCK, RATE)
    card = DummyCard(train(RATE), one_clock=one_clock, listener=delays)
    live = Live(Busy(card, 0.3, 3.0, 3.01), card=card)
    live.run(6.0)
    before = np.median([late for when, late in delays.found if 1 < when < 3])
    after = [late for when, late in delays.found if when > 4.3]
    assert len(after) >= 3
    assert np.abs(np.array(after) - before).max() < BLOCK / RATE
    status = live.status()
    assert 0.25e3 < status.dropped_ms < 0.32e3
    assert 0.25e3 < status.starved_ms < 0.32e3
    assert status.xruns > 0


def test_a_card_that_stalls_comes_back_at_its_delay() -> None:
    delays = Delays(RATE, BLOCK, RATE)
    card = DummyCard(train(RATE), listener=delays)
    card.stall(3.0, 0.3)
    live = Live(Identity(), card=card)
    live.run(6.0)
    late = np.array([late for when, late in delays.found if when > 1 and not 2.9 < when < 3.4])
    assert np.ptp(late) < 1e-3
    assert live.status().reopened == 0


@pytest.mark.parametrize("side", ["in", "out"])
def test_one_of_two_cards_stalls_and_the_delay_comes_back(side: Literal["in", "out"]) -> None:
    """Its clock stands still for 0.3 s while the other one goes on."""
    delays = Delays(RATE, BLOCK, RATE)
    card = DummyCard(train(RATE), one_clock=False, listener=delays)
    card.stall(3.0, 0.3, side)
    live = Live(Identity(), card=card)
    live.run(8.0)
    before = np.median([late for when, late in delays.found if 1 < when < 2.9])
    after = np.array([late for when, late in delays.found if when > 4.3])
    assert len(after) > 5
    assert np.abs(after - before).max() < BLOCK / RATE
    status = live.status()
    assert (status.starved_ms if side == "in" else status.dropped_ms) > 250


def test_an_engine_that_is_too_slow_is_silent_at_times_and_never_late() -> None:
    """1.1 times as long as the sound that it processes: the queue is bounded, and nothing of the input comes through."""
    delays, tape = Delays(RATE, BLOCK, RATE), Tape()

    def listen(now: float, y: F32) -> None:
        delays(now, y)
        tape(now, y)

    card = DummyCard(train(RATE), listener=listen)
    live = Live([Minus(), Busy(card, 0.011)], card=card)
    seen = watched(live, card)
    live.run(60.0)
    status = live.status()
    assert max(s.delay_parts_ms.get("handover", 0.0) for _, s in seen) < 80
    assert status.starved_ms > 3_000
    assert status.dropped_ms > 3_000
    late = np.array([late for when, late in delays.found if when > 2])
    assert late.max() < 0.12  # the engine's 25 ms, 4 blocks held, 1.5 more before sound is dropped, 2 at work
    assert late[-20:].max() < late[:40].max() + 1e-3
    assert tape.sound.min() < -0.3
    assert tape.sound.max() < 0.05  # the pulses are positive, and turned over by the voice


def test_too_slow_shows_as_overloaded_and_passes() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    live = Live(Busy(card, 0.03, 2.0, 3.0), card=card)
    seen = watched(live, card)
    live.run(6.0)
    assert {s.state for t, s in seen if 1.0 < t < 1.9} == {State.running}
    assert State.overloaded in {s.state for t, s in seen if 2.2 < t < 3.0}
    assert {s.state for t, s in seen if 4.5 < t < 5.9} == {State.running}
    assert live.status().state is State.closed


def test_starving_again_and_again_raises_what_is_held_and_calm_lowers_it() -> None:
    class Hiccup(Identity):
        """The worker is late by 15 ms every 5 s, for a minute."""

        hops = 0

        def step(self, x: F32, y: F32) -> None:
            super().step(x, y)
            self.hops += 1
            if self.hops % 500 == 0 and self.hops <= 6000:
                card.wait(0.015)

    card = DummyCard(voice(1.0, rate=RATE))
    live = Live(Hiccup(), card=card)
    held: list[float] = []

    def look() -> None:
        if int(card.now() * 1000) % 100 == 0:
            held.append(live.status().delay_parts_ms.get("handover", 0.0))

    after_each_wait(card, look)
    live.run(400.0)
    assert max(held) > 15
    assert held[-1] == pytest.approx(10, abs=1)
    assert live.status().xruns < 10  # of 12 hiccups: held higher, it does not starve
