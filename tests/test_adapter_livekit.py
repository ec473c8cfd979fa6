"""The LiveKit frame processor, on the real package without a server: local sources and tracks, and streams that read them."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hosts import I16, Broken, Held, caught_up, framed, likeness, loop, settled, speech
from velavox import DpVoice, Engine, Identity, McAdams

pytest.importorskip("livekit.rtc", reason="needs the extra livekit")

from livekit import rtc
from velavox.engine.adapters.livekit import VelavoxFrameProcessor
from velavox.engine.adapters.worker import HELD

EXAMPLES = Path(__file__).parent / "examples"
RATE = 48_000
ROOM = {"room_name": "room", "participant_identity": "ann", "publication_sid": "TR_1"}


def frame(x: I16, rate: int, **userdata: Any) -> rtc.AudioFrame:
    return rtc.AudioFrame(x.tobytes(), rate, x.shape[1], len(x), userdata=userdata)


def samples(found: rtc.AudioFrame) -> I16:
    return np.frombuffer(found.data, np.int16).reshape(-1, found.num_channels)


def through(processor: VelavoxFrameProcessor, x: I16, size: int, rate: int = RATE) -> I16:
    return np.concatenate([samples(processor._process(frame(b, rate))) for b in framed(x, size)])


class Microphone:
    """A local track that says x when told so."""

    def __init__(self, channels: int = 1) -> None:
        self.source = rtc.AudioSource(RATE, channels, queue_size_ms=10_000)
        self.track = rtc.LocalAudioTrack.create_audio_track("microphone", self.source)

    async def say(self, x: I16) -> None:
        for block in framed(x, RATE // 100):
            await self.source.capture_frame(frame(block, RATE))


async def hear(stream: rtc.AudioStream, size: int) -> I16:
    """So many samples of a stream."""
    found: list[I16] = []
    async for event in stream:
        found.append(samples(event.frame))
        if sum(map(len, found)) >= size:
            break
    return np.concatenate(found)[:size]


@pytest.mark.parametrize("rate", [8000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("ms", [10, 20, 40])
def test_frames_keep_their_form(rate: int, channels: int, ms: int) -> None:
    x = speech(0.4, rate, channels)
    processor = VelavoxFrameProcessor(Identity(), sample_rate=rate, channels=channels)
    found = [processor._process(frame(b, rate, number=k)) for k, b in enumerate(framed(x, rate * ms // 1000))]
    assert isinstance(processor, rtc.FrameProcessor)
    assert {(f.sample_rate, f.num_channels, f.samples_per_channel) for f in found} == {(rate, channels, rate * ms // 1000)}
    assert [f.userdata["number"] for f in found] == list(range(len(found)))
    wanted = Engine(Identity(), sample_rate=rate, channels=channels).process(x)
    np.testing.assert_allclose(np.concatenate([samples(f) for f in found]) / 32768, wanted, atol=1.01 / 65536)


def test_a_stream_of_a_track_is_anonymized() -> None:
    x = speech(2.0, RATE)

    async def work() -> I16:
        microphone = Microphone()
        processor = VelavoxFrameProcessor(McAdams(alpha=0.6))
        stream = rtc.AudioStream(microphone.track, sample_rate=RATE, frame_size_ms=20, noise_cancellation=processor)
        speaking = asyncio.create_task(microphone.say(x))
        y = await hear(stream, 80_000)
        await speaking
        await stream.aclose()
        assert processor.stats.muted == 0
        assert processor.silenced == {}
        return y

    y = loop(work())
    assert np.std(y.astype(float)) > 300
    assert likeness(x, y, RATE) < 0.7


def test_stereo_keeps_its_sides_through_a_stream() -> None:
    x = speech(1.0, RATE, 2)
    x[:, 0] = 0

    async def work() -> I16:
        microphone = Microphone(2)
        processor = VelavoxFrameProcessor(McAdams(), channels=2)
        stream = rtc.AudioStream(microphone.track, sample_rate=RATE, num_channels=2, noise_cancellation=processor)
        speaking = asyncio.create_task(microphone.say(x))
        y = await hear(stream, 40_000)
        await speaking
        await stream.aclose()
        return y

    y = loop(work())
    assert not y[:, 0].any()
    assert np.std(y[:, 1].astype(float)) > 300


@pytest.mark.parametrize("why", ["raises", "cannot work", "disabled", "closed"])
@pytest.mark.parametrize("worker", [False, True])
def test_silence_where_livekit_would_pass_the_voice_on(why: str, worker: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a real stream, which asks `enabled`, and passes the original frame when it is False or when anything raises."""
    x = speech(0.5, RATE)

    async def work() -> I16:
        microphone = Microphone()
        processor = VelavoxFrameProcessor(Broken() if why == "raises" else Identity(), worker=worker)
        stream = rtc.AudioStream(microphone.track, sample_rate=RATE, noise_cancellation=processor)
        if why == "disabled":
            processor.enabled = False
            assert processor.muted
        if why == "closed":
            processor._close()
        if why == "cannot work":

            def fail(*_: object) -> None:
                raise MemoryError("none left")

            monkeypatch.setattr(type(processor._runner), "exchange", fail)
        await microphone.say(x)
        y = await hear(stream, 20_000)
        await stream.aclose()
        return y

    assert not loop(work()).any()


def test_enabled_again_it_speaks_again() -> None:
    x = speech(0.5, RATE)
    processor = VelavoxFrameProcessor(Identity())
    processor.enabled = False
    assert not through(processor, x, 960).any()
    assert processor.silenced == {"disabled": len(x)}
    processor.enabled = True
    assert not processor.muted
    assert through(processor, x, 960).any()


