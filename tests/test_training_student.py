"""The student: step by step as at once, nothing from later than it says, and back from disk as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from velavox.engine.content.phones import PHONES, STATES
from velavox.models_onnx.training import student
from velavox.models_onnx.training.checkpoint import save
from velavox.models_onnx.training.content import KEPT, LEVELS, channel, coarse
from velavox.models_onnx.training.pitch import PITCHES
from velavox.models_onnx.training.student import BANDS, LATE, PAIR, SOON, Outputs, Shape, Student, load

torch.set_num_threads(1)

SHAPE = Shape(width=24, hidden=32, taps=4, dilations=(1, 2, 3))
REACH = PAIR * (1 + 3 * (1 + 2 + 3))  # frames that an output depends on


def made(seed: int = 0, shape: Shape = SHAPE) -> Student:
    torch.manual_seed(seed)
    made = Student(shape)
    made.scale.copy_(torch.rand(BANDS) + 0.5)
    return made.eval()


def speech(frames: int, batch: int = 2, seed: int = 1) -> Tensor:
    return torch.randn(batch, frames, BANDS, generator=torch.Generator().manual_seed(seed))


def said(net: Student, mel: Tensor) -> Outputs:
    with torch.no_grad():
        return net(mel, net.fresh(len(mel)))[0]  # type: ignore[no-any-return]


def close(one: Outputs, other: Outputs) -> bool:
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))


def test_outputs_are_logits_of_every_frame() -> None:
    outputs = said(made(), speech(40))
    assert [o.shape for o in outputs] == [(2, 40, STATES), (2, 40, len(PHONES)), (2, 40, 1 + PITCHES)]


@pytest.mark.parametrize("steps", [1, 2, 7, 20])
def test_step_by_step_is_as_at_once(steps: int) -> None:
    """Also in steps shorter than what a block remembers."""
    net, mel = made(), speech(40)
    memory, parts = net.fresh(len(mel)), []
    with torch.no_grad():
        for start in range(0, 40, PAIR * steps):
            outputs, memory = net(mel[:, start : start + PAIR * steps], memory)
            parts.append(outputs)
    assert close(Outputs(*(torch.cat(p, 1) for p in zip(*parts, strict=True))), said(net, mel))


def test_what_comes_later_than_a_step_changes_nothing_in_it() -> None:
    net, mel = made(), speech(60)
    whole = said(net, mel)
    for cut in (2, 20, 58):
        assert close(said(net, mel[:, :cut]), Outputs(*(o[:, :cut] for o in whole)))
        other = mel.clone()
        other[:, cut:] = 1e3
        assert close(Outputs(*(o[:, :cut] for o in said(net, other))), Outputs(*(o[:, :cut] for o in whole)))
        assert not torch.allclose(said(net, other).states[:, cut], whole.states[:, cut])


def test_what_is_longer_past_than_all_filters_reach_is_forgotten() -> None:
    net, mel = made(), speech(2 * REACH)
    other = mel.clone()
    other[:, :PAIR] += 1
    changed = [(a - b).abs().amax((0, 2)) > 1e-6 for a, b in zip(said(net, mel), said(net, other), strict=True)]
    for per_frame in changed:
        assert per_frame[0]
        assert per_frame[REACH - PAIR]
        assert not per_frame[REACH:].any()


def test_each_utterance_of_a_batch_is_heard_alone() -> None:
    net, mel = made(), speech(30, batch=3)
    assert close(said(net, mel[1:2]), Outputs(*(o[1:2] for o in said(net, mel))))


def test_features_are_scaled() -> None:
    net, mel = made(), speech(20)
    plain = made()
    plain.load_state_dict({**net.state_dict(), "scale": torch.ones(BANDS)})
    assert close(said(net, mel), said(plain, mel * net.scale))


def test_dropout_takes_units_for_all_of_a_piece_and_only_in_training() -> None:
    block = made().blocks[0]
    assert isinstance(block, student.Block)
    x, past = torch.randn(3, 50, SHAPE.width), torch.zeros(3, block.past, SHAPE.width)
    assert torch.equal(block(x, past)[0], block(x, past)[0])
    hidden: list[Tensor] = []
    block.fall.register_forward_pre_hook(lambda module, args: hidden.append(args[0]))
    block.train()
    torch.manual_seed(0)
    block(x, past)
    block.eval()
    block(x, past)
    taken = (hidden[0] == 0) & (hidden[1] > 0)
    of_unit = taken.any(1)
    assert torch.equal(taken.any(1, keepdim=True) & (hidden[1] > 0), taken)  # at all frames at which it would speak
    assert 0.02 < of_unit.float().mean() < 0.25
    assert not torch.equal(of_unit[0], of_unit[1])


def test_a_block_begins_as_the_identity_on_time() -> None:
    """Its filter's last tap is the present: an impulse is strongest where it comes in."""
    block = student.Block(Shape(width=64, taps=8), dilation=2)
    assert block.taps[:, 0].abs().argmax(1).bincount(minlength=8)[-1] == 64


