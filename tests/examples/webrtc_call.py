"""A WebRTC call in one process: one peer says a file, the other records what it hears: python webrtc_call.py IN.wav OUT.wav"""

import asyncio
import sys

from aiortc import MediaStreamTrack, RTCPeerConnection
from aiortc.contrib.media import MediaPlayer, MediaRecorder
from velavox import McAdams
from velavox.engine.adapters.webrtc import VelavoxTrack


async def main(said: str, heard: str) -> None:
    speaker, listener = RTCPeerConnection(), RTCPeerConnection()
    recorder = MediaRecorder(heard)
    over = asyncio.Event()

    @listener.on("track")
    def listen(track: MediaStreamTrack) -> None:
        recorder.addTrack(track)

    microphone = MediaPlayer(said).audio
    if microphone is None:
        raise SystemExit(f"{said}: no sound in it")
    voice = VelavoxTrack(McAdams(), microphone)  # what is sent, and so all that the other side ever gets
    voice.on("ended", over.set)
    speaker.addTrack(voice)
    await speaker.setLocalDescription(await speaker.createOffer())
    await listener.setRemoteDescription(speaker.localDescription)  # in a real call both descriptions go through a server
    await listener.setLocalDescription(await listener.createAnswer())
    await speaker.setRemoteDescription(listener.localDescription)
    await recorder.start()
    await over.wait()
    await recorder.stop()
    await speaker.close()
    await listener.close()
    print(f"delay of the voice {voice.latency * 1e3:.1f} ms, {voice.stats.muted} hops muted")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
