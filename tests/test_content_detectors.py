"""Detectors by name: their times fit the line's delay, and what cannot work is refused."""

from __future__ import annotations

import numpy as np
import pytest
from needs import lacking
from velavox.engine.content import asr, spotting
from velavox.engine.content.detectors import DETECTORS, NAMES, detectors
from velavox.engine.content.find import Finder
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.spans import PAD
from velavox.engine.failure import Unusable
from velavox.kernels.redact import FADE

RATE = 16_000


@pytest.fixture(autouse=True)
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asr, "Whisper", object)
    monkeypatch.setattr(spotting, "Ctc", object)


def finder(*lines: str, categories: tuple[str, ...] = ()) -> Finder:
    try:
        return Finder(Lexicon.of(lines or ("boston",)), categories, ("en", "zh"))
    except Unusable as error:
        lacking(str(error))


@pytest.mark.parametrize("delay", [1.5, 1.75, 2.0, 3.0, 10.0])
def test_each_look_is_done_before_what_it_has_to_pass_leaves(delay: float) -> None:
    for found, cost in zip(detectors(finder(), NAMES, delay=delay), (0.5, 0.2, 0.05), strict=True):
        whole = found.hop * 20
        settled = whole - found.look(np.zeros(whole, np.float32), 0).passed
        assert settled > 0.25 * RATE
        assert found.window >= found.hop + settled  # else samples would be gone before they are decided
        assert found.hop + settled + (cost + PAD + FADE) * RATE <= delay * RATE + 1


def test_in_a_short_line_the_recogniser_looks_more_often_at_less() -> None:
    usual, fast = (detectors(finder(), ("asr",), delay=delay)[0] for delay in (2.0, 1.9))
    assert (usual.hop, usual.window) == (RATE, 7 * RATE)
    assert (fast.hop, fast.window) == (RATE // 2, 4 * RATE)


def test_what_nothing_is_listed_for_is_left_out() -> None:
    assert [found.name for found in detectors(finder())] == list(DETECTORS)
    assert [found.name for found in detectors(finder("王建国"), NAMES)] == ["asr", "stream"]
    assert [found.name for found in detectors(finder("王建国 | | | match=exact"))] == ["asr"]
    assert [found.name for found in detectors(finder(), ("phones",))] == ["phones"]


@pytest.mark.parametrize(
    ("names", "lines", "categories", "told"),
    [
        (("phones",), ("boston", "王建国"), (), "line 2"),
        (("phones", "stream"), ("boston", "王建国", "cat | word | | match=exact"), (), "line 3"),
        (("stream",), ("boston",), ("number",), "no categories"),
    ],
)
def test_what_spotters_alone_would_miss_is_refused(
    names: tuple[str, ...], lines: tuple[str, ...], categories: tuple[str, ...], told: str
) -> None:
    """C16: else such words were heard, and nobody told."""
    with pytest.raises(ValueError, match=told):
        detectors(finder(*lines, categories=categories), names)
    assert len(detectors(finder(*lines, categories=categories))) == 2


def test_refusals() -> None:
    """C16: nothing is ignored."""
    for options in ({"names": ("asr", "magic")}, {"delay": 1.0}, {"delay": float("nan")}, {"names": ()}):
        with pytest.raises(ValueError, match="give"):
            detectors(finder(), **options)
