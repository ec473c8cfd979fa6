"""The command that measures what is found and hidden, and what it costs: content bench."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .failure import Unusable
from .options import STDOUT, JsonSummary, check_json, fail, give_json, put, refuse, tell_of_compiling, told
from .progress import say


class PartName(StrEnum):
    recall = "recall"
    lengths = "lengths"
    line = "line"
    text = "text"
    resynthesis = "resynthesis"
    truncated = "truncated"
    soak = "soak"


def bench(
    speech: Annotated[
        Path | None,
        typer.Argument(
            help="Read English: a table with columns speaker, utterance, path, split (dev), transcript, or a folder with one "
            "named manifest.csv; else three bundled utterances.",
            metavar="SPEECH",
        ),
    ] = None,
    part: Annotated[
        list[PartName] | None,
        typer.Option(
            help="recall: what is hidden; lengths: of short and long words; line: what masking costs; text; resynthesis; "
            "truncated: what is known early; soak: minutes on end; again for more, else all."
        ),
    ] = None,
    source: Annotated[
        str, typer.Option(help="Take those rows of the table alone whose column source begins so.", metavar="NAME")
    ] = "",
    seconds: Annotated[float, typer.Option(min=1, help="Of each English speaker.", metavar="S")] = 50.0,
    mandarin: Annotated[float, typer.Option(min=0, help="Of Mandarin, synthesized, in all; 0: none.", metavar="S")] = 66.0,
    voices: Annotated[
        Path | None, typer.Option(help="voices/*.bin of `npm pack kokoro-js@1.2.1`; else five are there.", metavar="FOLDER")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.5, help="Of sound in the part soak.", metavar="M")] = 10.0,
    json: JsonSummary = None,
) -> None:
    """Measure how many listed words are hidden, what is hidden beside them, how soon, and what it costs on this machine.

    Each figure stands beside what was aimed at, and of how much it is. All parts take a quarter of an hour on 200 s of speech.
    A part whose packages are missing is left out, with a line that names them.

    \b
    Examples:
      velavox content bench --part line --part text
      velavox content bench speech --source librispeech --part recall --mandarin 0 --json figures.json
    """
    with told(ValueError, Unusable):
        manifest = speech / "manifest.csv" if speech is not None and speech.is_dir() else speech
        if manifest is not None and not manifest.is_file():
            refuse(f"{manifest}: there is no such file; give a table of speech, or a folder with one")
        check_json(json, [path for path in (manifest,) if path is not None])
        tell_of_compiling()
        from ..bench.content import whole

        measured = whole.Speech(manifest, seconds, mandarin, voices, minutes, source)
        figures, left_out = [], {}
        for name in part or list(PartName):
            if json != STDOUT:
                put(f"\n{name.value}\n{whole.HEAD}")
            try:
                for figure in whole.PARTS[name.value](measured):
                    figures.append(figure)
                    if json != STDOUT:
                        put(whole.row(figure))
            except FileNotFoundError as error:  # no speaker that could be measured
                fail(str(error))
            except Unusable as error:
                left_out[name.value] = str(error)
            if name.value in left_out:
                say(f"left out: {name.value}: {left_out[name.value]}")
        give_json(json, {"velavox": __version__, "figures": [asdict(one) for one in figures], "left_out": left_out})
        if part and left_out:
            fail(f"left out: {', '.join(left_out)}")
