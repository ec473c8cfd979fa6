"""The command that makes a parallel set: audit parallel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from .options import check_number, fail, put, told
from .progress import Progress


def parallel(
    out: Annotated[Path, typer.Option(help="Folder for recordings and manifest.csv; another run goes on.", metavar="FOLDER")],
    voices: Annotated[Path, typer.Option(help="Kokoro's voices, *.bin, of `npm pack kokoro-js@1.2.1`.", metavar="FOLDER")],
    speakers: Annotated[int, typer.Option(help="Of each gender, accent and split.", metavar="N")] = 3,
    sentences: Annotated[int, typer.Option(help="That each of them says.", metavar="N")] = 6,
    seed: Annotated[int, typer.Option(help="Of the speakers.", metavar="N")] = 0,
) -> None:
    """Make synthetic speech for the strict forms: the same sentences by speakers of known gender and accent.

    \b
    Needs the extra `train` and espeak-ng, and a third of a second of one core for each second of speech. Example:
      velavox audit parallel --voices package/voices --out parallel
      velavox audit speech --original parallel --manifest parallel/manifest.csv --method mcadams --out audit
    """
    with told(ValueError):
        try:
            from ..bench.audit.parallel import SENTENCES, make
            from .content.kokoro import Kokoro, read_voices
        except ModuleNotFoundError as error:
            fail(f"making speech needs {error.name}: pip install 'velavox[train]'")
        check_number("--speakers", speakers, 1, 100)
        check_number("--sentences", sentences, 2, len(SENTENCES))
        if shutil.which("espeak-ng") is None:
            fail("espeak-ng is not on the PATH: install it, it gives the phones of the sentences")
        try:
            known = read_voices(voices)
            synthesizer = Kokoro()
        except ModuleNotFoundError as error:
            fail(f"making speech needs {error.name}: pip install 'velavox[train]'")
        with Progress() as bar:
            table = make(out, known, synthesizer, speakers, sentences, seed, bar.progress)
        put(f"{table}: synthetic speech; give it to `velavox audit speech --manifest`")
