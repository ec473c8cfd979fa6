"""Forced alignment: which phone, and which third of it, is spoken at each time of an English utterance with known words.

pocketsphinx aligns words, choosing among the pronunciations of its dictionary, then the states of their phones. Its second pass
fails on one utterance in five: these are aligned phone by phone, each phone a word, and phones cut in equal thirds. Words that
the dictionary lacks are spelled out by hama's letter-to-sound model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pocketsphinx
from hama import G2PModel

from ...engine.content.english import phones_of_ipa
from ...engine.content.numerals import spelled
from ...engine.content.phones import ENGLISH, SILENCE
from .corpora import Utterance
from .journal import Journal
from .lines import append_to, read_lines

_HOP = 160  # samples of a frame
_FIRST = 120  # where frame 0 begins: halfway between the centres of two windows of 25 ms
_WIDE = {"beam": 1e-120, "wbeam": 1e-100, "pbeam": 1e-120}  # for what the default beams lose: one utterance in thirty
_PHONE_WORD = "_"

Segment = tuple[str, int, int, int, int]  # phone, samples at which its thirds begin, and at which it ends


class AlignmentError(Exception):
    """An utterance whose words cannot be found in it; the text says why."""


@dataclass(frozen=True)
class Word:
    name: str  # as in the dictionary, variant included; SILENCE between words
    start: int  # first frame
    end: int  # frame after the last one


class Aligner:
    """pocketsphinx with its own English model."""

    def __init__(self) -> None:
        self._narrow = pocketsphinx.Decoder(lm=None, loglevel="FATAL")
        self._wide = pocketsphinx.Decoder(lm=None, loglevel="FATAL", **_WIDE)
        self._spell = G2PModel()
        for phone in ENGLISH:
            for decoder in (self._narrow, self._wide):
                decoder.add_word(_PHONE_WORD + phone, phone, False)
        self.how: Counter[str] = Counter()  # utterances by the way that aligned them

    def align(self, samples: np.ndarray[tuple[int], np.dtype[np.int16]], text: str) -> list[Segment]:
        """Segments of speech at 16 kHz that says `text`. AlignmentError if it does not."""
        found, decoder = self._found(samples, text)
        pcm = samples.tobytes()
        states = _states(decoder, pcm)
        if states:
            self.how["states"] += 1
            return states
        spoken = [phone for word in found if word.name != SILENCE for phone in self._narrow.lookup_word(word.name).split()]
        phones, _ = self._words(pcm, [_PHONE_WORD + phone for phone in spoken])
        self.how["phones"] += 1
        return [in_thirds(word.name.removeprefix(_PHONE_WORD), _sample(word.start), _sample(word.end)) for word in phones]

    def words(self, samples: np.ndarray[tuple[int], np.dtype[np.int16]], text: str) -> list[tuple[str, int, int]]:
        """The words of speech at 16 kHz that says `text`, and the samples where each begins and ends. AlignmentError if not."""
        found, _ = self._found(samples, text)
        spoken = [(word.name.partition("(")[0], word.start, word.end) for word in found if word.name != SILENCE]
        return [(word, _sample(start), _sample(end)) for word, start, end in spoken]

    def _found(self, samples: np.ndarray[tuple[int], np.dtype[np.int16]], text: str) -> tuple[list[Word], pocketsphinx.Decoder]:
        words, pcm = words_of(text), samples.tobytes()
        if not words or not pcm:
            raise AlignmentError("no sound" if words else "no words")
        for word in set(words):
            self._add(word)
        return self._words(pcm, words)

    def _add(self, word: str) -> None:
        if self._narrow.lookup_word(word) is None:
            spelled = " ".join(phones_of_ipa([a.phoneme for a in self._spell.predict(word).alignments]))
            if not spelled:
                raise AlignmentError(f"no pronunciation for {word!r}")
            for decoder in (self._narrow, self._wide):
                decoder.add_word(word, spelled, True)

    def _words(self, pcm: bytes, words: Sequence[str]) -> tuple[list[Word], pocketsphinx.Decoder]:
        """`words` with the silence between them, and the decoder that found them."""
        text = " ".join(words)
        for decoder in (self._narrow, self._wide):
            decoder.set_align_text(text)
            _run(decoder, pcm)
            if decoder.hyp() is not None and decoder.hyp().hypstr == text:
                silent = ("<", "(", "[")  # <s>, <sil>, (NULL), [NOISE]
                found = [
                    Word(SILENCE if s.word.startswith(silent) else s.word, s.start_frame, s.end_frame + 1)
                    for s in decoder.seg()
                    if s.end_frame >= s.start_frame
                ]
                return found, decoder
        raise AlignmentError("its words are not found in it")


def words_of(text: str) -> list[str]:
    """Lower-case words of letters and apostrophes; numbers are spelled out."""
    found = re.findall(r"[a-z']+", spelled(text.lower().replace("’", "'")))
    return [word for w in found if (word := w.strip("'"))]


def dictionary_words() -> list[str]:
    """Words of the aligner's dictionary, in order, without its variants."""
    lines = Path(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict")).read_text(encoding="utf-8").splitlines()
    return sorted({word for word in (line.split(maxsplit=1)[0] for line in lines if line) if re.fullmatch("[a-z']{3,}", word)})


def align_all(utterances: Sequence[Utterance], path: Path, journal: Journal) -> None:
    """Append to `path`, a line of JSON each, the segments of those English utterances with words that it lacks."""
    known = {utterance for utterance, _ in read_labels(path)}
    missing = [u for u in utterances if u.utterance not in known and u.language == "en" and u.transcript]
    aligner = Aligner()
    with append_to(path) as file:
        for u in journal.each(f"align {path.stem}", missing, len(missing)):
            segments: list[Segment] = []
            try:
                samples = np.clip(np.rint(u.audio() * 32768), -32768, 32767).astype(np.int16)
                segments = aligner.align(samples, u.transcript)
            except AlignmentError as error:  # kept as an empty line, so that it is not tried again
                aligner.how[str(error).split("'", 1)[0]] += 1
            file.write(json.dumps({"utterance": u.utterance, "segments": segments}) + "\n")
    journal(f"align {path.stem}: {dict(aligner.how)}")


def read_labels(path: Path) -> list[tuple[str, list[Segment]]]:
    """Utterances and their segments; none where a file is not there yet or an utterance could not be aligned."""
    rows = [json.loads(line) for line in read_lines(path)]
    return [(row["utterance"], [tuple(segment) for segment in row["segments"]]) for row in rows]


def _run(decoder: pocketsphinx.Decoder, pcm: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(pcm, no_search=False, full_utt=True)
    decoder.end_utt()


def _states(decoder: pocketsphinx.Decoder, pcm: bytes) -> list[Segment]:
    """Of the words that `decoder` has just found; empty if the pass fails."""
    try:
        decoder.set_alignment()
        _run(decoder, pcm)
        words = decoder.get_alignment()
    except RuntimeError:
        return []
    found: list[Segment] = []
    for word in words:
        for phone in word:
            if phone.name not in ENGLISH:
                found.append(in_thirds(SILENCE, _sample(phone.start), _sample(phone.start + phone.duration)))
            else:
                starts = [_sample(state.start) for state in phone]
                found.append((phone.name, starts[0], starts[1], starts[2], _sample(phone.start + phone.duration)))
    return found


def _sample(frame: int) -> int:
    return _HOP * frame + _FIRST


def in_thirds(phone: str, start: int, end: int) -> Segment:
    """A segment of equal thirds between two samples."""
    third = (end - start) / 3
    return phone, start, round(start + third), round(start + 2 * third), end
