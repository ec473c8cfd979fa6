"""A table of scores: read as it is written, however it is written; what cannot be read is told by its line."""

from pathlib import Path

import numpy as np
import pytest
from velavox.bench.audit import scorefile
from velavox.bench.audit.scorefile import ScoreError, read

pytestmark = pytest.mark.nojit

_WHOLE = "test,speaker,score,claimed,label\n1,ann,0.5,ann,1\n1,ann,-2e-3,bob,0\n2,bob,1.25,bob,1\n"


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "scores.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        _WHOLE,
        _WHOLE.replace("\n", "\r\n"),
        _WHOLE.rstrip(),
        _WHOLE.replace(",", ";"),
        _WHOLE.replace(",", "\t"),
        "\ufeff" + _WHOLE,
        _WHOLE.replace("ann", '"ann"').replace("speaker", '"Speaker"'),
        _WHOLE.replace("\n", "\n\n"),
        _WHOLE.replace(",1\n", ",1.0\n"),
    ],
)
def test_all_columns(tmp_path: Path, text: str) -> None:
    found = read(_file(tmp_path, text))
    assert found.values.tolist() == [0.5, -2e-3, 1.25]
    assert found.same.tolist() == [True, False, True]
    assert list(found.speakers or ()) == ["ann", "ann", "bob"]
    assert list(found.claimed or ()) == ["ann", "bob", "bob"]
    assert list(found.tests or ()) == ["1", "1", "2"]


def test_two_columns_will_do_and_others_are_left_alone(tmp_path: Path) -> None:
    found = read(_file(tmp_path, "label,remark,score\n1,nan,2\n0,,1\n"))
    assert (found.values.tolist(), found.same.tolist()) == ([2, 1], [True, False])
    assert found.speakers is found.claimed is found.tests is None


def test_names_need_not_be_ascii(tmp_path: Path) -> None:
    found = read(_file(tmp_path, "score,label,speaker\n1,1,Zoë\n2,0,李\n" + 40 * "3,0,a name as long as any\n"))
    assert list(found.speakers or ())[:3] == ["Zoë", "李", "a name as long as any"]
    assert list(read(_file(tmp_path, b"score,label,speaker\n1,1,\xff\n")).speakers or ()) == ["\udcff"]


def test_parts_of_any_size_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    values, labels, people = random.normal(size=300), random.integers(0, 2, 300), random.integers(0, 9, 300)
    rows = [f"{v!r},{w},s{p}" for v, w, p in zip(values.tolist(), labels, people, strict=True)]
    path = _file(tmp_path, "score,label,speaker\n" + "\n".join(rows))
    for size in (1, 7, 100, 1 << 20):
        monkeypatch.setattr(scorefile, "_PART", size)
        found = read(path)
        np.testing.assert_array_equal(found.values, values)
        np.testing.assert_array_equal(found.same, labels == 1)
        assert list(found.speakers or ()) == [f"s{p}" for p in people]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no column score and none label"),
        ("score\n1\n", "line 1: no column label"),
        ("0.5,1\n", "line 1: no column score"),
        ("score,label,score\n1,1,1\n", "line 1: score is there twice"),
        ("score,label\n", "no trials"),
        ("score,label\n1,1\nx,0\n", "line 3: score 'x' is no number"),
        ("score,label\n1,1\n,0\n", "line 3: score '' is no number"),
        ("score,label\n1,1\nnan,0\n", "line 3: score nan cannot be ranked"),
        ("score,label\n1,1\n\n-inf,0\n", "line 4: score -inf cannot be ranked"),
        ("score,label\n1,1\n1,2\n", "line 3: label '2'; give 1"),
        ("score,label\n1,target\n", "line 2: label 'target'; give 1"),
        ("score,label\n1,1\n1\n", "line 3: has 1 columns, the first line 2"),
        ("score,label,claimed\n1,1,a\n", "give the column speaker too"),
        ("score,label\n" + 5000 * "9", "longer than"),
        ("score,label\n1,1\n" + 5000 * "9" + ",1\n1,1\n", "longer than"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(ScoreError) as error:
        read(path)
    assert told in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_the_line_is_that_of_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorefile, "_PART", 16)
    with pytest.raises(ScoreError, match="line 52: score 'x'"):
        read(_file(tmp_path, "score,label\n" + 50 * "0.5,1\n" + "x,0\n"))


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="is no file"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")
