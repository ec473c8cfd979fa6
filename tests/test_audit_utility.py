"""Utility: what is unchanged scores as such, each figure falls for its own reason, and what cannot be measured is counted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from signals import RATE, noise
from velavox.bench import quality, recognition
from velavox.bench.audit.utility import MEANING, Pair, Utility, utility
from velavox.bench.condition import Condition
from velavox.bench.judged import Judges
from velavox.bench.speech import clips
from velavox.kernels.jit import F32

Change = Callable[[F32], F32]


def _pairs(change: Change, transcript: str = "") -> list[Pair]:
    """Two halves of each clip, each clip a speaker."""
    found = []
    for name, x in clips().items():
        for half in np.array_split(x, 2):
            found.append(Pair(f"c:{name}", "en", transcript, lambda x=half: x, lambda x=half: change(x)))  # type: ignore[misc]
    return found


def _of(change: Change) -> Utility:
    return utility(_pairs(change))


def test_nothing_changed() -> None:
    figures = _of(lambda x: x).figures
    for name in ("f0_correlation", "voicing_agreement", "duration_kept"):
        assert figures[name].value == pytest.approx(1), name
    assert figures["level_change_db"].value == pytest.approx(0)
    assert figures["fbank_distance"].value == 0
    assert 0 < figures["fbank_within_speaker"].value < figures["fbank_between_speakers"].value
    assert figures.keys() <= MEANING.keys()


def test_the_yardstick_is_of_one_corpus() -> None:
    """Another one, filtered as by another microphone, is no other speaker."""
    pairs = _pairs(lambda x: x)
    dull = [replace(p, speaker=p.speaker.replace("c:", "d:"), original=lambda p=p: np.cumsum(p.original())) for p in pairs]  # type: ignore[misc]
    far = utility([*pairs, *dull]).figures["fbank_between_speakers"].value
    alone = [utility(some).figures["fbank_between_speakers"].value for some in (pairs, dull)]
    assert far == pytest.approx(np.mean(alone))


def test_gain_is_a_matter_of_level_alone() -> None:
    figures = _of(lambda x: 0.5 * x).figures
    assert figures["level_change_db"].value == pytest.approx(-6.02, abs=0.01)
    assert figures["fbank_distance"].value == pytest.approx(0, abs=1e-3)
    assert figures["f0_correlation"].value > 0.99


def test_length_is_a_matter_of_duration() -> None:
    figures = _of(lambda x: np.concatenate([x, np.zeros(len(x) // 4, np.float32)])).figures
    assert figures["duration_kept"].value == pytest.approx(1.25, abs=0.001)
    assert figures["f0_correlation"].value == pytest.approx(1)


def test_an_anonymizer_moves_the_spectrum_as_far_as_other_speakers_are() -> None:
    figures = _of(lambda x: Condition.parse("mcadams:alpha=0.6").speak(x, "k")).figures
    assert figures["fbank_distance"].value > figures["fbank_between_speakers"].value
    assert 0.7 < figures["f0_correlation"].value < 1
    assert figures["f0_correlation"].low <= figures["f0_correlation"].value <= figures["f0_correlation"].high


def test_noise_is_seen_by_stoi() -> None:
    pytest.importorskip("pystoi")
    assert _of(lambda x: x).figures["stoi"].value == pytest.approx(1, abs=1e-3)
    assert 0.2 < _of(lambda x: x + noise(len(x), 2 * float(np.std(x)))).figures["stoi"].value < 0.8


def test_what_cannot_be_measured_is_counted() -> None:
    silent = _of(lambda x: np.zeros_like(x))
    assert silent.counts["f0_correlation"] == silent.counts["fbank_distance"] == silent.counts["level_change_db"] == 6
    assert "6 utterances without fbank_distance" in silent.notes
    assert "f0_correlation" not in silent.figures
    assert _of(lambda x: x[:0]).counts == {"sound": 6}


def test_words_and_quality_by_the_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "heard", lambda samples, language: "stay at work")
    monkeypatch.setattr(quality, "dnsmos", lambda samples: 2.0 + len(samples) / RATE / 100)
    pairs = _pairs(lambda x: x, "stay at home")
    pytest.importorskip("whisper_normalizer")
    found = utility([*pairs[1:], *_pairs(lambda x: x)[:1]], Judges(tmp_path)).figures
    assert found["wer"].value == pytest.approx(1 / 3)
    assert found["cer"].value == pytest.approx(3 / 12)
    assert 2 < found["dnsmos"].value < 2.1
    assert "wer" not in utility(pairs).figures
    assert "wer" not in utility(_pairs(lambda x: x, "?"), Judges(tmp_path)).figures
