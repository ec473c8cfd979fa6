"""The bench of speech that is spoken anew counts what was found before and after, and what is left of the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from needs import lacking
from signals import F32, noise
from velavox.bench.content.material import Spoken, Stream
from velavox.bench.content.resynthesis import HEAD, fitting, line, resynthesis
from velavox.engine.content.plain import plain
from velavox.engine.content.pool_en import FIRST_NAMES
from velavox.engine.content.pronounce import Phones
from velavox.engine.content.speech import RATE
from velavox.engine.content.whisper import Whisper
from velavox.engine.content.word import Word
from velavox.engine.failure import Unusable

pytest.importorskip("whisper_normalizer")
SAID = "the telescope was stolen by gypsies in november".split()
LISTED = {"telescope", "gypsies"}


class Humming:
    """.1 s of sound a letter."""

    name = "humming"
    languages = ("en",)

    def speak(self, text: str) -> F32:
        return np.full(len(text) * 1600, 0.1, np.float32)

    def sounds(self, text: str) -> list[Phones]:
        return []


class Hearing(Whisper):
    """Hears one text after the other."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)

    def hear(self, samples: F32, languages: Sequence[str] = ("en",), start: int = 0) -> list[Word]:
        return [Word(text, start + n, start + n + 1) for n, text in enumerate(self._texts.pop(0).split())]

    def text(self, samples: F32, language: str = "en") -> str:
        return self._texts.pop(0)


def stream() -> Stream:
    words = tuple(Spoken(word, n * 8000, n * 8000 + 6400) for n, word in enumerate(SAID))
    return Stream("one", "en", noise(8 * RATE, 0.1), words)


def test_figures_of_what_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.bench.content.resynthesis.listed", lambda *_: sorted(LISTED))
    left = " ".join(word for word in SAID if word not in LISTED)
    try:
        heard = Hearing(" ".join(SAID), " ".join(SAID), f"{left} telescope", f"{left} telescope")
        found = resynthesis(Humming(), [stream()], heard)
    except Unusable as missing:
        lacking(str(missing))
    assert (found.found, found.again, found.phrases, found.withheld) == (2, 1, 1, 0)
    assert found.wer == pytest.approx(1 / 6)
    assert found.seconds == 8.0
    assert len(line(found)) <= len(HEAD)


def test_substitutes_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holes are of .4 s and two pads of .2: a substitute of up to 1.2 s fits."""
    monkeypatch.setattr("velavox.bench.content.resynthesis.listed", lambda *_: sorted(LISTED))
    fits = fitting(Humming(), [stream()])
    names = FIRST_NAMES[:20]
    assert fits["name"] == pytest.approx(np.mean([len(plain(name)) <= 12 for name in names]))
    assert fits["organisation"] < fits["name"]