def test_a_checkpoint_is_read_as_it_was_saved(tmp_path: Path) -> None:
    net, mel = made(), speech(20)
    save(tmp_path / "folder" / "a.pt", net.train(), step=7, dev=0.5)
    back, more = load(tmp_path / "folder" / "a.pt")
    assert (back.shape, more["step"], more["dev"]) == (SHAPE, 7, 0.5)
    assert not back.training
    assert close(said(back, mel), said(net.eval(), mel))


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "a.pt", made(), step=1)

    def half(content: object, part: Path) -> None:
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="No space"):
        save(tmp_path / "a.pt", made(), step=2)
    assert load(tmp_path / "a.pt")[1]["step"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]


def test_content_is_the_likeliest_three_in_eight_levels() -> None:
    logits = 3 * torch.randn(50, 30, STATES, generator=torch.Generator().manual_seed(0))
    cut, posterior = coarse(logits), logits.softmax(-1)
    assert ((cut > 0).sum(-1) <= KEPT).all()
    levels = cut * (LEVELS - 1)
    assert torch.allclose(levels, levels.round(), atol=1e-5)
    assert (cut - posterior).abs()[cut > 0].max() <= 0.5 / (LEVELS - 1) + 1e-6
    smallest_kept = posterior.topk(KEPT, -1).values[..., -1:]
    assert not cut[posterior < smallest_kept].any()


def test_content_does_not_change_with_the_tails() -> None:
    """Two posteriors that agree in their three likeliest classes, of which the rest is spread otherwise."""
    one = torch.tensor([[0.5, 0.2, 0.13, 0.1, 0.05, 0.02]]).log()
    other = torch.tensor([[0.5, 0.2, 0.13, 0.04, 0.04, 0.09]]).log()
    assert torch.equal(coarse(one)[:, :3], coarse(other)[:, :3])
    assert not coarse(one)[:, 3:].any()


def test_the_channel_says_the_states_of_a_frame_and_the_phones_known_by_then() -> None:
    """Row t is said when the states of frame t are known, LATE frames later: the phones are of frame t + LATE - SOON."""
    frames = 20
    states, phones = torch.zeros(1, frames, STATES), torch.zeros(1, frames, len(PHONES))
    for t in range(frames):  # as a perfect student, whose classes count the frames
        if t >= LATE:
            states[0, t, t - LATE] = 99
        if t >= SOON:
            phones[0, t, t - SOON] = 99
    row = channel(Outputs(states, phones, torch.zeros(1, frames, 1 + PITCHES)))[0]
    assert row.shape == (frames - LATE, STATES + len(PHONES))
    assert row[:, :STATES].argmax(-1).tolist() == list(range(frames - LATE))
    assert row[:, STATES:].argmax(-1).tolist() == list(range(LATE - SOON, frames - SOON))
