"""All benches as one table: what stands in it, and beside which aim."""

from __future__ import annotations

import math

import pytest
from needs import lacking
from velavox.bench.content import recall, whole
from velavox.bench.content.scores import Result
from velavox.bench.content.whole import HEAD, PARTS, Figure, Speech, row
from velavox.engine.cli_content_bench import PartName
from velavox.engine.failure import Unusable

RESULT = Result(
    words=20, recall=0.9, residual=0.05, over_p50=0.3, over_p95=0.6, false=1.0, ordinary=0.2, unjudged=0.0, known_p50=0.7,
    known_p95=1.1, rtc={"asr": 0.2, "phones": 0.1},
)  # fmt: skip


def figures(title: str, row: recall.Row) -> dict[str, Figure]:
    return {one.what.rpartition(": ")[2]: one for one in whole.of_row(title, row, RESULT, 0.0)}


def test_a_row_stands_beside_what_was_aimed_at() -> None:
    found = figures("English", recall.ROWS[0])
    assert (found["listed words hidden"].value, found["listed words hidden"].wanted) == (0.9, ">= 0.95")
    assert found["cores"].value == pytest.approx(0.3)
    assert found["cores"].wanted == "<= 0.45"
    assert found["listed words hidden"].of == "20 words"
    assert figures("babble 10 dB", recall.ROWS[0])["listed words hidden"].wanted == ">= 0.8"
    assert figures("English", recall.ROWS[3])["cores"].wanted == "<= 0.16"
    assert figures("English", recall.ROWS[2])["cores"].wanted == "<= 0.028"
    assert figures("Mandarin", recall.MANDARIN_ROWS[2])["listed words hidden"].wanted == ""


def test_every_aim_is_of_a_row_that_is_measured() -> None:
    measured = {("English", one) for one in recall.ROWS} | {("babble", one) for one in recall.BABBLE_ROWS}
    assert set(whole.AIMS) <= measured | {("Mandarin", one) for one in recall.MANDARIN_ROWS}


def test_a_line_of_the_table() -> None:
    text = row(Figure("recall", "x", 0.91234, ">= 0.95", "65 words"))
    assert text.split() == ["x", ">=", "0.95", "0.9123", "65", "words"]
    assert text.index("0.9123") + 6 == HEAD.index("measured") + 8
    assert "nan" in row(Figure("recall", "x", math.nan))


def test_the_command_knows_every_part() -> None:
    assert list(PARTS) == [name.value for name in PartName]


def test_the_bundled_clips_say_what_is_listed_of_them() -> None:
    try:
        clear = Speech().clear
    except Unusable as error:
        lacking(str(error))
    assert [stream.name for stream in clear] == ["1737", "27", "5789"]
    assert set(Speech().words) <= {word.text for stream in clear for word in stream.words}
