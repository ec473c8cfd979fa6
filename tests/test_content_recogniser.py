"""The streaming recogniser that is shipped: in any blocks the same, nothing ahead, right about a clip, refused if damaged."""

from __future__ import annotations

import shutil
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from signals import noise, partitions
from velavox.bench.recognition import edits
from velavox.bench.speech import clips
from velavox.engine.content.phones import PHONES
from velavox.engine.content.prefix import Reader
from velavox.engine.content.recogniser import FIRST, ROW, UNITS, Recogniser
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

RATE = 16_000
# "All that was required of him was to promise that he would not assume the regal title."
SAID = (
    "AO L DH AE T W AA Z R IY K W AY ER D AH V HH IH M W AA Z T UW P R AA M AH S DH AE T HH IY W UH D N AA T AH S UW M DH AH "
    "R IY G AH L T AY T AH L"
).split()


@cache
def clip() -> F32:
    return clips()["27-123349-0009"]


@cache
def whole() -> F32:
    return Recogniser().push(clip())


def test_rows_are_likelihoods_and_come_when_their_samples_are_there() -> None:
    assert whole().shape == ((len(clip()) - FIRST) // ROW + 1, UNITS)
    np.testing.assert_allclose(np.exp(whole()).sum(1), 1, atol=1e-4)
    one = Recogniser()
    assert len(one.push(clip()[: FIRST - 1])) == 0
    assert len(one.push(clip()[FIRST - 1 : FIRST])) == 1
    assert len(one.push(clip()[FIRST : FIRST + 3 * ROW - 1])) == 2


def test_in_any_blocks_the_same() -> None:
    one = Recogniser()
    for name, sizes in partitions(len(clip())):
        if min(sizes) > 100:  # smaller ones cut frames no other way, and take long
            one.reset()
            starts = np.cumsum([0, *sizes])
            parts = [one.push(clip()[start : start + size]) for start, size in zip(starts, sizes, strict=False)]
            np.testing.assert_array_equal(np.concatenate(parts), whole(), err_msg=name)


def test_nothing_is_known_ahead() -> None:
    cut = len(clip()) // 2
    rows = (cut - FIRST) // ROW + 1
    for then in (np.zeros(RATE, np.float32), noise(RATE, seed=3)):
        other = Recogniser().push(np.concatenate((clip()[:cut], then)))
        np.testing.assert_array_equal(other[:rows], whole()[:rows])
        assert not np.array_equal(other[rows : rows + 9], whole()[rows : rows + 9])


def test_after_a_reset_as_fresh_and_two_streams_apart() -> None:
    one, other = Recogniser(), Recogniser()
    one.push(clip()[: 2 * RATE])
    other.push(noise(RATE, seed=1))
    one.reset()
    np.testing.assert_array_equal(one.push(clip()), whole())


def test_loudness_changes_little() -> None:
    softer = Recogniser().push(clip() * np.float32(0.1))
    assert (softer.argmax(1) == whole().argmax(1)).mean() > 0.9


def test_most_phones_of_a_clip_are_read() -> None:
    """Of a speaker that nothing was trained on, in whatever blocks the rows come."""
    reader = Reader()
    for start in range(0, len(whole()), 20):
        reading = reader.read(whole()[start : start + 20])
        assert len(reading.rows) == len(reading.phones)
        assert all(row < start + 20 for row in reading.rows)
    found = reader.end().phones
    assert set(found) <= set(PHONES[1:])
    assert edits(SAID, found) <= 0.4 * len(SAID)


def test_what_is_not_finite_raises_and_a_reset_mends_it() -> None:
    one = Recogniser()
    bad = clip()[:RATE].copy()
    bad[500] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        one.push(bad)
    one.reset()
    np.testing.assert_array_equal(one.push(clip()), whole())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("manifest.json", "recogniser.onnx", "phonotactics.onnx"):
        (tmp_path / name).write_bytes((resources.files("velavox.models_onnx") / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", ["recogniser", "phonotactics"])
def test_a_missing_a_damaged_and_another_graph_are_refused(folder: Path, name: str) -> None:
    def use() -> None:
        Recogniser(folder) if name == "recogniser" else Reader(folder=folder)

    use()
    path = folder / f"{name}.onnx"
    graph = bytearray(path.read_bytes())
    graph[len(graph) // 2] ^= 1
    for content, cause in ((graph, "another SHA-256"), (graph[:-9], "damaged"), (None, "missing")):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Unusable, match=f"graph {name}: file .*{cause}"):
            use()
    shutil.copy(folder / ("phonotactics.onnx" if name == "recogniser" else "recogniser.onnx"), path)
    with pytest.raises(Unusable, match=f"graph {name}"):
        use()
