"""The user's list of words to hide: read, checked as a whole, and kept so that nothing prints it.

A line is `word | class | substitute | match=HOW`, all but the word optional; `docs/content-words.md` describes it.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .entry import CLASSES, MATCHES, Entry, RefusedError, entry_of
from .match import Matcher
from .names import listed
from .normalize import surface
from .ordinary import ordinary, ordinary_sound, ordinary_syllables

MOST = 10_000  # entries
_SHOWN = 10  # problems that an error lists
_INVISIBLE = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Note:
    """What is wrong with a line, or worth knowing, without the word."""

    line: int  # 0: the list as a whole
    reason: str

    def __str__(self) -> str:
        return f"line {self.line} {self.reason}" if self.line else f"the list {self.reason}"


class LexiconError(ValueError):
    """A list that cannot be used: every line that is at fault, and why; never the word."""

    def __init__(self, problems: Sequence[Note]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - _SHOWN
        told = "; ".join(map(str, self.problems[:_SHOWN]))
        super().__init__(f"word list: {told}" + (f"; and {more} problems more" if more > 0 else ""))


class Lexicon:
    """Entries, and notes about them, of one list. The salt of the entries' ids is drawn anew unless it is given."""

    def __init__(self, entries: Sequence[Entry], notes: Sequence[Note] = ()) -> None:
        self.entries = tuple(entries)
        self.notes = tuple(notes)
        self._by_term = {entry.term: entry for entry in entries}

    @classmethod
    def read(cls, path: Path | str, salt: bytes | None = None) -> Self:
        """The list in a UTF-8 file. LexiconError for a bad list, Unusable without the extra, OSError for no file."""
        data = Path(path).read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise LexiconError([Note(line, "is not UTF-8; save the list as UTF-8")]) from None
        return cls.of(text.split("\n"), salt)

    @classmethod
    def of(cls, lines: Iterable[str], salt: bytes | None = None) -> Self:
        """The list whose lines these are. LexiconError for a bad one."""
        salt = secrets.token_bytes(16) if salt is None else salt
        entries: list[Entry] = []
        problems: list[Note] = []
        seen: dict[tuple[str, ...], int] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if len(entries) == MOST:
                raise LexiconError([Note(number, f"is one more than {MOST:,} entries; give fewer")])
            try:
                entry = _entry(number, line.strip(), salt)
                if entry.words in seen:
                    raise RefusedError(f"is the same as line {seen[entry.words]}; leave one out")
            except RefusedError as error:
                problems.append(Note(number, str(error)))
                continue
            seen[entry.words] = number
            entries.append(entry)
        if not entries and not problems:
            problems.append(Note(0, "is empty; give a word a line"))
        problems += _bad_substitutes(entries)
        if problems:
            raise LexiconError(sorted(problems, key=lambda problem: problem.line))
        return cls(entries, [note for entry in entries for note in _notes(entry)])

    def entry(self, term: str) -> Entry | None:
        """The entry of a salted id."""
        return self._by_term.get(term)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Lexicon({len(self)} entries)"


def _entry(number: int, line: str, salt: bytes) -> Entry:
    if any(unicodedata.category(letter) in _INVISIBLE for letter in line.replace("\t", " ")):
        raise RefusedError("holds a control or invisible character; write the line anew")
    text, *fields = (part.strip() for part in line.split("|"))
    kind, substitute, match = _fields(fields)
    return entry_of(text, kind, match, substitute, line=number, salt=salt)


def _fields(fields: Sequence[str]) -> tuple[str, str, str]:
    """Class, substitute, and how to match: "" where it is not said."""
    match = ""
    plain = []
    for part in fields:
        name, equals, value = part.partition("=")
        if equals and name.strip() == "match":
            match = value.strip()
            if match not in MATCHES:
                raise RefusedError(f"is to match in no known way; give match={', '.join(MATCHES[:-1])} or {MATCHES[-1]}")
        else:
            plain.append(part)
    if len(plain) > 2:
        raise RefusedError("has too many fields; give word | class | substitute | match=HOW")
    kind = (plain[0] if plain else "") or "word"
    if kind not in CLASSES:
        raise RefusedError(f"is of no known class; give one of {', '.join(CLASSES)}")
    return kind, plain[1] if len(plain) > 1 else "", match


def _bad_substitutes(entries: Sequence[Entry]) -> Iterator[Note]:
    with_one = [entry for entry in entries if entry.substitute]
    if with_one:
        matcher = Matcher(entries)
        for entry in with_one:
            if matcher.find(surface([entry.substitute])):
                yield Note(entry.line, "has a substitute that is listed itself, or sounds like it; give another")


def _notes(entry: Entry) -> Iterator[Note]:
    if entry.short:
        handled = "ordinary words that sound the same are left alone, unless match=phonetic is given" if entry.careful else ""
        yield Note(entry.line, f"is short, so that it is missed more often{handled and '; '}{handled}")
    if _ordinary(entry):
        yield Note(entry.line, "is, or sounds like, one of the commonest words: much that is harmless will be hidden")
    if entry.guessed and entry.match != "exact":
        yield Note(entry.line, "is in no dictionary: its sound is guessed by its letters")


def _ordinary(entry: Entry) -> bool:
    """A well-known name (Boston) is common, but what it hides is what was listed."""
    own = entry.words[0] if len(entry.words) == 1 and listed([entry.text]) else ""
    if entry.match == "exact" or entry.careful:
        return len(entry.words) == 1 and not own and ordinary(entry.words[0])
    return any(ordinary_sound(phones, own) for phones in entry.phones) or ordinary_syllables(entry.syllables)
