"""The command that speaks a recording anew without its sensitive words: content resynthesize."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_content_options import BOTH, SPEAKER, Categories, Language, Pii, Tts, Words, check_recording, finder_of
from .cli_content_text import ModeName
from .failure import FileFailure, Unusable
from .options import check_result, fail, give_json, refuse, told
from .progress import Progress, counted, say

if TYPE_CHECKING:
    from ..kernels.jit import F32
    from .content.whisper import Whisper

_ENDINGS = (".wav", ".flac")


def resynthesize(
    file: Annotated[Path, typer.Argument(help="A recording.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="The speech, .wav or .flac, 16 kHz.", metavar="OUT")],
    words: Words = None,
    pii: Pii = False,
    category: Categories = None,
    mode: Annotated[
        ModeName, typer.Option(help="What is said instead: as in `velavox content text`; mask: nothing.")
    ] = ModeName.similar,
    language: Language = "en",
    tts: Annotated[
        Tts, typer.Option(help="hq: Kokoro, English and Mandarin; fast: hibari, English; espeak: espeak-ng, English.")
    ] = Tts.hq,
    voices: Annotated[
        Path | None, typer.Option(help="hq: voices/*.bin of `npm pack kokoro-js@1.2.1`; else five are there.", metavar="FOLDER")
    ] = None,
    voice: Annotated[str, typer.Option(help="hq: one of the voices, by name.", metavar="NAME")] = "",
    seed: Annotated[
        int | None, typer.Option(help="Makes replacements repeatable, and known to whoever knows it.", metavar="N")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write what was done, without the words.", metavar="FILE.json")] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Have the speech recognised before it is written; listed words are a failure."),
    ] = False,
) -> None:
    """Recognise a recording, replace what is sensitive, and speak that in a synthesizer's voice.

    Listed words cannot be heard, nor what sounds like them: text that holds one is not spoken. Nothing is left of the voice,
    nor of how it was said; what is misrecognised is spoken as it was understood. Names and numbers are found as far as they
    were recognised as such.

    \b
    Examples:
      velavox content resynthesize call.wav --out clean.wav --words list.txt --pii
      velavox content resynthesize call.wav --out clean.wav --words list.txt --tts fast --verify
    """
    with told(ValueError, Unusable):
        check_recording(file)
        if out.suffix.lower() not in _ENDINGS:
            refuse(f"--out {out}: give a name that ends in {' or '.join(_ENDINGS)}")
        if verify and words is None:
            refuse("--verify looks for the words of a list: give --words LIST")
        check_result("--out", out, [file, *([words] if words else [])])
        if report is not None:
            check_result("--report", report, [path for path in (file, out, words) if path is not None], ".json")
        finder = finder_of(words, pii, category, language)
        from .content.desensitise import Desensitiser
        from .content.resynthesize import Resynthesizer, found_again
        from .content.speech import RATE, speaker

        who = speaker(SPEAKER[tts], voices, voice)
        searched = BOTH if len(finder.languages) > 1 else finder.languages[0]
        clean = Desensitiser(mode.value, lexicon=finder.lexicon, categories=finder.categories, language=searched, seed=seed)
        recogniser = _recogniser()
        make = Resynthesizer(who, clean, finder.lexicon, finder.languages, recogniser)
        samples = _heard(file)
        with Progress() as shown:
            made = make(samples, shown.progress)
        again = found_again(made.sound, finder.lexicon, finder.languages, recogniser) if verify and finder.lexicon else None
        if not again:
            _write(out, made.sound)
        if report is not None:
            asked = {"mode": mode.value, "tts": tts.value, "language": language, "categories": list(finder.categories)}
            seconds = {"in": round(len(samples) / RATE, 3), "out": round(len(made.sound) / RATE, 3)}
            give_json(str(report), {**made.as_json(), "found_again": again, "seconds": seconds, "asked": asked})
        if again:
            fail(f"--verify: {counted(again, 'listed word')} recognised in the speech; nothing was written")
        say(made.line)


def _heard(path: Path) -> F32:
    from .heard import hear

    try:
        return hear(path).samples
    except FileFailure as failure:
        fail(f"{path}: {failure}")


def _recogniser() -> Whisper:
    from .content.whisper import Whisper

    try:
        return Whisper()
    except ModuleNotFoundError as error:
        fail(str(error))


def _write(path: Path, sound: F32) -> None:
    import soundfile

    from .atomic import atomically
    from .content.speech import RATE

    with atomically(path) as part:
        soundfile.write(part, sound, RATE, subtype="PCM_16")
