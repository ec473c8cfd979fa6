import naive
import numpy as np
import pytest
from signals import F32
from velavox.kernels import prosody
from velavox.kernels.prosody import CEILING, FEATURES, FLOOR, HIGHEST, LATEST, SOON, TYPICAL

pytestmark = pytest.mark.nojit
Heard = tuple[F32, F32, F32]


def heard(n: int = 300, hz: float = 120.0, seed: int = 0, late_start: int = 30) -> Heard:
    """What an encoder says of syllables between pauses: ln F0 that wanders, voicing, energy."""
    random = np.random.default_rng(seed)
    t = np.arange(n)
    syllable = np.clip(np.sin(t / 6 + random.uniform(0, 6)) + 0.4, 0, 1) * (t >= late_start)
    pitch = np.log(hz) + 0.2 * np.sin(t / 25) + 0.02 * random.normal(size=n)
    voicing = np.clip(syllable * 2 - 0.3 + 0.1 * random.normal(size=n), 0, 1)
    energy = 5 + 9 * np.sqrt(syllable) + 0.3 * random.normal(size=n)
    return pitch.astype(np.float32), voicing.astype(np.float32), energy.astype(np.float32)


def cut(x: Heard, start: int, end: int) -> Heard:
    return x[0][start:end], x[1][start:end], x[2][start:end]


def streamed(x: Heard, late: int, blocks: list[int]) -> F32:
    state, parts, start = prosody.fresh(late), [], 0
    for n in blocks:
        out = np.full((n, FEATURES), np.nan, np.float32)
        prosody.stream(state, out, *cut(x, start, start + n))
        parts.append(out)
        start += n
    return np.concatenate(parts)


@pytest.mark.parametrize("late", [2, 4, 6])
@pytest.mark.parametrize(("pitch_range", "flatten"), [(1, 0), (1.5, 0), (1, 0.7)])
def test_equals_twin(late: int, pitch_range: float, flatten: float) -> None:
    x = heard()
    wide = [a.astype(np.float64) for a in x]
    expected = naive.prosody(wide[0], wide[1], wide[2], late, pitch_range, flatten)
    np.testing.assert_allclose(prosody.offline(*x, late, pitch_range, flatten), expected, atol=2e-6)


@pytest.mark.parametrize("late", [2, 6])
def test_any_partition(late: int) -> None:
    x = heard()
    whole = prosody.offline(*x, late)
    for blocks in ([2] * 150, [1] * 300, [7] * 42 + [0, 6], [0, 299, 1]):
        np.testing.assert_array_equal(streamed(x, late, blocks), whole)


def test_reset_equals_fresh() -> None:
    x, state, out = heard(), prosody.fresh(6), np.empty((300, FEATURES), np.float32)
    kept = state.copy()
    prosody.stream(state, out, *heard(hz=240.0, seed=1))
    state.view(np.uint8)[:] = kept.view(np.uint8)
    prosody.stream(state, out, *x)
    np.testing.assert_array_equal(out, prosody.offline(*x, 6))


@pytest.mark.parametrize("late", [2, 6])
def test_hears_nothing_later(late: int) -> None:
    x = heard()
    whole = prosody.offline(*x, late)
    np.testing.assert_array_equal(prosody.offline(*cut(x, 0, 200), late), whole[:200])


@pytest.mark.parametrize("late", [2, 6])
def test_delay(late: int) -> None:
    """What is heard of frame 150 is in row 150 + late, and its neighbours are smoothed as far as they reach."""
    n = 300
    burst, voicing = np.full(n, 8, np.float32), np.ones(n, np.float32)
    burst[150], voicing[150 + SOON] = 9, 0
    _, voiced, energy = prosody.offline(np.full(n, 5, np.float32), voicing, burst, late).T
    assert voiced[150 + late] == 0
    assert np.flatnonzero(voiced == 0).tolist() == [*range(late - SOON), 150 + late]
    assert energy[100:].argmax() + 100 == 150 + late


@pytest.mark.parametrize("late", [2, 6])
def test_neither_level_nor_height_nor_liveliness_tells(late: int) -> None:
    pitch, voicing, energy = heard()
    out = prosody.offline(pitch, voicing, energy, late)
    np.testing.assert_allclose(prosody.offline(pitch, voicing, energy - 4, late), out, atol=1e-5)
    np.testing.assert_allclose(prosody.offline(pitch + np.float32(0.6), voicing, energy, late), out, atol=2e-5)
    pitch, voicing, energy = heard(n=3000)
    livelier = 5 + 2 * (pitch - 5)
    calm, lively = (prosody.offline(p, voicing, energy, late)[1000:, 0].std() for p in (pitch, livelier))
    assert 0.8 < calm < 1.1
    assert abs(lively / calm - 1) < 0.2


