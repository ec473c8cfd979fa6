import naive
import numpy as np
import numpy.typing as npt
import pytest
from signals import F32, awkward, noise, partitions
from velavox.kernels import asrc

PAIRS = [(48000, 48000), (44100, 48000), (48000, 44100), (16000, 48000), (48000, 16000)]
OFF = (0.0, 200e-6, -200e-6)


class Stream:
    """One stream; `steps` after the first call glide from that of the call before, so each starts as if it ran already."""

    def __init__(self, rate_in: int = 48000, rate_out: int = 48000, *, off: float = 0.0, block: int = 9000) -> None:
        self.rates, self.nominal = (rate_in, rate_out), rate_in / rate_out
        self.state, self.rows = asrc.fresh(rate_in, rate_out), asrc.bank(rate_in, rate_out)
        self.past = asrc.history(rate_in, rate_out, block)
        self.state[0].step = round(self.nominal * (1 + off) * asrc.ONE)
        self.off = off

    def __call__(self, x: npt.NDArray[np.floating], off: float | None = None) -> F32:
        self.off = self.off if off is None else off
        columns = np.full((x.size, 2), np.nan, np.float32)  # the second must not be read
        columns[:, 0] = x
        out = np.full(asrc.most(x.size, *self.rates) + 1, 0.77, np.float32)
        count = asrc.stream(self.state, self.rows, self.past, columns, x.size, self.nominal * (1 + self.off), out)
        assert count <= asrc.most(x.size, *self.rates)
        assert (out[count:] == np.float32(0.77)).all()
        return out[:count]


def snr(y: F32, wanted: npt.NDArray[np.float64]) -> float:
    return float(10 * np.log10(np.sum(wanted**2) / np.sum((y - wanted) ** 2)))


@pytest.mark.nojit
@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("off", OFF)
def test_twin(rate_in: int, rate_out: int, off: float) -> None:
    x, stream = noise(300), Stream(rate_in, rate_out, off=off)
    y = stream(x)
    times = np.arange(y.size, dtype=np.float64) * stream.nominal * (1 + off) - asrc.latency(rate_in, rate_out)
    wanted = naive.read_between(x.astype(np.float64), times, rate_in, rate_out, asrc.ZEROS, asrc.KAISER)
    np.testing.assert_allclose(y, wanted, atol=1e-5)


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("off", OFF)
def test_partition_does_not_matter(rate_in: int, rate_out: int, off: float) -> None:
    x = noise(9000)
    whole = Stream(rate_in, rate_out, off=off)(x)
    for name, sizes in partitions(x.size):
        stream = Stream(rate_in, rate_out, off=off)
        parts = [stream(block) for block in np.split(x, np.cumsum(sizes)[:-1])]
        np.testing.assert_array_equal(np.concatenate(parts), whole, err_msg=name)


@pytest.mark.nojit
def test_equal_rates_delay_by_whole_samples_bit_for_bit() -> None:
    x = noise(5000)
    delay = asrc.latency(48000, 48000)
    assert delay / 48000 <= 0.5e-3
    for name, sizes in partitions(x.size):
        stream = Stream()
        y = np.concatenate([stream(block) for block in np.split(x, np.cumsum(sizes)[:-1])])
        np.testing.assert_array_equal(y, np.concatenate([np.zeros(delay, np.float32), x[:-delay]]), err_msg=name)


@pytest.mark.nojit
def test_copying_is_what_the_filter_does() -> None:
    """A stream that is off by the least there is, and so does not copy, gives the same samples."""
    x, stream = noise(500), Stream(off=2e-15)
    np.testing.assert_allclose(stream(x), Stream()(x), rtol=0, atol=1e-8)
    assert stream.state[0].phase > 0


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
@pytest.mark.parametrize("off", OFF)
def test_tones_are_clean_and_where_the_latency_says(rate_in: int, rate_out: int, off: float) -> None:
    """SNR against the tone at exactly these times: so is its frequency, to much less than 0.1 Hz in a second."""
    for share in (1000 / min(rate_in, rate_out), 0.1, 0.25, 0.4):
        turns = share * min(rate_in, rate_out) / rate_in  # of phase, an input sample
        stream = Stream(rate_in, rate_out, off=off, block=rate_in)
        y = stream(0.5 * np.sin(2 * np.pi * turns * np.arange(rate_in)))
        times = np.arange(y.size) * stream.nominal * (1 + off) - asrc.latency(rate_in, rate_out)
        late = times > 2 * asrc.latency(rate_in, rate_out)
        assert snr(y[late], 0.5 * np.sin(2 * np.pi * turns * times[late])) >= 92, share


