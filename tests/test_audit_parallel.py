"""A parallel set: every speaker says the same, one attribute apart from others, reproducibly; a broken run is gone on from."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile
from needs import lacking
from signals import F32, RATE

pytest.importorskip("onnx")

from velavox.bench.audit import parallel
from velavox.bench.audit.parallel import ACCENTS, GENDERS, LICENCE, SENTENCES, make, speakers
from velavox.bench.audit.recordings import from_table
from velavox.engine.content import kokoro

VOICES = {
    f"{accent}{gender}_{n}": np.full((510, 256), 0.1 * i, np.float32)
    for i, accent in enumerate("abz")
    for gender in "fm"
    for n in range(4)
}


class Humming(kokoro.Kokoro):
    """In place of the synthesizer: a tone of the voice's, as long as there are letters."""

    def __init__(self) -> None:
        self.said = 0

    def speak(self, letters: str, voice: F32, speed: float = 1.0) -> F32:
        self.said += 1
        t = np.arange(int(len(letters) * 4 * kokoro.FRAME / speed)) / kokoro.RATE
        return np.asarray(np.sin(2 * np.pi * 100 * (1 + voice[0, 0]) * t), np.float32)


@pytest.fixture(autouse=True)
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "pieces", lambda text: [("m", "M")] * len(text))


def _rows(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_everybody_says_the_same_in_his_own_voice(tmp_path: Path) -> None:
    rows = _rows(make(tmp_path, VOICES, Humming(), 2, 4))
    assert len(rows) == 2 * 2 * len(ACCENTS) * len(GENDERS) * 4
    for text in {row["transcript"] for row in rows}:
        spoken = [row for row in rows if row["transcript"] == text]
        kinds = Counter((row["gender"], row["accent"], row["split"]) for row in spoken)
        assert set(kinds.values()) == {2}
        assert len(kinds) == 12
    assert {row["transcript"] for row in rows} == {text.rstrip(".?") for text in SENTENCES[:4]}
    assert {row["licence"] for row in rows} == {LICENCE}
    for row in rows[::7]:
        samples, rate = soundfile.read(tmp_path / row["path"], dtype="float32")
        assert rate == RATE
        assert float(row["seconds"]) == pytest.approx(len(samples) / RATE, abs=1e-3)
        assert np.sqrt(np.mean(samples**2)) == pytest.approx(0.05, rel=0.02)


def test_no_voice_is_in_both_splits(tmp_path: Path) -> None:
    rows = _rows(make(tmp_path, VOICES, Humming(), 4, 2))
    used: dict[str, set[str]] = {"dev": set(), "train": set()}
    for row in rows:
        for part in row["voice"].split("+"):
            assert part[0] == ACCENTS[row["accent"]]
            assert part[1] == GENDERS[row["gender"]]
            used[row["split"]].add(part.split("*")[0])
    assert not used["dev"] & used["train"]


def test_children_and_whisperers_are_left_out(tmp_path: Path) -> None:
    """Of whom the voices are that would all be drawn, there being two of a split."""
    voices = {**VOICES, **dict.fromkeys(parallel.UNLIKE, VOICES["am_0"])}
    assert (
        make(tmp_path / "a", voices, Humming(), 2, 2).read_bytes() == make(tmp_path / "b", VOICES, Humming(), 2, 2).read_bytes()
    )


def test_the_audit_reads_the_table(tmp_path: Path) -> None:
    listing = from_table(make(tmp_path, VOICES, Humming(), 1, 4), tmp_path)
    assert len(listing.recordings) == 48
    assert not listing.findings.counts()
    assert {(r.split, r.role) for r in listing.recordings} == {("train", ""), ("dev", "enrol"), ("dev", "trial")}
    assert {r.attributes["accent"].lower() for r in listing.recordings} == {a.lower() for a in ACCENTS}
    enrolled = {r.text for r in listing.recordings if r.role == "enrol"}
    assert not enrolled & {r.text for r in listing.recordings if r.role == "trial"}


def test_the_same_again_and_another_by_another_seed(tmp_path: Path) -> None:
    first, again, other = (
        make(tmp_path / name, VOICES, Humming(), 1, 2, seed) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()
    for row in _rows(first):
        assert (tmp_path / "a" / row["path"]).read_bytes() == (tmp_path / "b" / row["path"]).read_bytes()
    with pytest.raises(ValueError, match="seed 0"):
        make(tmp_path / "a", VOICES, Humming(), 1, 2, 1)


def test_what_is_there_is_kept_and_more_is_added(tmp_path: Path) -> None:
    first = Humming()
    rows = _rows(make(tmp_path, VOICES, first, 1, 2))
    assert first.said == len(rows) == 24
    (tmp_path / rows[5]["path"]).unlink()
    second, told = Humming(), []
    more = _rows(make(tmp_path, VOICES, second, 2, 3, done=lambda n, of: told.append((n, of))))
    assert second.said == 72 - 24 + 1
    assert told[-1] == (72, 72)
    assert {row["path"] for row in rows} < {row["path"] for row in more}
    voices = {row["speaker"]: row["voice"] for row in more}
    assert all(voices[row["speaker"]] == row["voice"] for row in rows)


def test_too_few_voices(tmp_path: Path) -> None:
    few = {name: voice for name, voice in VOICES.items() if not name.startswith("bm_") or name == "bm_0"}
    with pytest.raises(ValueError, match="1 voices of British accent and gender M"):
        make(tmp_path, few, Humming(), 1, 2)


def test_speakers_have_names_of_their_own() -> None:
    found = speakers(3)
    assert len({s.name for s in found}) == len({s.number for s in found}) == 36


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--voices", "nowhere"], "no voices"),
        (["--voices", "nowhere", "--sentences", "99"], "--sentences 99"),
        (["--voices", "nowhere", "--speakers", "0"], "--speakers 0"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_line(tmp_path: Path, options: list[str], said: str) -> None:
    if shutil.which("espeak-ng") is None and said == "no voices":
        lacking("espeak-ng is not installed")
    command = [sys.executable, "-c", "from velavox.engine.cli import main; main()"]
    command += ["audit", "parallel", "--out", str(tmp_path / "out"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