def test_constant_pitch_goes_to_zero() -> None:
    n = 1000
    out = prosody.offline(np.full(n, 4.7, np.float32), np.ones(n, np.float32), np.full(n, 12, np.float32), 6)
    assert np.abs(out[:, 0]).max() < 1  # at first a speaker counts as above their mean
    np.testing.assert_allclose(out[-200:, 0], 0, atol=1e-3)
    np.testing.assert_allclose(out[50:, 2], 0, atol=1e-5)


@pytest.mark.parametrize("late", [2, 6])
def test_starts_of_all_kinds(late: int) -> None:
    pitch, voicing, energy = heard(late_start=0)
    quiet = np.full(300, 4, np.float32)
    for before in (quiet - 20, quiet, quiet + 6):
        x = np.concatenate([[quiet, 0 * quiet, before], [pitch, voicing, energy]], axis=1)
        out = prosody.offline(x[0], x[1], x[2], late)
        assert (out[: 300 + late - SOON, 0] == 0).all()  # no pitch is known yet
        np.testing.assert_allclose(out[400:, 2], prosody.offline(pitch, voicing, energy, late)[100:, 2], atol=0.15)


def test_whisper_has_a_level() -> None:
    pitch, voicing, energy = heard(n=1000)
    out = prosody.offline(pitch, 0 * voicing, energy, 6)
    assert (out[:, :2] == 0).all()
    assert np.percentile(out[300:, 2], 90) > -0.5


def test_pause_keeps_pitch_and_level() -> None:
    pitch, voicing, energy = heard(n=1000)
    voicing[500:800], energy[500:800] = 0, 2
    out = prosody.offline(pitch, voicing, energy, 6)
    still = out[520:800, 0]
    assert np.abs(np.diff(still)).max() < 1e-3
    assert (out[520:790, 2] == FLOOR).all()
    loud = energy > 13
    assert abs(out[806:][loud[800:-6], 2].mean() - out[306:506][loud[300:500], 2].mean()) < 0.2


def test_what_was_long_ago_counts_no_more() -> None:
    """Who spoke first, higher and louder, is forgotten by whoever speaks then, not averaged in."""
    pitch, _, energy = heard(n=4000)
    first, _, louder = heard(n=600, seed=1)
    x = np.concatenate([first + 0.5, pitch]), np.ones(4600), np.concatenate([louder + 3, energy])
    out, alone = prosody.offline(*x, 6)[600:], prosody.offline(pitch, np.ones(4000), energy, 6)
    assert np.abs(out[:300] - alone[:300]).max(0)[[0, 2]].min() > 0.5
    np.testing.assert_allclose(out[3500:], alone[3500:], atol=0.05)


def test_within_bounds() -> None:
    random = np.random.default_rng(0)
    out = prosody.offline(random.normal(0, 3, 2000), random.random(2000), random.normal(0, 20, 2000), 2)
    assert np.isfinite(out).all()
    assert np.abs(out[:, 0]).max() <= HIGHEST
    assert out[:, 2].min() >= FLOOR
    assert out[:, 2].max() <= CEILING + 1e-6


def test_controls() -> None:
    x = heard()
    plain = prosody.offline(*x, 6)
    np.testing.assert_allclose(prosody.offline(*x, 6, pitch_range=0.5)[:, 0], 0.5 * plain[:, 0], atol=1e-6)
    flat = prosody.offline(*x, 6, flatten=1)
    assert (flat[:, 0] == 0).all()
    speech = plain[:, 2] > FLOOR + 1
    np.testing.assert_allclose(flat[speech, 2], TYPICAL, atol=1e-5)
    assert speech.mean() > 0.3
    pause = plain[:, 2] == FLOOR
    assert (flat[pause, 2] == FLOOR).all()
    assert pause.any()
    half = prosody.offline(*x, 6, flatten=0.5)
    np.testing.assert_allclose(half, (plain + flat) / 2, atol=1e-5)


def test_controls_glide() -> None:
    x, state, out = heard(), prosody.fresh(6), np.empty((300, FEATURES), np.float32)
    prosody.stream(state, out, *x)
    prosody.aim(state, 0.0, 0.0)
    twice = np.concatenate([x, x], axis=1)
    plain = prosody.offline(twice[0], twice[1], twice[2], 6)[300:]
    prosody.stream(state, out, *x)
    np.testing.assert_allclose(out[:10, 0], plain[:10, 0] * 0.5 ** np.arange(1, 11), atol=1e-5)
    prosody.settle(state)
    prosody.stream(state, out, *x)
    assert (out[:, 0] == 0).all()


def test_errors() -> None:
    for late in (SOON - 1, LATEST + 1):
        with pytest.raises(ValueError, match=f"late={late} frames: give 2 to 6"):
            prosody.fresh(late)
    with pytest.raises(ValueError, match=r"\(3,\), \(3,\), \(4,\)"):
        prosody.offline(np.zeros(3), np.zeros(3), np.zeros(4), 2)
