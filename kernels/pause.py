"""Frames of the vocoder brought to the speaker's level, and pauses brought below it.

The decoder learnt pauses from recordings, each with the noise of its room: what a private voice has there is up to chance,
from -37 to 0 dB of the white noise that it hears. So where the encoder hears silence, the frame falls towards a ceiling, by as
much of the way as silence is surer than not. 40 dB under speech stay: a pause of exact silence sounds like a lost line.
"""

from __future__ import annotations

from .jit import F32, f32_2d, kernel, real

SILENCE = 0  # class of the content
CEILING = -14.0  # ln of the loudest band's power; speech at -26 dBFS has -5, its recorded pauses have -12


@kernel(f32_2d, f32_2d, real)
def stream(envelope: F32, content: F32, gain: float) -> None:
    """envelope (frames, bands), ln of power, in place; content (frames, classes), 0 to 1; gain: ln of power that is added."""
    for t in range(envelope.shape[0]):
        fall = max(0.0, 2.0 * content[t, SILENCE] - 1.0) * max(0.0, envelope[t].max() - CEILING)
        for band in range(envelope.shape[1]):
            envelope[t, band] += gain - fall
