"""What a sound card's callback and the engine's worker hand each other: captured frames one way, the voice the other.

The callback only copies. It never waits, allocates or takes the GIL, writes every frame it is asked for, and where there is
nothing to play it plays silence, so that a Python process that hangs is silent and not repeated. Each ring has one writer
and one reader (see `ring`), each counter one writer.

State and memory lie in one block, the state first, so that C finds both by one pointer (see `callback`).
"""

from __future__ import annotations

import numpy as np

from . import ring
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, word

FLAGS = 5  # PortAudio's: input underflow, input overflow, output underflow, output overflow, priming output
JOIN = 2e-3  # s: where played sound starts or stops in its middle, the step decays with this time constant
JOINED = 1e-6  # -120 dB: so little of a step is dropped, and playing is exact again
RELEASE = 0.3  # s, time constant in which the level meters fall

STATE = record_dtype(
    ("captured", ring.STATE),  # device to engine: samples of whole frames, channels interleaved
    ("playing", ring.STATE),  # engine to device: one sample a frame, given to every channel
    ("sent", ring.STATE),  # what the device was given, for who records it: one sample a frame
    ("captured_size", "i8"),  # samples of memory of each ring, powers of 2; they lie in this order
    ("playing_size", "i8"),
    ("sent_size", "i8"),  # 0: nobody records
    ("channels_in", "i8"),
    ("channels_out", "i8"),
    ("calls_in", "i8"),  # callbacks that brought sound
    ("calls_out", "i8"),  # callbacks that asked for sound
    ("frames_in", "i8"),
    ("frames_out", "i8"),
    ("lost", "i8"),  # captured frames thrown away, as nobody had taken those before them
    ("starved", "i8"),  # frames for which there was nothing to play
    ("unrecorded", "i8"),  # frames sent for which `sent` had no room
    ("flagged", "i8", (FLAGS,)),  # callbacks that came with each flag
    ("peak_in", "f8"),  # falling peak of the captured samples
    ("peak_out", "f8"),  # ... of the played ones
    ("release_in", "f8"),  # what is left of a peak a frame later
    ("release_out", "f8"),
    ("join", "f8"),  # what is left of a step a frame later
    ("step", "f8"),  # what is left of the last step, on top of what is played
    ("last", "f8"),  # sample played last
    ("starving", "i8"),  # 1: that one was silence for want of sound
)
HEAD = STATE.itemsize // 4  # float32 of the block that the state takes


