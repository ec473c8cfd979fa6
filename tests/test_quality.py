"""DNSMOS: as its own package reads it, and in the order in which anybody would put it."""

import numpy as np
import pytest
from signals import noise
from velavox.bench.quality import dnsmos
from velavox.bench.speech import clips

speechmos = pytest.importorskip("speechmos", reason="needs the extra audit")


@pytest.mark.parametrize("seconds", [4, 13])
def test_agrees_with_its_package(seconds: int) -> None:
    theirs = pytest.importorskip("speechmos.dnsmos")
    x = np.concatenate(list(clips().values()))[: seconds * 16_000]
    assert dnsmos(x) == pytest.approx(theirs.run(x, 16_000)["ovrl_mos"], abs=1e-4)


def test_noise_makes_it_worse() -> None:
    x = clips()["27-123349-0009"]
    scores = [dnsmos(x), dnsmos(x + noise(len(x), 0.01)), dnsmos(noise(len(x), 0.05))]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 2.5 > 1.5 > scores[2]


def test_no_samples() -> None:
    with pytest.raises(ValueError, match="give speech"):
        dnsmos(np.zeros(0, np.float32))
