"""A live stream over a dummy card in virtual time: what it plays, its delay, drift, stalls, overload, loss."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from doubles import Faulty, Gain, fail
from pulses import Delays, expected, offline_difference, train
from signals import F32, voice
from velavox import Engine, Identity, McAdams
from velavox.engine.card import DeviceError, Format
from velavox.engine.dummy import DummyCard
from velavox.engine.live import Live
from velavox.engine.stage import Stage
from velavox.engine.status import State, Status

RATE, BLOCK = 48_000, 480


class Tape:
    """A listener that keeps what was played."""

    def __init__(self) -> None:
        self.blocks: list[F32] = []

    def __call__(self, now: float, y: F32) -> None:
        self.blocks.append(y.copy())

    @property
    def sound(self) -> F32:
        return np.concatenate(self.blocks)


class Minus(Identity):
    """A voice that can be told from the input by its sign."""

    def step(self, x: F32, y: F32) -> None:
        np.negative(x, out=y)


class Busy(Identity):
    """Takes `seconds` of the card's time for a hop."""

    def __init__(self, card: DummyCard | None = None, seconds: float = 0.0, begin: float = 0.0, end: float = 1e9) -> None:
        super().__init__()
        self.card, self.seconds, self.begin, self.end = card, seconds, begin, end

    def step(self, x: F32, y: F32) -> None:
        super().step(x, y)
        if self.card is not None and self.begin <= self.card.now() < self.end:
            self.card.wait(self.seconds)


def after_each_wait(card: DummyCard, look: Callable[[], object]) -> None:
    """Have the worker's thread call `look` whenever it has waited."""
    wait = card.wait

    def waited(seconds: float) -> None:
        wait(seconds)
        look()

    card.wait = waited  # type: ignore[method-assign]


def watched(live: Live, card: DummyCard) -> list[tuple[float, Status]]:
    """Time and status of `live`, after each wait."""
    seen: list[tuple[float, Status]] = []
    after_each_wait(card, lambda: seen.append((card.now(), live.status())))
    return seen


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


def test_a_lost_device_is_silence_and_comes_back_with_its_voice() -> None:
    tape = Tape()
    times: list[float] = []

    def listen(now: float, y: F32) -> None:
        times.append(now)
        tape(now, y)

    x = voice(1.0, rate=RATE)
    card = DummyCard(x, listener=listen)
    card.vanish(2.0, 3.5)
    live = Live(Gain(), card=card, seed=5)
    seen = watched(live, card)
    live.run(9.0)
    lost = [s for t, s in seen if 2.2 < t < 5.4]
    assert {s.state for s in lost} == {State.lost}
    assert any("unplugged" in s.cause for s in lost)
    assert not [t for t in times if 2.0 < t < 5.5]
    assert {s.state for t, s in seen if t > 7.0} == {State.running}
    assert live.status().reopened == 1
    sound, when = tape.sound[:, 0], np.repeat(times, BLOCK)
    before, after = np.std(sound[(when > 1) & (when < 2)]), np.std(sound[(when > 7) & (when < 8)])
    assert after == pytest.approx(before, rel=0.02)  # the voice is a gain
    assert card.opened == 2


def test_hops_that_the_engine_muted_are_counted_over_a_loss() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    card.vanish(2.0, 1.0)
    live = Live(Faulty(fail, at=120), card=card)
    live.run(5.0)
    assert live.status().reopened == 1
    assert live.status().muted_hops == 3


def test_muting_while_the_device_is_lost_holds_when_it_is_back() -> None:
    tape = Tape()
    card = DummyCard(voice(1.0, rate=RATE), listener=tape)
    card.vanish(2.0, 1.0)
    live = Live(Identity(), card=card)

    def mute() -> None:
        if live.status().state is State.lost:
            live.muted = True
            tape.blocks.clear()

    after_each_wait(card, mute)
    live.run(5.0)
    assert live.status().reopened == 1
    assert len(tape.blocks) > 100
    assert not tape.sound.any()


def test_a_device_that_stops_calling_is_lost() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    card.stall(2.0, 1.5)
    live = Live(Identity(), card=card)
    seen = watched(live, card)
    live.run(6.0)
    lost = [s for t, s in seen if s.state is State.lost]
    assert lost
    assert {s.cause for s in lost} == {"the device stopped calling"}
    assert next(t for t, s in seen if s.state is State.lost) < 2.0 + 1.0
    assert live.status().reopened >= 1


def test_silence_up_to_a_loss_is_counted() -> None:
    card = DummyCard(voice(1.0, rate=RATE), one_clock=False)
    card.stall(2.0, 100.0, "in")
    live = Live(Identity(), card=card)
    live.run(2.8)
    assert live.status().starved_ms > 400


def test_silence_while_the_device_is_settled_is_no_trouble() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    live = Live(Identity(), card=card)
    live.run(0.2)
    assert (live.status().starved_ms, live.status().xruns) == (0.0, 0)


def test_a_device_that_never_comes_back_does_not_hold_up_the_end() -> None:
    card = DummyCard(voice(1.0, rate=RATE))
    card.vanish(2.0, 1e9)
    live = Live(Identity(), card=card)
    live.run(5.0)
    assert card.now() == pytest.approx(5.0, abs=0.2)
    assert live.status().reopened == 0


