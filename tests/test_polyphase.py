import naive
import numpy as np
import pytest
from signals import noise, partitions
from velavox.kernels import polyphase, ring

RATES = (8000, 11025, 22050, 24000, 32000, 44100, 48000, 88200, 96000)
BOTH_WAYS = [(rate, 16000) for rate in RATES] + [(16000, rate) for rate in RATES]


PAIRS = [(48000, 16000), (16000, 48000), (44100, 16000), (16000, 11025), (8000, 16000)]


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_twin(rate_in: int, rate_out: int) -> None:
    x = noise(300)
    wanted = naive.resample(x.astype(float), rate_in, rate_out, polyphase.HALF_LENGTH, polyphase.ATTENUATION)
    np.testing.assert_allclose(polyphase.offline(x, rate_in, rate_out), wanted, atol=2e-6)


@pytest.mark.parametrize(("rate_in", "rate_out"), [(48000, 16000), (16000, 44100), (11025, 16000)])
def test_streamed_equals_offline(rate_in: int, rate_out: int) -> None:
    x = noise(9000)
    whole = polyphase.offline(x, rate_in, rate_out)
    for name, sizes in partitions(x.size):
        state, past = polyphase.fresh(rate_in, rate_out), polyphase.history(rate_in, rate_out, x.size)
        ring_state, buffer = ring.fresh(), ring.memory(whole.size)
        start = 0
        for size in sizes:
            polyphase.stream(state, polyphase.bank(rate_in, rate_out), past, ring_state, buffer, x[start : start + size])
            start += size
        assert ring_state[0].write == whole.size, name
        np.testing.assert_array_equal(buffer[: whole.size], whole, err_msg=name)


@pytest.mark.parametrize(("rate_in", "rate_out"), BOTH_WAYS)
def test_response(rate_in: int, rate_out: int) -> None:
    """At most 2.5 ms of delay; flat to 0.1 dB up to 0.78 kHz below the lower Nyquist; 60 dB down from there on."""
    up, _ = polyphase.ratio(rate_in, rate_out)
    assert polyphase.centre(rate_in, rate_out) <= 2.5e-3 * rate_in * up
    response = polyphase.bank(rate_in, rate_out)[:, ::-1].T.ravel() / up
    spectrum = np.abs(np.fft.rfft(response.astype(float), 1 << int(np.ceil(np.log2(response.size * 8)))))
    hz = np.linspace(0, rate_in * up / 2, spectrum.size)
    nyquist = min(rate_in, rate_out) / 2
    assert 20 * np.log10(spectrum[hz >= nyquist].max()) < -60
    assert np.abs(20 * np.log10(spectrum[hz < nyquist - 780])).max() < 0.1


@pytest.mark.parametrize(("rate_in", "rate_out"), BOTH_WAYS)
def test_delay_reported_is_the_delay_measured(rate_in: int, rate_out: int) -> None:
    """A tone's phase after the filter tells the delay to a fraction of a sample, with and without advance."""
    up, _ = polyphase.ratio(rate_in, rate_out)
    for advance in {0, up // 3}:
        delay = (polyphase.centre(rate_in, rate_out) - advance) / (rate_in * up)  # s
        t_in = np.arange(rate_in // 5) / rate_in
        y = polyphase.offline(np.sin(2 * np.pi * 440 * t_in).astype(np.float32), rate_in, rate_out, advance)
        t_out = np.arange(y.size) / rate_out
        late = slice(y.size // 4, y.size)
        np.testing.assert_allclose(y[late], np.sin(2 * np.pi * 440 * (t_out - delay))[late], atol=2e-3)


@pytest.mark.parametrize("rate", RATES)
def test_count(rate: int) -> None:
    for samples in range(1, 400, 37):
        up, down = polyphase.ratio(rate, 16000)
        assert polyphase.offline(noise(samples), rate, 16000).size == polyphase.count(samples, up, down)


@pytest.mark.parametrize("rate", [44101, 47999, 191999, 383999])
def test_odd_rates_share_phases(rate: int) -> None:
    """Thousands of phases would cost gigabytes and seconds; a thousand are as good: a tone stays clean to 55 dB."""
    for rate_in, rate_out in ((rate, 16000), (16000, rate)):
        assert polyphase.bank(rate_in, rate_out).nbytes < 9e6
        t_in = np.arange(rate_in // 10) / rate_in
        y = polyphase.offline(np.sin(2 * np.pi * 1000 * t_in).astype(np.float32), rate_in, rate_out)
        up, _ = polyphase.ratio(rate_in, rate_out)
        delay = polyphase.centre(rate_in, rate_out) / (rate_in * up)
        wanted = np.sin(2 * np.pi * 1000 * (np.arange(y.size) / rate_out - delay))
        np.testing.assert_allclose(y[y.size // 2 :], wanted[y.size // 2 :], atol=2e-3)


def test_constant_stays_constant() -> None:
    y = polyphase.offline(np.full(4000, 0.3, np.float32), 44100, 16000)
    np.testing.assert_allclose(y[200:], 0.3, atol=1e-6)


def test_advance_out_of_range() -> None:
    with pytest.raises(ValueError, match="advance=3"):
        polyphase.fresh(16000, 48000, advance=3)
