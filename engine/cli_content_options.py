"""What the commands on speech share: what is to be found, and the detectors that find it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import fail, refuse
from .progress import say

if TYPE_CHECKING:
    from .content.detector import Detector
    from .content.find import Finder
    from .content.findings import Clips
    from .host import Engine

BOTH = "auto"
FILES = 10.0  # s of delay for which detectors are made where files wait: they then take all the time that they can use


class ActionName(StrEnum):
    silence = "silence"
    bleep = "bleep"
    tone = "tone"
    babble = "babble"
    substitute = "substitute"


class Tts(StrEnum):
    hq = "hq"
    fast = "fast"
    espeak = "espeak"


SPEAKER = {Tts.hq: "kokoro", Tts.fast: "hibari", Tts.espeak: "espeak"}


Words = Annotated[Path | None, typer.Option("--words", help="A word list: see `velavox content words check`.", metavar="LIST")]
Pii = Annotated[
    bool, typer.Option("--pii", help="Find names, places, organisations, numbers, dates and addresses of any kind, too.")
]
Categories = Annotated[
    list[str] | None, typer.Option("--category", help="Find this kind only, instead of --pii; again for more.", metavar="NAME")
]
Language = Annotated[
    str, typer.Option("--language", "--lang", help="What is spoken: en, zh, or auto for both.", metavar="LANG")
]
Detectors = Annotated[
    list[str] | None,
    typer.Option(
        "--detector",
        help="asr (a recogniser), stream or phones (listed words only); again for more, else asr and stream.",
        metavar="NAME",
    ),
]
Strict = Annotated[
    float,
    typer.Option(
        min=0, max=1, help="Also hide speech that is not recognised, and words less likely than this; 0: off.", metavar="P"
    ),
]
Act = Annotated[
    ActionName,
    typer.Option(
        help="What is heard instead; tone and babble are as loud as the voice, substitute is another word, or a bleep."
    ),
]
Substitutes = Annotated[
    Tts,
    typer.Option(
        "--tts",
        help="Who speaks substitutes. hq: Kokoro, English and Mandarin; fast: hibari, English; espeak: espeak-ng, English.",
    ),
]


def check_recording(file: Path) -> None:
    """Fail before models are loaded, which takes seconds, where there is nothing to hear."""
    if file.is_dir():
        fail(f"{file}: is a folder: give one recording")
    if not file.exists():
        fail(f"{file}: no such file: check the path")


def finder_of(words: Path | None, pii: bool, categories: Sequence[str] | None, language: str) -> Finder:
    """What is to be found. Wrong use ends the command; ValueError and Unusable for lists and categories that are none."""
    from .content.find import CATEGORIES, LANGUAGES, Finder
    from .content.lexicon import Lexicon

    if pii and categories:
        refuse("--pii finds every category, --category one: leave one out")
    if words is None and not pii and not categories:
        refuse("nothing to find: give --words LIST, --pii or --category NAME")
    if language not in (*LANGUAGES, BOTH):
        refuse(f"--language {language}: give one of {', '.join(LANGUAGES)}, {BOTH}")
    lexicon = None
    if words is not None:
        try:
            lexicon = Lexicon.read(words)
        except OSError as error:
            refuse(f"{words}: {error.strerror}; give a word list")
        for note in lexicon.notes:
            say(f"note: {words}: {note}")
    return Finder(lexicon, CATEGORIES if pii else categories or (), LANGUAGES if language == BOTH else (language,))


def detectors_of(finder: Finder, names: Sequence[str] | None, delay: float, strict: float) -> list[Detector]:
    """Detectors for a line of `delay` s."""
    from .content.detectors import DETECTORS, detectors

    return detectors(finder, names or DETECTORS, delay=delay, strict=strict)


def clips_of(finder: Finder, action: ActionName, tts: Tts) -> Callable[[Engine], Clips] | None:
    """For the action substitute: what makes the sounds, once there is an engine."""
    if action is not ActionName.substitute:
        return None
    lexicon = finder.lexicon
    if lexicon is None:
        refuse("--action substitute: the words come from a list; give --words LIST")
    from .content import substitutes
    from .content.speech import speaker

    voice = speaker(SPEAKER[tts])

    def clips(engine: Engine) -> Clips:
        return substitutes.Substitutes.of(lexicon, voice, engine)

    return clips
