"""The Pipecat filter and processor, on the real package without a server: its test pipeline, its transports, its telephony."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hosts import I16, Broken, Held, framed, likeness, loop, speech
from velavox import DpVoice, Engine, Identity, McAdams
from velavox.engine.stage import Stage
from velavox.kernels import g711

pytest.importorskip("pipecat", reason="needs the extra pipecat")

from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.frames.frames import (
    AudioRawFrame,
    CancelFrame,
    DataFrame,
    EndFrame,
    FilterControlFrame,
    FilterEnableFrame,
    FilterUpdateSettingsFrame,
    Frame,
    InputAudioRawFrame,
    OutputAudioRawFrame,
    StartFrame,
    TextFrame,
    UserAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.tests.utils import SleepFrame, run_test
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_transport import TransportParams
from velavox.engine.adapters.pipecat import VelavoxFilter, VelavoxProcessor


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Pipecat logs each frame of a pipeline."""
    from loguru import logger

    logger.disable("pipecat")
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    yield
    logger.enable("pipecat")


def asked(x: I16, rate: int, size: int, user: str = "") -> list[Frame]:
    made: list[Frame] = []
    for k, block in enumerate(framed(x, size)):
        if user:
            found: InputAudioRawFrame = UserAudioRawFrame(block.tobytes(), rate, x.shape[1], user_id=user)
        else:
            found = InputAudioRawFrame(block.tobytes(), rate, x.shape[1])
        found.pts, found.transport_source = k * 20_000_000, "camera"
        made.append(found)
    return made


def sound(found: Sequence[Frame], channels: int = 1) -> I16:
    data = b"".join(f.audio for f in found if isinstance(f, InputAudioRawFrame))
    return np.frombuffer(data, np.int16).reshape(-1, channels)


async def down(processor: FrameProcessor, frames: Sequence[Frame]) -> Sequence[Frame]:
    """What comes out of the end of Pipecat's own test pipeline."""
    received, _ = await run_test(processor, frames_to_send=[*frames, SleepFrame(sleep=0.1)], start_timeout=30)
    return received


