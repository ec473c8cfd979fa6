"""Batches: the same by number, cut from within utterances, and changed with their labels."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soxr
import torch
from signals import RATE, voice
from trainingdata import numbered, pack
from velavox.engine.content import phones
from velavox.kernels import fbank
from velavox.kernels.jit import F64
from velavox.models_onnx.training import batches, pitch
from velavox.models_onnx.training.batches import Batch, Sampler, warped
from velavox.models_onnx.training.packs import BANDS, Pack

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    """Rows shorter and longer than a piece."""
    return numbered(tmp_path_factory.mktemp("packs") / "short", [30, 50, 200, 20, 90, 7])


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is changed: the features are the pack's."""
    monkeypatch.setattr(batches, "_WARP", 0.0)
    monkeypatch.setattr(batches, "warped", lambda mel, factor: mel)
    monkeypatch.setattr(batches, "features", lambda mel: mel)
    monkeypatch.setattr(batches, "_mask", lambda random, mel: None)


def same(one: Batch, other: Batch) -> bool:
    return all(torch.equal(a, b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True))


def test_a_batch_depends_on_its_number_and_the_seed(short: Pack) -> None:
    sampler = Sampler([(1.0, [short])], 64, 5, seed=3)
    first = sampler(7)
    sampler(8)
    assert same(sampler(7), first)
    assert same(Sampler([(1.0, [short])], 64, 5, seed=3)(7), first)
    assert not same(sampler(8), first)
    assert not same(Sampler([(1.0, [short])], 64, 5, seed=4)(7), first)


def test_shapes_and_types(short: Pack) -> None:
    batch = Sampler([(1.0, [short])], 64, 5, seed=0)(0)
    assert (batch.features.shape, batch.features.dtype) == ((5, 64, BANDS), torch.float32)
    for target in (batch.state, batch.pitch):
        assert (target.shape, target.dtype) == ((5, 64), torch.int64)


def test_frames_keep_their_labels(short: Pack, plain: None) -> None:
    """Each frame of a piece is a frame of the pack, with the state and the pitch that it has there."""
    starts = {number: row.start for number, row in enumerate(short.rows)}
    sampler = Sampler([(1.0, [short])], 64, 5, seed=0)
    for number in range(10):
        batch = sampler(number)
        place = [[starts[int(row)] + int(frame) for row, frame in piece[:, :2]] for piece in batch.features]
        assert np.array_equal(batch.features, short.mel[place].astype(np.float32))
        assert np.array_equal(batch.state, short.state[place])
        assert np.array_equal(batch.pitch, short.pitch[place])


def test_pieces_run_on_and_short_rows_are_joined_whole(short: Pack, plain: None) -> None:
    """A piece begins anywhere; where it does not run on, a row has ended and another begins."""
    frames = {number: row.frames for number, row in enumerate(short.rows)}
    sampler = Sampler([(1.0, [short])], 64, 5, seed=1)
    begins = []
    for number in range(30):
        for piece in sampler(number).features[..., :2].int().tolist():
            begins.append(tuple(piece[0]))
            for (row, frame), (next_row, next_frame) in pairwise(piece):
                if (next_row, next_frame) != (row, frame + 1):
                    assert frame + 1 == frames[row]
                    assert next_frame == 0
    assert len(set(begins)) > 40
    assert max(frame for row, frame in begins if row == 2) > 200 - 40  # the end of a long row is heard too


def test_all_frames_of_rows_longer_than_a_piece_are_heard_about_as_often(tmp_path: Path, plain: None) -> None:
    share = heard(numbered(tmp_path / "long", [200, 300, 100]))
    assert share.min() > 0.4
    assert share.max() < 1.7


def test_short_rows_are_heard_as_often_as_long_ones(tmp_path: Path, plain: None) -> None:
    """By their frames; single words among sentences, once a tenth as often as those."""
    lengths = [20] * 40 + [300] * 10
    share = heard(numbered(tmp_path / "mixed", lengths))
    assert 0.7 < share[:800].mean() / share[800:].mean() < 1.4


def heard(pack: Pack) -> F64:
    """How often each frame is, 1 on average."""
    count = np.zeros(len(pack.state))
    starts = np.array([row.start for row in pack.rows])
    sampler = Sampler([(1.0, [pack])], 64, 8, seed=2)
    for number in range(200):
        rows, frames = sampler(number).features[..., :2].int().numpy().reshape(-1, 2).T
        np.add.at(count, starts[rows] + frames, 1)
    return np.asarray(count / count.mean())


def test_groups_are_drawn_by_weight_and_packs_by_length(tmp_path: Path, plain: None) -> None:
    large, small, rare = (pack(tmp_path / str(n), [100] * n, seed=n) for n in (30, 10, 80))
    for p in (large, small, rare):
        mel = np.array(p.mel)
        mel[:, 2] = len(p.rows)
        np.save(p.folder / "mel.npy", mel)
    groups = [(0.8, [Pack(large.folder), Pack(small.folder)]), (0.2, [Pack(rare.folder)])]
    sampler = Sampler(groups, 10, 50, seed=0)
    drawn = np.concatenate([sampler(n).features[:, 0, 2].numpy() for n in range(60)])
    for rows, share in ((30, 0.6), (10, 0.2), (80, 0.2)):
        assert np.mean(drawn == rows) == pytest.approx(share, abs=0.03)


