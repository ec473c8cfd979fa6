"""Words as a recogniser hands them over, and what the content guard's text side needs to be tested."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from needs import lacking
from velavox.engine.content.word import Word


def words(text: str | Sequence[str], language: str = "en") -> list[Word]:
    """A word for each piece of `text` between spaces, a second long each."""
    pieces = text.split() if isinstance(text, str) else text
    return [Word(piece, 16_000 * n, 16_000 * (n + 1), language=language) for n, piece in enumerate(pieces)]


def need_text() -> None:
    """Skip where the packages of the text side are missing."""
    for package in ("pypinyin", "jieba", "opencc", "pocketsphinx", "hama"):
        if find_spec(package) is None:
            lacking(f"{package}: pip install 'velavox[content]'")
