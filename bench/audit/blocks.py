"""What a report is made of, before it is Markdown or a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .svg import Plot


@dataclass(frozen=True)
class Cell:
    """Of a table: lines, and one in small print."""

    text: str
    small: str = ""


@dataclass(frozen=True)
class Table:
    """The first cell of a row names it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    notes: Sequence[str] = ()  # below it


@dataclass(frozen=True)
class Picture:
    title: str
    plot: Plot
    about: str  # what it shows, for who cannot see it too


@dataclass(frozen=True)
class Pictures:
    """Side by side, where there is room."""

    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Items:
    texts: Sequence[str]


@dataclass(frozen=True)
class Warnings:
    """What has to be seen before any figure."""

    texts: Sequence[str]


Block = str | Table | Pictures | Items | Warnings  # a text is a paragraph


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]
    inner: Sequence[Section] = field(default=())
    folded: bool = False  # for who asks


@dataclass(frozen=True)
class Document:
    title: str
    lead: str
    sections: Sequence[Section]


def cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
