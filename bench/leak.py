"""What the content channel tells of the speaker: all that the decoder of a neural method gets, but the private voice.

The attacker takes statistics of each utterance (mean and spread of every number over the speech, mean change from frame to
frame), without any audio, and goes on as the semi-informed one does. Words and speaking rate alone give an EER of 36 %.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..engine.stage import Stage
from ..kernels.jit import F32, F64

SHORTEST = 100  # frames of an utterance, half of them speech


def has_channel(stage: Stage) -> bool:
    """Whether `stage` says what its decoder got in the last step: a property `channel`, shape (frames, numbers), without the
    private voice, the first number of a frame being the probability of silence."""
    return hasattr(type(stage), "channel")


def statistics(channel: F32) -> F64 | None:
    """Of a channel, shape (frames, numbers): shape (3 * numbers,); None if there is too little speech."""
    speech = channel[channel[:, 0] < 0.5]
    if len(channel) < SHORTEST or len(speech) < SHORTEST // 2:
        return None
    change = np.abs(np.diff(channel, axis=0)).mean(0)
    return np.concatenate([speech.mean(0), speech.std(0), change]).astype(np.float64)


def heard(stage: Stage, samples: npt.NDArray[np.float32]) -> F32:
    """The channel of `stage`, a prepared one that has it, for mono speech at 16 kHz: shape (frames, numbers)."""
    stage.reset()
    y = np.zeros(stage.hop, np.float32)
    frames = []
    for start in range(0, len(samples) - stage.hop + 1, stage.hop):
        stage.step(samples[start : start + stage.hop].copy(), y)
        frames.append(stage.channel)  # type: ignore[attr-defined]
    return np.concatenate(frames)
