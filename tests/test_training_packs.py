"""Packs: the features of the stream, and labels on their clock, also of a copy that is faster or slower."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from signals import F32, RATE, tone
from trainingdata import recorded, spoken, utterance
from velavox.engine.content import phones
from velavox.kernels import fbank
from velavox.models_onnx.training import packs, pitch
from velavox.models_onnx.training.align import Segment, in_thirds
from velavox.models_onnx.training.augment import Augmented, Augmenter
from velavox.models_onnx.training.corpora import Utterance
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.packs import BANDS, Pack, babble_of, make, states_at


def labels_of(utterances: list[Utterance]) -> dict[str, list[Segment]]:
    """Silence, then a vowel from 0.4 to 1 s, then silence."""
    ends = [(phones.SILENCE, 0, 6400), ("AA", 6400, 16000), (phones.SILENCE, 16000, 24000)]
    return {u.utterance: [in_thirds(*span) for span in ends] for u in utterances}


def packed(folder: Path, utterances: list[Utterance], augmenter: Augmenter | None = None, name: str = "pack") -> Pack:
    return make(folder / name, utterances, labels_of(utterances), augmenter, {}, Journal(folder))


class Faster(Augmenter):
    """Takes away every eleventh sample: 1.1 times as fast, no other harm."""

    def __init__(self) -> None:
        super().__init__(0, [])

    def __call__(self, samples: F32, number: int) -> Augmented:
        return Augmented(np.ascontiguousarray(samples[np.arange(len(samples)) % 11 != 10]), 1.1)


def streamed(x: F32) -> F32:
    """Features frame by frame, as a stream has them."""
    state, rows = fbank.fresh(), []
    out = np.empty((2, BANDS), np.float32)
    for start in range(0, len(x), 160):
        done = fbank.stream(state, out, np.ascontiguousarray(x[start : start + 160]))
        rows += [row.copy() for row in out[:done]]
    return np.array(rows)


def test_features_are_those_of_the_stream(tmp_path: Path) -> None:
    utterances = spoken(tmp_path, 2)
    pack = packed(tmp_path, utterances)
    assert [(row.utterance, row.speaker) for row in pack.rows] == [("u0", "c:s0"), ("u1", "c:s1")]
    for u, row in zip(utterances, pack.rows, strict=True):
        expected = streamed(u.audio())
        assert row.frames == len(expected)
        assert np.array_equal(pack.mel[row.start : row.start + row.frames], expected.astype(np.float16))
    assert len(pack.mel) == len(pack.state) == len(pack.pitch) == sum(row.frames for row in pack.rows)


def test_a_state_lasts_from_its_beginning_to_the_next_ones() -> None:
    """Thirds of unequal length; a frame is heard at its centre."""
    segments: list[Segment] = [("AA", 1000, 1100, 1300, 2000), (phones.SILENCE, 2000, 2200, 2400, 2600)]
    a = phones.NUMBER["AA"]
    times = np.array([0, 999, 1000, 1099, 1100, 1300, 1999.9, 2000, 2300, 2599, 2600, 9000])
    ignored = phones.IGNORED
    expected = [ignored, ignored, *(phones.state(a, third) for third in (0, 0, 1, 2, 2)), 0, 0, 0, ignored, ignored]
    assert states_at(segments, times).tolist() == expected


def test_without_segments_no_state_is_known() -> None:
    assert states_at([], np.arange(5.0)).tolist() == [phones.IGNORED] * 5


def test_labels_stay_with_the_sound_when_it_is_made_faster(tmp_path: Path) -> None:
    """A tone where the vowel is: its first and last loud frames are the vowel's, within a frame, at both speeds."""
    x = tone(24_000, 150)
    x[:6400] = x[16_000:] = 0
    u = utterance("u", recorded(tmp_path / "u.wav", x))
    for pack in (packed(tmp_path, [u], name="a"), packed(tmp_path, [u], Faster(), name="b")):
        vowel = np.flatnonzero(phones.phone_of_state()[pack.state % phones.IGNORED] == phones.NUMBER["AA"])
        loud = np.flatnonzero(pack.mel[:, :10].max(1) > pack.mel[:, :10].max() - 2)
        assert abs(vowel[0] - loud[0]) <= 1
        assert abs(vowel[-1] - loud[-1]) <= 1
    assert len(vowel) == pytest.approx(60 / 1.1, abs=1)


