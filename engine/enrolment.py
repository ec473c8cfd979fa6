"""Whom the neural anonymizer takes for the speaker: nobody, who speaks in another recording, or in the one at hand."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.jit import F32
from .embedding import RATE, SIZE, embed, embed_file
from .failure import FileFailure

NOBODY, ITSELF, GIVEN = "none", "self", "given"  # texts that name no file


class Enrolment:
    """What the parameter `enroll` says, and the embedding that follows from it, worked out when it is first asked for."""

    def __init__(self, value: Any) -> None:
        """None, a path, "self", or an array: an embedding, shape (256,), or a recording, (n,) at 16 kHz. ValueError for others
        and for recordings with too little speech."""
        self.text = NOBODY if value is None else GIVEN
        if isinstance(value, (str, os.PathLike)):
            self.text = os.fspath(value)
        elif value is not None:
            self.embedding = _of_array(value)

    @cached_property
    def embedding(self) -> F32 | None:
        """Of the speaker, shape (256,); None for nobody. ValueError, in one line, where there is none to be had."""
        if self.text == NOBODY:
            return None
        if self.text == ITSELF:
            raise ValueError("enroll=self: only whole recordings can enrol their own speakers; give a path, or none")
        if self.text == GIVEN:
            raise ValueError("enroll=given: the array is not kept where parameters are saved; give it again, or a path")
        try:
            return embed_file(self.text)
        except FileFailure as failure:
            raise ValueError(f"enroll={self.text}: {failure.cause}; {failure.remedy}") from failure
        except OSError as error:
            raise ValueError(f"enroll={self.text}: {error.strerror}; give a recording of the speaker") from error

    def heard(self, recording: str | os.PathLike[str], channel: int | None) -> Enrolment:
        """With "self" the speaker of `recording` (of one channel, or, with None, of their mix), else what it was.

        FileFailure if it has too little speech."""
        if self.text != ITSELF:
            return self
        found = Enrolment(ITSELF)
        found.embedding = embed_file(recording, channel)
        return found


def _of_array(value: Any) -> F32:
    x = np.asarray(value)
    if x.dtype.kind not in "fi" or x.ndim != 1:
        raise ValueError(
            f"enroll of shape {x.shape}, {x.dtype}: give a path, an embedding ({SIZE},) or mono sound at {RATE} Hz"
        )
    if len(x) != SIZE:
        return embed(x, RATE)
    with np.errstate(over="ignore"):  # of wider floats, which become infinite
        embedding = x.astype(np.float32)  # a copy: whose array it is may change it
    if not np.isfinite(embedding).all():
        raise ValueError("enroll: the embedding holds NaN or infinity; give another recording for the enrolment")
    return embedding
