"""The long run in short (C10): what goes through is known, and what goes wrong is told."""

from __future__ import annotations

import time

import numpy as np
import pytest
from needs import lacking
from velavox.bench.content import soak
from velavox.bench.content.soak import as_text, stream
from velavox.bench.speech import RATE
from velavox.engine.content.detector import Look
from velavox.engine.content.detectors import detectors
from velavox.engine.content.hit import Hit
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

pytestmark = pytest.mark.usefixtures("compiled")

MINUTES = 0.4


class Knowing:
    """Finds both words of the clips that say them, wherever these are; takes longer from look to look if asked to."""

    name, hop, window = "knowing", RATE, 7 * RATE

    def __init__(self, slower: float = 0.0) -> None:
        self._said = stream(60 * MINUTES)[1]
        self._slower, self._looks = slower, 0

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        self._looks += 1
        until = time.process_time() + self._slower * self._looks
        while time.process_time() < until:
            pass
        words = [(a + k * RATE, a + k * RATE + RATE // 2) for a, _ in self._said for k in (1, 3)]
        end = start + len(samples)
        found = tuple(Hit(*word, "word", "3f9a", self.name) for word in words if start < word[1] and word[0] < end)
        return Look(found, end)

    def reset(self) -> None: ...


def test_a_stream_holds_all_kinds_again_and_again() -> None:
    sound, said = stream(150.0)
    assert 150 * RATE <= len(sound) < 300 * RATE
    assert len(said) >= 2
    assert np.array_equal(sound[slice(*said[0])], sound[slice(*said[1])])
    assert sound.dtype == np.float32
    assert np.abs(sound).max() <= 1
    assert not np.array_equal(sound, stream(150.0, seed=1)[0])


def test_what_is_found_is_told_and_nothing_else() -> None:
    found = soak.soak(MINUTES, [Knowing()])
    assert (found.said, found.elsewhere, found.unjudged_s, found.shift) == (2, 0, 0, 0)
    assert found.found[0] == 1
    assert found.behind_s == {"knowing": 0}
    assert f"of {found.said}" in as_text(found)


def test_a_detector_that_slows_down_shows() -> None:
    first, _, last = soak.soak(MINUTES, [Knowing(slower=1e-3)]).look_s["knowing"]
    assert last > 2 * first


def test_the_real_ones() -> None:
    """Both words are found though silence, music and a phrase six times over are around them; nothing else is."""
    try:
        found = soak.soak(MINUTES, detectors(soak.listed()))
    except Unusable as error:
        lacking(str(error))
    assert found.found[0] == 1
    assert (found.elsewhere, found.unjudged_s, found.shift) == (0, 0, 0)
    assert all(seconds < 2 for seconds in found.slowest_s.values())
    assert all(seconds < 2 for seconds in found.behind_s.values())
