"""A report as Markdown (GitHub's), without its plots, which the page has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .blocks import Block, Cell, Document, Items, Pictures, Section, Table, Warnings, cell


def text(document: Document) -> str:
    lines = [f"# {_plain(document.title)}", "", _plain(document.lead), ""]
    for section in document.sections:
        lines += _section(section, 2)
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_plain(section.title)}"
    yield ""
    for block in section.blocks:
        yield from _block(block)
        yield ""
    for inner in section.inner:
        yield from _section(inner, level + 1)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, str):
        yield _plain(block)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Pictures):
        yield from (f"- Plot on the page: {_plain(picture.title)}. {_plain(picture.about)}" for picture in block.pictures)
    elif isinstance(block, Warnings):
        yield from (f"> **{_plain(warning)}**\n>" for warning in block.texts)
    elif isinstance(block, Items):
        yield from (f"- {_plain(item)}" for item in block.texts)


def _table(table: Table) -> Iterator[str]:
    yield f"**{_plain(table.title)}**"
    yield ""
    yield _row(table.head)
    yield _row(["---"] * len(table.head))
    yield from (_row(row) for row in table.rows)
    yield ""
    yield from (f"- {_plain(note)}" for note in table.notes)


def _row(row: Sequence[str | Cell]) -> str:
    return f"| {' | '.join(_cell(cell(each)) for each in row)} |"


def _cell(value: Cell) -> str:
    small = f"<br><sub>{_plain(value.small)}</sub>" if value.small else ""
    return _plain(value.text) + small


def _plain(words: str) -> str:
    """One line, with nothing in it that Markdown or HTML would take for its own."""
    words = " ".join(words.split())
    return re.sub(r"([\\`*_|#<>\[\]~])", r"\\\1", words)
