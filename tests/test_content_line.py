import numpy as np
import pytest
from memory import net_growth
from signals import noise, voice
from velavox.engine.content.filler import SECONDS, babble
from velavox.engine.content.line import ACTIONS, Action, Line
from velavox.engine.content.spans import Spans

RATE = 16_000
EVERYTHING = 2**62


@pytest.mark.parametrize("action", ACTIONS)
def test_the_mask_path_allocates_nothing(action: Action) -> None:
    line, spans, y = Line(RATE, 1, 8000, 159, action), Spans(RATE), noise(160)
    spans.hide(20_000, 40_000, 0)

    def run() -> None:
        for _ in range(400):
            line.run(y, EVERYTHING, spans)

    run()
    assert net_growth(run) < 500


def test_what_is_not_judged_is_noted_as_dark_and_counted() -> None:
    line, spans = Line(RATE, 1, 1000, 100, "silence"), Spans(RATE)
    for _ in range(5):
        line.run(noise(1000), 500, spans)
    assert line.left == 3900
    assert line.unjudged == 3400
    assert spans.dark == ((500, 3900),)


def test_restart_is_fresh() -> None:
    line, spans, x = Line(RATE, 2, 700, 100, "tone"), Spans(RATE), noise(32_000)
    spans.hide(8000, 8500, 0)
    outs = []
    for _ in range(2):
        y = x.copy()
        for start in range(0, y.size, 800):
            line.run(y[start : start + 800], 20_000, spans)
        outs.append(y)
        assert (line.left, line.hidden) == (15_200, 6900)
        line.restart()
        assert (line.left, line.hidden, line.unjudged) == (-800, 0, 0)
    np.testing.assert_array_equal(outs[0], outs[1])


@pytest.mark.parametrize("action", ["tone", "babble"])
def test_fillers_are_as_loud_as_the_voice(action: Action) -> None:  # C20
    line, spans = Line(RATE, 1, 160, 0, action), Spans(RATE)
    spans.hide(32_000, 60_000, 0)
    y = noise(64_160, 0.08)
    line.run(y, EVERYTHING, spans)
    assert line.level() == pytest.approx(0.08, rel=0.2)
    assert np.sqrt(np.mean(y[34_000:58_000] ** 2)) == pytest.approx(0.08, rel=0.35)


@pytest.mark.parametrize("rate", [4000, 16_000, 48_000])
def test_babble_is_the_same_each_time_even_and_goes_round_without_a_click(rate: int) -> None:
    y = babble(rate)
    np.testing.assert_array_equal(y, babble(rate))
    assert y.size == SECONDS * rate
    assert np.mean(y**2) == pytest.approx(1, rel=1e-3)
    assert abs(y[0] - y[-1]) < np.abs(np.diff(y)).max()
    halves = y.reshape(8, -1)
    assert (halves**2).mean(axis=1).min() > 0.3


def test_babble_is_no_voice_that_comes_in() -> None:
    """It is made of no recording, and hides what is said: nothing of the voice is in it."""
    line, spans, x = Line(RATE, 1, 160, 0, "babble"), Spans(RATE), voice(4.0)
    spans.hide(20_000, 50_000, 0)
    y = np.concatenate([x, np.zeros(160, np.float32)])
    line.run(y, EVERYTHING, spans)
    said, heard = x[21_000:49_000], y[21_160:49_160]
    correlation = np.fft.irfft(np.fft.rfft(heard, 65_536) * np.conj(np.fft.rfft(said, 65_536)))
    assert np.abs(correlation).max() / np.linalg.norm(said) / np.linalg.norm(heard) < 0.2
