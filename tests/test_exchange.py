"""What goes between a card's callback and the worker arrives whole and in order, and what is missing is silence, counted."""

from threading import Thread

import numpy as np
import pytest
from signals import F32, noise, tone
from velavox.engine.exchange import Exchange
from velavox.kernels import exchange, ring
from velavox.kernels.jit import I64, State, f32, f32_2d, i64, kernel, record, word

RATE = 48_000


def rings(channels_in: int = 1, channels_out: int = 1, captured: int = 4096, playing: int = 4096, sent: int = 0) -> Exchange:
    return Exchange(channels_in, channels_out, RATE, RATE, captured=captured, playing=playing, sent=sent)


def played(e: Exchange, frames: int) -> F32:
    """What the device is given for every channel, shape (frames, channels)."""
    y = np.full(frames * int(e.counts.channels_out), 0.77, np.float32)
    e.play(y)
    return y.reshape(frames, int(e.counts.channels_out))


@pytest.mark.nojit
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_captured_is_taken_in_order_and_whole_frames(channels: int) -> None:
    e, rng = rings(channels, captured=500), np.random.default_rng(0)
    x = noise(3000 * channels).reshape(-1, channels)
    got, done = [], 0
    while done < len(x):
        frames = int(rng.integers(0, 200))
        e.capture(x[done : done + frames].ravel())
        done += frames
        block = np.full((int(rng.integers(0, 300)), channels), 0.77, np.float32)
        count = e.take(block)
        assert (block[count:] == np.float32(0.77)).all()
        got.append(block[:count].copy())
    left = np.zeros((e.to_take, channels), np.float32)
    assert e.take(left) == len(left)
    np.testing.assert_array_equal(np.concatenate([*got, left]), x)
    assert e.counts.frames_in == len(x)
    assert e.counts.lost == 0


@pytest.mark.nojit
def test_a_full_ring_loses_whole_blocks_and_counts_them() -> None:
    """Three channels in a memory of a power of two: what fits is no whole number of blocks, nor of frames."""
    e = rings(3, captured=100)
    blocks = [noise(3 * 37, seed=k) for k in range(6)]
    for block in blocks:
        e.capture(block)
    room = int(e.counts.captured_size) // (3 * 37)
    assert 0 < room < 6
    assert e.counts.lost == 37 * (6 - room)
    assert e.counts.frames_in == 37 * 6
    got = np.zeros((300, 3), np.float32)
    assert e.take(got) == 37 * room
    np.testing.assert_array_equal(got[: 37 * room].ravel(), np.concatenate(blocks[:room]))
    e.capture(blocks[5])
    assert e.take(got) == 37
    np.testing.assert_array_equal(got[:37].ravel(), blocks[5])


@pytest.mark.nojit
def test_rings_fill_to_the_last_sample() -> None:
    e, x = rings(captured=64, playing=64, sent=64), noise(64)
    e.capture(x)
    assert e.to_take == 64
    assert e.put(x.copy(), 64)
    given, got = played(e, 64)[:, 0], np.zeros(64, np.float32)
    assert e.sent(got) == 64
    np.testing.assert_array_equal(got, given)
    e.capture(x[:1])
    assert e.counts.lost == 1


@pytest.mark.nojit
def test_drop_throws_away_the_oldest() -> None:
    e, x = rings(2), noise(200).reshape(-1, 2)
    e.capture(x.ravel())
    e.drop(30)
    got = np.zeros((100, 2), np.float32)
    assert e.take(got) == 70
    np.testing.assert_array_equal(got[:70], x[30:])


@pytest.mark.nojit
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_put_is_played_in_order_on_every_channel(channels: int) -> None:
    e, rng = rings(channels_out=channels, playing=500), np.random.default_rng(1)
    y = noise(3000)
    y[0] = 0.0  # else it would be joined to the silence before
    got, done = [], 0
    while done < y.size:
        block = y[done : done + int(rng.integers(0, 200))].copy()
        if e.put(block, block.size):
            done += block.size
        got.append(played(e, min(e.to_play, int(rng.integers(0, 220)))))
    got.append(played(e, e.to_play))
    np.testing.assert_array_equal(np.concatenate(got), np.repeat(y[:, None], channels, axis=1))
    assert e.counts.starved == 0
    assert e.counts.frames_out == y.size


