"""VoiceMask: formants warped, and the pitch moved to the mean and spread of somebody else's, streamed, 40 ms behind.

J. Qian, H. Du, J. Hou et al., "Hidebehind: enjoy voice input with voiceprint unclonability and anonymity", SenSys 2018. The
warp is theirs, quadratic after bilinear (`warp.voicemask`), of the spectral envelope (`vtln.py`). ln F0 becomes
    target mean + (ln F0 - mean) * target spread / spread
with the mean and standard deviation of the speaker as far as they are known by then, and `pitch.py` speaks it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import pitch, residual, vtln, warp
from .edge import mono
from .jit import F32, F64, State, f32, kernel, record, record_dtype, reducing_word, word
from .pitch import PITCH, RATIOS, listen, speak
from .vtln import VTLN, warp_frame

HOP = 160
LATENCY = residual.LATENCY + vtln.LATENCY
HOPS = LATENCY // HOP

# Speakers begin high: in the first half second of voice the mean of ln F0 is 0.1 above that over minutes (25 readers).
MEMORY = 500.0  # voiced hops, 5 s: mean and spread are plain averages up to here, exponential ones from here on
HIGH_START, START = 0.09, 300.0  # the mean is lowered by HIGH_START at first, by nothing after START voiced hops
SPREAD, SPREAD_WEIGHT = 0.15, 100.0  # the spread (2.6 semitones) that so many voiced hops are taken to have had before
STRETCH = 2.0  # a contour is stretched or flattened by this factor at most
LOWEST, HIGHEST = 60.0, 450.0  # Hz, of the output
SHUFFLE = 16.0  # samples, 1 ms: without it, unvoiced sounds stay alike, and with them an utterance of many (0.61, with it 0.1)

SMOOTHING = math.exp(-10 / 50)  # of powers, a hop: 50 ms, three periods of the lowest voice
LOUDER = 2.0  # the output is raised by this at most (6 dB): pitch and warp differ by -4.7 to 2.7 dB over utterances
SILENCE = 1e-10  # mean square, added to both powers: -100 dB of full scale
GLIDE = 2  # hops

VOICEMASK = record_dtype(
    ("pitch", PITCH),
    ("vtln", VTLN),
    ("hops", "f8"),  # voiced ones, up to MEMORY
    ("average", "f8"),  # of ln F0 so far
    ("variance", "f8"),
    ("target_mean", "f8"),  # of ln F0
    ("target_spread", "f8"),
    ("goal_mean", "f8"),  # both on their way
    ("goal_spread", "f8"),
    ("seen", "i8"),  # the aim, of those counted by `vtln`, that they are on their way to
    ("left", "i8"),  # hops until they are there
    ("voice", "f4", (HOP,)),  # at the new pitch
    ("powers", "f8", (HOPS + 1,)),  # of the input's hops, the newest last
    ("power_in", "f8"),  # smoothed, at the time of the output
    ("power_out", "f8"),
    ("gain", "f8"),  # at the end of the last hop
)


def fresh() -> State:
    """State of a stream at rest, which has no target yet: `aim` and `settle` give it one."""
    state = np.zeros(1, VOICEMASK)
    s = state[0]
    s.pitch = pitch.fresh(SHUFFLE)[0]
    s.vtln = vtln.fresh()[0]
    s.variance = SPREAD**2
    s.power_in = s.power_out = SILENCE
    s.gain = 1.0
    return state


def aim(state: State, moved: F64, mean: float, spread: float) -> None:
    """Let the stream glide, over two hops, to the warp moved = f(vtln.GRID) and to a mean and standard deviation of ln F0.

    It may run in another thread: `vtln.aim` comes last, and with it the count that tells the stream.
    """
    s = state[0]
    s.target_mean, s.target_spread = mean, spread
    vtln.aim(state["vtln"], moved)


def settle(state: State) -> None:
    """Be at what was aimed for at once."""
    vtln.settle(state["vtln"])
    s = state[0]
    s.goal_mean, s.goal_spread = s.target_mean, s.target_spread


@word
def glide(s: np.record) -> None:
    if s.seen != s.vtln.aims:
        s.seen = s.vtln.aims
        s.left = GLIDE
    if s.left > 0:
        s.goal_mean += (s.target_mean - s.goal_mean) / s.left
        s.goal_spread += (s.target_spread - s.goal_spread) / s.left
        s.left -= 1


@word
def learn(s: np.record, value: float) -> None:
    """Mean and variance of ln F0 with one more value."""
    hops = min(s.hops + 1.0, MEMORY)
    off = value - s.average
    mean = s.average + off / hops
    s.variance += (off * (value - mean) - s.variance) / (hops + SPREAD_WEIGHT)
    s.hops, s.average = hops, mean


@word
def ratio(s: np.record, value: float) -> float:
    """F0 wanted over F0, for ln F0 = value."""
    mean = s.average - HIGH_START * max(0.0, 1.0 - s.hops / START)
    stretch = min(max(s.goal_spread / math.sqrt(s.variance), 1.0 / STRETCH), STRETCH)
    wanted = min(max(s.goal_mean + stretch * (value - mean), math.log(LOWEST)), math.log(HIGHEST))
    return min(max(math.exp(wanted - value), RATIOS[0]), RATIOS[1])


@reducing_word
def power(x: F32) -> float:
    """Mean square about the mean."""
    total = square = 0.0
    for i in range(x.size):
        value = np.float64(x[i])
        total += value
        square += value * value
    return max(0.0, (square - total * total / x.size) / x.size)


@word
def match(s: np.record, out: F32, x: F32) -> None:
    """Scale out so that its power follows that of the input."""
    for i in range(HOPS):
        s.powers[i] = s.powers[i + 1]
    s.powers[HOPS] = power(x)
    power_in = SMOOTHING * s.power_in + (1.0 - SMOOTHING) * (s.powers[0] + SILENCE)
    power_out = SMOOTHING * s.power_out + (1.0 - SMOOTHING) * (power(out) + SILENCE)
    s.power_in, s.power_out = power_in, power_out
    gain = min(math.sqrt(power_in / power_out), LOUDER)
    step = (gain - s.gain) / HOP
    for i in range(HOP):
        out[i] *= s.gain + step * (i + 1)
    s.gain = gain


@word
def mask(s: np.record, out: F32, x: F32) -> None:
    """One hop: out and x of shape (160,)."""
    glide(s)
    listen(s.pitch, x)
    if s.pitch.voiced[-1] != 0:
        value = math.log(s.pitch.f0.hz)
        learn(s, value)
        s.pitch.ratio[-1] = ratio(s, value)
    speak(s.pitch, s.voice)
    for start in range(0, HOP, vtln.HOP):
        warp_frame(s.vtln, out[start : start + vtln.HOP], s.voice[start : start + vtln.HOP])
    match(s, out, x)


@kernel(record(VOICEMASK), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """out is the masked input of LATENCY = 640 samples before x. Shapes (160 n,), out not x."""
    for start in range(0, x.size, HOP):
        mask(state[0], out[start : start + HOP], x[start : start + HOP])


def offline(x: npt.ArrayLike, alpha: float, beta: float, hz: float, spread: float) -> F32:
    """x, shape (n,), mono, 16 kHz, masked: float32, same length, no delay.

    alpha, beta: of `warp.voicemask`; hz: the target's F0, its geometric mean, 60 to 450; spread: standard deviation of ln F0,
    above 0. ValueError outside.
    """
    if not LOWEST <= hz <= HIGHEST or not spread > 0:
        raise ValueError(f"hz={hz!r}, spread={spread!r}: give {LOWEST:g} to {HIGHEST:g} Hz and a spread above 0")
    signal = mono(x)
    state = fresh()
    aim(state, warp.voicemask(vtln.GRID, alpha, beta), math.log(hz), spread)
    settle(state)
    padded = np.zeros(-(-(signal.size + LATENCY) // HOP) * HOP, np.float32)
    padded[: signal.size] = signal
    out = np.empty_like(padded)
    stream(state, out, padded)
    return out[LATENCY : LATENCY + signal.size]
