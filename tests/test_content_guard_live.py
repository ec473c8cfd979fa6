"""A guard in a live stream: devices that go, and come back at another rate."""

from __future__ import annotations

import numpy as np
import pytest
from eavesdrop import RATE, Ear, Failing, crash, got_out, speech
from test_live import Headset
from velavox import Engine, Identity, McAdams
from velavox.engine.content.guard import ContentGuard
from velavox.engine.dummy import DummyCard
from velavox.engine.live import Live
from watching import Tape

SECRETS = [(k + 0.4, k + 0.7) for k in range(4)]


class Around:
    """As a command makes it: one guard for all openings."""

    def __init__(self, *detectors: Ear) -> None:
        self.detectors, self.guards = detectors, list[ContentGuard]()
        self.engines = 0

    def __call__(self, engine: Engine) -> ContentGuard:
        self.engines += 1
        if self.guards:
            self.guards[0].take(engine)
        else:
            # As in a file: the card's time is not the detectors'
            self.guards.append(ContentGuard(engine, self.detectors, delay=1.0, action="silence", wait=True))
        return self.guards[0]


def test_a_device_that_comes_back_lets_out_no_word_of_before_or_after() -> None:
    tape, around = Tape(), Around(Ear())
    card = DummyCard(speech(4.0, *SECRETS, rate=48_000), listener=tape)
    card.vanish(2.5, 1.5)
    live = Live(Identity(), card=card, around=around)
    live.run(9.0)
    assert live.status().reopened == 1
    assert around.engines == 1
    assert got_out(tape.sound) == 0
    assert np.abs(tape.sound).max() > 0.03
    assert live.status().delay_parts_ms["engine"] == pytest.approx(1000 + 14.9, abs=1)
    around.guards[0].close()
    assert around.guards[0].report().found >= 5


def test_a_device_that_comes_back_at_another_rate_does_neither() -> None:
    tape, around = Tape(), Around(Ear())
    card = Headset(speech(4.0, *SECRETS, rate=48_000), speech(4.0, *SECRETS, rate=RATE), listener=tape)
    card.vanish(2.5, 1.5)
    live = Live(Identity(), card=card, around=around)
    live.run(9.0)
    assert (live.status().rate_in, live.status().reopened) == (16_000, 1)
    assert around.engines == 2
    loud = [np.abs(block).max() for block in tape.blocks]
    assert max(loud) > 0.03
    assert max(loud) < 0.1
    around.guards[0].close()


def test_a_detector_that_fails_after_the_device_came_back_closes_the_line() -> None:
    tape = Tape()
    around = Around(Failing(crash, after=12))
    card = DummyCard(speech(4.0, *SECRETS, rate=48_000), listener=tape)
    card.vanish(2.5, 1.5)
    live = Live(McAdams(), card=card, around=around)
    live.run(9.0)
    late = [np.abs(block).max() for time, block in zip(tape.times, tape.blocks, strict=True) if time > 7.0]
    assert len(late) > 100
    assert max(late) < 1e-6
    assert live.status().muted_hops > 100
    around.guards[0].close()