def test_whatever_the_system_says_while_a_device_comes_back_it_is_tried_again() -> None:
    class Strange(DummyCard):
        tries = 0

        def plan(self) -> Format:
            self.tries += 1
            if self.tries in (2, 3):
                raise OSError(24, "Too many open files")
            return super().plan()

    card = Strange(voice(1.0, rate=RATE))
    card.vanish(2.0, 0.5)
    live = Live(Identity(), card=card)
    seen = watched(live, card)
    live.run(8.0)
    assert "Too many open files" in {s.cause for _, s in seen if s.state is State.lost}.pop()
    assert live.status().reopened == 1


def test_a_stage_that_hangs_is_seen_and_the_microphone_closed_all_the_same() -> None:
    held, go_on = threading.Event(), threading.Event()

    class Hanging(Identity):
        hops = 0

        def step(self, x: F32, y: F32) -> None:
            super().step(x, y)
            self.hops += 1
            if self.hops == 150:  # 50 of them are the engine's warm-up
                held.set()
                go_on.wait(20)

    card = DummyCard(voice(1.0, rate=RATE), real_time=True)
    live = Live(Hanging(), card=card)
    live.start()
    try:
        assert held.wait(20)
        time.sleep(0.8)
        status = live.status()
        assert status.state is State.overloaded
        assert status.starved_ms > 300
        assert status.xruns > 0
        began = time.monotonic()
        live.close()
        assert time.monotonic() - began < 2
        assert not card.active
    finally:
        go_on.set()
    assert live.wait(20)


def test_a_new_voice_after_another_rate_is_a_new_one_with_a_seed_too() -> None:
    stage = Gain()
    first = Engine(stage, sample_rate=RATE, seed=3)
    first.new_voice()
    second = Engine(stage.clone(), sample_rate=16_000, seed=3)
    second.restore(first.save())
    before = second.stages[0].voice
    second.new_voice()
    assert second.stages[0].voice != before


def test_a_device_that_cannot_be_opened_is_told_and_nothing_runs() -> None:
    card = DummyCard()
    card.vanish(0.0, 10.0)
    live = Live(Identity(), card=card)
    with pytest.raises(DeviceError, match="unplugged"):
        live.start()
    assert live.status().state is State.closed
    with pytest.raises(DeviceError, match="unplugged"):
        live.wait(0.0)


def test_muted_is_exactly_silent_without_a_click_and_unmuted_at_once() -> None:
    tape = Tape()
    x = (0.3 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)).astype(np.float32)
    card = DummyCard(x, listener=tape)
    live = Live(Identity(), card=card)
    after_each_wait(card, lambda: setattr(live, "muted", 2.0 < card.now() < 3.0))
    live.run(4.0)
    y = tape.sound[:, 0]
    assert not y[int(2.05 * RATE) : int(2.98 * RATE)].any()
    assert np.std(y[int(3.1 * RATE) :]) == pytest.approx(0.3 / np.sqrt(2), rel=0.02)
    quiet = np.abs(np.diff(y)).max()
    assert quiet < 2.5 * 0.3 * 2 * np.pi * 200 / RATE  # the steepest step of the tone, and the ramp


def test_another_rate_after_the_loss_keeps_voice_and_parameters() -> None:
    class Headset(DummyCard):
        """A headset that comes back as 16 kHz."""

        def plan(self) -> Format:
            if self.opened:
                vars(self).update({k: v for k, v in vars(hands_free).items() if k in ("_format", "_loop", "_length")})
            return super().plan()

    hands_free = DummyCard(voice(1.0), rate_in=16_000)

    voices = []
    card = Headset(voice(1.0, rate=RATE))
    card.vanish(1.0, 1.0)
    live = Live(Gain(), card=card)
    after_each_wait(card, lambda: voices.append((live.engine.sample_rate, live.engine.stages[0].voice["gain"])))
    live.run(4.0)
    assert {rate for rate, _ in voices} == {48_000, 16_000}
    assert len({gain for _, gain in voices}) == 1


def test_what_was_sent_can_be_fetched_to_the_sample() -> None:
    tape = Tape()
    card = DummyCard(voice(1.0, rate=RATE), listener=tape)
    live = Live(McAdams(), card=card, record=True)
    got: list[F32] = []
    piece = np.zeros(5000, np.float32)

    def fetch() -> None:
        if card.now() % 0.5 < 0.01:
            got.append(piece[: live.sent(piece)].copy())

    after_each_wait(card, fetch)
    live.run(3.0)
    while count := live.sent(piece):
        got.append(piece[:count].copy())
    np.testing.assert_array_equal(np.concatenate(got), tape.sound[:, 0])


def test_in_real_time_it_starts_runs_and_closes() -> None:
    card = DummyCard(train(RATE), real_time=True)
    with Live(Identity(), card=card) as live:
        assert not live.wait(1.0)
        assert live.status().state in (State.running, State.overloaded)
        live.new_voice()
        assert live.status().voice.endswith("voice 2")
    assert live.status().state is State.closed
    assert not card.active


def test_a_live_stream_starts_once() -> None:
    with Live(Identity(), card=DummyCard(real_time=True)) as live, pytest.raises(RuntimeError, match="once"):
        live.start()
    unstarted = Live(Identity(), card=DummyCard())
    unstarted.close()
    with pytest.raises(RuntimeError, match="once"):
        unstarted.start()
