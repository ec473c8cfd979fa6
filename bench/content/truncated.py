"""What is known of an utterance when the recogniser's result is taken early: the source's figure, against a line that waits.

python -m velavox.bench.content.truncated SPEECH/manifest.csv [--seconds S] [--json FILE]

Niu et al. (2024) bound the delay by taking the result after 1/6 to 5/6 of the time. What is said later is then unknown, so that
recall grows as the part that was heard; a line of constant delay has heard everything, and tells each word when it is said.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from ...engine.content.find import Finder
from ...engine.content.lexicon import Lexicon
from ...engine.content.prefix import Reader
from ...engine.content.pronounce import of_word
from ...engine.content.recogniser import SAID, Recogniser
from ...engine.content.streaming import StreamDetector
from ...engine.content.whisper import Whisper
from ..recognition import Errors, edits, errors
from .material import RATE, Spoken, Stream, english, listed
from .passing import watched

SIXTHS = (1, 2, 3, 4, 5, 6)
_LONGEST = 6.0  # seconds of an utterance
_EACH = 20  # listed words of a stream, at most


@dataclass(frozen=True)
class Taken:
    """Over all utterances, when so many sixths of each are heard."""

    sixths: int
    cer: float  # of what is heard against all that is said
    recall: float  # of listed words


def utterances(stream: Stream) -> Iterator[Stream]:
    """A stream in pieces of whole words, of _LONGEST seconds at most."""
    words: list[Spoken] = []
    for word in (*stream.words, None):
        if words and (word is None or word.end - words[0].start > _LONGEST * RATE):
            start, end = words[0].start, words[-1].end
            moved = tuple(replace(w, start=w.start - start, end=w.end - start) for w in words)
            yield replace(stream, samples=stream.samples[start:end], words=moved)
            words = []
        if word is not None:
            words.append(word)


def taken(streams: Sequence[Stream], whisper: Whisper) -> list[Taken]:
    """A row for each of SIXTHS of English `streams`."""
    terms = listed(streams, _EACH)
    finder = Finder(Lexicon.of(terms, b"bench"), (), ("en",))
    said = [one for stream in streams for one in utterances(stream)]
    every = sum(word.text in terms for one in said for word in one.words)
    found = []
    for sixths in SIXTHS:
        total, hits = Errors(0, 0, 0, 0), 0
        for one in said:
            heard = whisper.hear(one.samples[: len(one.samples) * sixths // 6])
            total += errors(" ".join(word.text for word in one.words), " ".join(word.text for word in heard))
            in_time = [(heard[f.first].start, heard[f.last - 1].end) for f in finder.find(heard)]
            hits += sum(_found(word, in_time) for word in one.words if word.text in terms)
        found.append(Taken(sixths, total.cer, hits / every if every else float("nan")))
    return found


@dataclass(frozen=True)
class Read:
    """The same of the streaming recogniser, which reads phones."""

    sixths: int
    per: float  # phones of what is read against all that are said
    recall: float  # of listed words, by its detector


def read(streams: Sequence[Stream]) -> list[Read]:
    """A row for each of SIXTHS of English `streams`, by the recogniser that comes with velavox."""
    terms = listed(streams, _EACH)
    detector = StreamDetector(Finder(Lexicon.of(terms, b"bench"), (), ("en",)))
    recogniser, reader = Recogniser(), Reader()
    said = [one for stream in streams for one in utterances(stream)]
    every = sum(word.text in terms for one in said for word in one.words)
    found = []
    for sixths in SIXTHS:
        wrong = total = hits = 0
        for one in said:
            samples = one.samples[: len(one.samples) * sixths // 6]
            recogniser.reset()
            reader.read(recogniser.push(np.concatenate((samples, np.zeros(SAID, np.float32)))))
            phones = [phone for word in one.words for phone in next(iter(of_word(word.text)), ())]
            wrong, total = wrong + edits(phones, reader.end().phones), total + len(phones)
            in_time = [(hit.start, hit.end) for look in watched(detector, samples) for hit in look.hits]
            hits += sum(_found(word, in_time) for word in one.words if word.text in terms)
        found.append(Read(sixths, wrong / total, hits / every if every else float("nan")))
    return found


def _found(word: Spoken, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < word.end and end > word.start for start, end in spans)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.content.truncated", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("manifest", type=Path, help="CSV of English speech with transcripts and a split of the name dev")
    parser.add_argument("--seconds", type=float, default=50.0, metavar="S", help="of each speaker [%(default)s]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    streams = english(arguments.manifest, arguments.seconds)
    rows = taken(streams, Whisper())
    print("Whisper\nheard   CER  recall")
    for row in rows:
        print(f"  {row.sixths}/6 {row.cer:5.2f} {row.recall:7.2f}")
    own = read(streams)
    print("\nstreaming recogniser\nheard   PER  recall")
    for one in own:
        print(f"  {one.sixths}/6 {one.per:5.2f} {one.recall:7.2f}")
    if arguments.json:
        told = {"whisper": [asdict(row) for row in rows], "stream": [asdict(one) for one in own]}
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
