"""A LiveKit agent that subscribes to every participant's microphone and publishes each again, anonymized.

    LIVEKIT_URL=ws://... LIVEKIT_API_KEY=... LIVEKIT_API_SECRET=... python livekit_agent.py start

Nobody but the agent may hear the microphones themselves: see docs/livekit.md.
"""

import asyncio

from livekit import agents, rtc
from velavox import McAdams
from velavox.engine.adapters.livekit import VelavoxFrameProcessor

RATE, FRAME_MS = 48_000, 20


class Anonymizer:
    """The microphones of one room, each with a voice of its own."""

    def __init__(self, room: rtc.Room) -> None:
        self._room = room
        self._running: dict[str, asyncio.Task[None]] = {}  # by the track's sid
        room.on("track_subscribed", self._begin)
        room.on("track_unsubscribed", self._end)

    def _begin(self, track: rtc.Track, publication: rtc.TrackPublication, participant: rtc.Participant) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO and participant.kind != rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            self._running[publication.sid] = asyncio.create_task(self._republish(track, participant.identity))

    def _end(self, track: rtc.Track, publication: rtc.TrackPublication, participant: rtc.Participant) -> None:
        if task := self._running.pop(publication.sid, None):
            task.cancel()

    async def _republish(self, track: rtc.Track, name: str) -> None:
        source = rtc.AudioSource(RATE, 1)
        anonymous = rtc.LocalAudioTrack.create_audio_track(name, source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        published = await self._room.local_participant.publish_track(anonymous, options)
        try:
            await anonymize(track, source)
        finally:
            await self._room.local_participant.unpublish_track(published.sid)
            await source.aclose()


async def anonymize(track: rtc.Track, source: rtc.AudioSource) -> None:
    """From a track to a source of another one, until the track ends."""
    processor = await asyncio.to_thread(VelavoxFrameProcessor, McAdams(), sample_rate=RATE)
    stream = rtc.AudioStream(track, sample_rate=RATE, num_channels=1, frame_size_ms=FRAME_MS, noise_cancellation=processor)
    try:
        async for event in stream:
            await source.capture_frame(event.frame)
    finally:
        await stream.aclose()


server = agents.AgentServer()  # `start` runs each room in a process of its own, as many ready as the machine has cores


@server.rtc_session
async def entry(job: agents.JobContext) -> None:
    Anonymizer(job.room)
    await job.connect(auto_subscribe=agents.AutoSubscribe.AUDIO_ONLY)


if __name__ == "__main__":
    agents.cli.run_app(server)
