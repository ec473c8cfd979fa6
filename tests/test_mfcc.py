import kaldi
import naive
import numpy as np
import pytest
from signals import awkward, partitions, voice
from velavox.kernels import mfcc, window

SIGNALS = {**awkward(), "voice": voice(1.0)}


@kaldi.same_rounding
@pytest.mark.parametrize("signal", SIGNALS)
def test_equals_kaldi_everywhere(signal: str) -> None:
    np.testing.assert_allclose(mfcc.offline(SIGNALS[signal]), kaldi.mfcc(SIGNALS[signal]), atol=1e-3)


@kaldi.same_rounding
def test_high_resolution() -> None:
    """The front end of speaker recognisers: 40 bands, 40 coefficients, no energy."""
    x = voice(1.0)
    y = mfcc.offline(x, num_mel=40, num_ceps=40, use_energy=False)
    np.testing.assert_allclose(y, kaldi.mfcc(x, 40, 40, use_energy=False), atol=1e-3)
    y = mfcc.offline(x, num_mel=40, num_ceps=40, lifter=0, snip_edges=False)
    np.testing.assert_allclose(y, kaldi.mfcc(x, 40, 40, lifter=0, snip_edges=False), atol=1e-3)


@pytest.mark.nojit
def test_equals_twin() -> None:
    x = voice(0.08)
    log_mel = naive.fbank(x.astype(np.float64), 16_000, 23, window.povey(400))
    np.testing.assert_allclose(mfcc.offline(x, use_energy=False), naive.mfcc(log_mel, 13, 22), atol=3e-3)


def test_all_coefficients_without_lifter_keep_the_norm() -> None:
    x = voice(0.5)
    y = mfcc.offline(x, num_mel=40, num_ceps=40, use_energy=False, lifter=0)
    log_mel = naive.fbank(x.astype(np.float64), 16_000, 40, window.povey(400))
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), np.linalg.norm(log_mel, axis=1), rtol=1e-5)


def test_energy_is_that_of_the_frame() -> None:
    x = voice(0.5)
    frames = naive.frames(x * np.float64(32768), 400, 160)
    expected = np.log(((frames - frames.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    np.testing.assert_allclose(mfcc.offline(x)[:, 0], expected, rtol=1e-6)


def test_streamed_equals_offline() -> None:
    x = voice(0.6)
    whole = mfcc.offline(x)
    for name, blocks in partitions(x.size):
        state, parts, start = mfcc.fresh(), [], 0
        for n in blocks:
            out = np.full((n // 160 + 1, 13), np.nan, np.float32)
            parts.append(out[: mfcc.stream(state, out, x[start : start + n])])
            start += n
        np.testing.assert_array_equal(np.concatenate(parts), whole, err_msg=name)


@pytest.mark.nojit
def test_errors() -> None:
    with pytest.raises(ValueError, match="num_ceps=24: give 1 to 23"):
        mfcc.fresh(num_ceps=24)