def test_pitch_moves_with_the_frequencies(short: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    """By as much as the factor says; unvoiced and unknown frames stay so, and states as they are."""
    mel = np.array(short.mel)
    factors = []

    def spied(mel: np.ndarray, factor: np.ndarray) -> np.ndarray:
        factors.append(factor)
        return mel

    monkeypatch.setattr(batches, "warped", spied)
    monkeypatch.setattr(batches, "features", lambda mel: mel)
    monkeypatch.setattr(batches, "_mask", lambda random, mel: None)
    starts = np.array([row.start for row in short.rows])
    moved = 0
    for number in range(10):
        batch = Sampler([(1.0, [short])], 64, 6, seed=0)(number)
        rows, frames = batch.features[..., 0].int().numpy(), batch.features[..., 1].int().numpy()
        place = starts[rows] + frames
        assert np.array_equal(mel[place].astype(np.float32), batch.features)
        assert np.array_equal(batch.state, short.state[place])
        steps = np.rint(np.log(factors[-1]) / pitch.STEP)[:, None]
        before = short.pitch[place].astype(int)
        assert np.array_equal(batch.pitch, np.where(before == 0, 0, np.clip(before + steps, 1, pitch.PITCHES)))
        moved += int(np.count_nonzero(steps))
    assert 15 < moved < 55
    assert np.abs(np.log(np.concatenate(factors))).max() <= np.log(1.18)


def test_unknown_pitch_stays_unknown(tmp_path: Path) -> None:
    unknown = pack(tmp_path / "unknown", [300])
    np.save(unknown.folder / "pitch.npy", np.full(300, pitch.IGNORED, np.uint8))
    batch = Sampler([(1.0, [Pack(unknown.folder)])], 64, 8, seed=0)(0)
    assert (batch.pitch == pitch.IGNORED).all()


def test_warped_features_are_those_of_the_stretched_spectrum() -> None:
    """Against features of speech whose spectrum is stretched: resampled by the factor, read at the frames' new times."""
    x = voice(3.0, 120)
    for factor in (1.12, 0.9):
        faster = np.asarray(soxr.resample(x, RATE * factor, RATE, quality="VHQ"), np.float32)
        target = fbank.offline(faster)
        times = (160 * np.arange(len(target)) + 200) * factor  # of the original that is heard
        near = np.clip(np.rint((times - 200) / 160).astype(int), 0, None)
        original = fbank.offline(x)
        inside = near < len(original)
        before, target = original[near[inside]], target[inside]
        after = warped(before[None], np.array([factor]))[0]
        bands = slice(5, 70)  # at the ends there is nothing to read
        loud = target.max(1) > np.median(target.max(1))

        def distance(a: np.ndarray, target: np.ndarray = target, loud: np.ndarray = loud, bands: slice = bands) -> float:
            """Of long-term spectra, whatever their level."""
            gap = (a[loud][:, bands] - target[loud][:, bands]).mean(0)
            return float(np.std(gap))

        assert distance(after) < 0.4 * distance(before)


def test_not_warped_is_the_same() -> None:
    mel = np.random.default_rng(0).normal(size=(2, 5, BANDS)).astype(np.float32)
    assert np.abs(warped(mel, np.ones(2)) - mel).max() < 1e-5


def test_a_peak_moves_to_where_its_frequency_goes() -> None:
    low, high = 1127 * np.log1p(20 / 700), 1127 * np.log1p(8000 / 700)
    centres = 700 * np.expm1((low + (high - low) / (BANDS + 1) * np.arange(1, BANDS + 1)) / 1127)
    for band in (20, 40, 60):
        mel = -np.abs(np.arange(BANDS) - band)[None, None].astype(np.float32)
        for factor in (0.85, 1.0, 1.18):
            found = centres[warped(mel, np.array([factor]))[0, 0].argmax()]
            assert abs(np.log(found / (centres[band] * factor))) < 0.5 * np.log(centres[band + 1] / centres[band - 1])


def test_masked_pieces_keep_most_of_what_they_say() -> None:
    mel = np.random.default_rng(1).normal(size=(400, 100, BANDS)).astype(np.float32)
    masked = mel.copy()
    batches._mask(np.random.default_rng(2), masked)
    changed = (masked != mel).mean((1, 2))
    assert 0.4 < np.mean(changed > 0) < 0.6
    assert changed.max() < 0.35
    for before, after in zip(mel, masked, strict=True):
        assert np.allclose(after[after != before], before.mean(), atol=0.02)


def test_states_are_known_or_ignored(short: Pack) -> None:
    batch = Sampler([(1.0, [short])], 64, 5, seed=0)(0)
    assert ((batch.state < phones.STATES) | (batch.state == phones.IGNORED)).all()