def fresh(channels_in: int, channels_out: int, rate_in: int, rate_out: int, sizes: tuple[int, int, int]) -> tuple[State, F32]:
    """State and memory of rings for at least `sizes` frames captured, playing and sent (0: not to be recorded).

    Both are views of one block, which lives as long as one of them; it starts at the state's address.
    """
    wanted = (sizes[0] * channels_in, *sizes[1:])
    captured, playing, sent = (ring.size(samples) if samples else 0 for samples in wanted)
    block = np.empty(HEAD // 2 + -(-(captured + playing + sent) // 2), np.int64)  # of words, so that it is aligned for them
    block.fill(0)  # written, so that the callback meets no page that is not there yet
    state, memory = block[: HEAD // 2].view(STATE), block[HEAD // 2 :].view(np.float32)
    s = state[0]
    s.captured_size, s.playing_size, s.sent_size = captured, playing, sent
    s.channels_in, s.channels_out = channels_in, channels_out
    s.release_in, s.release_out = (np.exp(-1 / (RELEASE * rate)) for rate in (rate_in, rate_out))
    s.join = np.exp(-1 / (JOIN * rate_out))
    s.starving = 1
    return state, memory


@word
def count_flags(s: np.record, flags: int) -> None:
    """Count the flags of one callback. Input and output may be two threads; no flag is set by both."""
    for k in range(FLAGS):
        if (flags >> k) & 1:
            s.flagged[k] += 1


@word
def capture(s: np.record, memory: F32, x: F32) -> None:
    """Put the frames of x, interleaved; all of them, or none if they do not fit."""
    frames = x.size // s.channels_in
    s.calls_in += 1
    s.peak_in = max(s.peak_in * s.release_in**frames, _peak(x))
    if x.size <= s.captured_size - ring.waiting(s.captured):
        ring.put(s.captured, _captured(s, memory), x)
    else:
        s.lost += frames
    s.frames_in += frames


@word
def play(s: np.record, memory: F32, y: F32) -> None:
    """Write all of y, interleaved: what is there to play, then silence."""
    frames = y.size // s.channels_out
    mono = y[:frames]  # its memory serves until the samples are spread over the channels
    there = min(frames, ring.waiting(s.playing))
    ring.get(s.playing, _playing(s, memory), mono[:there])
    for i in range(there, frames):
        mono[i] = 0.0
    _join(s, mono[:there], 0)
    _join(s, mono[there:], 1)
    s.calls_out += 1
    s.starved += frames - there
    s.peak_out = max(s.peak_out * s.release_out**frames, _peak(mono))
    if s.sent_size:
        _keep(s, memory, mono)
    _spread(y, frames, s.channels_out)
    s.frames_out += frames


@word
def _join(s: np.record, y: F32, starving: int) -> None:
    """Let y, of sound or of silence (starving), begin where the last sample was, if that was of the other kind."""
    if y.size == 0:
        return
    if starving != s.starving:
        s.starving = starving
        s.step = s.last - y[0]
    step, i = s.step, 0
    while step != 0.0 and i < y.size:
        y[i] = min(max(y[i] + step, -1.0), 1.0)
        step = step * s.join if abs(step) > JOINED else 0.0
        i += 1
    s.step = step
    s.last = y[y.size - 1]


@word
def _keep(s: np.record, memory: F32, mono: F32) -> None:
    """Put what is sent where the recorder finds it; all of it, or none if it does not fit."""
    if mono.size <= s.sent_size - ring.waiting(s.sent):
        ring.put(s.sent, _sent(s, memory), mono)
    else:
        s.unrecorded += mono.size


@word
def _spread(y: F32, frames: int, channels: int) -> None:
    """Give each of y's first `frames` samples to every channel, in place: from the end, so that none is lost."""
    if channels == 1:
        return
    for i in range(frames - 1, -1, -1):
        for c in range(channels):
            y[i * channels + c] = y[i]


@word
def _peak(x: F32) -> float:
    """Largest magnitude. Bits of positive floats order as they do, and vectorise: 0.03 us for 960 samples, as floats 0.45."""
    bits = x.view(np.int32)
    most = np.int32(0)
    for i in range(bits.size):
        most = max(most, np.int32(bits[i] & np.int32(0x7FFFFFFF)))
    peak = np.float64(np.int32(most).view(np.float32))
    return peak if np.isfinite(peak) else 1.0  # a device's nonsense is full scale, and does not stay for ever


@word
def _captured(s: np.record, memory: F32) -> F32:
    return memory[: s.captured_size]


@word
def _playing(s: np.record, memory: F32) -> F32:
    return memory[s.captured_size : s.captured_size + s.playing_size]


@word
def _sent(s: np.record, memory: F32) -> F32:
    begin = s.captured_size + s.playing_size
    return memory[begin : begin + s.sent_size]


@kernel(record(STATE), f32, f32, f32, integer)
def duplex(state: State, memory: F32, x: F32, y: F32, flags: int) -> None:
    """One callback of a card whose input and output run by one clock: take x, fill y, both interleaved."""
    s = state[0]
    count_flags(s, flags)
    capture(s, memory, x)
    play(s, memory, y)


@kernel(record(STATE), f32, f32, integer)
def captured(state: State, memory: F32, x: F32, flags: int) -> None:
    """One callback of an input alone."""
    s = state[0]
    count_flags(s, flags)
    capture(s, memory, x)


@kernel(record(STATE), f32, f32, integer)
def played(state: State, memory: F32, y: F32, flags: int) -> None:
    """One callback of an output alone."""
    s = state[0]
    count_flags(s, flags)
    play(s, memory, y)


@kernel(record(STATE), f32, f32_2d, returns=integer)
def take(state: State, memory: F32, x: F32) -> int:
    """Fill x, shape (frames, channels), from the start with what was captured; how many frames that was."""
    s = state[0]
    frames: int = min(x.shape[0], ring.waiting(s.captured) // s.channels_in)
    ring.get(s.captured, _captured(s, memory), x.reshape(x.size)[: frames * s.channels_in])
    return frames


@kernel(record(STATE), integer)
def drop(state: State, frames: int) -> None:
    """Throw away the oldest `frames` captured frames; the caller knows that they are there."""
    s = state[0]
    ring.skip(s.captured, frames * s.channels_in)


@kernel(record(STATE), f32, f32, integer, returns=integer)
def put(state: State, memory: F32, y: F32, frames: int) -> int:
    """Give y[:frames] to be played; all of it, or none (0) if there is no room. Returns how many frames.

    It is clipped to full scale in place; what is no number is made silence.
    """
    s = state[0]
    if frames > s.playing_size - ring.waiting(s.playing):
        return 0
    for i in range(frames):
        value = y[i]
        if not abs(value) <= np.float32(1.0):
            y[i] = np.float32(np.copysign(1.0, value)) if abs(value) > np.float32(1.0) else np.float32(0.0)
    ring.put(s.playing, _playing(s, memory), y[:frames])
    return frames


@kernel(record(STATE), f32, f32, returns=integer)
def sent(state: State, memory: F32, y: F32) -> int:
    """Fill y from the start with what was sent to the device; how many frames that was."""
    s = state[0]
    frames = min(y.size, ring.waiting(s.sent))
    ring.get(s.sent, _sent(s, memory), y[:frames])
    return frames
