"""How many listed words are heard in what leaves the line, and what hiding them costs.

python -m velavox.bench.content.recall SPEECH/manifest.csv [--seconds S] [--voices FOLDER] [--detectors A+B ...] [--json FILE]

Whether a word is heard is told by when it is said (`material`) and by what is hidden then (`passing`); and by Whisper, which
reads what leaves, silent where it is hidden. Each row has its own detectors; RTC is their CPU time on one thread. A last
table has listed words of every length, the short ones too, which the others leave out (`lengths`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.content.detectors import DELAY, DETECTORS, FAST, detectors
from ...engine.content.find import Finder
from ...engine.content.lexicon import Lexicon
from ...engine.content.whisper import Whisper
from ...engine.content.word import Word
from ...kernels.jit import F32
from . import lengths
from .material import RATE, Stream, english, in_babble, listed, mandarin
from .passing import TICK, Looked, Mask, watched
from .scores import Result, Tally

STRICT = 0.5  # .7 hides 8 to 11 of 100 other words more, and finds no more than one of 69 in babble
_BABBLE = 10.0  # dB
_READ = 15 * RATE  # samples that Whisper reads at once
_EACH = 20  # listed words of a stream, at most
_SALT = b"bench"
_DELAY = {"en": DELAY, "zh": 2.5}  # seconds; words of Mandarin are longer: a university's name is one

Looks = Mapping[str, Sequence[Looked]]


@dataclass(frozen=True)
class Row:
    """A condition: whose looks, in a line of how many seconds."""

    name: str
    detectors: tuple[str, ...]
    delay: float
    strict: bool = False


_USUAL = " + ".join(DETECTORS)
_SLOW = _DELAY["zh"]
ROWS = (
    Row(_USUAL, DETECTORS, DELAY),
    Row("asr", ("asr",), DELAY),
    Row("stream", ("stream",), DELAY),
    Row("phones", ("phones",), DELAY),
    Row(_USUAL, DETECTORS, FAST),
    Row(f"strict {STRICT}", DETECTORS, DELAY, True),
)
BABBLE_ROWS = (ROWS[0], ROWS[5])
MANDARIN_ROWS = (Row(_USUAL, DETECTORS, _SLOW), Row("asr", ("asr",), _SLOW), Row(f"strict {STRICT}", DETECTORS, _SLOW, True))


@dataclass(frozen=True)
class Condition:
    """Streams of one language, and the rows that are measured on them."""

    title: str
    streams: Sequence[Stream]
    rows: Sequence[Row]


def conditions(clear: Sequence[Stream], spoken: Sequence[Stream], names: Sequence[tuple[str, ...]] = ()) -> Iterator[Condition]:
    """English as it is and, where there are others to babble, in babble; Mandarin.

    names: detectors of rows to measure instead of those of README.md.
    """

    def rows(usual: Sequence[Row], language: str) -> Sequence[Row]:
        return [Row(" + ".join(row), row, _DELAY[language]) for row in names] or usual

    if clear:
        yield Condition("English", clear, rows(ROWS, "en"))
    if len(clear) > 1:
        yield Condition(f"babble {_BABBLE:.0f} dB", in_babble(clear, _BABBLE), rows(BABBLE_ROWS, "en"))
    if spoken:
        yield Condition("Mandarin", spoken, rows(MANDARIN_ROWS, "zh"))


class Bench:
    """What all conditions of some streams share. words: those that are listed, else as `listed` draws them."""

    def __init__(self, streams: Sequence[Stream], whisper: Whisper, words: Sequence[str] = ()) -> None:
        words = words or listed(streams, _EACH)
        self.streams, self._whisper, self._terms = streams, whisper, frozenset(words)
        self._finder = Finder(Lexicon.of(words, _SALT), (), (streams[0].language,))
        self._looks: dict[tuple[str, float], list[list[Looked]]] = {}
        self._read: float | None = None

    def run(self, row: Row) -> tuple[Result, float]:
        """The figures, and of the listed words that Whisper reads in what is said the share that it reads in what leaves."""
        tally = Tally(self._terms)
        again = 0
        for stream, looks in zip(self.streams, self.looks(row), strict=True):
            mask = tally.add(stream, looks, row.delay, row.strict)
            again += self._listed_in(silenced(stream.samples, mask), stream.language)
        if self._read is None:
            self._read = sum(self._listed_in(stream.samples, stream.language) for stream in self.streams)
        return tally.result(), again / self._read if self._read else float("nan")

    def by_length(self, row: Row) -> list[lengths.Heard]:
        """Recall and false alarms of `row`, for short and for long words apart."""
        assert self._finder.lexicon is not None
        return lengths.heard(self.streams, self.looks(row), row.delay, self._finder.lexicon)

    def looks(self, row: Row) -> list[dict[str, list[Looked]]]:
        """Each stream's looks of each detector of `row`."""
        return [{name: self._looked(name, row.delay)[n] for name in row.detectors} for n in range(len(self.streams))]

    def _looked(self, name: str, delay: float) -> list[list[Looked]]:
        """Each stream's looks of a detector made for a line of `delay` s; made once."""
        if (name, delay) not in self._looks:
            (detector,) = detectors(self._finder, (name,), delay=delay, strict=STRICT, whisper=self._whisper)
            self._looks[name, delay] = [watched(detector, stream.samples) for stream in self.streams]
        return self._looks[name, delay]

    def _listed_in(self, samples: F32, language: str) -> int:
        count = 0
        for start in range(0, len(samples), _READ):
            text = self._whisper.text(samples[start : start + _READ], language)
            texts = text if language == "zh" else text.split()
            count += len(self._finder.find([Word(one, n, n + 1, 1.0, language) for n, one in enumerate(texts)]))
        return count


