import naive
import numpy as np
import pytest
from velavox.kernels import pause, vocoder
from velavox.kernels.jit import F32, F64
from velavox.kernels.pause import CEILING

pytestmark = pytest.mark.nojit


def frames(n: int = 40) -> F32:
    """Envelopes from far below the ceiling to far above."""
    random = np.random.default_rng(0)
    return np.asarray(random.normal(0, 2, (n, 64)) + random.uniform(-25, 3, (n, 1)), np.float32)


def content(silence: float | F32, n: int = 40) -> F32:
    heard = np.zeros((n, 52), np.float32)
    heard[:, pause.SILENCE] = silence
    heard[:, 1] = 1 - heard[:, pause.SILENCE]
    return heard


def spoken(envelope: F32, heard: F32, gain: float = 0.0) -> F32:
    found = envelope.copy()
    pause.stream(found, heard, gain)
    return found


def power(envelope: F32) -> F64:
    """ln of the mean power of each frame as it is over frequency, read between the bands' centres."""
    hz = np.linspace(0, 8000, 4001)
    return np.array([np.log(np.interp(hz, vocoder.centres(), np.exp(frame)).mean()) for frame in envelope.astype(float)])


def test_equals_twin() -> None:
    silence = np.random.default_rng(1).random(40).astype(np.float32)
    found = spoken(frames(), content(silence), -1.7)
    np.testing.assert_allclose(found, naive.pause(frames().astype(float), silence.astype(float), -1.7), atol=1e-5)


@pytest.mark.parametrize("silence", [0.0, 0.3, 0.5])
def test_speech_and_what_may_be_it_are_left_alone(silence: float) -> None:
    np.testing.assert_array_equal(spoken(frames(), content(silence)), frames())


def test_sure_pauses_keep_their_timbre_and_are_no_louder_than_the_ceiling() -> None:
    x, y = frames(), spoken(frames(), content(1.0))
    assert power(y) == pytest.approx(np.minimum(power(x), CEILING), abs=0.2)  # 0.9 dB: envelopes of noise, read between bands
    np.testing.assert_allclose(y - y.max(1, keepdims=True), x - x.max(1, keepdims=True), atol=1e-5)


def test_the_surer_the_quieter() -> None:
    levels = [power(spoken(frames(), content(p))) for p in np.linspace(0, 1, 8)]
    assert (np.diff(levels, axis=0) <= 1e-5).all()


def test_the_speakers_level_is_added_to_all() -> None:
    np.testing.assert_allclose(spoken(frames(), content(0.9), 2.5), spoken(frames(), content(0.9)) + 2.5, atol=1e-5)


def test_what_is_not_finite_stays_so() -> None:
    for bad in (np.nan, np.inf):
        x = frames(2)
        x[1, 30] = bad
        for silence in (0.0, 1.0):
            with np.errstate(invalid="ignore"):
                assert not np.isfinite(spoken(x, content(silence, 2))[1]).all()
