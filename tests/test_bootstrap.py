"""Intervals hold the truth as often as they say, and get narrower with speakers, not with their utterances."""

import numpy as np
import pytest
from velavox.bench.bootstrap import Figure, draws, ratio


def _rows(speakers: int, each: int, seed: int) -> list[tuple[str, float, float]]:
    """Errors of utterances of ten words by speakers whose own rates lie around 0.2."""
    random = np.random.default_rng(seed)
    rates = random.uniform(0.1, 0.3, speakers)
    return [(f"s{s}", float(random.binomial(10, rates[s])), 10.0) for s in range(speakers) for _ in range(each)]


def test_interval_holds_the_truth() -> None:
    figures = [ratio(_rows(30, 4, seed)) for seed in range(200)]
    held = sum(f.low <= 0.2 <= f.high for f in figures)
    assert 178 <= held <= 199
    assert np.mean([f.value for f in figures]) == pytest.approx(0.2, abs=0.005)


def test_more_speakers_make_it_surer_more_utterances_do_not() -> None:
    def width(speakers: int, each: int) -> float:
        return float(np.mean([f.high - f.low for f in (ratio(_rows(speakers, each, seed)) for seed in range(20))]))

    assert width(80, 50) < 0.6 * width(20, 50)
    assert width(20, 200) > 0.85 * width(20, 50)


def test_every_draw_has_as_many_speakers() -> None:
    table = draws(7, 50)
    assert table.shape == (50, 7)
    assert set(table.sum(1)) == {7}
    assert (table == draws(7, 50)).all()


def test_one_speaker_leaves_no_room_and_none_is_no_figure() -> None:
    assert ratio([("a", 1, 10), ("a", 3, 10)]) == Figure(0.2, 0.2, 0.2)
    assert np.isnan(ratio([]).value)
