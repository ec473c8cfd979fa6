"""McAdams anonymization: the formants of each frame are moved by raising the angles of the poles of its LPC filter to a power.

J. Patino et al., "Speaker anonymisation using the McAdams coefficient" (Interspeech 2021), baseline B2 of the VoicePrivacy
Challenge: 20 ms frames every 10 ms, Burg prediction of order 20, pole angle phi -> phi^alpha with the radius kept,
resynthesis of the residual through the moved poles, overlap-add. An angle of 1 rad, 2546 Hz at 16 kHz, stays where it is.

The stream differs from the baseline where that could not run live or did harm. Every frame is processed. The squared window
overlaps to exactly 1. A constant offset is taken off first: its pole at 0 Hz would move and buzz at 100 Hz. Each frame gets the
energy of its input, since A(z) / A'(z) amplifies by a median of 7 dB at alpha 0.8, and by 34 dB at 0.5, up to 55. A frame
whose poles are not found is muted; in 700,000 frames of speech there was none.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .allpole import cascade, inverse
from .jit import F32, F64, State, f32, f64, kernel, record, record_dtype, reducing_word, word
from .lpc import burg
from .roots import ROOTS, find

RATE = 16_000  # Hz: pole angles are relative to the rate, so the kernel runs at this one only
HOP = 160  # samples, 10 ms
WINDOW = 2 * HOP
LATENCY = HOP
ORDER = 20
SECTIONS = ORDER // 2

OFFSET_STEP = 2 * math.pi * 20 / RATE  # corner of the offset removal at 20 Hz, below any voice
PEAK_GAIN = 1.5  # a frame's peak may grow so far: costs speech 0.2 dB, halves the peaks of square waves
INAUDIBLE = 1e-16  # mean square, -160 dB of full scale, below the last of 24 bits: such frames are muted
SMALLEST, LARGEST = 1e-30, 1e30  # samples outside count as 0: denormals take 16 x the time, NaN and infinity last
EPSILON = float(np.finfo(np.float32).eps)  # which the baseline adds to the signal, and again to the frame it analyses

MCADAMS = record_dtype(
    ("alpha", "f8"),  # for the frame at hand
    ("target", "f8"),  # where alpha glides to: written from outside
    ("goal", "f8"),  # the target that `slope` was made for
    ("slope", "f8"),  # change of alpha a hop
    ("window", "f8", (WINDOW,)),  # of analysis and of synthesis
    ("offset", "f8"),  # slow average of the input
    ("past", "f8", (HOP,)),  # input of the last hop, offset taken off
    ("overlap", "f8", (HOP,)),  # second half of the last output frame
    ("frame", "f8", (ORDER + WINDOW,)),  # ORDER zeros, then the windowed input
    ("moved", "f8", (WINDOW,)),  # windowed output of the frame
    ("a", "f8", (ORDER + 1,)),  # its prediction filter A(z)
    ("a1", "f8", (SECTIONS,)),  # the moved poles as second-order sections
    ("a2", "f8", (SECTIONS,)),
    ("forward", "f8", (WINDOW,)),  # scratch of `burg`
    ("backward", "f8", (WINDOW,)),
    ("poles", ROOTS),  # of the last frame, where the search for this one's starts
)


def fresh(alpha: float) -> State:
    """State of a stream at rest, with no glide under way."""
    state = np.zeros(1, MCADAMS)
    s = state[0]
    s.alpha = s.target = s.goal = alpha
    s.window[:] = np.sin(np.pi * np.arange(WINDOW) / WINDOW)  # root of the periodic Hann window
    return state


@word
def _move_poles(s: np.record) -> bool:
    """s.a1 and s.a2, the sections of 1 / A'(z), from s.a; False if the poles were not found."""
    if not find(s.poles, s.a):
        return False
    p = s.poles
    m = 0
    real = 0.0  # real poles stay; two share a section, and at an even order their number is even
    waiting = False
    for i in range(p.count):
        u, v = p.re[i], p.im[i]
        if v > 0.0:
            radius = math.sqrt(u * u + v * v)
            angle = min(math.atan2(v, u) ** s.alpha, math.pi)
            s.a1[m] = -2.0 * radius * math.cos(angle)
            s.a2[m] = radius * radius
            m += 1
        elif waiting:
            s.a1[m] = -(real + u)
            s.a2[m] = real * u
            m += 1
            waiting = False
        else:
            real = u
            waiting = True
    return True


@word
def _resynthesize(s: np.record) -> bool:
    """s.moved becomes s.frame with the poles of s.a moved, windowed; False if they were not found."""
    if not _move_poles(s):
        return False
    inverse(s.moved, s.a, s.frame)
    cascade(s.moved, s.a1, s.a2)
    for i in range(WINDOW):
        s.moved[i] *= s.window[i]
    return True


