"""Frames of the vocoder brought to the speaker's level, and pauses brought below it.

The decoder learnt pauses from recordings, each with the noise of its room: what a private voice has there is up to chance,
from -42 to 0 dB of the white noise that it hears. So where the encoder hears silence, the frame falls towards a ceiling, by as
much of the way as silence is surer than not. 44 dB under speech stay: a pause of exact silence sounds like a lost line.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import F32, f32_2d, kernel, real
from .vocoder import MEL, centres

SILENCE = 0  # class of the content
CEILING = -17.2  # ln of the mean power over 0 to 8 kHz; speech at -26 dBFS has -7.1, its recorded pauses from -12 to -21
_WIDTH = ((MEL + centres()) / (MEL + centres()).sum()).astype(np.float32)  # of each band in Hz, of all of them


@kernel(f32_2d, f32_2d, real)
def stream(envelope: F32, content: F32, gain: float) -> None:
    """envelope (frames, BANDS), ln of power, in place; content (frames, classes), 0 to 1; gain: ln of power that is added."""
    for t in range(envelope.shape[0]):
        lift = gain
        sure = 2.0 * content[t, SILENCE] - 1.0
        if sure > 0.0:
            power = 0.0
            for band in range(envelope.shape[1]):
                power += _WIDTH[band] * math.exp(envelope[t, band])
            if power > 0.0:
                lift -= sure * max(0.0, math.log(power) - CEILING)
        for band in range(envelope.shape[1]):
            envelope[t, band] += lift