def test_pitch_rises_with_the_speed(tmp_path: Path) -> None:
    utterances = spoken(tmp_path, 1)
    slow, fast = packed(tmp_path, utterances, name="a"), packed(tmp_path, utterances, Faster(), name="b")
    sounding = [p[(p > 0) & (p < pitch.IGNORED)] for p in (slow.pitch, fast.pitch)]
    assert min(len(p) for p in sounding) > 40
    rise = np.median(sounding[1].astype(int)) - np.median(sounding[0].astype(int))
    assert abs(rise - np.log(1.1) / pitch.STEP) <= 1


def test_pitch_is_where_it_is_heard(tmp_path: Path) -> None:
    """Unvoiced frames of a copy are those of the original at the times that they are heard."""
    (u,) = spoken(tmp_path, 1)
    track = pitch.track(u.audio())
    pack = packed(tmp_path, [u], Faster())
    heard = 1.1 * (160 * np.arange(len(pack.pitch)) + 200) / 160
    near = track[np.minimum(np.rint(heard).astype(int), len(track) - 1)]
    assert np.array_equal(pack.pitch == 0, near == 0)


def test_pitch_is_found_once_for_all_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    utterances, tracks = spoken(tmp_path, 2), dict[str, np.ndarray]()
    first = make(tmp_path / "a", utterances, {}, None, tracks, Journal(tmp_path))
    assert sorted(tracks) == ["u0", "u1"]
    monkeypatch.setattr(pitch, "track", None)
    again = make(tmp_path / "b", utterances, {}, None, tracks, Journal(tmp_path))
    assert np.array_equal(first.pitch, again.pitch)


def test_a_copy_is_made_anew_the_same(tmp_path: Path) -> None:
    utterances = spoken(tmp_path, 2)
    one, other = (packed(tmp_path, utterances, Augmenter(4, []), name) for name in "ab")
    for file in ("mel.npy", "state.npy", "pitch.npy", "rows.csv"):
        assert (one.folder / file).read_bytes() == (other.folder / file).read_bytes()
    third = packed(tmp_path, utterances, Augmenter(5, []), "c")
    assert len(third.mel) != len(one.mel) or not np.array_equal(third.mel, one.mel)


def test_a_pack_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    pack = packed(tmp_path, spoken(tmp_path, 1))
    before = {path: path.stat().st_mtime_ns for path in pack.folder.iterdir()}
    assert packed(tmp_path, spoken(tmp_path / "other", 3)).rows == pack.rows
    assert {path: path.stat().st_mtime_ns for path in pack.folder.iterdir()} == before


def test_a_pack_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    utterances = spoken(tmp_path / "audio", 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packs, "write_rows", full)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "packs" / "a", utterances, {}, None, {}, Journal(tmp_path))
    assert list((tmp_path / "packs").iterdir()) == []
    monkeypatch.undo()
    assert len(make(tmp_path / "packs" / "a", utterances, {}, None, {}, Journal(tmp_path)).rows) == 1


def test_what_is_too_short_for_a_frame_is_left_out(tmp_path: Path) -> None:
    utterances = [utterance("short", recorded(tmp_path / "short.wav", tone(300, 200))), *spoken(tmp_path, 1)]
    assert [row.utterance for row in packed(tmp_path, utterances).rows] == ["u0"]


def test_babble_is_of_other_utterances_each_time_the_same(tmp_path: Path) -> None:
    utterances = spoken(tmp_path, 5, 0.2)
    one, again, other = (babble_of(utterances, seed, 3) for seed in (1, 1, 2))
    assert len(one) == 3
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert len(one[0]) == RATE // 5
