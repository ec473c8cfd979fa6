"""Level matching: the output's loudness follows the input's, causally, hop by hop.

Powers are taken about each hop's mean (an offset carries power but no loudness), the input's is delayed by the stages'
latency, both are smoothed alike, and their ratio is the gain, ramped over the hop. Equal powers give exactly 1.
"""

from __future__ import annotations

import numpy as np

from .jit import F32, State, f32, kernel, record, record_dtype, reducing_word

MEMORY = 64  # hops of input power kept: bounds the latency that can be matched
SMOOTHING = 0.3  # s: a syllable; shorter flattens the speech, longer lets a redrawn voice jump
RANGE = 4.0  # gain is held within 1/4 to 4 (12 dB): a stage further off is at fault, and noise must not be pumped up
FLOOR = 1e-10  # added to both powers (-100 dBFS): in silence the gain rests at 1

STATE = record_dtype(
    ("powers", "f8", (MEMORY,)),  # ring of the input's hop powers
    ("hops", "i8"),  # hops seen
    ("whole", "i8"),  # latency: whole hops ...
    ("part", "f8"),  # ... and the rest, as a share of a hop
    ("keep", "f8"),  # smoothing from hop to hop
    ("power_in", "f8"),
    ("power_out", "f8"),
    ("gain", "f8"),  # at the end of the last hop
)


def fresh(hop: int, latency: int, rate: int = 16_000) -> State:
    """For hops of `hop` samples and stages that delay by `latency` samples; ValueError beyond 62 hops."""
    if latency > (MEMORY - 2) * hop:
        raise ValueError(f"latency={latency} samples: level matching follows at most {(MEMORY - 2) * hop}")
    state = np.zeros(1, STATE)
    s = state[0]
    s.whole, s.part = latency // hop, (latency % hop) / hop
    s.keep = np.exp(-hop / (SMOOTHING * rate))
    s.gain = 1.0
    return state


@reducing_word
def _power(x: F32) -> float:
    total = square = 0.0  # in double: an offset of 0.3 would leave -80 dBFS of rounding in single
    for i in range(x.size):
        value = np.float64(x[i])
        total += value
        square += value * value
    mean = total / x.size
    return max(0.0, square / x.size - mean * mean)


@kernel(record(STATE), f32, f32)
def match(state: State, y: F32, x: F32) -> None:
    """Scale y, the stages' output for this hop, in place; x is their input. Shapes (hop,), finite."""
    s = state[0]
    now = s.hops % MEMORY
    s.powers[now] = _power(x)
    late = s.powers[(s.hops - s.whole) % MEMORY]
    later = s.powers[(s.hops - s.whole - 1) % MEMORY]
    s.hops += 1
    s.power_in = s.keep * s.power_in + (1 - s.keep) * (late + s.part * (later - late)) + 1e-30
    s.power_out = s.keep * s.power_out + (1 - s.keep) * _power(y) + 1e-30
    gain = np.sqrt((s.power_in + FLOOR) / (s.power_out + FLOOR))
    gain = min(max(gain, 1 / RANGE), RANGE)
    if gain != 1.0 or s.gain != 1.0:
        step = (gain - s.gain) / y.size
        for i in range(y.size):
            y[i] = np.float32(y[i] * (s.gain + step * (i + 1)))
    s.gain = gain
