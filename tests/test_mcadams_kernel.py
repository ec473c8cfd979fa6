from __future__ import annotations

import tracemalloc
from pathlib import Path

import naive
import numpy as np
import pytest
from scipy.signal import correlate, lfilter, welch
from signals import F32, RATE, awkward, noise, tone, voice
from velavox.kernels import mcadams
from velavox.kernels.mcadams import HOP, LATENCY, offline


def streamed(x: F32, alpha: float, disturb: bool = False) -> F32:
    """Hop by hop, not delayed; with `disturb` the search for the poles starts anywhere at every hop."""
    rng = np.random.default_rng(0)
    state = mcadams.fresh(alpha)
    padded = np.append(x, np.zeros(LATENCY, np.float32))
    out = np.empty_like(padded)
    for k in range(0, padded.size, HOP):
        if disturb:
            poles = state[0].poles
            poles.count = rng.integers(0, 21)
            poles.re[:], poles.im[:] = rng.normal(size=(2, 20))
        mcadams.stream(state, out[k : k + HOP], padded[k : k + HOP])
    return out[LATENCY:]


def snr(y: np.ndarray, wanted: np.ndarray) -> float:
    return float(10 * np.log10(np.sum(wanted**2) / np.sum((y - wanted) ** 2)))


def db(y: np.ndarray, x: np.ndarray) -> float:
    """Level of y above x."""
    return float(20 * np.log10(np.sqrt(np.mean(np.square(y, dtype=float))) / np.sqrt(np.mean(np.square(x, dtype=float)))))


def likeness(y: np.ndarray, x: np.ndarray) -> float:
    """Largest absolute normalised correlation within +-50 ms."""
    full = correlate(y.astype(float), np.pad(x.astype(float), 800), "valid", "fft")
    return float(np.abs(full).max() / np.linalg.norm(x) / np.linalg.norm(y))


def test_published_baseline(shared: Path) -> None:
    for path in sorted((shared / "golden").glob("mcadams_*.npz")):
        golden = np.load(path)
        for name in golden.files:
            if name != "x":
                assert snr(offline(golden["x"], float(name[2:]), reference=True), golden[name]) >= 150, (path.name, name)


@pytest.mark.nojit
def test_baseline_is_a_frame_overlapped_with_the_next() -> None:
    x = voice(0.25).astype(float)
    hann = np.hanning(320)
    w = np.sqrt(hann / hann.sum() * HOP)
    wanted = np.zeros_like(x)
    for k in range(0, x.size - 319, HOP):
        frame = w * (x[k : k + 320] + mcadams.EPSILON)
        wanted[k : k + 320] += w * naive.mcadams_frame(frame, naive.burg(frame + mcadams.EPSILON, 20), 0.8)
    assert snr(offline(x, 0.8, reference=True), wanted) > 150


@pytest.mark.nojit
@pytest.mark.parametrize("alpha", [0.5, 0.72, 0.9, 1.2])
def test_twin(alpha: float) -> None:
    x = voice(0.4)
    wanted = naive.mcadams(x.astype(float), np.full(41, alpha), mcadams.OFFSET_STEP, mcadams.PEAK_GAIN)
    assert snr(offline(x, alpha)[:-HOP], wanted[:-HOP]) > 120


def test_alpha_glides_over_two_hops() -> None:
    x = voice(0.4)
    state, out = mcadams.fresh(0.5), np.empty_like(x)
    for k in range(0, x.size, HOP):
        state[0].target = 0.5 if k < 20 * HOP else 0.9
        mcadams.stream(state, out[k : k + HOP], x[k : k + HOP])
    alpha = np.repeat([0.5, 0.7, 0.9], [20, 1, 19])
    wanted = naive.mcadams(x.astype(float), alpha, mcadams.OFFSET_STEP, mcadams.PEAK_GAIN)
    assert snr(out[LATENCY:], wanted[:-LATENCY]) > 120


def test_a_glide_that_turns_round_arrives() -> None:
    state, hop = mcadams.fresh(0.5), np.zeros(HOP, np.float32)
    for target in (0.9, 0.4, 0.7):
        state[0].target = target
        mcadams.stream(state, hop.copy(), hop)
    mcadams.stream(state, hop.copy(), hop)
    assert state[0].alpha == 0.7


@pytest.mark.parametrize("name", ["voice", *awkward()])
def test_stream_is_offline_wherever_the_search_starts(name: str) -> None:
    x = {"voice": voice(2.0), **awkward()}[name]
    wanted = offline(x, 0.7)
    np.testing.assert_array_equal(streamed(x, 0.7), wanted)
    np.testing.assert_allclose(streamed(x, 0.7, disturb=True), wanted, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 159, 160, 161, 320, 321, 1000])
