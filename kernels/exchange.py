"""What a sound card's callback and the engine's worker hand each other: captured frames one way, the voice the other.

The callback only copies. It never waits, allocates or takes the GIL, writes every frame it is asked for, and where there is
nothing to play it plays silence, so that a Python process that hangs is silent and not repeated. Each ring has one writer
and one reader (see `ring`), each counter one writer.
"""

from __future__ import annotations

import numpy as np

from . import ring
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, word

FLAGS = 5  # PortAudio's: input underflow, input overflow, output underflow, output overflow, priming output
JOIN = 2e-3  # s: where played sound starts or stops in its middle, the step decays with this time constant
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
    ("flags", "i8", (FLAGS,)),  # callbacks that came with each flag
    ("peak_in", "f8"),  # falling peak of the captured samples
    ("peak_out", "f8"),  # ... of the played ones
    ("release_in", "f8"),  # what is left of a peak a frame later
    ("release_out", "f8"),
    ("join", "f8"),  # what is left of a step a frame later
    ("step", "f8"),  # what is left of the last step, on top of what is played
    ("last", "f8"),  # sample played last
    ("starving", "i8"),  # 1: that one was silence for want of sound
)


@word
def capture(s: np.record, memory: F32, x: F32) -> None:
    """Put the frames of x, interleaved; all of them, or none if they do not fit."""
    frames = x.size // s.channels_in
    s.calls_in += 1
    s.frames_in += frames
    peak = s.peak_in * s.release_in**frames
    for i in range(x.size):
        peak = max(peak, abs(np.float64(x[i])))
    s.peak_in = peak
    if x.size <= s.captured_size - ring.waiting(s.captured):
        ring.put(s.captured, memory[: s.captured_size], x)
    else:
        s.lost += frames


@word
def play(s: np.record, memory: F32, y: F32) -> None:
    """Write all of y, interleaved: what is there to play, then silence."""
    channels = s.channels_out
    frames = y.size // channels
    s.calls_out += 1
    s.frames_out += frames
    buffer = memory[s.captured_size : s.captured_size + s.playing_size]
    mask = buffer.size - 1
    there = min(frames, ring.waiting(s.playing))
    start = s.playing.read
    peak = s.peak_out
    for i in range(frames):
        value = np.float64(0.0)
        if i < there:
            value = np.float64(buffer[(start + i) & mask])
        if (i >= there) != (s.starving == 1):
            s.starving = 1 - s.starving
            s.step = s.last - value
        value = min(max(value + s.step, -1.0), 1.0)
        s.step = s.step * s.join if abs(s.step) > 1e-6 else 0.0
        s.last = value
        peak = max(peak * s.release_out, abs(value))
        for c in range(channels):
            y[i * channels + c] = value
    s.peak_out = peak
    ring.skip(s.playing, there)
    s.starved += frames - there
    _keep(s, memory, y, frames)


@word
def _keep(s: np.record, memory: F32, y: F32, frames: int) -> None:
    """Put the first channel of what was sent where the recorder finds it."""
    if s.sent_size == 0:
        return
    if frames > s.sent_size - ring.waiting(s.sent):
        s.unrecorded += frames
        return
    begin = s.captured_size + s.playing_size
    ring.put(s.sent, memory[begin : begin + s.sent_size], y[:: s.channels_out])


@word
def flagged(s: np.record, flags: int) -> None:
    """Count the flags of one callback."""
    for k in range(FLAGS):
        s.flags[k] += (flags >> k) & 1


def fresh(channels_in: int, channels_out: int, rate_in: int, rate_out: int, sizes: tuple[int, int, int]) -> tuple[State, F32]:
    """State and memory of rings for at least `sizes` frames captured, playing and sent (0: not to be recorded)."""
    state = np.zeros(1, STATE)
    s = state[0]
    s.channels_in, s.channels_out = channels_in, channels_out
    captured, playing, sent = (ring.memory(n).size if n else 0 for n in (sizes[0] * channels_in, *sizes[1:]))
    s.captured_size, s.playing_size, s.sent_size = captured, playing, sent
    s.release_in, s.release_out = (np.exp(-1 / (RELEASE * rate)) for rate in (rate_in, rate_out))
    s.join = np.exp(-1 / (JOIN * rate_out))
    s.starving = 1
    return state, np.zeros(captured + playing + sent, np.float32)


@kernel(record(STATE), f32, f32, f32, integer)
def duplex(state: State, memory: F32, x: F32, y: F32, flags: int) -> None:
    """One callback of a card whose input and output run by one clock: take x, fill y, both interleaved."""
    s = state[0]
    flagged(s, flags)
    capture(s, memory, x)
    play(s, memory, y)


@kernel(record(STATE), f32, f32, integer)
def captured(state: State, memory: F32, x: F32, flags: int) -> None:
    """One callback of an input alone."""
    s = state[0]
    flagged(s, flags)
    capture(s, memory, x)


@kernel(record(STATE), f32, f32, integer)
def played(state: State, memory: F32, y: F32, flags: int) -> None:
    """One callback of an output alone."""
    s = state[0]
    flagged(s, flags)
    play(s, memory, y)


@kernel(record(STATE), f32, f32_2d, returns=integer)
def take(state: State, memory: F32, x: F32) -> int:
    """Fill x, shape (frames, channels), from the start with what was captured; how many frames that was."""
    s = state[0]
    frames = min(x.shape[0], ring.waiting(s.captured) // s.channels_in)
    flat = x.reshape(x.size)
    ring.get(s.captured, memory[: s.captured_size], flat[: frames * s.channels_in])
    return frames


@kernel(record(STATE), f32, f32, integer, returns=integer)
def put(state: State, memory: F32, y: F32, frames: int) -> int:
    """Give y[:frames] to be played; all of it, or none (0) if there is no room. Returns how many frames."""
    s = state[0]
    if frames > s.playing_size - ring.waiting(s.playing):
        return 0
    ring.put(s.playing, memory[s.captured_size : s.captured_size + s.playing_size], y[:frames])
    return frames


@kernel(record(STATE), f32, f32, returns=integer)
def sent(state: State, memory: F32, y: F32) -> int:
    """Fill y from the start with what was sent to the device; how many frames that was."""
    s = state[0]
    frames = min(y.size, ring.waiting(s.sent))
    begin = s.captured_size + s.playing_size
    ring.get(s.sent, memory[begin : begin + s.sent_size], y[:frames])
    return frames


@kernel(record(STATE), integer)
def drop(state: State, frames: int) -> None:
    """Throw away the oldest `frames` captured frames; the caller knows that they are there."""
    s = state[0]
    ring.skip(s.captured, frames * s.channels_in)
