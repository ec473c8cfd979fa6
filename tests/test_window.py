import numpy as np
import pytest
from velavox.kernels import window

pytestmark = pytest.mark.nojit

NAMES = ["hamming", "hann", "povey", "rectangular"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [2, 25, 400])
def test_equals_kaldi(name: str, n: int) -> None:
    import kaldi_native_fbank as knf

    options = knf.FrameExtractionOptions()
    options.window_type, options.samp_freq, options.frame_length_ms = "hanning" if name == "hann" else name, 1000, n
    expected = knf.FeatureWindowFunction(options).window
    np.testing.assert_allclose(window.by_name(name, n), expected, atol=6e-8)


@pytest.mark.parametrize("name", [*NAMES, "hann_periodic"])
def test_one_in_the_middle_and_never_negative(name: str) -> None:
    w = window.by_name(name, 401 if name != "hann_periodic" else 400)
    assert w[200] == pytest.approx(1)
    assert w.min() >= 0


@pytest.mark.parametrize("a0", [window.HAMMING, window.HAMMING_NIU, 0.6])
def test_hamming_coefficient(a0: float) -> None:
    w = window.by_name("hamming", 401, a0=a0)
    assert w[0] == pytest.approx(2 * a0 - 1)
    assert w[100] == pytest.approx(a0)


def test_niu_has_lower_first_side_lobe() -> None:
    def side_lobe(a0: float) -> float:
        spectrum = np.abs(np.fft.rfft(window.hamming(401, a0), 1 << 16))
        return float(spectrum[1000:].max() / spectrum[0])  # the main lobe ends at bin 330

    assert side_lobe(window.HAMMING_NIU) < side_lobe(window.HAMMING)


def test_periodic_hann_adds_up_to_one() -> None:
    w = window.by_name("hann_periodic", 320)
    np.testing.assert_allclose(w[:160] + w[160:], 1, atol=1e-15)
    assert np.abs(window.hann(320)[:160] + window.hann(320)[160:] - 1).max() > 1e-3  # the symmetric one does not


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"'kaiser'.*hann_periodic"):
        window.by_name("kaiser", 400)
    with pytest.raises(ValueError, match="n=1"):
        window.by_name("hamming", 1)
