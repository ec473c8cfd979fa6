"""Synthetic utterances: sentences of the corpora and of word lists, spoken by voices that nobody has.

Each has a voice of its own, a mixture of up to three of Kokoro's, so that the recogniser hears more speakers than any corpus of
this size has; Mandarin comes from here alone. What each letter sounds as and how long it takes is kept beside the audio.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from ...engine.atomic import atomically
from ...engine.content import english, mandarin
from ...engine.content.kokoro import LONGEST, read_voices
from ...engine.content.kokoro import RATE as KOKORO_RATE
from ...kernels.jit import F32
from .corpora import DEV, RATE, TRAIN, Utterance, read_index, write_index
from .errors import TrainingError
from .journal import Journal
from .timed import TimedKokoro

DEV_VOICES = ("zf_xiaoyi", "zm_yunyang", "af_bella", "am_michael")  # heard in no training utterance, alone or mixed
_WORDS = (6, 22)  # English words of an utterance
_PHRASES = (3, 9)  # Mandarin ones
_SPEED = (0.8, 1.3)
_LEVEL = 0.05  # RMS


@dataclass(frozen=True)
class Line:
    """What is to be said."""

    pieces: list[english.Piece]
    transcript: str


def english_line(random: np.random.Generator, sentences: Sequence[str], words: Sequence[str]) -> Line:
    """Consecutive words of a sentence; one time in four words of the dictionary, which bring rare neighbours together."""
    count = int(random.integers(*_WORDS))
    if random.random() < 0.25:
        chosen = [words[int(i)] for i in random.integers(len(words), size=count // 2)]
    else:
        spoken = sentences[int(random.integers(len(sentences)))].lower().split()
        start = int(random.integers(max(1, len(spoken) - count)))
        chosen = spoken[start : start + count]
    return Line(english.pieces(" ".join(chosen)), " ".join(chosen).upper())


def mandarin_line(random: np.random.Generator, phrases: Sequence[str]) -> Line:
    """Phrases of the dictionary, with a pause after some."""
    from pypinyin import Style, lazy_pinyin

    pieces: list[english.Piece] = []
    chosen = [phrases[int(i)] for i in random.integers(len(phrases), size=random.integers(*_PHRASES))]
    for phrase in chosen:
        for syllable in lazy_pinyin(phrase, style=Style.TONE3, neutral_tone_with_five=True):
            pieces += mandarin.pieces(syllable)
        pieces += [(",", None), (" ", None)] if random.random() < 0.3 else [(" ", None)]
    return Line([*pieces[:-1], (".", None)], "".join(chosen))


def mixture(random: np.random.Generator, voices: dict[str, F32], names: Sequence[str]) -> tuple[F32, str]:
    """A voice between one and three of `names`, and what it is made of."""
    chosen = list(random.choice(np.array(names), size=min(len(names), int(random.integers(1, 4))), replace=False))
    parts = random.dirichlet(np.full(len(chosen), 2.0))
    voice = sum(part * voices[name] for part, name in zip(parts, chosen, strict=True))
    return np.asarray(voice, np.float32), "+".join(f"{name}*{part:.2f}" for part, name in zip(parts, chosen, strict=True))


def synthesize(work: Path, voice_folder: Path, language: str, count: int, split: str, seed: int, journal: Journal) -> None:
    """Add utterances 0 to `count` - 1 of `language` and `split` to the folder synth/ of `work`; those there are kept."""
    folder = work.absolute() / "synth" / f"{language}-{split}"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        voices, kokoro = read_voices(voice_folder), TimedKokoro(work / "parts")
    except ValueError as error:
        raise TrainingError(str(error)) from None
    names = [n for n in voices if (n in DEV_VOICES) == (split == DEV)]
    native = [n for n in names if n.startswith("z" if language == "zh" else ("a", "b"))]
    if not native:
        raise TrainingError(f"{voice_folder}: no {language} voices for {split}: take all of kokoro-js")
    source = _Source(work, language, kokoro)
    missing = [n for n in range(count) if not (folder / f"{n:05d}.json").exists()]
    for number in journal.each(f"synth {language} {split}", missing, len(missing)):
        random = np.random.default_rng([seed, number, language == "zh", split == DEV])
        line = source.line(random)
        # A foreign voice in the mixture gives an accent; half of the utterances have none in it.
        voice, recipe = mixture(random, voices, native if random.random() < 0.5 else names)
        samples, frames = kokoro.timed("".join(letters for letters, _ in line.pieces), voice, random.uniform(*_SPEED))
        speech = soxr.resample(samples, KOKORO_RATE, RATE)
        speech *= _LEVEL / max(float(np.sqrt(np.mean(speech**2))), 1e-6)
        name = f"synth-{language}-{split}-{number:05d}"
        soundfile.write(folder / f"{number:05d}.flac", np.clip(speech, -1, 1), RATE, subtype="PCM_16")
        said: dict[str, Any] = {"utterance": name, "voice": recipe, "transcript": line.transcript}
        said |= {"pieces": line.pieces, "frames": frames.tolist()}
        with atomically(folder / f"{number:05d}.json") as part:  # last: without it the utterance is made again
            part.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    write_index(folder / "index.csv", _rows(folder, language, split))


class _Source:
    """Lines that the synthesizer can say."""

    def __init__(self, work: Path, language: str, kokoro: TimedKokoro) -> None:
        self._kokoro, self._language = kokoro, language
        if language == "zh":
            from pypinyin.phrases_dict import phrases_dict

            self._phrases = sorted(phrase for phrase in phrases_dict if len(phrase) <= 4)
        else:
            from .align import dictionary_words

            utterances = read_index(work / "index.csv")
            self._sentences = [u.transcript for u in utterances if u.split == TRAIN and u.language == "en" and u.transcript]
            if not self._sentences:
                raise TrainingError(f"{work}: no English training utterance has words, which are what is spoken: list some")
            self._words = dictionary_words()

    def line(self, random: np.random.Generator) -> Line:
        while True:
            try:
                zh = self._language == "zh"
                line = mandarin_line(random, self._phrases) if zh else english_line(random, self._sentences, self._words)
            except ValueError:  # a phrase with an interjection that is no syllable
                continue
            letters = "".join(letters for letters, _ in line.pieces)
            if len(letters) <= LONGEST and all(self._kokoro.knows(letter) for letter in letters):
                return line


def _rows(folder: Path, language: str, split: str) -> Iterator[Utterance]:
    for path in sorted(folder.glob("*.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        audio = path.with_suffix(".flac")
        name = said["utterance"]
        seconds = soundfile.info(audio).duration
        yield Utterance(name, f"synth:{said['voice']}", "synth", str(audio), seconds, split, "", language, said["transcript"])