@pytest.mark.parametrize("rate", [8000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("ms", [20, 40])
def test_frames_keep_all_but_their_sound(rate: int, channels: int, ms: int) -> None:
    x = speech(0.4, rate, channels)
    given = asked(x, rate, rate * ms // 1000)
    processor = VelavoxProcessor(Identity(), sample_rate=rate, channels=channels, name="veil")
    found = loop(down(processor, given))
    assert processor.name == "veil"
    for before, after in zip(given, found, strict=True):
        assert isinstance(before, InputAudioRawFrame)
        assert isinstance(after, InputAudioRawFrame)
        assert after is not before
        for name in ("id", "name", "pts", "transport_source", "sample_rate", "num_channels", "num_frames"):
            assert getattr(after, name) == getattr(before, name)
    wanted = Engine(Identity(), sample_rate=rate, channels=channels).process(x)
    y = sound(found, channels)
    assert y.shape == x.shape
    np.testing.assert_allclose(y[480:] / 32768, wanted[480:], atol=2e-4)  # the beginning is faded in


def test_the_processor_anonymizes_and_leaves_other_frames_alone() -> None:
    x = speech(1.0, 16_000)
    bot = OutputAudioRawFrame(b"\x01\x02" * 160, 16_000, 1)
    given = [TextFrame("hello"), bot, *asked(x, 16_000, 320)]
    found = loop(down(VelavoxProcessor(McAdams(), sample_rate=16_000), given))
    assert {f.id for f in found} == {f.id for f in given}
    assert next(f for f in found if isinstance(f, OutputAudioRawFrame)).audio == b"\x01\x02" * 160
    y = sound(found)
    assert np.std(y.astype(float)) > 300
    assert likeness(x, y, 16_000) < 0.9


def test_the_frame_that_came_is_left_as_it_was() -> None:
    """Another branch of a pipeline may hold it."""
    x = speech(0.1, 16_000)
    given = asked(x, 16_000, 320)
    loop(down(VelavoxProcessor(McAdams(), sample_rate=16_000), given))
    np.testing.assert_array_equal(sound(given), x)


@pytest.mark.parametrize("why", ["raises", "disabled", "closed"])
@pytest.mark.parametrize("worker", [False, True])
def test_silence_of_the_processor(why: str, worker: bool) -> None:
    x = speech(0.4, 16_000)
    stage = Broken() if why == "raises" else Identity()
    processor = VelavoxProcessor(stage, sample_rate=16_000, worker=worker)
    if why == "disabled":
        processor.enabled = False

    class Closing(VelavoxProcessor):
        async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
            await super().process_frame(frame, direction)
            if isinstance(frame, StartFrame):
                self._frames.close()

    if why == "closed":
        processor = Closing(Identity(), sample_rate=16_000, worker=worker)
    y = sound(loop(down(processor, asked(x, 16_000, 320))))
    assert y.shape == x.shape
    assert not y.any()


def test_nothing_before_a_start_and_after_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handed frames directly, as no pipeline does: whatever goes on is silent."""

    async def nothing(self: FrameProcessor, frame: Frame, direction: FrameDirection) -> None:
        """Pipecat's own part, which starts tasks."""

    monkeypatch.setattr(FrameProcessor, "process_frame", nothing)

    class Listening(VelavoxProcessor):
        def __init__(self, stage: Stage, sample_rate: int) -> None:
            super().__init__(stage, sample_rate=sample_rate)
            self.passed: list[Frame] = []

        async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
            self.passed.append(frame)

    async def work() -> None:
        processor = Listening(Identity(), sample_rate=16_000)
        turns = (None, False), (StartFrame(), True), (EndFrame(), False), (StartFrame(), True), (CancelFrame(), False)
        for turn, audible in turns:
            if turn is not None:
                await processor.process_frame(turn, FrameDirection.DOWNSTREAM)
            processor.passed.clear()
            for frame in asked(speech(0.1, 16_000), 16_000, 320):
                await processor.process_frame(frame, FrameDirection.DOWNSTREAM)
            assert len(processor.passed) == 5
            assert sound(processor.passed).any() == audible

    loop(work())


def test_each_users_voice_is_their_own() -> None:
    x = speech(0.4, 16_000)
    ann, bob = asked(x, 16_000, 320, "ann"), asked(x, 16_000, 320, "bob")
    given = [f for pair in zip(ann, bob, strict=True) for f in pair]
    found = loop(down(VelavoxProcessor(Identity(), sample_rate=16_000), given))
    assert [f.user_id for f in found if isinstance(f, UserAudioRawFrame)] == ["ann", "bob"] * 20
    np.testing.assert_array_equal(sound(found[::2])[1000:], x[1000 - 159 : -159])
    assert not sound(found[1::2]).any()


def test_sound_of_unknown_kind_is_silent() -> None:
    @dataclass
    class Strange(DataFrame, AudioRawFrame):
        pass

    strange = Strange(b"\x01\x02" * 160, 16_000, 1)
    (found,) = loop(down(VelavoxProcessor(Identity(), sample_rate=16_000), [strange]))
    assert isinstance(found, Strange)
    assert found.audio == bytes(320)


def test_another_rate_in_mid_call_keeps_its_label() -> None:
    first, second = speech(0.2, 16_000), speech(1.0, 8000)
    found = loop(down(VelavoxProcessor(McAdams(), sample_rate=16_000), asked(first, 16_000, 320) + asked(second, 8000, 160)))
    assert [f.sample_rate for f in found if isinstance(f, InputAudioRawFrame)] == [16_000] * 10 + [8000] * 50
    y = sound(found[10:])
    assert len(y) == len(second)
    assert np.std(y[len(y) // 2 :].astype(float)) > 300


def test_the_neural_voice_goes_through_a_thread(few_nodes: Any) -> None:
    x = speech(0.4, 16_000)
    processor = VelavoxProcessor(DpVoice(), sample_rate=16_000)
    found = loop(down(processor, asked(x, 16_000, 320)))
    assert type(processor._runner).__name__ == "Worker"
    assert sound(found).shape == x.shape


def test_telephone_through_pipecats_own_serializer(shared: Path) -> None:
    """Twilio's messages: mu-law, 8 kHz, 160 samples, there and back."""
    x, rate = soundfile.read(shared / "fixtures" / "tel_8k_mulaw.wav", dtype="float32")
    codes = [g711.encode(block, "mulaw").tobytes() for block in framed(x[: x.size // 160 * 160], 160)]

    async def work() -> tuple[list[Frame], Sequence[Frame], list[bytes]]:
        serializer = TwilioFrameSerializer(
            "stream", params=TwilioFrameSerializer.InputParams(auto_hang_up=False, sample_rate=8000)
        )
        serializer._sample_rate = 8000
        given = []
        for code in codes:
            message = {"event": "media", "media": {"payload": base64.b64encode(code).decode()}}
            frame = await serializer.deserialize(json.dumps(message))
            assert isinstance(frame, InputAudioRawFrame)
            given.append(frame)
        found = await down(VelavoxProcessor(McAdams(), sample_rate=8000), given)
        back = []
        for frame in found:
            assert isinstance(frame, InputAudioRawFrame)
            told = await serializer.serialize(OutputAudioRawFrame(frame.audio, frame.sample_rate, frame.num_channels))
            back.append(base64.b64decode(json.loads(told or "{}")["media"]["payload"]))
        return list(given), found, back

    given, found, back = loop(work())
    assert rate == 8000
    assert [len(code) for code in back] == [160] * len(codes)
    said, y = sound(given), sound(found)
    assert y.shape == said.shape
    assert 0.3 < np.std(y.astype(float)) / np.std(said.astype(float)) < 3
    assert likeness(said, y, 8000) < 0.9


async def filtered(audio_filter: VelavoxFilter, x: I16, size: int) -> I16:
    return np.frombuffer(b"".join([await audio_filter.filter(b.tobytes()) for b in framed(x, size)]), np.int16).reshape(x.shape)


@pytest.mark.parametrize("worker", [False, True])
def test_the_filters_life(worker: bool) -> None:
    """Silent before start, sound, silent while disabled, silent after stop, and all of it again, with the same voice."""
    x = speech(0.4, 16_000)

    async def work() -> None:
        stage = McAdams()
        audio_filter = VelavoxFilter(stage, worker=worker)
        assert isinstance(audio_filter, BaseAudioFilter)
        assert not (await filtered(audio_filter, x, 320)).any()
        voice = stage.voice
        for _ in range(2):
            await audio_filter.start(16_000)
            y = await filtered(audio_filter, x, 320)
            assert np.std(y.astype(float)) > 300
            assert likeness(x, y, 16_000) < 0.9
            await audio_filter.process_frame(FilterEnableFrame(enable=False))
            assert not (await filtered(audio_filter, x, 320)).any()
            await audio_filter.process_frame(FilterEnableFrame(enable=True))
            assert (await filtered(audio_filter, x, 320)).any()
            await audio_filter.stop()
            assert not (await filtered(audio_filter, x, 320)).any()
        assert stage.voice == voice
        await audio_filter.start(8000)
        assert audio_filter._frames.sample_rate == 8000

    loop(work())


def test_the_filter_takes_settings_and_refuses_what_is_none() -> None:
    async def work() -> None:
        audio_filter = VelavoxFilter(McAdams())
        await audio_filter.start(16_000)
        await audio_filter.process_frame(FilterUpdateSettingsFrame(settings={"alpha": 0.66}))
        assert audio_filter.stages[0].value("alpha") == 0.66
        with pytest.raises(TypeError, match="parameter"):
            await audio_filter.process_frame(FilterUpdateSettingsFrame(settings={"gain": 2}))
        with pytest.raises(ValueError, match="alpha"):
            await audio_filter.process_frame(FilterUpdateSettingsFrame(settings={"alpha": 1.0}))
        await audio_filter.process_frame(FilterControlFrame())
        assert audio_filter.stages[0].value("alpha") == 0.66

    loop(work())


def test_a_filter_for_a_rate_that_no_engine_has_stays_silent() -> None:
    x = speech(0.1, 16_000)

    async def work() -> None:
        audio_filter = VelavoxFilter(Identity())
        with pytest.raises(ValueError, match="sample_rate"):
            await audio_filter.start(1000)
        assert not (await filtered(audio_filter, x, 320)).any()

    loop(work())


def test_bytes_of_odd_lengths() -> None:
    async def work() -> None:
        audio_filter = VelavoxFilter(Identity(), channels=2)
        await audio_filter.start(16_000)
        data = speech(0.3, 16_000, 2).tobytes()
        cuts = [0, 0, 1, 3, 4, 1281, 5000, len(data)]
        out = [await audio_filter.filter(data[a:b]) for a, b in pairwise(cuts)]
        assert [len(b) for b in out] == [b - a for a, b in pairwise(cuts)]

    loop(work())


@pytest.mark.parametrize("why", ["", "raises"])
def test_inside_a_real_transport(why: str) -> None:
    """What a transport hears goes through the filter before anything else has it."""
    x = speech(0.6, 16_000)

    class Wire(BaseInputTransport):
        async def start(self, frame: StartFrame) -> None:
            await super().start(frame)
            await self.set_transport_ready(frame)

        async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
            await super().process_frame(frame, direction)
            if isinstance(frame, TextFrame):
                for given in asked(x, 16_000, 320):
                    assert isinstance(given, InputAudioRawFrame)
                    await self.push_audio_frame(given)

    audio_filter = VelavoxFilter(Broken() if why else McAdams())
    wire = Wire(TransportParams(audio_in_enabled=True, audio_in_filter=audio_filter, audio_in_sample_rate=16_000))

    async def work() -> Sequence[Frame]:
        received, _ = await run_test(wire, frames_to_send=[TextFrame("speak"), SleepFrame(sleep=1.0)], start_timeout=30)
        return received

    y = sound(loop(work()))
    assert y.shape == x.shape
    if why:
        assert not y.any()
    else:
        assert np.std(y.astype(float)) > 300
        assert likeness(x, y, 16_000) < 0.9


def test_a_cancelled_filter_goes_on() -> None:
    x = speech(0.6, 16_000)
    stage = Held()

    async def work() -> I16:
        audio_filter = VelavoxFilter(stage)
        await audio_filter.start(16_000)
        stage.go.clear()
        task = asyncio.create_task(audio_filter.filter(x[:320].tobytes()))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stage.go.set()
        return await filtered(audio_filter, x[320:], 320)

    y = loop(work())
    np.testing.assert_array_equal(y[3200:], x[3200 + 320 - 159 : -159])
