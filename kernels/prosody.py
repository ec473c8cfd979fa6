"""Pitch, voicing and energy as the decoder takes them: against the speaker's own running mean and spread, frame by frame.

How high, how lively and how loud somebody speaks tells who it is: absolute F0 gives a speaker away (EER 19 %), so does raw
energy (12 %); F0 as a z-score does not (41 %), energy cut off 13 dB below the speech little (26 %; the words alone: 36 %).

With frame j of the encoder come ln F0 and the probability of voice of frame j - SOON and the energy of frame j; what goes out
is of frame j - late: ln F0 less its running mean, in running standard deviations; the probability of voice; energy less the
running level of voiced speech, in nats. Mean, spread and level are plain averages over voiced frames up to MEMORY of them and
exponential ones from there; of these only the spread is known before: the z-score begins near 0 whoever speaks.
Smoothing is by Hann windows, on the later side as far as frames are known.

    state = prosody.fresh(late)                  # 6 with the balanced decoder, 2 with the low one
    prosody.aim(state, pitch_range, flatten)     # at any time: glides; `settle` jumps there
    prosody.stream(state, out, pitch, voicing, energy)      # out (n, FEATURES), the others (n,), float32
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .jit import F32, F64, State, f32, f32_2d, kernel, record, record_dtype, word

SOON = 2  # frames by which the encoder's pitch and voicing are late
FEATURES = 3  # z-score, voicing, energy
PITCH_REACH, ENERGY_REACH = 8, 4  # frames to either side that smooth: half of the weight is within 60 and 30 ms
HOLD = 0.1  # weight of the last value among those that smooth ln F0: where nothing is voiced, it stays
HIGHEST = 3.0  # z-score
FLOOR, CEILING = -3.0, 1.5  # nats, of energy
TYPICAL, RISE = -0.5, 1.0  # nats: flattened energy is TYPICAL where it is RISE above the floor; pauses stay pauses
# Running mean and spread of ln F0, as in voicemask.py: speakers begin 0.1 above their mean.
MEMORY, SPREAD, SPREAD_WEIGHT = 500.0, 0.15, 100.0
HIGH_START, START = 0.09, 300.0
QUIET = 0.02  # weight of an unvoiced frame in the level: whisper has one then, and a minute's pause lowers it by 1 dB
LATEST = 6  # frames, of `late`

_PAST = 1 + PITCH_REACH + LATEST  # frames that are remembered

PROSODY = record_dtype(
    ("late", "i8"),
    ("pitch", "f8", (_PAST,)),  # ln F0 up to frame j - SOON, the newest last
    ("voicing", "f8", (_PAST,)),
    ("energy", "f8", (_PAST,)),  # up to frame j
    ("pitch_window", "f8", (PITCH_REACH + 1,)),  # weight by distance
    ("energy_window", "f8", (ENERGY_REACH + 1,)),
    ("voiced", "f8"),  # frames that are averaged over, weighed by their probability of voice
    ("average", "f8"),  # of ln F0
    ("variance", "f8"),
    ("smooth", "f8"),  # ln F0 of the last frame
    ("heard", "f8"),  # weight of the frames in the level
    ("level", "f8"),  # of energy, not its logarithm
    ("pitch_range", "f8"),
    ("flatness", "f8"),
    ("goal_range", "f8"),
    ("goal_flatness", "f8"),
)


def fresh(late: int) -> State:
    """A stream that has heard nothing, of frames `late` behind the newest one: SOON to LATEST. ValueError outside."""
    if not SOON <= late <= LATEST:
        raise ValueError(f"late={late} frames: give {SOON} to {LATEST}")
    state = np.zeros(1, PROSODY)
    s = state[0]
    s.late = late
    s.energy[:] = -math.inf
    s.pitch_window[:], s.energy_window[:] = _falling(PITCH_REACH), _falling(ENERGY_REACH)
    s.variance = SPREAD**2
    s.pitch_range = s.goal_range = 1.0
    return state


def _falling(reach: int) -> F64:
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * np.arange(reach + 1) / (reach + 1)))


def aim(state: State, pitch_range: float, flatten: float) -> None:
    """Glide to a factor of the z-score and to the part, 0 to 1, of the contour and of the rhythm of energy that goes."""
    state[0].goal_range, state[0].goal_flatness = pitch_range, flatten


def settle(state: State) -> None:
    """Be at what was aimed for at once."""
    state[0].pitch_range, state[0].flatness = state[0].goal_range, state[0].goal_flatness


@word
def shift(past: F64, value: float) -> None:
    for i in range(past.size - 1):
        past[i] = past[i + 1]
    past[past.size - 1] = value


@word
def learn(s: Any, value: float, weight: float) -> None:
    """Mean and variance of ln F0 with one more value."""
    s.voiced = min(s.voiced + weight, MEMORY)
    off = value - s.average
    mean = s.average + off * weight / s.voiced
    s.variance += weight * (off * (value - mean) - s.variance) / (s.voiced + SPREAD_WEIGHT)
    s.average = mean


@word
def learn_level(s: Any, energy: float, voicing: float) -> None:
    weight = QUIET + (1.0 - QUIET) * voicing
    s.heard = min(s.heard + weight, MEMORY)
    s.level += (math.exp(energy) - s.level) * weight / s.heard


@word
def contour(s: Any) -> float:
    """z-score of the smoothed ln F0 of frame j - late."""
    at = _PAST - 1 - (s.late - SOON)
    total, weight = HOLD * s.smooth, HOLD
    for i in range(at - PITCH_REACH, min(at + PITCH_REACH + 1, _PAST)):
        part = s.pitch_window[abs(i - at)] * s.voicing[i]
        total += part * s.pitch[i]
        weight += part
    s.smooth = total / weight
    mean = s.average - HIGH_START * max(0.0, 1.0 - s.voiced / START)
    return float(min(max((s.smooth - mean) / math.sqrt(s.variance), -HIGHEST), HIGHEST))


@word
def loudness(s: Any) -> float:
    """Smoothed energy of frame j - late, relative to the level."""
    at = _PAST - 1 - s.late
    level = math.log(s.level) if s.heard > 0.0 else math.inf
    total = weight = 0.0
    for i in range(at - ENERGY_REACH, min(at + ENERGY_REACH + 1, _PAST)):
        energy = s.energy[i] - level
        part = s.energy_window[abs(i - at)]
        total += part * min(max(energy, FLOOR), CEILING)
        weight += part
    return total / weight


@word
def follow(s: Any, out: F32, pitch: float, voicing: float, energy: float) -> None:
    """One frame: out of shape (FEATURES,)."""
    s.pitch_range += 0.5 * (s.goal_range - s.pitch_range)
    s.flatness += 0.5 * (s.goal_flatness - s.flatness)
    shift(s.pitch, pitch)
    shift(s.voicing, voicing)
    shift(s.energy, energy)
    if voicing > 0.5:
        if s.voiced == 0.0:
            s.smooth = pitch
        learn(s, pitch, voicing)
    known = s.energy[_PAST - 1 - SOON]
    if known > -math.inf:
        learn_level(s, known, voicing)
    z = contour(s) if s.voiced > 0.0 else 0.0
    loud = loudness(s)
    flat = FLOOR + (TYPICAL - FLOOR) * min((loud - FLOOR) / RISE, 1.0)
    out[0] = s.pitch_range * (1.0 - s.flatness) * z
    out[1] = s.voicing[_PAST - 1 - (s.late - SOON)]
    out[2] = loud + s.flatness * (flat - loud)


@kernel(record(PROSODY), f32_2d, f32, f32, f32)
def stream(state: State, out: F32, pitch: F32, voicing: F32, energy: F32) -> None:
    """out, shape (n, FEATURES), is about the frames `late` before those of `energy` and `late` - SOON before those of the
    others, all of shape (n,): ln Hz, finite also where unvoiced; 0 to 1; ln of power."""
    for frame in range(len(out)):
        follow(state[0], out[frame], pitch[frame], voicing[frame], energy[frame])


def offline(
    pitch: npt.ArrayLike,
    voicing: npt.ArrayLike,
    energy: npt.ArrayLike,
    late: int,
    pitch_range: float = 1.0,
    flatten: float = 0.0,
) -> F32:
    """Of all that an encoder says, arrays of shape (n,) as `stream` takes them: (n, FEATURES), row j about frame j - late."""
    x = [np.ascontiguousarray(a, np.float32) for a in (pitch, voicing, energy)]
    if len({a.shape for a in x}) > 1 or x[0].ndim != 1:
        raise ValueError(f"pitch, voicing and energy of {', '.join(str(a.shape) for a in x)}: give three of (n,)")
    state, out = fresh(late), np.empty((len(x[0]), FEATURES), np.float32)
    aim(state, pitch_range, flatten)
    settle(state)
    stream(state, out, *x)
    return out
