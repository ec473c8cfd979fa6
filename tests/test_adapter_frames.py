"""What all adapters share: any form of PCM in, the same form out, and silence of that form whatever goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles import Gain, Minus
from hosts import Broken, framed, likeness, settled, speech, through
from signals import tone, voice
from velavox import DpVoice, Engine, Identity, McAdams, Vtln
from velavox.engine.adapters.frames import Frames
from velavox.engine.host import Policy
from velavox.engine.ledger import Ledger
from velavox.engine.samples import written_as
from velavox.engine.stage import Stage

RATES = [8000, 16_000, 24_000, 48_000]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("ms", [10, 20, 40])
def test_frames_keep_their_form_and_are_what_the_engine_gives(rate: int, channels: int, ms: int) -> None:
    x = speech(0.4, rate, channels)
    frames = Frames(Minus(), sample_rate=rate, channels=channels)
    y = through(frames, x, rate * ms // 1000, rate)
    wanted = Engine(Minus(), sample_rate=rate, channels=channels).process(x)
    assert y.shape == x.shape
    assert y.dtype == np.int16
    np.testing.assert_allclose(y / 32768, wanted, atol=1.01 / 65536)
    assert frames.muted == {}


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "float32", "float64"])
def test_kinds_of_samples(dtype: str) -> None:
    x = written_as(voice(0.2).reshape(-1, 2), np.dtype(dtype))
    before = x.copy()
    x.flags.writeable = False
    frames = Frames(Identity(), sample_rate=16_000, channels=2)
    y = through(frames, x, 320, 16_000)
    assert y.dtype == x.dtype
    np.testing.assert_allclose(y[159:].astype(float), x[:-159].astype(float), rtol=1e-6)
    np.testing.assert_array_equal(x, before)


def test_frames_of_odd_and_mixed_lengths_and_layouts() -> None:
    x = speech(0.5, 16_000, 2)
    planar = np.ascontiguousarray(x.T).T
    frames = Frames(Identity(), sample_rate=16_000, channels=2)
    cuts = np.cumsum([0, 1, 313, 0, 720, 4000])
    y = np.concatenate([frames.process(block, 16_000) for block in np.split(planar, cuts)])
    np.testing.assert_array_equal(y[159:], x[:-159])


@pytest.mark.parametrize("policy", ["one", "each"])
def test_channels_keep_their_place(policy: Policy) -> None:
    x = speech(0.5, 16_000, 2)
    x[:, 1] = 0
    y = through(Frames(McAdams(), sample_rate=16_000, channels=2, policy=policy), x, 320, 16_000)
    assert np.abs(y[:, 0]).max() > 1000
    assert (y[:, 1] == 0).all()


def test_one_person_in_stereo_has_one_voice() -> None:
    x = np.repeat(speech(0.3, 16_000), 2, axis=1)
    voices = {}
    policies: tuple[Policy, ...] = ("one", "each", "mix")
    for policy in policies:
        frames = Frames(Gain(), sample_rate=16_000, channels=2, policy=policy)
        voices[policy] = through(frames, x, 320, 16_000)
        frames.new_voice()
        y = through(frames, x, 320, 16_000)
        assert not np.array_equal(y[1000:], voices[policy][1000:])
        assert np.array_equal(y[:, 0], y[:, 1]) == (policy != "each")
    assert np.array_equal(voices["one"][:, 0], voices["one"][:, 1])
    assert not np.array_equal(voices["each"][:, 0], voices["each"][:, 1])


@pytest.mark.usefixtures("few_nodes")
def test_one_voice_in_two_channels_is_one_release(tmp_path: Path) -> None:
    """It is counted once, and a budget of one is enough for it, whatever form the frames take."""
    book = tmp_path / "ledger"
    stage = DpVoice(enroll=np.eye(256)[3], ledger=str(book), speaker="ada", budget=1.0)
    frames = Frames(stage, sample_rate=48_000, channels=2)
    assert Ledger(book).total("ada").releases == 1
    assert stage.release is not None
    for rate, channels in ((16_000, 1), (16_000, 2), (48_000, 2)):
        frames.prepare(rate, channels)
    assert Ledger(book).total("ada").releases == 1
    frames.set(budget=0.0)
    frames.new_voice()
    assert Ledger(book).total("ada").releases == 2


@pytest.mark.parametrize("policy", ["one", "each"])
def test_each_channel_keeps_its_voice_when_the_form_changes(policy: Policy) -> None:
    x = np.repeat(speech(0.5, 16_000), 2, axis=1)
    frames = Frames(McAdams(), sample_rate=16_000, channels=2, policy=policy)
    before = through(frames, x, 320, 16_000)
    for rate, channels in ((16_000, 1), (48_000, 2), (16_000, 2)):
        frames.prepare(rate, channels)
    after = through(frames, x, 320, 16_000)
    for channel in range(2):
        assert np.corrcoef(before[:, channel], after[:, channel])[0, 1] > 0.9999


@pytest.mark.parametrize("stage", [McAdams, Vtln])
@pytest.mark.parametrize("rate", [8000, 48_000])
def test_a_voice_is_changed_and_nothing_is_muted(stage: type[Stage], rate: int) -> None:
    x = speech(2.0, rate)
    frames = Frames(stage(), sample_rate=rate)
    y = through(frames, x, rate // 50, rate)
    assert 0.3 < np.std(y.astype(float)) / np.std(x.astype(float)) < 3
    assert likeness(x, y, rate) < 0.9  # VTLN on the envelope keeps most of the waveform
    assert frames.muted == {}
    assert frames.stats.muted == 0


def test_a_stage_that_raises_is_silent() -> None:
    x = speech(1.0, 48_000, 2)
    frames = Frames(Broken(), sample_rate=48_000, channels=2)
    assert not through(frames, x, 960, 48_000).any()
    assert frames.stats.causes.keys() == {"error"}
    assert frames.stats.last_error == "RuntimeError: wires crossed"


def test_an_engine_that_raises_is_silent_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    x = speech(0.2, 16_000)
    frames = Frames(Identity(), sample_rate=16_000)

    def fail(self: Engine, x: Any) -> Any:
        raise MemoryError("none left")

    with monkeypatch.context() as broken:
        broken.setattr(Engine, "process", fail)
        assert not through(frames, x, 320, 16_000).any()
    assert frames.muted == {"error": len(x)}
    assert frames.last_error == "MemoryError: none left"
    assert through(frames, x, 320, 16_000).any()


@pytest.mark.parametrize(
    "x",
    [
        np.ones((320, 1), np.int64),
        np.ones((320, 1), complex),
        np.ones(320, np.int16),
        np.ones((320, 0), np.int16),
        np.ones((320, 1, 1), np.int16),
        np.full((320, 1), np.nan),
        np.full((320, 1), 1e30),
    ],
)
def test_what_is_no_sound_is_silent(x: np.ndarray) -> None:
    frames = Frames(Identity(), sample_rate=16_000)
    y = frames.process(x, 16_000)
    assert y.shape == x.shape
    assert not y.any()


def test_silence_of_unsigned_bytes_is_in_their_middle() -> None:
    frames = Frames(Identity(), sample_rate=16_000)
    frames.enabled = False
    assert (frames.process(np.full((320, 1), 200, np.uint8), 16_000) == 128).all()


def test_disabled_is_mute_at_once_and_nothing_said_meanwhile_comes_out() -> None:
    rate, size = 16_000, 320
    before, meanwhile, after = (tone(4 * size, hz)[:, None] for hz in (300, 1000, 440))
    frames = Frames(Identity(), sample_rate=rate)
    through(frames, before, size, rate)
    frames.enabled = False
    assert not through(frames, meanwhile, size, rate).any()
    assert frames.muted == {"disabled": 4 * size}
    frames.enabled = True
    y = through(frames, after, size, rate)
    np.testing.assert_allclose(y[159 + size :], after[size:-159], atol=1e-5)
    spectrum = np.abs(np.fft.rfft(y[: 2 * size, 0] * np.hanning(2 * size)))
    bins = np.fft.rfftfreq(2 * size, 1 / rate)
    assert spectrum[np.argmin(np.abs(bins - 1000))] < 0.01 * spectrum.max()


def test_closed_is_silent_and_opened_begins_afresh_with_the_same_voice() -> None:
    x = speech(0.5, 16_000)
    frames = Frames(Gain(), sample_rate=16_000)
    first = through(frames, x, 320, 16_000)
    frames.close()
    assert not through(frames, x, 320, 16_000).any()
    assert frames.muted == {"closed": len(x)}
    frames.open()
    again = through(frames, x, 320, 16_000)
    np.testing.assert_allclose(again[800:], first[800:], atol=1)  # the beginning is faded in


@pytest.mark.parametrize(("rate", "channels"), [(48_000, 1), (8000, 1), (16_000, 2), (24_000, 3)])
def test_another_form_in_mid_call_is_silent_until_an_engine_is_ready(rate: int, channels: int) -> None:
    frames = Frames(Gain(), sample_rate=16_000)
    through(frames, speech(0.3, 16_000), 320, 16_000)
    voice = frames.stages[0].voice
    x = speech(0.5, rate, channels)
    size = rate // 50
    assert not frames.process(x[:size], rate).any()
    settled(frames, x[-size:], rate)
    assert "preparing" in frames.muted
    y = through(frames, x, size, rate)
    assert y.shape == x.shape
    assert frames.stages[0].voice == voice
    wanted = Engine(Gain(gain=voice["gain"]), sample_rate=rate, channels=channels).process(x) * 32768
    assert frames.latency == Engine(Gain(), sample_rate=rate).latency
    tail = slice(len(x) // 2, None)
    assert np.std((y - wanted)[tail]) < 0.05 * np.std(wanted[tail])
    assert (frames.sample_rate, frames.channels) == (rate, channels)


def test_a_form_that_no_engine_has_is_silent_until_another_comes() -> None:
    frames = Frames(Identity(), sample_rate=16_000)
    x = speech(0.1, 16_000)
    settled(frames, x[:320], 1000)
    assert not through(frames, x, 320, 1000).any()
    assert frames.muted["refused"] >= len(x)
    assert "sample_rate=1000" in frames.last_error
    settled(frames, x[-320:], 16_000)
    assert through(frames, x, 320, 16_000).any()


def test_forms_that_alternate_never_let_the_voice_itself_out() -> None:
    frames = Frames(Minus(), sample_rate=16_000)
    x = speech(1.0, 16_000)
    out = np.concatenate([frames.process(b, 16_000 if k % 2 else 48_000) for k, b in enumerate(framed(x, 320))])
    assert not out.any()
    settled(frames, x[-320:], 16_000)
    y = through(frames, x, 320, 16_000)
    np.testing.assert_array_equal(y[1000:], -x[1000 - 159 : -159])


def test_released_stages_serve_elsewhere() -> None:
    stage = Gain()
    first = Frames(stage, sample_rate=16_000)
    with pytest.raises(ValueError, match="another engine"):
        Frames(stage, sample_rate=48_000)
    voice = stage.voice
    first.release()
    second = Frames(stage, sample_rate=48_000)
    assert stage.voice == voice
    assert not through(first, speech(0.1, 16_000), 320, 16_000).any()
    assert through(second, speech(0.1, 48_000), 960, 48_000).any()


def test_released_while_an_engine_is_made_its_stages_serve_elsewhere() -> None:
    stage = Gain()
    frames = Frames(stage, sample_rate=16_000)
    frames.process(speech(0.1, 48_000), 48_000)
    making = frames._making
    assert making is not None
    making.join()
    frames.release()
    assert through(Frames(stage, sample_rate=48_000), speech(0.1, 48_000), 960, 48_000).any()


def test_prepared_for_another_form_at_once() -> None:
    frames = Frames(Gain(), sample_rate=48_000)
    frames.close()
    frames.prepare(8000, 2)
    assert through(frames, speech(0.2, 8000, 2), 160, 8000).any()
    assert frames.muted == {}
    frames.process(speech(0.1, 16_000), 16_000)
    frames.prepare(24_000, 1)
    assert through(frames, speech(0.2, 24_000), 480, 24_000).any()
    with pytest.raises(ValueError, match="sample_rate"):
        frames.prepare(0, 1)


def test_lost_frames_are_silence_of_their_length_without_a_click() -> None:
    """No step at the joints above 6 dB over those of the sound, and what comes after them is as if nothing had been lost."""
    rate, size = 48_000, 960
    x = tone(40 * size, 440.0, rate=rate)[:, None]
    frames = Frames(Identity(), sample_rate=rate)
    whole = through(frames, x, size, rate)
    frames.open()
    blocks = framed(x, size)
    y = np.concatenate(
        [
            frames.lost((size, 1), x.dtype, rate) if k in (20, 21, 22) else frames.process(block, rate)
            for k, block in enumerate(blocks)
        ]
    )
    assert y.shape == x.shape
    delay = frames.latency
    gap = slice(20 * size + delay + 960, 23 * size + delay - 480)
    assert np.abs(y[gap]).max() < 1e-3
    steps, usual = np.abs(np.diff(y[2 * size :, 0])), np.abs(np.diff(whole[2 * size :, 0])).max()
    assert steps.max() < 2 * usual
    np.testing.assert_allclose(y[24 * size + delay :], whole[24 * size + delay :], atol=1e-3)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="policy"):
        Frames(Identity(), policy="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sample_rate"):
        Frames(Identity(), sample_rate=100)
    with pytest.raises(ValueError, match="channels"):
        Frames(Identity(), channels=0)
    nothings: list[Any] = [[], 42]
    for nothing in nothings:
        with pytest.raises(TypeError, match="stages"):
            Frames(nothing)
    frames = Frames(Gain(), sample_rate=16_000)
    for _ in range(2):
        with pytest.raises(TypeError, match="parameter 'alpha'"):
            frames.set(alpha=1)
        with pytest.raises(ValueError, match="gain"):
            frames.set(gain=3.0)
        frames.set(gain=0.5)
        assert frames.stages[0].voice["gain"] == 0.5
        frames.release()
