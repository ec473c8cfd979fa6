import naive
import numpy as np
import pytest
from memory import net_growth
from signals import F32, noise, partitions, tone, voice
from velavox.kernels import redact
from velavox.kernels.jit import State

RATE = 16_000
FADE = round(redact.FADE * RATE)
NOTHING = np.zeros(1, np.float32)
FOR_EVER = 2**62


def spans(*pairs: tuple[int, int]) -> State:
    return np.array(list(pairs), redact.SPAN)


def ready(action: int = redact.SILENT, rate: int = RATE) -> State:
    """The state of a voice that is heard."""
    state = redact.fresh(rate, action)
    state[0].gain = 1.0
    return state


def table() -> F32:
    y = noise(3000, 1.0, seed=5)
    return np.asarray(y / np.sqrt(np.mean(y**2)), np.float32)


def streamed(x: F32, hidden: State, action: int, sizes: list[int], channels: int = 1) -> F32:
    state, y, first = ready(action), x.copy(), 0
    for block in np.split(y, np.cumsum(sizes)[:-1]):
        redact.stream(state, block.reshape(-1), channels, first, FOR_EVER, hidden, redact.NO_CLIPS, NOTHING, table())
        first += len(block)
    return y


@pytest.mark.nojit
def test_equals_twin() -> None:
    x = noise(6000)
    for pairs in ([(1000, 2500)], [(0, 900), (901, 1000), (5000, 6000)], [(10, 20)], [(3000, 3400)]):
        expected, _ = naive.redact(x.astype(float), RATE, pairs, 10**9, redact.FADE)
        np.testing.assert_allclose(redact.offline(x, RATE, spans(*pairs)), expected, atol=1e-6)


