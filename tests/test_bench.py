"""The benches measure what they say: known costs, known changes, nothing compiled in a stream."""

from pathlib import Path

import numpy as np
import pytest
from signals import noise, voice
from velavox.bench import measure, peers, profiling
from velavox.bench.plain import PlainMcAdams
from velavox.bench.soak import soak
from velavox.bench.speech import clips, fed, speech
from velavox.bench.timing import Case, interleave
from velavox.engine.methods import METHODS
from velavox.kernels import mcadams


def test_ratio_of_known_costs() -> None:
    def work(n: int) -> None:
        for _ in range(n):
            pass

    timings = interleave({"one": Case(lambda: work(2000)), "four": Case(lambda: work(8000))}, seconds=0.01, blocks=200)
    assert 3 < timings["one"].times_cheaper(timings["four"]) < 5.5
    assert timings["one"].p50_us <= timings["one"].p99_us


def test_cost_of_a_whole_signal_is_shared_out() -> None:
    calls = []
    timings = interleave({"whole": Case(lambda: calls.append(sum(range(100_000))), blocks=1000)}, seconds=0.01, blocks=2000)
    assert 3 <= len(calls) <= 5
    assert timings["whole"].mean_us < 50


def test_clips_and_blocks() -> None:
    assert len(clips()) == 3
    assert speech(48_000).size == pytest.approx(3 * speech().size, abs=3)
    sizes: list[int] = []
    case = fed(lambda x: sizes.append(x.size), 44_100)
    for _ in range(3000):
        case.run()
    assert set(sizes) == {441}


def test_correlation_at_the_best_lag() -> None:
    x = noise(16_000) * (np.arange(16_000) < 12_000)
    assert measure.best_lag_correlation(x, -0.3 * np.roll(x, 700)) == pytest.approx(1.0)
    assert measure.best_lag_correlation(x, np.roll(x, 900)) < 0.1
    assert measure.best_lag_correlation(noise(16000), noise(16000, seed=1)) < 0.05


def test_level_change() -> None:
    x = voice(1.0)
    assert measure.level_change(x, x * np.float32(2) + np.float32(0.1)) == pytest.approx(6.02, abs=0.01)


def test_envelope_change_ignores_level() -> None:
    x = voice(1.0)
    assert measure.envelope_change(x, x * np.float32(0.25)) < 0.3
    assert measure.envelope_change(x, noise(16000)) > 3


def test_plain_mcadams_is_the_same_algorithm() -> None:
    x, plain = speech()[:32000], PlainMcAdams(0.8)
    ours = mcadams.offline(x, 0.8)
    theirs = np.concatenate([plain(x[i : i + 160]) for i in range(0, x.size, 160)])[160:]
    error = ours[: theirs.size] - theirs
    assert 10 * np.log10(np.sum(theirs**2) / np.sum(error**2)) > 20


def test_challenge_function_is_found_and_missing_imports_do_not_matter(tmp_path: Path) -> None:
    folder = tmp_path / "modules" / "mcadams"
    folder.mkdir(parents=True)
    code = "import numpy as np\nimport not_there_at_all\ndef anonym(freq, samples, mcadams): return np.abs(samples)\n"
    (folder / "of_mcadams.py").write_text(code)
    cases = peers.challenge_cases(tmp_path)
    cases["VPC 2024 McAdams, whole"].run()
    with pytest.raises(SystemExit, match="checkout"):
        peers.challenge_cases(folder / "empty")


def test_p99_beside_its_limit() -> None:
    p99 = profiling.p99_us("fast", 100)
    assert p99 is not None
    assert p99 > 1
    assert profiling.compared("fast", 99.6).endswith("fast pace: p99 of a block of 10 ms 100 us, limit 1000 us: kept")
    assert "exceeded" in profiling.compared("real", 1000.0)
    assert "too few blocks" in profiling.compared("real", None)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_compiles_or_mutes_in_a_stream(method: str) -> None:
    found = soak(method, 48_000, blocks=1500)
    assert found["compilations"] == 0
    assert found["muted_hops"] == 0
    assert found["p50_us"] < found["p99_us"] < 1e6