@pytest.mark.parametrize("reference", [False, True])
def test_length_is_kept(n: int, reference: bool) -> None:
    y = offline(voice(0.1)[:n], 0.7, reference)
    assert y.shape == (n,)
    assert y.dtype == (np.float64 if reference else np.float32)


@pytest.mark.parametrize("alpha", [0.4, 0.72, 0.9])
@pytest.mark.parametrize("name", awkward())
def test_no_louder_than_sensible(name: str, alpha: float) -> None:
    x = awkward(16000)[name]
    y = offline(x, alpha)
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 2 * mcadams.PEAK_GAIN * np.abs(x).max()  # two frames overlap
    assert np.sum(np.square(y, dtype=float)) <= 1.1 * np.sum(np.square(x, dtype=float))


@pytest.mark.parametrize("alpha", [0.4, 0.72, 0.9])
def test_an_offset_is_taken_off_and_does_not_buzz(alpha: float) -> None:
    y = offline(np.full(RATE, 0.3, np.float32), alpha)
    assert np.abs(y).max() < 0.5
    assert np.abs(y[3200:]).max() < 1e-8
    x = voice(1.0)
    settled = slice(8000, -HOP)  # to before the drop at the end
    assert snr(offline(x + np.float32(0.25), alpha)[settled], offline(x, alpha)[settled]) > 60


def test_silence_after_sound_is_silent() -> None:
    x = np.append(voice(0.5), np.zeros(8000, np.float32))
    y = offline(x, 0.7)
    assert np.abs(y[8000 + 2 * HOP :]).max() < 0.01
    assert np.all(y[8000 + 3200 :] == 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -3e38, 1e-40])
def test_samples_beyond_reason_count_as_zero(bad: float) -> None:
    x = voice(0.3)
    x[1000:1010] = bad
    wanted = x.copy()
    wanted[1000:1010] = 0
    np.testing.assert_array_equal(offline(x, 0.7), offline(wanted, 0.7))


@pytest.mark.parametrize("alpha", [0.4, 0.6, 0.9])
@pytest.mark.parametrize("x", [noise(RATE), voice(2.0), voice(2.0, 220.0, seed=5)], ids=["noise", "low", "high"])
def test_level_is_kept(x: F32, alpha: float) -> None:
    assert abs(db(offline(x, alpha), x)) < 1.5


def test_quiet_speech_is_processed_like_loud() -> None:
    x = voice(1.0)
    np.testing.assert_allclose(offline(x * np.float32(2**-12), 0.7) * 2**12, offline(x, 0.7), atol=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 0.72, 0.9])
@pytest.mark.parametrize("hz", [500, 1500, 4000])
def test_formants_move_as_the_power_says(hz: float, alpha: float) -> None:
    angle, width = 2 * np.pi * hz / RATE, 0.97
    x = lfilter([1], [1, -2 * width * np.cos(angle), width**2], noise(4 * RATE, 0.01)).astype(np.float32)
    f, before = welch(x, RATE, nperseg=512)
    after = welch(offline(x, alpha), RATE, nperseg=512)[1]
    wanted = angle**alpha * RATE / (2 * np.pi)
    assert abs(f[before.argmax()] - hz) < 100
    assert abs(f[after.argmax()] - wanted) < 100


@pytest.mark.parametrize("alpha", [0.5, 0.72])
def test_output_is_unlike_input(alpha: float) -> None:
    for seed, f0 in enumerate((90, 120, 180, 240)):
        x = voice(2.0, f0, seed)
        assert likeness(offline(x, alpha), x) < 0.6


@pytest.mark.parametrize("x", [tone(RATE, 440), voice(2.0)], ids=["tone", "voice"])
@pytest.mark.parametrize("alpha", [0.5, 0.72, 0.9])
def test_no_click_where_hops_join(x: F32, alpha: float) -> None:
    step = np.abs(np.diff(offline(x, alpha)))
    joins = np.arange(HOP - 1, step.size, HOP)
    assert step[joins].max() <= 1.5 * np.percentile(np.delete(step, joins), 99.9)


@pytest.mark.nojit
def test_a_frame_without_poles_is_muted(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(mcadams.stream, "signatures"):
        pytest.skip("needs plain Python: the compiled kernel cannot be made to fail")
    x = voice(0.1)
    monkeypatch.setattr(mcadams, "find", lambda poles, a: False)
    assert np.all(offline(x, 0.7) == 0.0)


def test_no_allocation() -> None:
    state, x, y = mcadams.fresh(0.7), noise(HOP), np.empty(HOP, np.float32)
    mcadams.stream(state, y, x)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(5000):
        mcadams.stream(state, y, x)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown <= 256  # the loop's own counter


@pytest.mark.parametrize(("x", "alpha", "told"), [(np.zeros((9, 2)), 0.7, "shape"), (np.zeros(9), 0.0, "alpha=0")])
def test_wrong_arguments(x: np.ndarray, alpha: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        offline(x, alpha)
