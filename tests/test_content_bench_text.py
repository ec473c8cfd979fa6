"""The bench of text: its texts are as long as they say, its index is Jaccard's, its rows are all there."""

from __future__ import annotations

from itertools import pairwise

import pytest
from texts import loaded
from velavox.bench.content import text as bench
from velavox.engine.content.desensitise import Desensitiser
from velavox.engine.content.infer import Inference


@pytest.mark.parametrize("words", bench.LENGTHS)
def test_texts_are_as_long_as_asked_for(words: int) -> None:
    assert abs(len(bench.text_of("en", words).split()) - words) <= 6
    assert " " not in bench.text_of("zh", words)
    assert bench.text_of("en", 150).startswith(bench.text_of("en", words))


def test_the_index_is_what_both_have_of_what_either_has() -> None:
    assert bench.jaccard("abc", "bcd") == 0.5
    assert bench.jaccard(["a", "a"], ["a"]) == bench.jaccard("", "") == 1
    assert bench.jaccard("ab", "cd") == 0


def test_likeness_and_inference_have_a_row_each() -> None:
    loaded(Desensitiser)
    loaded(Inference)
    kept = bench.kept(sessions=1)
    assert [(k.language, k.mode) for k in kept] == [(language, mode) for language in ("en", "zh") for mode in bench.MODES]
    assert all(0 <= k.replaced < k.words < 1 for k in kept)  # most of a text stays, little of what is replaced
    similar, random = kept[:2]
    assert similar.replaced > random.replaced
    flagged = bench.flagged()
    assert all(a.sensitive >= b.sensitive and a.harmless >= b.harmless for a, b in pairwise(flagged))
    took = [bench.Took(k.language, k.mode, words, 10.0, 5.0) for k in kept for words in bench.LENGTHS]
    assert "198 x as fast" in bench.as_text(took, kept, flagged)
