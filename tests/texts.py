"""What the tests of text share: a word list; parts of an extra, loaded or the test skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from needs import lacking
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.failure import Unusable

T = TypeVar("T")

LINES = ("Emily | name | Jane", "Chicago | place", "falcon | word | eagle | match=inflect", "budget plan", "李明 | name")


def loaded(maker: Callable[..., T], *arguments: object) -> T:
    """What `maker` makes; the test is skipped where a package is missing."""
    try:
        return maker(*arguments)
    except Unusable as error:
        lacking(str(error))


def word_list() -> Lexicon:
    return loaded(Lexicon.of, LINES)
