"""What is left of listed words, and of the rest, when speech is spoken anew; and whether substitutes fit where words were.

python -m velavox.bench.content.resynthesis SPEECH/manifest.csv [--seconds S] [--voices FOLDER] [--json FILE]

"again": of the listed words that Whisper finds in the recording, those that it finds in what is spoken. WER: what Whisper
reads in what is spoken, against what was said without the listed words; twice through a recogniser. RTC: CPU time, one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ...engine.content.desensitise import Desensitiser
from ...engine.content.lexicon import Lexicon
from ...engine.content.plain import plain
from ...engine.content.pool_en import FIRST_NAMES, ORGANISATIONS, PLACES
from ...engine.content.resynthesize import Resynthesizer, found_again, pieces
from ...engine.content.spans import PAD
from ...engine.content.speech import RATE, Speaker, speaker
from ...engine.content.substitutes import FASTEST, trimmed
from ...engine.content.whisper import Whisper
from ...kernels.jit import F32
from ..recognition import Errors, errors
from .material import Stream, english, listed, mandarin

_EACH = 20  # listed words of a stream, at most
_POOL = 20  # substitutes of each class
_SALT = b"bench"


@dataclass(frozen=True)
class Result:
    """Of one speaker on some streams."""

    speaker: str
    language: str
    seconds: float
    found: int  # listed words that the recogniser finds in the recording
    again: int  # and in what is spoken
    phrases: int
    withheld: int
    wer: float  # NaN for Mandarin, of which listed words alone are known
    rtc: float  # of all of it, for a second of the recording
    spoken: float  # CPU time of speaking alone, for a second of what is spoken


class _Timed:
    """A speaker with a clock."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker, self.name, self.languages = speaker, speaker.name, speaker.languages
        self.sounds = speaker.sounds
        self.spent = self.seconds = 0.0

    def speak(self, text: str) -> F32:
        began = time.process_time()
        sound = self._speaker.speak(text)
        self.spent += time.process_time() - began
        self.seconds += len(sound) / RATE
        return sound


def resynthesis(who: Speaker, streams: Sequence[Stream], whisper: Whisper) -> Result:
    """Streams of one language; listed words are left out, and so are they in what is compared."""
    language = streams[0].language
    terms = listed(streams, _EACH)
    lexicon = Lexicon.of(terms, _SALT)
    timed = _Timed(who)
    clean = Desensitiser("mask", lexicon=lexicon, categories=(), language=language)
    make = Resynthesizer(timed, clean, lexicon, (language,), whisper)
    found = again = phrases = withheld = 0
    wrong, spent, seconds = Errors(0, 0, 0, 0), 0.0, 0.0
    for stream in streams:
        began = time.process_time()
        made = make(stream.samples)
        spent += time.process_time() - began
        seconds += len(stream.samples) / RATE
        phrases, withheld = phrases + made.phrases, withheld + made.withheld
        found += found_again(stream.samples, lexicon, (language,), whisper)
        again += found_again(made.sound, lexicon, (language,), whisper)
        if language == "en":
            said = " ".join(word.text for word in stream.words if word.text not in terms)
            wrong += errors(said, " ".join(_read(made.sound, whisper)))
    return Result(
        who.name, language, seconds, found, again, phrases, withheld, wrong.wer, spent / seconds, timed.spent / timed.seconds
    )


def fitting(who: Speaker, streams: Sequence[Stream]) -> dict[str, float]:
    """Of all pairs of a listed word's hole and a substitute of the pools, the share that fits, by class."""
    terms = set(listed(streams, _EACH))
    holes = np.array([w.end - w.start + 2 * PAD * RATE for stream in streams for w in stream.words if w.text in terms])
    found = {}
    for kind, pool in (("name", FIRST_NAMES), ("place", PLACES), ("organisation", ORGANISATIONS)):
        lengths = np.array([len(trimmed(who.speak(plain(word)))) for word in pool[:_POOL]])
        found[kind] = float(np.mean(lengths[:, np.newaxis] <= FASTEST * holes))
    return found


def _read(samples: F32, whisper: Whisper) -> Iterator[str]:
    for start, end in pieces(samples):
        yield whisper.text(samples[start:end])


def main() -> None:
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.content.resynthesis", description=about)
    parser.add_argument("manifest", type=Path, help="CSV of English speech with transcripts and a split of the name dev")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="of each English speaker [%(default)s]")
    parser.add_argument("--mandarin", type=float, default=60.0, metavar="S", help="in all; 0 for none [%(default)s]")
    parser.add_argument("--voices", type=Path, metavar="FOLDER", help="the voices/*.bin of kokoro-js")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    whisper = Whisper()
    read = english(arguments.manifest, arguments.seconds)
    told = []
    print(HEAD)
    for name in ("hibari", "espeak", "kokoro"):
        who = speaker(name, arguments.voices if name == "kokoro" else None)
        result, fit = resynthesis(who, read, whisper), fitting(who, read)
        print(line(result) + "  " + " ".join(f"{share:.2f}" for share in fit.values()), flush=True)
        told.append({**asdict(result), "fits": fit})
    if arguments.mandarin > 0:
        result = resynthesis(who, mandarin(arguments.mandarin, voice_folder=arguments.voices), whisper)
        print(line(result))
        told.append(asdict(result))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


HEAD = f"{'':12} language  seconds  found  again  phrases  withheld    WER    RTC  speaking  fits: name place organisation"


def line(r: Result) -> str:
    """A row of the table."""
    return (
        f"{r.speaker:12} {r.language:8} {r.seconds:8.1f} {r.found:6} {r.again:6} {r.phrases:8} {r.withheld:9}"
        f"  {r.wer:5.3f}  {r.rtc:5.3f}  {r.spoken:8.4f}"
    )


if __name__ == "__main__":
    main()