@pytest.mark.nojit
def test_put_is_all_or_nothing() -> None:
    e = rings(playing=64)
    assert e.put(noise(40), 40)
    assert not e.put(noise(25), 25)
    assert e.to_play == 40
    assert e.put(noise(100), 24)
    assert e.to_play == 64


@pytest.mark.nojit
def test_put_is_clipped_and_nonsense_is_silence() -> None:
    e = rings()
    y = np.array([0, 1, -1, 1.0001, -3, np.inf, -np.inf, np.nan], np.float32)
    e.put(y, y.size)
    np.testing.assert_array_equal(played(e, y.size)[:, 0], [0, 1, -1, 1, -1, 1, -1, 0])


@pytest.mark.nojit
@pytest.mark.parametrize("channels", [1, 2])
def test_every_frame_is_written_and_starving_is_counted(channels: int) -> None:
    e = rings(channels_out=channels)
    assert not played(e, 100).any()
    e.put(np.full(50, 0.1, np.float32), 50)
    late = np.concatenate([played(e, 80), *(played(e, RATE // 100) for _ in range(4))])
    assert (np.abs(late) <= np.float32(0.1)).all()
    assert not late[RATE // 30 :].any()
    assert e.counts.starved == 100 + 30 + 4 * RATE // 100
    assert e.counts.calls_out == 6


@pytest.mark.nojit
@pytest.mark.parametrize("block", [1, 64, 480])
def test_gaps_do_not_click_and_playing_is_exact_again(block: int) -> None:
    """A loud tone stops and starts in its middle: no step is larger than the tone's and the decay's own together."""
    e = rings()
    y = tone(4000, 440, 0.9, RATE)
    cut, gap = 1010, 960  # at a crest
    e.put(y[:cut].copy(), cut)
    total = cut + gap + 2400
    got: list[F32] = []
    for start in range(0, total, block):
        if start <= cut + gap < start + block:
            e.put(y[cut:].copy(), y.size - cut)
        got.append(played(e, min(block, total - start))[:, 0])
    heard = np.concatenate(got)
    begun = cut + gap - (cut + gap) % block
    assert e.counts.starved == begun - cut
    assert abs(y[cut - 1]) > 0.8
    fastest = 0.9 * (2 * np.pi * 440 / RATE + 1 / (exchange.JOIN * RATE))
    assert np.abs(np.diff(heard)).max() < fastest
    over = int(np.log(1 / exchange.JOINED) * exchange.JOIN * RATE) + 2  # 28 ms
    np.testing.assert_array_equal(heard[:cut], y[:cut])
    np.testing.assert_array_equal(heard[begun + over :], y[cut + over :][: total - begun - over])


@pytest.mark.nojit
def test_peaks_hold_and_fall() -> None:
    e, silence = rings(2, 2), np.zeros(2 * 480, np.float32)
    loud = silence.copy()
    loud[7] = -0.5
    e.capture(loud)
    e.put(loud[:480].copy(), 480)
    played(e, 480)
    assert e.counts.peak_in == 0.5
    assert e.counts.peak_out == 0.5
    blocks = round(exchange.RELEASE * RATE / 480)
    for _ in range(blocks):
        e.capture(silence)
        played(e, 480)
    np.testing.assert_allclose([e.counts.peak_in, e.counts.peak_out], 0.5 / np.e, rtol=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("nonsense", [np.nan, -np.nan, np.inf, -np.inf])
def test_nonsense_from_a_card_does_not_stay_in_the_meter(nonsense: float) -> None:
    e = rings()
    e.capture(np.array([0.1, nonsense, 0.2], np.float32))
    assert e.counts.peak_in == 1.0
    e.capture(np.zeros(RATE, np.float32))
    assert 0 < e.counts.peak_in < 0.1


@pytest.mark.nojit
def test_flags_are_counted_one_by_one() -> None:
    e, x = rings(), np.zeros(4, np.float32)
    for flags in (0b00001, 0b00011, 0b11000):
        e.duplex(x, x.copy(), flags)
    e.capture(x, 0b00010)
    e.play(x.copy(), 0b10100)
    np.testing.assert_array_equal(e.counts.flagged, [2, 2, 1, 1, 2])


@pytest.mark.nojit
def test_sent_is_what_the_device_was_given() -> None:
    e, given, got = rings(channels_out=2, sent=300), [], []
    for k in range(20):
        voice = noise(100, seed=k)
        e.put(voice, voice.size - 30 * (k % 3))  # it starves now and then
        given.append(played(e, 90)[:, 0])
        block = np.zeros(200, np.float32)
        got.append(block[: e.sent(block)])
    np.testing.assert_array_equal(np.concatenate(got), np.concatenate(given))
    assert e.counts.unrecorded == 0
    for _ in range(6):
        played(e, 100)
    assert e.counts.unrecorded == 100
    assert e.sent(np.zeros(1000, np.float32)) == 500


def test_the_address_is_that_of_the_counters() -> None:
    e = rings()
    assert e.address == e.counts.__array_interface__["data"][0]


TOP = 1 << 22  # a counting signal repeats so late, and each of its values is a float32 of its own


@word
def signal(k: int) -> np.float32:
    return np.float32(k % TOP / TOP)


@kernel(record(exchange.STATE), f32, f32, i64)
def be_the_card(state: State, memory: F32, block: F32, told: I64) -> None:
    """Capture a counting signal, and again what did not fit; play what is there. told: stop, captured, played, wrong."""
    s = state[0]
    while told[0] == 0:
        for size in range(1, block.size):
            x = block[:size]
            for i in range(size):
                x[i] = signal(told[1] + i)
            lost = s.lost
            exchange.capture(s, memory, x)
            if s.lost == lost:
                told[1] += size
            y = block[: min(size, ring.waiting(s.playing))]
            if y.size:
                exchange.play(s, memory, y)
            for i in range(y.size):
                told[3] += y[i] != signal(told[2] + i)
            told[2] += y.size


@kernel(record(exchange.STATE), f32, f32_2d, f32, i64)
def be_the_worker(state: State, memory: F32, x: F32, y: F32, told: I64) -> None:
    """Take what there is, put a counting signal. told: stop, taken, put, wrong."""
    while told[0] == 0:
        for size in range(1, y.size):
            for i in range(size):
                y[i] = signal(told[2] + i)
            told[2] += exchange.put(state, memory, y, size)
            count = exchange.take(state, memory, x)
            for i in range(count):
                told[3] += x[i, 0] != signal(told[1] + i)
            told[1] += count


def test_two_threads_lose_repeat_and_tear_nothing() -> None:
    """Both ends run free for a second, in small rings that are full and empty all the time."""
    state, memory = exchange.fresh(1, 1, RATE, RATE, (256, 256, 0))
    card, worker = np.zeros(4, np.int64), np.zeros(4, np.int64)
    ends = [
        Thread(target=be_the_card, args=(state, memory, np.zeros(100, np.float32), card)),
        Thread(target=be_the_worker, args=(state, memory, np.zeros((70, 1), np.float32), np.zeros(90, np.float32), worker)),
    ]
    for end in ends:
        end.start()
    ends[0].join(1.0)
    card[0] = worker[0] = 1
    for end in ends:
        end.join()
    assert card[3] == 0
    assert worker[3] == 0
    s = state[0]
    assert (card[1], worker[1]) == (s.captured.write, s.captured.read)
    assert (worker[2], card[2]) == (s.playing.write, s.playing.read)
    assert min(worker[1], card[2]) > 10 * 256  # 15 million with a core for each; on one core, a ring for each time slice
    assert s.starved == 0