def silenced(samples: F32, mask: Mask) -> F32:
    """A stream whose hidden ticks are silent."""
    gain = np.repeat(~mask, TICK)[: len(samples)]
    return np.asarray(samples * gain, np.float32)


HEAD = (
    f"{'':34}    D  words recall  read  >50ms  over p50   p95  false/h/kw  ordinary  unjudged  known p50   p95  RTC\n"
    f"{'':34}    s                again                    s                                          s"
)


def line(title: str, row: Row, found: Result, again: float) -> str:
    """A row of the table."""
    name = f"{title}, {row.name}"
    times = f"{found.known_p50:10.2f} {found.known_p95:5.2f}"
    rtc = " ".join(f"{one} {value:.3f}" for one, value in found.rtc.items())
    costs = f"{found.false:11.1f} {found.ordinary:9.3f} {found.unjudged:9.3f}"
    return (
        f"{name:34} {row.delay:4.1f} {found.words:6} {found.recall:6.3f} {again:5.2f} {found.residual:6.3f}"
        f" {found.over_p50:9.2f} {found.over_p95:5.2f} {costs} {times}  {rtc}"
    )


def shown(condition: Condition, whisper: Whisper) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row as a line and as JSON."""
    bench = Bench(condition.streams, whisper)
    for row in condition.rows:
        found, again = bench.run(row)
        told = {"speech": condition.title, **asdict(row), **asdict(found), "read_again": again}
        yield line(condition.title, row, found, again), told


def by_length(condition: Condition, whisper: Whisper) -> Iterator[tuple[str, lengths.Heard]]:
    """The first row of `condition`, with listed words of every length: its title, and a row for each length."""
    words = lengths.drawn(condition.streams, _EACH)
    if not words:
        return
    bench = Bench(condition.streams, whisper, words)
    for heard in bench.by_length(condition.rows[0]):
        yield f"{condition.title}, {condition.rows[0].name}", heard


def main() -> None:
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.content.recall", description=about)
    parser.add_argument("manifest", type=Path, help="CSV of English speech with transcripts and a split of the name dev")
    parser.add_argument("--seconds", type=float, default=100.0, metavar="S", help="of each English speaker [%(default)s]")
    parser.add_argument(
        "--mandarin", type=float, default=100.0, metavar="S", help="of Mandarin in all; 0 for none [%(default)s]"
    )
    parser.add_argument("--speakers", nargs="*", default=[], metavar="NAME", help="[those on which nothing was tuned]")
    parser.add_argument("--voices", type=Path, metavar="FOLDER", help="the voices/*.bin of kokoro-js, for Mandarin")
    parser.add_argument("--detectors", nargs="*", default=[], metavar="A+B", help="a row for each [as in README.md]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    whisper = Whisper()
    clear = english(arguments.manifest, arguments.seconds, arguments.speakers) if arguments.seconds > 0 else []
    spoken = mandarin(arguments.mandarin, voice_folder=arguments.voices) if arguments.mandarin > 0 else []
    measured = list(conditions(clear, spoken, [tuple(row.split("+")) for row in arguments.detectors]))
    print(f"English: {', '.join(stream.name for stream in clear)}\n\n{HEAD}")
    told, of_lengths = [], []
    try:
        for condition in measured:
            for text, row in shown(condition, whisper):
                print(text, flush=True)
                told.append(row)
        print(f"\n{lengths.HEAD}")
        for condition in measured:
            for title, heard in by_length(condition, whisper):
                print(lengths.line(title, heard), flush=True)
                of_lengths.append({"speech": title, **asdict(heard)})
    except ValueError as error:  # a detector that has nothing to listen for in these words
        sys.exit(str(error))
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": told, "lengths": of_lengths}, indent=2) + "\n")


if __name__ == "__main__":
    main()
