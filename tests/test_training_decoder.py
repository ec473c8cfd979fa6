"""The decoder: streamed as whole, nothing from later on, a voice that alone says where F0 lies; its pieces and its loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from velavox.kernels.prosody import FEATURES
from velavox.kernels.vocoder import BANDS, centres
from velavox.models_onnx.training.checkpoint import save
from velavox.models_onnx.training.decoder import CLASSES, NOISES, VOICE, Decoder, Emphasis, Shape, Spoken, load
from velavox.models_onnx.training.decoding import Piece, Pieces, fit, loss_of
from velavox.models_onnx.training.hearing import LATES, Hearing, content
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.loop import Plan
from velavox.models_onnx.training.packs import Row, write_rows
from velavox.models_onnx.training.student import LATE, SOON, Block
from velavox.models_onnx.training.targets import LEVEL, TargetPack, levelled
from velavox.models_onnx.training.voices import GROUP, Voices, changed, draw, groups

torch.set_num_threads(1)

SMALL = Shape(LATE, width=16, hidden=24, taps=4, dilations=(1, 2), voice=8, dropout=0.2)


def untrained(shape: Shape = SMALL, seed: int = 0) -> Decoder:
    """With weights everywhere, also where training begins at 0."""
    torch.manual_seed(seed)
    decoder = Decoder(shape)
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return decoder.eval()


def heard(shape: Shape, frames: int, batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(1)
    sizes = (batch, frames, CLASSES[shape.late]), (batch, frames, FEATURES), (batch, VOICE)
    made = [torch.randn(size, generator=random) for size in sizes]
    return made[0], made[1], made[2]


@pytest.mark.parametrize("late", [LATE, SOON])
def test_streamed_equals_whole(late: int) -> None:
    decoder = untrained(Shape(late, 16, 24, 4, (1, 2), 8))
    said, prosody, voice = heard(decoder.shape, 40)
    with torch.no_grad():
        whole, _ = decoder(said, prosody, voice, decoder.fresh(2))
        memory, parts = decoder.fresh(2), []
        for start in range(0, 40, 2):
            span = slice(start, start + 2)
            part, memory = decoder(said[:, span], prosody[:, span], voice, memory)
            parts.append(part)
    for name, expected in whole._asdict().items():
        torch.testing.assert_close(torch.cat([getattr(part, name) for part in parts], 1), expected, atol=1e-5, rtol=0)


def test_hears_nothing_later() -> None:
    decoder = untrained()
    said, prosody, voice = heard(SMALL, 40)
    with torch.no_grad():
        whole, _ = decoder(said, prosody, voice, decoder.fresh(2))
        said[:, 20:], prosody[:, 20:] = 9.0, -9.0
        other, _ = decoder(said, prosody, voice, decoder.fresh(2))
    for a, b in zip(whole, other, strict=True):
        assert torch.equal(a[:, :20], b[:, :20])
        assert not torch.equal(a[:, 20:], b[:, 20:])


def test_traits_are_the_voices() -> None:
    """Mean and range of ln F0 and the mean spectrum move by what `traits` says of a voice, and by nothing else of it."""
    decoder = untrained()
    torch.nn.init.zeros_(decoder.film.weight)
    said, prosody, _ = heard(SMALL, 40)
    voices = torch.eye(VOICE)[:2]
    with torch.no_grad():
        a, b = (decoder(said[:1], prosody[:1], voice[None], decoder.fresh(1))[0] for voice in voices)
        traits = decoder.traits.bias + voices @ decoder.emphasised().T
        mean, spread = traits[:, :2].T.tanh()
        contour = [(x.tone - np.log(148) - 0.6 * m) / (0.7 * r).exp() for x, m, r in zip((a, b), mean, spread, strict=True)]
        timbre = traits[:, 2:]
    torch.testing.assert_close(contour[0], contour[1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(b.envelope - a.envelope, (timbre[1] - timbre[0]).expand(1, 40, BANDS), atol=1e-5, rtol=1e-4)


def test_film_multiplies() -> None:
    """Where the factor is 0 and the summand 0, a block hears nothing."""
    decoder = untrained()
    size = len(SMALL.dilations) * 2 * SMALL.width
    torch.nn.init.zeros_(decoder.film.weight)
    decoder.film.bias.data = torch.tensor([-1.0, 0.0])[None, :, None].expand(2, 2, 16).reshape(size).clone()
    said, prosody, voice = heard(SMALL, 12)
    with torch.no_grad():
        x = decoder.entry(torch.cat((said, prosody), -1).reshape(2, 6, -1))
        for block in decoder.blocks:
            assert isinstance(block, Block)
            x = x + block.fall(torch.relu(block.rise.bias))
        envelope = decoder.head(decoder.norm(x)).reshape(2, 12, -1)[..., 2 : 2 + BANDS]
        got, _ = decoder(said, prosody, voice, decoder.fresh(2))
    traits = decoder.traits.bias + voice @ decoder.emphasised().T
    torch.testing.assert_close(got.envelope, envelope + traits[:, None, 2:], atol=1e-5, rtol=1e-4)


def test_emphasis_is_of_what_is_particular_to_a_voice() -> None:
    decoder = untrained()
    torch.nn.init.zeros_(decoder.film.weight)
    torch.nn.init.zeros_(decoder.film.bias)
    said, prosody, voice = heard(SMALL, 8)
    nobody = torch.zeros(2, VOICE)
    with torch.no_grad():
        plain, mean, much = (
            decoder(said, prosody, v, decoder.fresh(2), Emphasis(1.0, factor))[0].envelope
            for v, factor in ((voice, 1.0), (nobody, 2.5), (voice, 2.5))
        )
    torch.testing.assert_close(much - mean, 2.5 * (plain - mean), atol=1e-4, rtol=1e-4)


def test_saved_as_it_was(tmp_path: Path) -> None:
    decoder = untrained()
    save(tmp_path / "d.pt", decoder, step=3)
    again, saved = load(tmp_path / "d.pt")
    assert saved["step"] == 3
    assert again.shape == SMALL
    inputs = heard(SMALL, 4)
    for a, b in zip(decoder(*inputs, decoder.fresh(2))[0], again(*inputs, again.fresh(2))[0], strict=True):
        assert torch.equal(a, b)


# --- Voices ---


def test_no_change_changes_nothing() -> None:
    envelope = np.random.default_rng(0).normal(size=(5, BANDS)).astype(np.float32)
    np.testing.assert_allclose(changed(envelope, 0.0, 0.0), envelope, atol=1e-5)


@pytest.mark.parametrize("warp", [-0.15, 0.1])
def test_a_formant_moves_by_the_warp(warp: float) -> None:
    envelope = -(((np.log(centres() + 300) - np.log(1800)) / 0.1) ** 2).astype(np.float32)
    peaks = [np.average(centres(), weights=np.exp(e)) for e in (envelope, changed(envelope, warp, 0.0))]
    assert np.log(peaks[1] / peaks[0]) == pytest.approx(warp, abs=0.02)


def test_a_tilt_adds_a_slope() -> None:
    np.testing.assert_allclose(changed(np.zeros((1, BANDS), np.float32), 0.0, 0.5)[0, [0, -1]], [-0.5, 0.5])


def test_a_drawn_voice_can_be_spoken() -> None:
    random = np.random.default_rng(0)
    for pitch in (85.0, 150.0, 290.0):
        shifts = [draw(random, pitch).shift for _ in range(300)]
        assert pitch * np.exp(min(shifts)) >= 75 - 1e-6
        assert pitch * np.exp(max(shifts)) <= 300 + 1e-6
        assert np.ptp(shifts) > 0.5


def test_groups_are_of_one_speaker_and_whole() -> None:
    lengths = {"a": [GROUP, 10, 20], "b": [GROUP // 2] * 5, "c": [7]}
    rows, start = [], 0
    for speaker, frames in lengths.items():
        for n in frames:
            rows.append(Row(f"{start}", speaker, start, n))
            start += n
    found = groups(rows)
    assert [i for group in found for i in group] == list(range(len(rows)))
    assert all(len({rows[i].speaker for i in group}) == 1 for group in found)
    assert [len(group) for group in found] == [1, 2, 2, 2, 1, 1]


# --- What is heard ---


def test_content_of_states_and_of_what_is_known_by_then() -> None:
    frames = 12
    states, known = np.zeros((frames, 2, 3), np.uint8), np.zeros((frames, 2, 3), np.uint8)
    for kept in (states, known):
        kept[:, 0] = np.arange(frames)[:, None] + np.array([0, 20, 30])
        kept[:, 1] = [4, 2, 1]
    balanced, low = content(states, known, LATE), content(states, known, SOON)
    assert balanced.shape == (frames, CLASSES[LATE])
    assert low.shape == (frames, CLASSES[SOON])
    n = CLASSES[LATE] - CLASSES[SOON]
    for t in range(frames):
        assert balanced[t, :n].nonzero().flatten().tolist() == [t, t + 20, t + 30]
        assert balanced[t, [t, t + 20, t + 30]].tolist() == pytest.approx([4 / 7, 2 / 7, 1 / 7])
        assert low[t].argmax() == t
        assert balanced[t, n:].argmax() == min(t + LATE - SOON, frames - 1)


# --- Training ---


@pytest.fixture
def data(tmp_path: Path) -> tuple[TargetPack, list[Hearing], list[Voices]]:
    """Two groups that can be learnt: the envelope is that of the state, F0 that of the voice."""
    random = np.random.default_rng(0)
    lengths = [("a", 300), ("a", 300), ("b", 900)]
    starts = np.cumsum([0, *(n for _, n in lengths)])
    rows = [Row(f"u{i}", speaker, int(starts[i]), n) for i, (speaker, n) in enumerate(lengths)]
    frames = int(starts[-1])
    state = np.repeat(random.integers(0, 50, frames // 10), 10)
    spectra = random.normal(-6, 1, size=(50, BANDS))
    (tmp_path / "targets").mkdir()
    write_rows(tmp_path / "targets" / "rows.csv", rows)
    np.save(
        tmp_path / "targets" / "f0.npy", np.where(state % 3 > 0, np.where(np.arange(frames) < 600, 100, 200), 0).astype("f4")
    )
    np.save(tmp_path / "targets" / "envelope.npy", spectra[state].astype(np.float16))
    np.save(tmp_path / "targets" / "noise.npy", np.full((frames, NOISES), 0.3, np.float16))
    kept = np.zeros((frames, 2, 3), np.uint8)
    kept[:, 0], kept[:, 1] = state[:, None] + np.arange(3), [7, 0, 0]
    (tmp_path / "hearing").mkdir()
    np.save(tmp_path / "hearing" / "states.npy", kept)
    np.save(tmp_path / "hearing" / "phones.npy", kept)
    np.save(tmp_path / "hearing" / "prosody.npy", np.zeros((frames, len(LATES), FEATURES), np.float16))
    (tmp_path / "voices").mkdir()
    vectors = random.normal(size=(2, VOICE)).astype(np.float32)
    np.save(tmp_path / "voices" / "vectors.npy", 4 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    np.save(tmp_path / "voices" / "changes.npy", [[0, 0, 0], [0, np.log(1.5), 0.5]])
    return TargetPack(tmp_path / "targets"), [Hearing(tmp_path / "hearing")], [Voices(tmp_path / "voices")]


def perfect(piece: Piece) -> Spoken:
    noise = torch.logit(piece.noise.clamp(1e-4, 1 - 1e-4))
    return Spoken(piece.f0.clamp(min=1).log(), (piece.f0 > 0) * 40.0 - 20.0, piece.envelope, noise)


def test_a_batch_is_its_numbers(data: tuple[TargetPack, list[Hearing], list[Voices]]) -> None:
    pieces = Pieces(*data, LATE, 64, 4, seed=0)
    for a, b in zip(vars(pieces(3)).values(), vars(pieces(3)).values(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(pieces(3).envelope, pieces(4).envelope)


def test_what_is_heard_is_what_is_to_be_said(data: tuple[TargetPack, list[Hearing], list[Voices]]) -> None:
    """The same frames, in one voice, of one speaker, changed as that voice is."""
    pack, _, voices = data
    piece = Pieces(*data, LATE, 64, 8, seed=0)(0)
    spectra = {int(s): e for s, e in zip(data[1][0].states[:, 0, 0], pack.envelope.astype(np.float32), strict=True)}
    for b in range(8):
        which = int(np.abs(voices[0].vectors - piece.voice[b].numpy()).sum(1).argmin())
        for t in range(64):
            state = int(piece.content[b, t, :154].argmax())
            expected = spectra[state] + which * np.linspace(-0.5, 0.5, BANDS)
            np.testing.assert_allclose(piece.envelope[b, t], expected, atol=1e-3)
        assert set(np.round(piece.f0[b].tolist(), 3)) <= {0.0, (100.0, 300.0)[which]}


def test_the_loss_is_least_for_who_is_right(data: tuple[TargetPack, list[Hearing], list[Voices]]) -> None:
    piece = Pieces(*data, LATE, 64, 4, seed=0)(0)
    right = perfect(piece)
    least = loss_of(right, piece)
    assert least["envelope"] == 0
    assert least["tone"] < 1e-5
    for name, part, wrong in (
        ("envelope", "envelope", right.envelope + 0.1),
        ("tone", "tone", right.tone + 0.1),
        ("voiced", "voiced", -right.voiced),
        ("noise", "noise", right.noise + 1),
    ):
        assert loss_of(right._replace(**{part: wrong}), piece)[name] > least[name] + 0.02


def test_frames_beyond_the_end_cost_nothing(data: tuple[TargetPack, list[Hearing], list[Voices]]) -> None:
    piece = Pieces(*data, LATE, 1000, 4, seed=0)(0)
    said = perfect(piece)
    ended = piece.weight == 0
    assert ended.any()
    wrong = said._replace(envelope=torch.where(ended[..., None], 99.0, said.envelope), voiced=said.voiced * (1 - 2.0 * ended))
    for name, part in loss_of(wrong, piece).items():
        assert part == loss_of(said, piece)[name]


def test_it_learns(data: tuple[TargetPack, list[Hearing], list[Voices]], tmp_path: Path) -> None:
    pieces = Pieces(*data, LATE, 64, 4, seed=0)
    journal = Journal(tmp_path)
    fit(tmp_path / "decoder", Plan(150, rate=1e-2, validate_every=150), SMALL, pieces, pieces, journal)
    decoder, saved = load(tmp_path / "decoder" / "best.pt")
    piece = pieces(0)
    with torch.no_grad():
        said, _ = decoder(piece.content, piece.prosody, piece.voice, decoder.fresh(4))
        begun = Decoder(SMALL)
        silent, _ = begun(piece.content, piece.prosody, piece.voice, begun.fresh(4))
    assert saved["step"] == 150
    assert sum(loss_of(said, piece).values()) < 0.3 * sum(loss_of(silent, piece).values())


def test_levelled_speech_has_one_level() -> None:
    random = np.random.default_rng(0)
    speech = (random.normal(size=32000) * np.repeat([1, 0.001] * 5, 3200)).astype(np.float32)
    for gain in (0.01, 3.0):
        x = levelled(speech * np.float32(gain))
        assert np.sqrt((x[:3200] ** 2).mean()) == pytest.approx(LEVEL, rel=0.05)
    assert not levelled(np.zeros(4000, np.float32)).any()