@pytest.mark.nojit
def test_bleep_equals_twin() -> None:
    x, pairs = noise(6000), [(1000, 2500)]
    sine = np.zeros(x.size)
    sine[1000:] = redact.BLEEP * np.sin(2 * np.pi * redact.PITCH / RATE * np.arange(1, x.size - 999))
    expected, _ = naive.redact(x.astype(float), RATE, pairs, 10**9, redact.FADE, sine)
    np.testing.assert_allclose(redact.offline(x, RATE, spans(*pairs), redact.BLEEPING), expected, atol=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("judged", [0, 1, FADE - 1, 2000, 5999])
def test_nothing_that_is_not_judged_is_heard_and_what_comes_before_fades(judged: int) -> None:
    x = noise(6000)
    y, state = x.copy(), ready()
    redact.stream(state, y, 1, 0, judged, redact.NO_SPANS, redact.NO_CLIPS, NOTHING, NOTHING)
    assert (y[judged:] == 0).all()
    assert state[0].unjudged == x.size - judged
    np.testing.assert_array_equal(y[: max(0, judged - FADE)], x[: max(0, judged - FADE)])
    np.testing.assert_allclose(y, naive.redact(x.astype(float), RATE, [], judged, redact.FADE)[0], atol=1e-6)


@pytest.mark.parametrize("action", [redact.SILENT, redact.BLEEPING, redact.TONE, redact.TABLE])
def test_streamed_equals_whole(action: int) -> None:
    x, hidden = noise(9000), spans((700, 1500), (2000, 4200), (8000, 9500))
    whole = streamed(x, hidden, action, [x.size])
    for name, sizes in partitions(x.size):
        np.testing.assert_array_equal(streamed(x, hidden, action, sizes), whole, err_msg=name)


@pytest.mark.parametrize("action", [redact.SILENT, redact.BLEEPING, redact.TONE, redact.TABLE])
def test_what_is_hidden_is_not_in_the_output(action: int) -> None:
    """A bleep over speech leaves it intelligible: here nothing of it is left (C01)."""
    x, other = voice(2.0), voice(2.0, f0=180, seed=3)
    inside = slice(8000 + FADE, 24_000 - FADE)
    y = redact.offline(x, RATE, spans((8000, 24_000)), action, table())
    if action == redact.SILENT:
        assert (y[inside] == 0).all()
    other[: inside.start], other[inside.stop :] = x[: inside.start], x[inside.stop :]
    np.testing.assert_array_equal(redact.offline(other, RATE, spans((8000, 24_000)), action, table()), y)


@pytest.mark.parametrize("action", [redact.SILENT, redact.BLEEPING])
def test_no_click(action: int) -> None:
    """Of a tone that itself steps by 0.016 at most (C19)."""
    x = tone(16_000, 100, 0.4)
    y = redact.offline(x, RATE, spans((3010, 7000), (9000, 9100)), action)
    assert np.abs(np.diff(y)).max() < 0.05


def test_fillers_follow_the_voices_level() -> None:
    for loud in (0.3, 0.03):
        x = noise(16_000, loud)
        for action in (redact.TONE, redact.TABLE):
            y = redact.offline(x, RATE, spans((8000, 14_000)), action, table())
            assert np.sqrt(np.mean(y[9000:13_000] ** 2)) == pytest.approx(loud, rel=0.25)


@pytest.mark.nojit
def test_a_clip_takes_the_place_of_the_bleep() -> None:
    x, clip = noise(8000), tone(1000, 440)
    clips = np.array([(2000, 6000, 3000, 0, clip.size)], redact.CLIP)
    y, state = x.copy(), ready(redact.BLEEPING)
    redact.stream(state, y, 1, 0, FOR_EVER, spans((2000, 6000)), clips, clip, NOTHING)
    assert (y[2000 + FADE : 3000] == 0).all()
    np.testing.assert_allclose(y[3000:4000], clip, atol=1e-7)
    assert (y[4000 : 6000 - FADE] == 0).all()
    np.testing.assert_array_equal(y[6000:], x[6000:])


def test_a_clip_without_a_stretch_is_not_played() -> None:
    x, clip = noise(4000), tone(1000, 440)
    clips = np.array([(500, 2500, 1000, 0, clip.size)], redact.CLIP)
    y = x.copy()
    redact.stream(ready(), y, 1, 0, FOR_EVER, spans((3500, 3900)), clips, clip, NOTHING)
    np.testing.assert_array_equal(y[:3500], x[:3500])


def test_all_channels_are_hidden() -> None:
    x = noise(8000).reshape(-1, 2)
    for sizes in ([4000], [1] * 4000, [160] * 25):
        y = streamed(x, spans((1000, 2000)), redact.BLEEPING, sizes, 2)
        np.testing.assert_array_equal(y[1000 + FADE : 2000 - FADE, 0], y[1000 + FADE : 2000 - FADE, 1])
        np.testing.assert_array_equal(y[2000:], x[2000:])


@pytest.mark.nojit
def test_a_stretch_that_becomes_known_late_is_hidden_at_once() -> None:
    x, state = noise(3000), ready()
    y = x.copy()
    for first, hidden in ((0, spans()), (1000, spans((500, 2000))), (2000, spans((500, 2000)))):
        part = y[first : first + 1000]
        redact.stream(state, part, 1, first, FOR_EVER, hidden, redact.NO_CLIPS, NOTHING, NOTHING)
    np.testing.assert_array_equal(y[:1000], x[:1000])
    assert (y[1000 : 2000 - FADE] == 0).all()
    assert state[0].hidden == 1000


@pytest.mark.nojit
def test_what_is_judged_again_comes_back_in_a_fade() -> None:
    x, state = np.full(3000, 0.5, np.float32), ready()
    y = x.copy()
    redact.stream(state, y[:1500], 1, 0, 1000, redact.NO_SPANS, redact.NO_CLIPS, NOTHING, NOTHING)
    redact.stream(state, y[1500:], 1, 1500, FOR_EVER, redact.NO_SPANS, redact.NO_CLIPS, NOTHING, NOTHING)
    assert np.abs(np.diff(y)).max() < 0.003
    np.testing.assert_array_equal(y[1500 + FADE :], x[1500 + FADE :])


@pytest.mark.nojit
def test_what_is_not_finite_goes_no_further() -> None:
    y = np.full(2000, np.nan, np.float32)
    redact.stream(ready(), y, 1, 0, 1000, redact.NO_SPANS, redact.NO_CLIPS, NOTHING, NOTHING)
    assert (y == 0).all()


def test_nothing_is_allocated() -> None:
    state, y, hidden, sound = ready(redact.TABLE), noise(160), spans((0, 10**6)), table()

    def run() -> None:
        for k in range(200):
            redact.stream(state, y, 1, 160 * k, FOR_EVER, hidden, redact.NO_CLIPS, NOTHING, sound)

    run()
    assert net_growth(run) < 500