@reducing_word
def _energy(x: F64) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * x[i]
    return total


@word
def _peak(x: F64) -> float:
    a = b = c = d = 0.0  # four chains of comparisons instead of one: 1.0 -> 0.3 us for two frames
    for i in range(0, x.size, 4):
        a = max(a, abs(x[i]))
        b = max(b, abs(x[i + 1]))
        c = max(c, abs(x[i + 2]))
        d = max(d, abs(x[i + 3]))
    return max(max(a, b), max(c, d))


@word
def _frame_gain(s: np.record) -> float:
    """Fill s.moved from s.frame; return its gain for the energy of the frame, both seen through both windows. 0 mutes."""
    frame = s.frame[ORDER:]
    burg(s.a, s.forward, s.backward, frame)
    if not _resynthesize(s):
        return 0.0
    for i in range(WINDOW):
        frame[i] *= s.window[i]
    energy, peak = _energy(s.moved), _peak(s.moved)
    if energy == 0.0:
        return 0.0
    return min(math.sqrt(_energy(frame) / energy), PEAK_GAIN * _peak(frame) / peak)


@word
def _glide(s: np.record) -> None:
    """One hop of alpha: half of the way at the first hop after a change of its target, all of it at the second."""
    if s.goal != s.target:
        s.goal = s.target
        s.slope = 0.5 * (s.goal - s.alpha)
    s.alpha = s.goal if abs(s.goal - s.alpha) <= 1.5 * abs(s.slope) else s.alpha + s.slope


@kernel(record(MCADAMS), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """One hop: x, shape (160,), in; out, shape (160,), is the anonymized input of 160 samples before. 7.7 us."""
    s = state[0]
    _glide(s)
    frame = s.frame[ORDER:]
    for i in range(HOP):
        value = float(x[i])
        if not SMALLEST < abs(value) < LARGEST:
            value = 0.0
        s.offset = (1.0 - OFFSET_STEP) * s.offset + OFFSET_STEP * value
        value -= s.offset
        frame[i] = s.window[i] * s.past[i]
        frame[HOP + i] = s.window[HOP + i] * value
        s.past[i] = value
    if abs(s.offset) < SMALLEST:
        s.offset = 0.0
    gain = _frame_gain(s) if _energy(frame) > INAUDIBLE * WINDOW else 0.0
    for i in range(HOP):
        out[i] = s.overlap[i] + gain * s.moved[i]
        s.overlap[i] = gain * s.moved[HOP + i]


@kernel(record(MCADAMS), f64, f64)
def baseline(state: State, out: F64, x: F64) -> None:
    """The published algorithm on a whole signal: x, shape (n,), into out, shape (n,), zeros on entry."""
    s = state[0]
    frame = s.frame[ORDER:]
    for start in range(0, x.size - WINDOW + 1, HOP):
        for i in range(WINDOW):
            frame[i] = s.window[i] * (x[start + i] + EPSILON)
            s.forward[i] = frame[i] + EPSILON
        burg(s.a, s.forward, s.backward, s.forward)
        if _resynthesize(s):
            for i in range(WINDOW):
                out[start + i] += s.moved[i]


def offline(x: npt.ArrayLike, alpha: float, reference: bool = False) -> F32 | F64:
    """Anonymize the signal x, shape (n,), mono, 16 kHz, full scale 1, with McAdams coefficient alpha; same length, no delay.

    By default float32 and equal to the stream. With `reference` float64 and as baseline B2 of the VoicePrivacy Challenge 2024
    before its peak normalisation: symmetric Hann window scaled by its overlap, level not matched, last partial frame dropped.
    ValueError for another shape, or alpha not in (0, 2].
    """
    if np.ndim(x) != 1:
        raise ValueError(f"signal of shape {np.shape(x)}: give one channel, shape (n,)")
    if not 0 < alpha <= 2:
        raise ValueError(f"alpha={alpha}: give a number above 0 and up to 2")
    return _offline_baseline(np.ascontiguousarray(x, np.float64), alpha) if reference else _offline_stream(x, alpha)


def _offline_stream(x: npt.ArrayLike, alpha: float) -> F32:
    n = len(np.asarray(x))
    padded = np.zeros(-(-(n + LATENCY) // HOP) * HOP, np.float32)
    padded[:n] = x
    out = np.empty_like(padded)
    state = fresh(alpha)
    for start in range(0, padded.size, HOP):
        stream(state, out[start : start + HOP], padded[start : start + HOP])
    return out[LATENCY : LATENCY + n]


def _offline_baseline(x: F64, alpha: float) -> F64:
    state = fresh(alpha)
    hann = np.hanning(WINDOW)
    state[0].window[:] = np.sqrt(hann * HOP / hann.sum())
    out = np.zeros_like(x)
    baseline(state, out, x)
    return out
