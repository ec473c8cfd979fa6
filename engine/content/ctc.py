"""How likely each phone of English is, 50 times a second: hama's network (Apache-2.0), trained with CTC."""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F32
from .english import phones_of_ipa
from .extras import needed
from .phones import ENGLISH

FRAME = 320  # samples at 16 kHz
CLASSES = ("", *ENGLISH)  # the first is none, the blank, and whatever is no phone of English
NUMBER = {phone: number for number, phone in enumerate(CLASSES)}


class Ctc:
    """The network. Unusable that names the extra if its package is missing."""

    def __init__(self) -> None:
        self._model = needed("hama", "the detector of phones", "content-models").ASRModel()
        self._class = np.zeros((len(self._model.decoder_tokens), len(CLASSES)), np.float32)
        for token, letters in enumerate(self._model.decoder_tokens):
            phone = next(iter(phones_of_ipa([letters])), "")
            self._class[token, NUMBER[phone]] = 1

    def likelihoods(self, samples: F32) -> F32:
        """Of each of CLASSES in each frame of mono speech at 16 kHz, shape (n,): shape (n // FRAME + 1, len(CLASSES)).

        It looks ahead and back in all that it is given: .042 s of CPU time for a second.
        """
        feeds = {"waveform": samples[np.newaxis], "waveform_lengths": np.array([len(samples)], np.int64)}
        found, frames = self._model.session.run(["log_probs", "out_lengths"], feeds)
        return np.asarray(np.exp(found[0][: int(np.ravel(frames)[0])]) @ self._class, np.float32)
