import naive
import numpy as np
import pytest
from signals import noise, voice
from velavox.kernels import channel, fbank
from velavox.kernels.channel import BANDS, TYPICAL
from velavox.kernels.jit import F32

pytestmark = pytest.mark.nojit


def speech(seconds: float = 2.0) -> F32:
    return fbank.offline(voice(seconds) + noise(int(16_000 * seconds), 1e-3))


def streamed(mel: F32, sizes: list[int]) -> F32:
    state, parts, start = channel.fresh(), [], 0
    for n in sizes:
        mean = np.full((n, BANDS), np.nan, np.float32)
        channel.stream(state, np.ascontiguousarray(mel[start : start + n]), mean)
        parts.append(mean)
        start += n
    return np.concatenate(parts)


def test_equals_twin() -> None:
    mel = speech()
    np.testing.assert_allclose(channel.offline(mel), naive.channel_mean(mel.astype(float), TYPICAL.astype(float)), atol=1e-4)


@pytest.mark.parametrize("sizes", [[1] * 100, [2] * 50, [37, 1, 62]])
def test_any_partition_gives_the_same(sizes: list[int]) -> None:
    mel = speech()[:100]
    np.testing.assert_array_equal(streamed(mel, sizes), channel.offline(mel))


def test_louder_is_as_much_higher_from_the_first_frame() -> None:
    mel = speech()
    for gain in (-12.0, 5.0):
        np.testing.assert_allclose(channel.offline(mel + np.float32(gain)) - gain, channel.offline(mel), atol=1e-4)


def test_a_filter_is_found() -> None:
    """What a microphone adds to every frame is in the mean after three seconds, and less than half of it after 0.1 s."""
    mel = np.tile(speech(), (4, 1))
    tilt = np.linspace(-3, 3, BANDS, dtype=np.float32)
    moved = channel.offline(mel + tilt) - channel.offline(mel)
    np.testing.assert_allclose(moved[300], tilt, atol=0.6)
    assert 0.1 < moved[10] @ tilt / (tilt @ tilt) < 0.5


def test_pauses_and_the_noise_before_leave_it_as_it_is() -> None:
    mel = speech()
    hush = np.full((500, BANDS), mel.mean() - 10, np.float32)
    after = channel.offline(np.concatenate([mel, hush]))
    np.testing.assert_allclose(after[len(mel) + 300], after[len(mel) - 1], atol=1.0)
    late = channel.offline(np.concatenate([hush, mel]))[-1]
    np.testing.assert_allclose(late, channel.offline(np.concatenate([mel, mel]))[-1], atol=1.0)


def test_at_first_the_shape_is_that_of_speech() -> None:
    first = channel.offline(np.full((1, BANDS), 3.0, np.float32))[0]
    np.testing.assert_allclose(first - 3, 30 / 31 * TYPICAL, atol=0.05)
    assert abs(TYPICAL.mean()) < 0.05


def test_digital_silence_and_full_scale_are_finite() -> None:
    for x in (np.zeros(4000, np.float32), 16 * noise(4000, 1.0)):
        assert np.isfinite(channel.offline(fbank.offline(x))).all()