def test_closing_and_subscribing_again() -> None:
    """A stream's end closes the processor; that a stream of a track in a room takes it on again, LiveKit tells it."""
    x = speech(0.5, RATE)

    async def work() -> tuple[I16, I16, I16]:
        microphone = Microphone()
        stage = McAdams()
        processor = VelavoxFrameProcessor(stage)
        heard = []
        for turn in range(2):
            stream = rtc.AudioStream(microphone.track, sample_rate=RATE, noise_cancellation=processor)
            if turn:
                processor._on_stream_info_updated(**ROOM)
            await microphone.say(x)
            heard.append(await hear(stream, 20_000))
            await stream.aclose()
            voice = stage.voice
        assert stage.voice == voice
        return heard[0], through(processor, x, 960), heard[1]

    first, between, second = loop(work())
    assert np.std(first.astype(float)) > 300
    assert not between.any()
    assert np.std(second.astype(float)) > 300


def test_word_of_a_room_in_mid_call_does_not_interrupt() -> None:
    x = speech(0.4, 16_000)
    processor = VelavoxFrameProcessor(Identity(), sample_rate=16_000)
    y = through(processor, x[:3200], 320, 16_000)
    processor._on_stream_info_updated(**ROOM)
    y = np.concatenate([y, through(processor, x[3200:], 320, 16_000)])
    np.testing.assert_array_equal(y[159:], x[:-159])


def test_another_rate_in_mid_call_is_silent_until_it_is_ready() -> None:
    processor = VelavoxFrameProcessor(McAdams())
    assert through(processor, speech(0.3, RATE), 960).any()
    x = speech(0.5, 24_000, 2)
    y = processor._process(frame(x[:480], 24_000))
    assert (y.sample_rate, y.num_channels, y.samples_per_channel) == (24_000, 2, 480)
    assert not samples(y).any()
    settled(processor._frames, x[-480:], 24_000)
    assert through(processor, x, 480, 24_000).any()


def test_a_heavy_stage_follows_by_what_is_told() -> None:
    x = speech(0.5, RATE)
    stage = Held()
    processor = VelavoxFrameProcessor(stage)
    assert processor.latency == pytest.approx(processor._frames.latency / RATE + HELD)

    async def work() -> I16:
        out = []
        for block in framed(x, 960):
            out.append(samples(processor._process(frame(block, RATE))))
            await caught_up(processor._runner)
        return np.concatenate(out)

    delay = round(processor.latency * RATE)
    y = loop(work())
    wanted = Engine(Identity(), sample_rate=RATE).process(x) * 32768
    np.testing.assert_allclose(y[960:], wanted[:-960], atol=1.01)
    assert delay == processor._frames.latency + 960


def test_closed_with_a_thread_at_work_is_silent_and_begins_afresh(few_nodes: Any) -> None:
    x = speech(0.4, RATE)
    processor = VelavoxFrameProcessor(DpVoice())

    async def work() -> None:
        through(processor, x, 960)
        processor._close()
        assert not through(processor, x, 960).any()
        processor._on_stream_info_updated(**ROOM)
        assert not through(processor, x[:960], 960).any()

    loop(work())


def test_the_agent_takes_a_track_and_gives_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example, with a real room that is not connected: what is published in it is caught, and listened to."""
    pytest.importorskip("livekit.agents", reason="needs livekit-agents")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    livekit_agent = importlib.import_module("livekit_agent")
    x = speech(2.0, RATE)

    async def work() -> tuple[I16, list[str]]:
        told: list[str] = []
        published: asyncio.Queue[rtc.LocalAudioTrack] = asyncio.Queue()

        class Participant:
            async def publish_track(self, track: rtc.LocalAudioTrack, options: rtc.TrackPublishOptions) -> Any:
                told.append(f"published {track.name}")
                await published.put(track)
                return type("Publication", (), {"sid": "TR_anonymous"})()

            async def unpublish_track(self, sid: str) -> None:
                told.append(f"unpublished {sid}")

        room = rtc.Room()
        monkeypatch.setattr(rtc.Room, "local_participant", Participant())
        agent = livekit_agent.Anonymizer(room)
        microphone = Microphone()
        speaker = type("Ann", (), {"identity": "ann", "kind": rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD})()
        other = type("Agent", (), {"identity": "other", "kind": rtc.ParticipantKind.PARTICIPANT_KIND_AGENT})()
        publication = type("Publication", (), {"sid": "TR_microphone"})()
        room.emit("track_subscribed", microphone.track, publication, other)
        room.emit("track_subscribed", microphone.track, publication, speaker)
        anonymous = await published.get()
        ears = rtc.AudioStream(anonymous, sample_rate=RATE)
        await asyncio.sleep(0.2)
        speaking = asyncio.create_task(microphone.say(x))
        y = await hear(ears, 90_000)
        room.emit("track_unsubscribed", microphone.track, publication, speaker)
        await speaking
        for _ in range(200):
            if len(told) == 2:
                break
            await asyncio.sleep(0.02)
        await ears.aclose()
        assert agent._running == {}
        return y, told

    y, told = loop(work())
    assert told == ["published ann", "unpublished TR_anonymous"]
    assert np.std(y.astype(float)) > 300
    assert likeness(x, y, RATE) < 0.9


def test_the_agents_command_runs() -> None:
    pytest.importorskip("livekit.agents", reason="needs livekit-agents")
    command = [sys.executable, str(EXAMPLES / "livekit_agent.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "start" in done.stdout
