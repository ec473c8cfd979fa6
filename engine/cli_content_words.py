"""The commands on word lists: words check."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .options import STDOUT, JsonSummary, check_json, give_json, put, refuse, told
from .progress import counted
from .usage import Commands, JsonCommand

if TYPE_CHECKING:
    from .content.lexicon import Lexicon

words = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode=None, help="Lists of the words that are to be hidden or replaced."
)


@words.callback()
def _words() -> None:  # so that check stays a word of the command line while it is the only one
    pass


@words.command(cls=JsonCommand, no_args_is_help=True)
def check(
    listed: Annotated[Path, typer.Argument(metavar="LIST", help="A text file (UTF-8), an entry a line.", show_default=False)],
    json: JsonSummary = None,
) -> None:
    """Say what is wrong with a list, or worth knowing, by line: no word is shown. Exit status 2 for a list that is refused.

    \b
    A line is  word | class | substitute | match=HOW  and only the word is needed; # begins a comment.
      class       word, name, place, organisation, number, date, address, email, card, id
      substitute  spoken or written in its place, where that is asked for
      HOW         exact: as it is written; phonetic (unless given): what sounds like it, too; inflect: its forms, too
    Examples:
      velavox content words check list.txt
      velavox content words check list.txt --json
    """
    with told(ValueError):
        from .content.lexicon import Lexicon

        check_json(json, [listed])
        try:
            lexicon = Lexicon.read(listed)
        except OSError as error:
            refuse(f"{listed}: {error.strerror}; give a word list")
        summary = _summary(lexicon)
        if json != STDOUT:
            put(_as_text(summary))
        give_json(json, {"velavox": __version__, **summary})


def _summary(lexicon: Lexicon) -> dict[str, Any]:
    entries = lexicon.entries
    return {
        "entries": len(entries),
        "classes": dict(sorted(Counter(entry.kind for entry in entries).items())),
        "matches": dict(sorted(Counter(entry.match for entry in entries).items())),
        "chinese": sum(entry.chinese for entry in entries),
        "short": sum(entry.short for entry in entries),
        "substitutes": sum(bool(entry.substitute) for entry in entries),
        "notes": [{"line": note.line, "reason": note.reason} for note in lexicon.notes],
    }


def _as_text(summary: dict[str, Any]) -> str:
    classes = ", ".join(f"{count} {kind}" for kind, count in summary["classes"].items())
    lines = [f"line {note['line']} {note['reason']}" for note in summary["notes"]]
    number = summary["entries"]
    return "\n".join([*lines, f"{number} {'entry' if number == 1 else 'entries'} ({classes}), {counted(len(lines), 'note')}"])
