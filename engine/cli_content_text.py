"""The command that takes sensitive words out of written text: content text."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .failure import Unusable
from .options import STDOUT, JsonSummary, check_json, fail, give_json, put, refuse, told
from .progress import say


class ModeName(StrEnum):
    similar = "similar"
    random = "random"
    mask = "mask"
    fixed = "fixed"


def text(
    given: Annotated[
        str | None,
        typer.Argument(help="The text; without it and --file, stdin. Who looks at the processes sees it.", metavar="TEXT"),
    ] = None,
    words: Annotated[Path | None, typer.Option(help="A word list: see `velavox content words check`.", metavar="LIST")] = None,
    file: Annotated[Path | None, typer.Option(help="A file of text, UTF-8.", metavar="FILE")] = None,
    mode: Annotated[
        ModeName,
        typer.Option(
            help="similar: a word like it; random: characters of equal length; mask: ***; fixed: the list's substitute, "
            "or the class in brackets."
        ),
    ] = ModeName.similar,
    n: Annotated[int, typer.Option("-n", "--alike", min=1, max=100, help="similar: draw from so many.", metavar="N")] = 20,
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="Look for this, again for more; without it for every category; none: the list alone.", metavar="NAME"
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="en, zh, or auto for both.", metavar="LANG")] = "auto",
    infer: Annotated[
        bool, typer.Option("--infer", help="Also replace what the sentence is about, harmless or not; English only.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="--infer: the least cosine of a word with its sentence; 0.6 by default.", metavar="T")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Makes replacements repeatable, and known to whoever knows it.", metavar="N")
    ] = None,
    json: JsonSummary = None,
) -> None:
    """Replace sensitive words in text: listed ones, names, places, organisations, numbers, dates, addresses.

    \b
    The text goes to stdout, how many of which kind to stderr or --json. Examples:
      velavox content text --words list.txt < notes.txt > clean.txt
      velavox content text --mode mask --category name --category number --file notes.txt
    """
    with told(ValueError, Unusable):
        if given is not None and file is not None:
            refuse("a text and --file: give one of them")
        if threshold is not None and not infer:
            refuse("--threshold is of --infer: give both, or neither")
        check_json(json, [path for path in (words, file) if path is not None])
        from .content.desensitise import Desensitiser
        from .content.find import CATEGORIES
        from .content.infer import THRESHOLD
        from .content.lexicon import Lexicon

        categories = CATEGORIES if not category else () if category == ["none"] else tuple(category)
        try:
            lexicon = None if words is None else Lexicon.read(words)
        except OSError as error:
            refuse(f"{words}: {error.strerror}; give a word list")
        t = THRESHOLD if threshold is None else threshold
        written = _input(given, file)  # before models are loaded
        done = Desensitiser(mode.value, n, t, lexicon, categories, language, infer, seed)(written)
        summary = {"velavox": __version__, "mode": mode.value, "language": language, "categories": list(categories)}
        if json == STDOUT:
            give_json(json, {**summary, "replaced": done.counts, "text": done.text})
            return
        give_json(json, {**summary, "replaced": done.counts})
        put(done.text.removesuffix("\n"))
        if json is None:
            say("replaced: " + (", ".join(f"{number} {kind}" for kind, number in done.counts.items()) or "nothing"))


def _input(given: str | None, file: Path | None) -> str:
    if given is not None:
        return given
    if file is None and sys.stdin.isatty():
        refuse("no text: give it as TEXT, as --file FILE or on stdin")
    try:
        data = sys.stdin.buffer.read() if file is None else file.read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        refuse(f"{file or 'stdin'}: line {line} is not UTF-8: give text as UTF-8")
    except OSError as error:
        fail(f"{file or 'stdin'}: {error.strerror}; give text")
