"""A live stream over a dummy card: devices lost and opened again, mute, a stage that hangs, what was sent, start and close."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
import pytest
from doubles import Faulty, Gain, Minus, fail
from pulses import train
from signals import F32, voice
from velavox import Engine, Identity, McAdams
from velavox.engine.card import DeviceError, Format
from velavox.engine.dummy import DummyCard, Listener
from velavox.engine.live import Live
from velavox.engine.status import State
from watching import Tape, after_each_wait, watched

RATE, BLOCK = 48_000, 480


class Headset(DummyCard):
    """Comes back from a loss at 16 kHz."""

    def __init__(self, sound: F32, sound_16k: F32, listener: Listener | None = None) -> None:
        super().__init__(sound, listener=listener)
        self._hands_free = vars(DummyCard(sound_16k, rate_in=16_000))

    def plan(self) -> Format:
        if self.opened:
            vars(self).update({name: self._hands_free[name] for name in ("_format", "_loop", "_length")})
        return super().plan()


def test_a_lost_device_is_silence_and_comes_back_with_its_voice() -> None:
    tape = Tape()
    card = DummyCard(voice(1.0, rate=RATE), listener=tape)
    card.vanish(2.0, 3.5)
    live = Live(Gain(), card=card, seed=5)
    seen = watched(live, card)
    live.run(9.0)
    lost = [s for t, s in seen if 2.2 < t < 5.4]
    assert {s.state for s in lost} == {State.lost}
    assert any("unplugged" in s.cause for s in lost)
    assert not [t for t in tape.times if 2.0 < t < 5.5]
    assert {s.state for t, s in seen if t > 7.0} == {State.running}
    assert live.status().reopened == 1
    sound, when = tape.sound[:, 0], np.repeat(tape.times, BLOCK)
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
    voices = []
    card = Headset(voice(1.0, rate=RATE), voice(1.0))
    card.vanish(1.0, 1.0)
    live = Live(Gain(), card=card)
    after_each_wait(card, lambda: voices.append((live.engine.sample_rate, live.engine.stages[0].voice["gain"])))
    live.run(4.0)
    assert {rate for rate, _ in voices} == {48_000, 16_000}
    assert len({gain for _, gain in voices}) == 1


@pytest.mark.parametrize("fails", ["clone", "prepare", "restore"])
def test_a_voice_that_cannot_go_over_to_another_rate_is_silence(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise RuntimeError("wires crossed")

    def look() -> None:
        if card.now() > 6.0:
            monkeypatch.undo()
        elif card.now() > 1.5:
            monkeypatch.setattr(Minus, fails, refuse)

    tape = Tape()
    card = Headset(train(RATE), train(16_000), tape)
    card.vanish(2.0, 1.0)
    live = Live(Minus(), card=card)
    seen = watched(live, card)
    after_each_wait(card, look)
    live.run(9.0)
    assert not [t for t in tape.times if 2.0 < t < 6.0]
    assert {s.state for t, s in seen if 3.5 < t < 6.0} == {State.lost}
    assert any("wires crossed" in s.cause for _, s in seen)
    assert live.status().rate_in == 16_000
    before, after = ([y.min() for t, y in zip(tape.times, tape.blocks, strict=True) if (t > 6.0) == late] for late in (0, 1))
    assert max(min(before), min(after)) < -0.3
    assert tape.sound.max() < 0.05  # the pulses are positive, and turned over by the voice


class Clinging(DummyCard):
    """Hangs when it is closed, until `go_on`, and calls back all the same."""

    def __init__(self, sound: F32, listener: Listener) -> None:
        super().__init__(sound, listener=listener)
        self.asked, self.go_on = False, threading.Event()

    def close(self) -> None:
        self.asked = True
        self.go_on.wait(20)


def silent_from_now_on(card: Clinging, tape: Tape) -> bool:
    """It calls back for a second more, and plays silence: after what was put already, and the decay of its last step."""
    tape.blocks.clear()
    card.wait(1.0)
    assert len(tape.sound) > 0.9 * RATE
    assert tape.sound.max() < 0.05  # the pulses that it hears are positive, and turned over by the voice
    return not tape.sound[RATE // 20 :].any()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_stage_that_ends_the_worker_leaves_silence_and_a_closed_stream(error: type[BaseException]) -> None:
    class GivingUp(Identity):
        def step(self, x: F32, y: F32) -> None:
            super().step(x, y)
            if card.now() > 2.0 and x.min() < -0.3:
                np.negative(x, out=y)  # the speaker's own voice
                raise error("given up")

    tape = Tape()
    card = Clinging(train(RATE), tape)
    live = Live([Minus(), GivingUp()], card=card)
    with pytest.raises(error):
        live.run(5.0)
    assert card.now() < 3.0
    assert card.asked
    status = live.status()
    assert (status.state, status.cause) == (State.closed, f"{error.__name__}: given up")
    with pytest.raises(error):
        live.wait(0.0)
    assert tape.sound.min() < -0.3
    assert tape.sound.max() < 0.05
    assert silent_from_now_on(card, tape)
    card.go_on.set()


def test_a_card_that_still_calls_back_after_it_was_closed_plays_silence() -> None:
    tape = Tape()
    card = Clinging(train(RATE), tape)
    live = Live(Minus(), card=card)
    live.run(2.6)
    assert tape.sound[-1] < -0.3  # in the middle of a pulse
    assert card.asked
    assert silent_from_now_on(card, tape)
    assert card._exchange is not None
    kept, card._exchange = weakref.ref(card._exchange), None  # as PortAudio, which knows an address
    del live
    gc.collect()
    assert kept() is not None
    card.go_on.set()


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
