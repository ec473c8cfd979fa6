import numpy as np
from velavox.bench.content import line


def test_every_case_runs_and_is_what_it_says() -> None:
    for name, case in line.cases(16_000).items():
        case.run()
        assert name.startswith(("mask path", "raw voice", "McAdams")), name


def test_the_detector_of_the_bench_finds_a_word_every_4_s() -> None:
    found = line.Ready().look(np.zeros(112_000, np.float32), 100_000)
    assert [hit.start for hit in found.hits] == [128_000, 192_000]
    assert found.passed == 212_000


def test_memory_is_flat_but_for_what_is_remembered_of_words() -> None:
    assert line.growth(0.1) < 2000
