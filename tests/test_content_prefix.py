"""Readings of utterances: what sound likes best at first, what phonotactics like, too, in the end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from velavox.engine.content.phones import NUMBER, PHONES
from velavox.engine.content.prefix import WEIGHT, Reader
from velavox.kernels.jit import F32

UNITS = len(PHONES)


def sure(*phones: str, part: float = 1 - 1e-6, other: str = "") -> F32:
    """A row for each phone, "" the blank: so likely, and the rest `other` or any."""
    likely = np.full((len(phones), UNITS), 1e-6 / UNITS)
    for row, phone in zip(likely, phones, strict=True):
        row[NUMBER[phone] if phone else 0] = part
        if phone and other:
            row[NUMBER[other]] = 1 - part
    return np.asarray(np.log(likely / likely.sum(1, keepdims=True)), np.float32)


def test_a_reading_names_phones_with_their_rows() -> None:
    reader = Reader()
    reading = reader.read(sure("", "B", "B", "", "AA", "", "AA", "T"))
    assert reading.phones == ("B", "AA", "AA", "T")
    assert reading.rows == (1, 4, 6, 7)
    assert reader.read(sure("", "S")).rows[-1] == 9
    assert reader.end().phones == ("B", "AA", "AA", "T", "S")


def test_another_utterance_begins_at_the_end_of_one() -> None:
    reader = Reader()
    reader.read(sure("B", "AA"))
    reader.end()
    assert reader.read(sure("T")).phones == ("T",)
    reader.end()
    assert reader.end().phones == ()


def test_in_the_end_what_follows_more_often_wins_what_sound_leaves_open() -> None:
    """After S and T comes R, hardly ever NG, which the sound likes a little more."""
    reader = Reader()
    reading = reader.read(np.concatenate((sure("S", "", "T", ""), sure("NG", part=0.55, other="R"), sure("", "IY", "", "T"))))
    assert reading.phones == ("S", "T", "NG", "IY", "T")
    assert reader.end().phones == ("S", "T", "R", "IY", "T")


def test_sound_that_is_sure_wins() -> None:
    assert -math.log(1e-6) > WEIGHT * 12, "12 nats: more than the table knows of any phone"
    reader = Reader()
    reader.read(sure("S", "", "T", "", "NG", "", "IY", "T"))
    assert reader.end().phones == ("S", "T", "NG", "IY", "T")


def test_more_than_memory_holds_is_refused_and_nothing_read() -> None:
    reader = Reader()
    reader.read(sure("B", "AA"))
    with pytest.raises(ValueError, match="give fewer at once"):
        reader.read(sure(*[""] * 1100))
    assert reader.end().phones == ("B", "AA")
    assert reader.read(sure(*["", "B"] * 500)).phones == ("B",) * 500


def test_a_width_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="prefixes"):
        Reader(0)
