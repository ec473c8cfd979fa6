"""The source's rule over content words: by threshold, within a sentence, English alone."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from texts import loaded
from velavox.engine.content.infer import Inference
from velavox.engine.content.vectors import vectors
from velavox.engine.failure import Unusable

WORDS = "Hello, I am Alice and my doctor is in the hospital. The weather was nice!".split()


@pytest.fixture(scope="module")
def lowest() -> Inference:
    return loaded(Inference, -1.0)


def test_at_the_lowest_threshold_every_content_word_is_flagged_and_no_other(lowest: Inference) -> None:
    found = {WORDS[n].strip(",.!") for n in lowest.find(WORDS)}
    assert {"Alice", "doctor", "hospital", "weather", "nice"} <= found
    assert not found & {"I", "am", "and", "my", "is", "in", "the", "The", "was"}
    assert lowest.find("You go there and see Boston".split()) == [5]  # verbs, but of those that everybody says


def test_flagged_are_those_above_the_threshold_of_the_cosine_with_the_mean() -> None:
    words = "doctor hospital elephant".split()
    at = vectors().stack(words)
    mean = at.mean(axis=0)
    cosines = at @ mean / np.linalg.norm(mean)
    between = float(np.sort(cosines)[1] + np.sort(cosines)[0]) / 2
    assert [words[n] for n in loaded(Inference, between).find(words)] == [
        w for w, c in zip(words, cosines, strict=True) if c > between
    ]
    assert loaded(Inference, 1.0).find(words) == []


def test_sentences_are_apart(lowest: Inference) -> None:
    strict = loaded(Inference, 0.75)
    one, two = WORDS[:11], WORDS[11:]
    assert strict.find(one + two) == strict.find(one) + [len(one) + n for n in strict.find(two)]


def test_chinese_and_unknown_words_and_nothing_are_passed_over(lowest: Inference) -> None:
    assert lowest.find([]) == lowest.find(["王建国", "…", "xqzzyx"]) == []
    assert lowest.find(["医生", "hospital", "。"]) == [1]


def test_wrong_thresholds_and_missing_packages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"threshold 1\.5: give a cosine, -1 to 1"):
        Inference(1.5)
    with pytest.raises(ValueError, match="threshold nan"):
        Inference(float("nan"))
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(Unusable, match=r"inferring sensitive words needs spacy: pip install 'velavox\[pii\]'"):
        Inference()
