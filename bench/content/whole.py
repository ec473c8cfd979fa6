"""The benches of this folder one after another, each figure beside what was aimed at: behind `velavox content bench`.

Aims are those of the design, of which some are the source's (Niu et al., 2024). A figure is no verdict: beside it stands of how
much it is, and on the bundled clips that is very little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...engine.content.detectors import detectors
from ...engine.content.speech import speaker
from ...engine.content.whisper import Whisper
from ...engine.progress import counted
from ..timing import interleave
from . import line as masking
from . import recall, resynthesis, soak, text, truncated
from .material import Stream, english, mandarin
from .scores import AUDIBLE, Result

_CLIPS = Path(__file__).parents[1] / "clips" / "manifest.csv"
_WORDS = ("required", "promise", "assume", "regal", "title", "together")  # of the clips; all but one are no rare ones
_SENTENCE = 12.5  # words of the bench of text
_RATE = 48_000
_BLOCKS = 2000


@dataclass(frozen=True)
class Figure:
    """One figure."""

    part: str  # of PARTS
    what: str
    value: float  # NaN where there was nothing to count
    wanted: str = ""  # as in "<= 0.03"; "" where nothing was aimed at
    of: str = ""  # of how much it is, as in "65 words"


@dataclass(frozen=True)
class Speech:
    """What is measured on: English of a manifest, else the bundled clips, three utterances; Mandarin is synthesized."""

    manifest: Path | None = None
    seconds: float = 50.0  # of each speaker
    mandarin_seconds: float = 66.0  # in all; 0: none
    voices: Path | None = None
    minutes: float = 10.0  # of the long run
    source: str = ""  # how the names of the manifest's sources begin that are taken

    @cached_property
    def clear(self) -> list[Stream]:
        if self.manifest is not None:
            return english(self.manifest, self.seconds, corpus=self.source)
        return english(_CLIPS, self.seconds, ["1737", "27", "5789"])

    @property
    def words(self) -> Sequence[str]:
        """English ones that are listed; () for rare ones, drawn."""
        return _WORDS if self.manifest is None else ()

    @cached_property
    def spoken(self) -> list[Stream]:
        return mandarin(self.mandarin_seconds, voice_folder=self.voices) if self.mandarin_seconds > 0 else []

    @cached_property
    def whisper(self) -> Whisper:
        return Whisper()


@dataclass(frozen=True)
class Aim:
    """What a row of `recall` was to reach."""

    recall: float
    strict: bool = False
    rtc: float | None = None


AIMS = {
    ("English", recall.ROWS[0]): Aim(0.95, rtc=0.45),
    ("English", recall.ROWS[4]): Aim(0.92, rtc=0.45),
    ("English", recall.ROWS[5]): Aim(0.975, True),
    ("babble", recall.ROWS[0]): Aim(0.80),
    ("babble", recall.ROWS[5]): Aim(0.93, True),
    ("Mandarin", recall.MANDARIN_ROWS[0]): Aim(0.85),
}
_RESIDUAL, _OVER, _FALSE = 0.03, 0.9, 6.0
_ALONE: dict[tuple[str, ...], float] = {("phones",): 0.16, ("stream",): 0.028}  # cores


def _recall(speech: Speech) -> Iterator[Figure]:
    for condition in recall.conditions(speech.clear, speech.spoken):
        bench = recall.Bench(condition.streams, speech.whisper, speech.words if condition.streams[0].language == "en" else ())
        for row in condition.rows:
            found, again = bench.run(row)
            yield from of_row(condition.title, row, found, again)


def of_row(title: str, row: recall.Row, found: Result, again: float) -> Iterator[Figure]:
    aim = AIMS.get((title.partition(" ")[0], row))
    named, of = f"{title}, {row.name}, {row.delay:g} s", counted(found.words, "word")

    def figure(what: str, value: float, wanted: str = "") -> Figure:
        return Figure("recall", f"{named}: {what}", value, wanted, of)

    yield figure("listed words hidden", found.recall, f">= {aim.recall:g}" if aim else "")
    yield figure("read again in what leaves", again)
    yield figure(f"of the hidden, over {1e3 * AUDIBLE:.0f} ms heard", found.residual, f"<= {_RESIDUAL:g}")
    yield figure("hidden beside a word, s, 95 of 100", found.over_p95, f"<= {_OVER:g}")
    yield figure("false ones an hour and word", found.false, f"<= {_FALSE:g}")
    yield figure("other words hidden", found.ordinary)
    yield figure("found after s, half", found.known_p50)
    yield figure("found after s, 95 of 100", found.known_p95)
    rtc = sum(found.rtc.values())
    alone = _ALONE.get(row.detectors)
    wanted = alone or (aim.rtc if aim else None)
    yield figure("cores", rtc, f"<= {wanted:g}" if wanted else "")


def _lengths(speech: Speech) -> Iterator[Figure]:
    for condition in recall.conditions(speech.clear, speech.spoken):
        for title, heard in recall.by_length(condition, speech.whisper):
            of = counted(heard.words, "word")
            yield Figure("lengths", f"{title}, {heard.length}: listed words hidden", heard.recall, "", of)
            yield Figure("lengths", f"{title}, {heard.length}: false ones an hour and word", heard.false, "", of)


def _line(speech: Speech) -> Iterator[Figure]:
    timings = interleave(masking.cases(_RATE), seconds=0.01, blocks=_BLOCKS)
    mask = max((t for name, t in timings.items() if name.startswith("mask path")), key=lambda t: t.mean_us)
    of = f"{_BLOCKS} blocks at {_RATE / 1e3:g} kHz"
    yield Figure("line", "mask path, us for 10 ms", mask.mean_us, "<= 20", of)
    yield Figure("line", "mask path, cores", mask.rtc, "<= 0.001", of)
    yield Figure("line", "raw voice to detectors, us for 10 ms", timings["raw voice to 16 kHz"].mean_us, "", of)


def _text(speech: Speech) -> Iterator[Figure]:
    for took in text.took():
        if took.words == max(text.LENGTHS):
            named = f"{took.language}, {took.mode}"
            of = f"{took.words} words"
            yield Figure("text", f"{named}: ms a sentence", took.ms * _SENTENCE / took.words, "<= 10", of)
            yield Figure("text", f"{named}: s", took.ms / 1e3, f"<= {text.SOURCE_S[took.mode]:g}", of)
    for kept in text.kept():
        wanted = "0.2 to 0.4" if kept.mode == "similar" else ""
        yield Figure("text", f"{kept.language}, {kept.mode}: Jaccard index of what is replaced", kept.replaced, wanted)
        yield Figure("text", f"{kept.language}, {kept.mode}: Jaccard index of all words", kept.words)


def _resynthesis(speech: Speech) -> Iterator[Figure]:
    for name in ("hibari", "espeak", "kokoro"):
        who = speaker(name, speech.voices if name == "kokoro" else None)
        for streams in (speech.clear, speech.spoken if name == "kokoro" else []):
            if streams:
                found = resynthesis.resynthesis(who, streams, speech.whisper)
                named, of = f"{found.speaker}, {found.language}", f"{found.seconds:.0f} s"
                again = found.again / found.found if found.found else float("nan")
                yield Figure("resynthesis", f"{named}: listed words read again", again, "<= 0", counted(found.found, "word"))
                yield Figure("resynthesis", f"{named}: word error rate of the rest", found.wer, "", of)
                yield Figure("resynthesis", f"{named}: cores", found.rtc, "", of)


def _truncated(speech: Speech) -> Iterator[Figure]:
    for taken in truncated.taken(speech.clear, speech.whisper):
        yield Figure("truncated", f"asr, {taken.sixths}/6 heard: character error rate", taken.cer)
        yield Figure("truncated", f"asr, {taken.sixths}/6 heard: listed words known", taken.recall)
    for read in truncated.read(speech.clear):
        yield Figure("truncated", f"stream, {read.sixths}/6 heard: phone error rate", read.per)
        yield Figure("truncated", f"stream, {read.sixths}/6 heard: listed words known", read.recall)


def _soak(speech: Speech) -> Iterator[Figure]:
    found = soak.soak(speech.minutes, detectors(soak.listed()))
    of = f"{found.seconds:.0f} s"
    for n, share in enumerate(found.found, 1):
        yield Figure("soak", f"listed words hidden, third {n}", share, "", counted(found.said, "word"))
    yield Figure("soak", "stretches hidden elsewhere", found.elsewhere, "", of)
    yield Figure("soak", "s hidden, not passed by a detector", found.unjudged_s, "<= 0", of)
    yield Figure("soak", "samples that the delay is off at the end", abs(found.shift), "<= 1", of)
    yield Figure("soak", "kB of memory more", found.growth_kb, "", of)
    for name, costs in found.look_s.items():
        yield Figure("soak", f"{name}: CPU s of a look, last third by first", costs[-1] / costs[0], "", of)
        yield Figure("soak", f"{name}: CPU s of the slowest look", found.slowest_s[name], "", of)


PARTS: dict[str, Callable[[Speech], Iterator[Figure]]] = {
    "recall": _recall,
    "lengths": _lengths,
    "line": _line,
    "text": _text,
    "resynthesis": _resynthesis,
    "truncated": _truncated,
    "soak": _soak,
}

HEAD = f"{'':72} {'wanted':>10} {'measured':>10}  of"


def row(figure: Figure) -> str:
    """A line of the table."""
    return f"{figure.what:72} {figure.wanted:>10} {figure.value:10.4g}  {figure.of}".rstrip()
