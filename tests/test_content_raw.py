import numpy as np
import pytest
from signals import RATE, noise, partitions, tone
from velavox.engine.content.raw import PIECE, Raw

RATES = [4000, 8000, 11_025, 16_000, 44_100, 48_000, 192_000]


def fed(raw: Raw, x: np.ndarray, sizes: list[int] | None = None) -> Raw:
    for block in np.split(x, np.cumsum(sizes)[:-1]) if sizes else [x]:
        for start in range(0, len(block), PIECE):
            raw.push(block[start : start + PIECE].reshape(-1, raw._x.shape[0]))
    return raw


@pytest.mark.parametrize("rate", RATES)
def test_sample_n_is_what_was_said_n_sixteenths_of_a_ms_after_the_start(rate: int) -> None:
    click = np.zeros(rate, np.float32)
    click[round(0.4 * rate)] = 0.9
    raw = fed(Raw(rate, 1, RATE), click)
    raw.finish()
    assert raw.end == RATE
    assert abs(int(np.argmax(np.abs(raw.read(0, RATE)))) - round(0.4 * rate) * RATE / rate) <= 1


@pytest.mark.parametrize("rate", RATES)
def test_frames_for_is_the_fewest_that_give_so_many_samples(rate: int) -> None:
    for samples in (1, 160, 4001):
        frames = Raw(rate, 1, RATE).frames_for(samples)
        assert fed(Raw(rate, 1, RATE), np.zeros(frames, np.float32)).end >= samples
        assert fed(Raw(rate, 1, RATE), np.zeros(frames - 1, np.float32)).end < samples


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100])
def test_any_partition_gives_the_same(rate: int) -> None:
    x = noise(20_000)
    whole = fed(Raw(rate, 1, 8 * RATE), x)
    whole.finish()
    for name, sizes in partitions(x.size):
        raw = fed(Raw(rate, 1, 8 * RATE), x, sizes)
        raw.finish()
        assert raw.end == whole.end == -(-x.size * RATE // rate)
        np.testing.assert_allclose(raw.read(0, raw.end), whole.read(0, whole.end), atol=1e-6, err_msg=name)


def test_the_newest_can_be_read_again_and_again_and_the_oldest_not() -> None:
    raw, x = Raw(RATE, 1, 16_000), noise(400_000)
    fed(raw, x)
    np.testing.assert_array_equal(raw.read(384_000, 400_000), x[384_000:])
    np.testing.assert_array_equal(raw.read(384_000, 400_000), x[384_000:])
    with pytest.raises(RuntimeError, match="overwritten"):
        raw.read(0, 16_000)


def test_a_voice_on_one_side_and_one_turned_over_are_heard() -> None:
    x = tone(RATE, 300, 0.3)
    for left, right in ((x, 0 * x), (x, -x)):
        raw = fed(Raw(RATE, 2, RATE), np.stack([left, right], axis=1))
        assert np.abs(raw.read(8000, RATE)).max() == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 40.0])
def test_what_is_no_sound_is_told_and_is_0(bad: float) -> None:
    raw, x = Raw(RATE, 1, RATE), noise(3000)
    x[[2100, 2110]] = bad
    assert raw.push(x[:2000, None]) is None
    assert raw.push(x[2000:, None]) == (2100, 2111)
    assert raw.push(noise(100)[:, None]) is None
    read = raw.read(0, 3000)
    assert (read[[2100, 2110]] == 0).all()
    np.testing.assert_array_equal(np.delete(read, [2100, 2110]), np.delete(x, [2100, 2110]))


def test_restart_begins_another_stream_of_its_own_number() -> None:
    raw, other = Raw(RATE, 1, RATE), Raw(RATE, 1, RATE)
    fed(raw, noise(1000)).finish()
    before = raw.generation
    raw.restart()
    assert (raw.end, raw.last) == (0, False)
    assert len({before, raw.generation, other.generation}) == 3
    x = noise(500, seed=1)
    fed(raw, x)
    np.testing.assert_array_equal(raw.read(0, 500), x)


def test_integers_are_scaled() -> None:
    raw = Raw(RATE, 1, RATE)
    raw.push(np.full((100, 1), -16384, np.int16))
    np.testing.assert_array_equal(raw.read(0, 100), -0.5)
