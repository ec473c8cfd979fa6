"""The plan's law, by brute force over every block boundary: never short of output, and primed with no sample too many."""

import numpy as np
import pytest
from velavox.engine.resample import HIGHEST, LOWEST, Plan, whole
from velavox.kernels import polyphase

RATES = (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 12345)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("hop", "stages"), [(160, 0), (160, 160), (320, 480)])
def test_never_short_never_idle(rate: int, hop: int, stages: int) -> None:
    plan = Plan(rate, hop, stages)
    spare = []
    for taken in range(min(2 * hop * plan.down, 20_000)):
        hops = polyphase.count(taken, plan.up, plan.down) // hop
        given = polyphase.count(hops * hop, plan.down, plan.up, plan.advance) if hops else 0
        spare.append(plan.primed + given - taken)
    assert min(spare) >= 0
    if 2 * hop * plan.down <= 20_000:
        assert min(spare) == 0


@pytest.mark.parametrize("rate", RATES)
def test_parts_add_up_to_a_whole_number(rate: int) -> None:
    plan = Plan(rate, 160, 163)
    assert sum(plan.latency_parts.values()) == pytest.approx(plan.latency, abs=1e-9)
    assert plan.latency_parts["resample_in"] <= 2.5e-3 * rate + 1e-9
    assert plan.latency_parts["resample_out"] <= 2.5e-3 * rate + 1e-9
    assert plan.latency_parts["reblock"] <= 0.010 * rate


def test_no_resampling_at_16_kHz() -> None:  # noqa: N802
    assert Plan(16000, 160, 160).latency_parts == {"resample_in": 0, "reblock": 159, "stages": 160, "resample_out": 0}


@pytest.mark.parametrize(
    "value", [0, 1, 3999, 1_000_000_000, 44100.5, -16000, float("inf"), float("nan"), None, "48000", [8000]]
)
def test_no_whole_number_in_range(value: object) -> None:
    with pytest.raises(ValueError, match=r"rate=.*give a whole number of Hz from 4000 to 384000"):
        whole("rate", value, LOWEST, HIGHEST, "Hz")


@pytest.mark.parametrize("value", [16000, 16000.0, np.int32(16000), np.float64(16000)])
def test_whole_numbers_of_any_kind(value: object) -> None:
    assert whole("rate", value, LOWEST, HIGHEST) == 16000
