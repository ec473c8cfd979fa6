"""How many listed words are heard in what leaves the line, and what hiding them costs.

python -m velavox.bench.content.recall SPEECH/manifest.csv [--seconds S] [--voices FOLDER] [--json FILE]

Whether a word is heard is told by when it is said (`material`) and by what is hidden then (`passing`); and by Whisper, which
reads what leaves, silent where it is hidden. Each row has its own detectors; RTC is their CPU time on one thread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ...engine.content.detectors import detectors
from ...engine.content.find import Finder
from ...engine.content.lexicon import Lexicon
from ...engine.content.whisper import Whisper
from ...engine.content.word import Word
from ...kernels.jit import F32
from .material import RATE, Stream, english, in_babble, listed, mandarin
from .passing import TICK, Looked, Mask, watched
from .scores import Result, Tally

STRICT = 0.7
_BABBLE = 10.0  # dB
_READ = 15 * RATE  # samples that Whisper reads at once
_EACH = 20  # listed words of a stream, at most
_SALT = b"bench"

Looks = Mapping[str, Sequence[Looked]]


@dataclass(frozen=True)
class Row:
    """A condition: whose looks, in a line of how many seconds."""

    name: str
    detectors: tuple[str, ...]
    delay: float
    strict: bool = False


ROWS = (
    Row("asr + phones", ("asr", "phones"), 2.0),
    Row("asr", ("asr",), 2.0),
    Row("phones", ("phones",), 2.0),
    Row("asr + phones", ("asr", "phones"), 1.5),
    Row(f"strict {STRICT}", ("asr", "phones"), 2.0, True),
)
BABBLE_ROWS = (ROWS[0], ROWS[4])
MANDARIN_ROWS = (Row("asr", ("asr",), 2.5), Row(f"strict {STRICT}", ("asr",), 2.5, True))


class Bench:
    """What all conditions of some streams share."""

    def __init__(self, streams: Sequence[Stream], whisper: Whisper) -> None:
        words = listed(streams, _EACH)
        self.streams, self._whisper, self._terms = streams, whisper, frozenset(words)
        self._finder = Finder(Lexicon.of(words, _SALT), (), (streams[0].language,))
        self._looks: dict[tuple[str, float], list[list[Looked]]] = {}
        self._read: float | None = None

    def run(self, row: Row) -> tuple[Result, float]:
        """The figures, and of the listed words that Whisper reads in what is said the share that it reads in what leaves."""
        tally = Tally(self._terms)
        again = 0
        for n, stream in enumerate(self.streams):
            looks = {name: self._looked(name, row.delay)[n] for name in row.detectors}
            mask = tally.add(stream, looks, row.delay, row.strict)
            again += self._listed_in(silenced(stream.samples, mask), stream.language)
        if self._read is None:
            self._read = sum(self._listed_in(stream.samples, stream.language) for stream in self.streams)
        return tally.result(), again / self._read if self._read else float("nan")

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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    whisper = Whisper()
    clear = english(arguments.manifest, arguments.seconds, arguments.speakers)
    conditions = [("English", clear, ROWS), (f"babble {_BABBLE:.0f} dB", in_babble(clear, _BABBLE), BABBLE_ROWS)]
    if arguments.mandarin > 0:
        conditions.append(("Mandarin", mandarin(arguments.mandarin, voice_folder=arguments.voices), MANDARIN_ROWS))
    print(f"English: {', '.join(stream.name for stream in clear)}\n\n{HEAD}")
    told = []
    for title, streams, rows in conditions:
        bench = Bench(streams, whisper)
        for row in rows:
            found, again = bench.run(row)
            print(line(title, row, found, again), flush=True)
            told.append({"speech": title, **asdict(row), **asdict(found), "read_again": again})
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