@pytest.mark.parametrize("hz", [9500, 12000, 17000, 23000])
def test_what_the_lower_rate_cannot_hold_is_removed(hz: int) -> None:
    y = Stream(48000, 16000, block=48000)(np.sin(2 * np.pi * hz * np.arange(48000) / 48000))
    assert np.abs(y[200:]).max() < 1e-4


@pytest.mark.parametrize("hz", [500, 3000, 6400])
def test_no_images_when_the_rate_is_raised(hz: int) -> None:
    y = Stream(16000, 48000, block=16000)(np.sin(2 * np.pi * hz * np.arange(16000) / 16000))
    spectrum = np.abs(np.fft.rfft(y[-24000:] * np.blackman(24000)))
    assert spectrum[9600 // 2 :].max() < 1e-4 * spectrum.max()


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_count_is_exact_for_ever(rate_in: int, rate_out: int) -> None:
    """Positions are integers of 2^-48 samples: after minutes in blocks of 1 s the count is that of the division."""
    stream = Stream(rate_in, rate_out, off=137.3e-6, block=rate_in)
    step = int(stream.state[0].step)
    silence, seconds = np.zeros(rate_in, np.float32), 120
    total = sum(stream(silence).size for _ in range(seconds))
    assert total == -(-seconds * rate_in * asrc.ONE // step)
    after = seconds * rate_in * asrc.ONE - total * step  # how far before the next input the next output lies
    assert -after == (int(stream.state[0].position) - stream.rows.shape[1] + 1) * asrc.ONE + int(stream.state[0].phase)


@pytest.mark.nojit
@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_the_step_glides_over_the_call(rate_in: int, rate_out: int) -> None:
    """A ramp tells the time of each output: it is the sum of steps that move in a straight line, a parabola."""
    stream, frames, off = Stream(rate_in, rate_out), 600, 5e-3
    stream(np.arange(frames) / 1000)
    times = stream(np.arange(frames, 2 * frames) / 1000, off).astype(float) * 1000
    k = np.arange(times.size)
    np.testing.assert_allclose(times - times[0], stream.nominal * (k + off * k * k / (2 * k.size)), atol=0.02)
    assert stream.state[0].step == round(stream.nominal * (1 + off) * asrc.ONE)


def test_changes_of_the_step_do_not_click() -> None:
    """A tone's second difference never exceeds its own: off by 2000 ppm either way, back to 1 between samples, and on."""
    turns = 1000 / 48000
    stream, parts, done = Stream(), [], 0
    for off in (0, 2e-3, 2e-3, -2e-3, 1e-6, 0, 0, 0, -3e-4, 0, 0):
        parts.append(stream(np.sin(2 * np.pi * turns * np.arange(done, done + 480)), off))
        done += 480
    assert stream.state[0].phase != 0
    y = np.concatenate(parts)[40:].astype(float)
    assert np.abs(np.diff(y, 2)).max() < (2 * np.pi * turns * 1.002) ** 2 * 1.001


@pytest.mark.nojit
@pytest.mark.parametrize("off", OFF)
def test_silence_is_silent_and_a_constant_constant(off: float) -> None:
    for rate_in, rate_out in PAIRS:
        assert not Stream(rate_in, rate_out, off=off)(np.zeros(500)).any()
        np.testing.assert_allclose(Stream(rate_in, rate_out, off=off)(np.full(500, 0.3))[300:], 0.3, atol=1e-6)


@pytest.mark.parametrize("off", OFF)
def test_overshoot_is_bounded(off: float) -> None:
    for rate_in, rate_out in PAIRS:
        bound = np.abs(asrc.bank(rate_in, rate_out)).sum(axis=1).max()
        assert bound < 4
        for name, x in awkward().items():
            y = Stream(rate_in, rate_out, off=off)(x)
            assert np.abs(y).max() <= bound * np.abs(x).max() * (1 + 1e-6), name


def test_most_is_enough_at_the_largest_deviation() -> None:
    for rate_in, rate_out in PAIRS:
        for frames in (1, 2, 479, 480, 2048):
            stream = Stream(rate_in, rate_out, off=-asrc.SPREAD / (1 + asrc.SPREAD))
            counts = [stream(np.zeros(frames)).size for _ in range(20)]  # which checks each
            assert sum(counts) == -(-20 * frames * asrc.ONE // int(stream.state[0].step))
