"""Hides stretches of a voice, and whatever has not been judged yet, behind silence, a bleep, a level-matched sound or a clip.

The gain of the voice is a function of where a frame lies in its stretch: it falls to 0 within FADE from the stretch's start and
rises within FADE of its end. It falls as fast as that asks, at once if a stretch becomes known late, and never rises faster
than in FADE. A frame that has not been judged has gain 0, and those before it fade out, as far as they have not left yet.

A bleep mixed over speech leaves all of it intelligible, and speech 30 dB lower leaves two words in five (measured by
re-recognition): what is hidden is therefore replaced.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import F32, State, f32, integer, kernel, record, record_dtype, word

FADE = 0.015  # s: shorter clicks, longer takes too much of a pad of 0.2 s
PITCH = 1000.0  # Hz of bleep and tone
BLEEP = 0.1  # amplitude of the bleep: -23 dBFS, below speech of usual level
SHORT = 0.1  # s over which the voice's power is taken
LONG = 3.0  # s in which a level that was reached falls by 4.3 dB: a pause does not make the next filler quiet

SILENT, BLEEPING, TONE, TABLE = range(4)  # actions: the last two follow the voice's level; TABLE repeats a table of sound

SPAN = record_dtype(  # stretches to hide, in order, apart from each other
    ("start", "i8"),  # first frame
    ("end", "i8"),  # frame after the last one
)
CLIP = record_dtype(  # sounds in place of the action, in order
    ("start", "i8"),  # first frame at which the action is off
    ("end", "i8"),
    ("play", "i8"),  # frame at which the clip begins
    ("offset", "i8"),  # of its first sample in the pool
    ("length", "i8"),
)
STATE = record_dtype(
    ("action", "i8"),
    ("follows", "i8"),  # 1: the level is wanted
    ("fade", "i8"),  # frames
    ("step", "f8"),  # of a gain from one frame to the next
    ("gain", "f8"),  # of the voice, at the last frame
    ("filled", "f8"),  # of what replaces it
    ("turn", "f8"),  # of bleep and tone a frame, radians
    ("phase", "f8"),
    ("place", "i8"),  # in the table
    ("short", "f8"),  # share of the power that a frame brings in
    ("keep", "f8"),  # of the level from one frame to the next
    ("power", "f8"),  # of the voice that was let through, mean square
    ("level", "f8"),  # its falling peak
    ("hidden", "i8"),  # frames of stretches so far
    ("unjudged", "i8"),  # frames from 0 on hidden because they were not judged, stretches apart
)
NO_SPANS, NO_CLIPS = np.zeros(0, SPAN), np.zeros(0, CLIP)


def fresh(rate: int, action: int, follows: bool = False) -> State:
    """Silent at first, at `rate` Hz. follows: keep the voice's level, for clips; sounds of TONE and TABLE have it anyway."""
    state = np.zeros(1, STATE)
    s = state[0]
    s.follows = follows or action >= TONE
    s.action, s.fade = action, max(1, round(FADE * rate))
    s.step = 1 / s.fade
    s.turn = 2 * np.pi * PITCH / rate
    s.short, s.keep = 1 / (SHORT * rate), np.exp(-1 / (LONG * rate))
    return state


@word
def _voice(s: np.record, t: int, judged: int, start: int, end: int) -> float:
    """The most gain that the voice may have at frame t, which lies in start .. end if that is not empty."""
    gain: float = min(1.0, max(0.0, (judged - t) * s.step))
    if start <= t < end:
        gain = min(gain, max(0.0, 1.0 - min(t - start + 1, end - t) * s.step))
    return gain


@word
def _filler(s: np.record, table: F32) -> float:
    """The next sample of the action's sound at full gain."""
    if s.action == TABLE:
        sample = table[s.place]
        s.place = (s.place + 1) % table.size
        return float(sample) * math.sqrt(s.level)
    phase = s.phase + s.turn
    s.phase = phase if phase < 2 * math.pi else phase - 2 * math.pi
    amplitude: float = BLEEP if s.action == BLEEPING else math.sqrt(2 * s.level)
    return amplitude * math.sin(phase)


@word
def _measure(s: np.record, y: F32, first: int, channels: int) -> None:
    """Follow the level of a frame that is let through."""
    total = 0.0
    for c in range(channels):
        total += y[first + c] * y[first + c]
    s.power += (total / channels - s.power) * s.short
    s.level = max(s.power, s.level * s.keep)


@kernel(record(STATE), f32, integer, integer, integer, record(SPAN), record(CLIP), f32, f32)
def stream(
    state: State, y: F32, channels: int, first: int, judged: int, spans: State, clips: State, pool: F32, table: F32
) -> None:
    """Hide in y, shape (frames * channels,), interleaved, in place. Its first frame has the number `first`.

    judged: frames from this number on must not be heard yet. pool: samples of the clips; table: of the action TABLE, of mean
    square 1 (any for the others).
    """
    s = state[0]
    frames = y.size // channels
    k = j = 0
    while k < spans.size and spans[k].end <= first:
        k += 1
    while j < clips.size and clips[j].end <= first:
        j += 1
    end = first + frames
    open_ = judged >= end + s.fade and s.gain == 1.0 and s.filled == 0.0
    if open_ and (k == spans.size or spans[k].start >= end):
        if s.follows:
            for i in range(frames):
                _measure(s, y, i * channels, channels)
        return
    for i in range(frames):
        t = first + i
        while k < spans.size and spans[k].end <= t:
            k += 1
        while j < clips.size and clips[j].end <= t:
            j += 1
        start = stop = t
        if k < spans.size and spans[k].start <= t:
            start, stop = spans[k].start, spans[k].end
        s.gain = min(_voice(s, t, judged, start, stop), s.gain + s.step)
        if s.gain > 1.0 - 0.5 * s.step:  # rounding adds no last, tiny step
            s.gain = 1.0
        within = j < clips.size and clips[j].start <= t
        wanted = 1.0 if stop - t > s.fade and s.action != SILENT and not within else 0.0
        s.filled = min(wanted, s.filled + s.step) if wanted > s.filled else max(wanted, s.filled - s.step)
        sound = 0.0
        if s.filled > 0.0:
            sound = s.filled * _filler(s, table)
        else:
            s.phase = 0.0
        if within and 0 <= t - clips[j].play < clips[j].length and start < stop:
            sound += pool[clips[j].offset + t - clips[j].play]
        if s.gain == 1.0:
            _measure(s, y, i * channels, channels)
        elif start < stop:
            s.hidden += 1
        elif t >= max(judged, 0):  # before 0 there was nothing but what filters ring
            s.unjudged += 1
        for c in range(channels):
            value = sound
            if s.gain > 0.0:
                value += s.gain * y[i * channels + c]
            if not abs(value) <= 1.0:  # NaN, too
                value = math.copysign(1.0, value) if abs(value) > 1.0 else 0.0
            y[i * channels + c] = value


def offline(y: F32, rate: int, spans: State, action: int = SILENT, table: F32 | None = None) -> F32:
    """A copy of y, one channel, all of it judged, with `spans` (dtype SPAN, in order) hidden."""
    out = np.array(y, np.float32)
    if out.ndim != 1:
        raise ValueError(f"y of shape {out.shape}: give one channel, shape (n,)")
    state = fresh(rate, action)
    state[0].gain = 1.0
    nothing = np.zeros(1, np.float32)
    stream(state, out, 1, 0, 2**62, spans, NO_CLIPS, nothing, nothing if table is None else table)
    return out
