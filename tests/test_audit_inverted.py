"""Undoing a voice: with the right parameter the formants are back, not with others; the attacker tries the right range."""

import pytest
from signals import voice
from velavox.bench.audit.inverted import ALPHAS, DRAWS, how, undoings
from velavox.bench.condition import Condition
from velavox.bench.measure import envelope_change
from velavox.bench.speech import clips
from velavox.engine.mcadams import McAdams
from velavox.kernels.jit import F32


@pytest.fixture(scope="module")
def speech() -> F32:
    return clips()["27-123349-0009"][: 5 * 16_000]


@pytest.mark.parametrize(
    ("known", "also", "at_most"),  # measured: .08, .20, .12, .22, .07, .53
    [
        ("mcadams:alpha=0.7", "", 0.2),
        ("mcadams:alpha=0.55", "", 0.4),
        ("vtln:amount=0.25,direction=1", "", 0.3),
        ("vtln:amount=0.25,direction=-1,warp=bilinear", "", 0.35),
        ("vtln:amount=0.2,direction=1,on=spectrum", "", 0.3),
        ("voicemask:alpha=0.1,beta=0", ",pitch=150", 0.7),
    ],
)
def test_the_right_parameter_brings_formants_back(speech: F32, known: str, also: str, at_most: float) -> None:
    (undo,) = undoings(Condition.parse(known))
    hidden = Condition.parse(known + also).speak(speech, "key")
    back = undo(hidden)
    assert back.shape == hidden.shape
    assert envelope_change(speech, back) < at_most * envelope_change(speech, hidden)


@pytest.mark.parametrize("method", ["mcadams", "vtln", "voicemask"])
def test_some_candidate_is_near_any_voice_and_others_are_far(speech: F32, method: str) -> None:
    condition = Condition.parse(method)
    hidden = condition.speak(speech, "any")
    left = sorted(envelope_change(speech, undo(hidden)) for undo in undoings(condition))
    assert left[0] < 0.7 * envelope_change(speech, hidden)
    assert left[-1] > 1.8 * left[0]


def test_candidates_are_those_of_the_ranges() -> None:
    assert [u.name for u in undoings(Condition.parse("mcadams:alpha=0.8"))] == ["alpha=0.800"]
    low, high = McAdams.alpha.default
    names = [u.name for u in undoings(Condition.parse("mcadams"))]
    assert (len(names), names[0], names[-1]) == (ALPHAS, f"alpha={low:.3f}", f"alpha={high:.3f}")
    assert {u.name.split(",")[1] for u in undoings(Condition.parse("vtln"))} == {"direction=1", "direction=-1"}
    assert {u.name.split(",")[1] for u in undoings(Condition.parse("vtln:direction=-1"))} == {"direction=-1"}
    drawn = undoings(Condition.parse("voicemask"))
    assert len(drawn) == DRAWS
    assert [u.name for u in drawn] == [u.name for u in undoings(Condition.parse("voicemask"))]
    assert {u.name[6] for u in drawn} == {"-", "0"}  # either sign of alpha


def test_what_has_no_inverse() -> None:
    for method in ("original", "dp"):
        assert undoings(Condition.parse(method)) == ()
        assert how(Condition.parse(method)) == ""
    assert "approximate" in how(Condition.parse("mcadams"))


def test_candidates_run_on_speech_of_any_length() -> None:
    for method in ("mcadams", "vtln", "voicemask"):
        undo = undoings(Condition.parse(method))[0]
        for n in (0, 1, 159, 1601):
            assert undo(voice(1.0)[:n]).shape == (n,)
