import csv
from pathlib import Path

import kaldi
import naive
import numpy as np
import pytest
from signals import F32, awkward, noise, partitions, tone, voice
from velavox.kernels import cmn, fbank, window
from velavox.kernels.jit import State

FLOOR = np.log(np.finfo(np.float32).eps)
SIGNALS = {
    **awkward(),
    "voice": voice(1.0),
    "voice_on_dc": 0.5 * voice(1.0) + np.float32(0.25),
    "lsb_on_dc": awkward()["one_lsb"] + np.float32(0.7712345),
    "full_scale_tone": tone(8000, 1000, 0.99),
}


def run(state: State, x: F32, blocks: list[int]) -> F32:
    stream = fbank.stream_for(state.dtype)
    hop, num_mel = len(state[0].framing.frame) - len(state[0].framing.kept), len(state[0].mel)
    parts, start = [], 0
    for n in blocks:
        out = np.full((n // hop + 1, num_mel), np.nan, np.float32)
        parts.append(out[: stream(state, out, x[start : start + n])])
        start += n
    return np.concatenate(parts)


@kaldi.same_rounding
@pytest.mark.parametrize("name", ["hamming", "povey", "rectangular"])
@pytest.mark.parametrize("signal", SIGNALS)
def test_equals_kaldi_everywhere(signal: str, name: str) -> None:
    y = fbank.offline(SIGNALS[signal], window=name)
    assert y.shape == (48 if len(SIGNALS[signal]) == 8000 else 98, 80)
    np.testing.assert_allclose(y, kaldi.fbank(SIGNALS[signal], window=name), atol=1e-4)


@kaldi.same_rounding
@pytest.mark.parametrize("name", ["hamming", "povey"])
def test_equals_kaldi_on_recordings(shared: Path, name: str) -> None:
    import soundfile

    with (shared / "speech" / "manifest.csv").open() as manifest:
        speech = [row["path"] for row in csv.DictReader(manifest) if row["split"] == "dev"]
    for file in [*(shared / "fixtures").glob("*_16k.wav"), *(shared / "speech" / path for path in speech[::100])]:
        x, rate = soundfile.read(file, dtype="float32", always_2d=True)
        x = np.ascontiguousarray(x[:80_000, 0])
        if rate == 16_000 and np.isfinite(x).all() and x.size >= 400:
            y = fbank.offline(x, window=name)
            np.testing.assert_allclose(y, kaldi.fbank(x, window=name), atol=1e-4, err_msg=file.name)


@kaldi.same_rounding
@pytest.mark.parametrize(("rate", "num_mel"), [(8000, 23), (44_100, 128)])
def test_other_rates(rate: int, num_mel: int) -> None:
    x = voice(0.3, rate=rate)
    np.testing.assert_allclose(fbank.offline(x, rate, num_mel), kaldi.fbank(x, rate, num_mel), atol=1e-4)


@kaldi.same_rounding
def test_mirrored_edges() -> None:
    for n in [*range(0, 500, 20), 79, 119, 121, 4000]:
        x = voice(1.0)[:n]
        y = fbank.offline(x, snip_edges=False)
        np.testing.assert_allclose(y, kaldi.fbank(x, snip_edges=False) if n else np.empty((0, 80)), atol=1e-4)


@pytest.mark.parametrize(("rate", "num_mel"), [(16_000, 80), (16_000, 40), (8000, 23), (44_100, 128)])
def test_triangles(rate: int, num_mel: int) -> None:
    expected = kaldi.triangles(rate, num_mel)
    bins = expected.shape[1] - 1
    edge, rise, fall = fbank.triangles(rate, bins, num_mel, fbank.LOW, rate / 2)
    weights = np.zeros_like(expected)
    for t in range(num_mel):
        weights[t, edge[t] : edge[t + 1]] = rise[edge[t] : edge[t + 1]]
        weights[t, edge[t + 1] : edge[t + 2]] = fall[edge[t + 1] : edge[t + 2]]
    np.testing.assert_allclose(weights, expected, rtol=2e-4, atol=2e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["hamming", "hann", "hann_periodic", "povey", "rectangular"])
def test_equals_twin(name: str) -> None:
    x = voice(0.06)
    expected = naive.fbank(x.astype(np.float64), 16_000, 80, window.by_name(name, 400))
    np.testing.assert_allclose(fbank.offline(x, window=name), expected, atol=1e-3)


def test_band_limits() -> None:
    x = voice(0.3)
    expected = naive.fbank(x.astype(np.float64), 16_000, 80, window.hamming(400), low=100, high=7600)
    np.testing.assert_allclose(fbank.offline(x, low=100, high=7600), expected, atol=1e-3)


def test_front_end_of_niu() -> None:
    """Pre-emphasis alpha from (0.9, 1), Hamming 0.538, log mel energies, mean normalisation."""
    x = voice(3.0)
    y = cmn.offline(fbank.offline(x, alpha=0.95, a0=window.HAMMING_NIU))
    frames = naive.fbank(x.astype(np.float64), 16_000, 80, window.hamming(400, 0.538), alpha=0.95)
    np.testing.assert_allclose(y, naive.cmn(frames, 600, 100), atol=1e-3)
    assert np.abs(fbank.offline(x, a0=0.538) - fbank.offline(x)).max() > 0.1  # so 0.54 in its place would have failed


@pytest.mark.parametrize("options", [{}, {"sample_rate": 8000, "num_mel": 23}], ids=["16k", "8k"])
def test_streamed_equals_offline(options: dict[str, int]) -> None:
    x = voice(0.6)
    whole = fbank.offline(x, **options)  # type: ignore[arg-type]
    for name, blocks in partitions(x.size):
        np.testing.assert_array_equal(run(fbank.fresh(**options), x, blocks), whole, err_msg=name)  # type: ignore[arg-type]


def test_two_runs_and_a_reset_give_the_same() -> None:
    x, state = voice(0.5), fbank.fresh()
    fresh = state.copy()
    first = run(state, x, [x.size])
    state.view(np.uint8)[:] = fresh.view(np.uint8)
    np.testing.assert_array_equal(run(state, x, [x.size]), first)
    np.testing.assert_array_equal(fbank.offline(x), first)


def test_int16_and_float_agree() -> None:
    pcm = np.round(voice(0.3) * 32767).astype(np.int16)
    np.testing.assert_array_equal(fbank.offline(pcm), fbank.offline(pcm / np.float64(32768)))


def test_gain_adds_a_constant() -> None:
    x = noise(4000)
    np.testing.assert_allclose(fbank.offline(x / 4), fbank.offline(x) - 2 * np.log(4), atol=1e-5)


def test_silence_is_the_floor() -> None:
    np.testing.assert_allclose(fbank.offline(np.zeros(1000, np.float32)), np.full((4, 80), FLOOR), rtol=1e-6)


@pytest.mark.parametrize("n", [0, 1, 7, 159, 399])
def test_no_frame_in_a_short_signal(n: int) -> None:
    assert fbank.offline(np.ones(n, np.float32)).shape == (0, 80)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_what_is_not_finite_shows_and_passes(bad: float) -> None:
    x = voice(0.5)
    clean = fbank.offline(x)
    x[3210] = bad
    y = fbank.offline(x)
    spoilt = (np.arange(len(y)) * 160 <= 3210) & (np.arange(len(y)) * 160 > 3210 - 400)
    assert np.isnan(y[spoilt]).all()
    np.testing.assert_array_equal(y[~spoilt], clean[~spoilt])


@pytest.mark.nojit
def test_errors() -> None:
    with pytest.raises(ValueError, match="sample_rate=1000"):
        fbank.fresh(1000)
    with pytest.raises(ValueError, match="num_mel=2"):
        fbank.fresh(num_mel=2)
    with pytest.raises(ValueError, match=r"num_mel=200: .* fewer bands"):
        fbank.fresh(num_mel=200)
    with pytest.raises(ValueError, match="high=9000"):
        fbank.fresh(high=9000)
    with pytest.raises(ValueError, match="alpha=97"):
        fbank.fresh(alpha=97)
    with pytest.raises(ValueError, match="one channel"):
        fbank.offline(np.zeros((2, 800)))
