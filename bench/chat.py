"""How many calls one core carries, and what a frame costs the event loop that an adapter runs on.

python -m velavox.bench.chat

A call is a stream of int16 frames of 20 ms, through an engine and back; nothing of a network or a codec is in it
(`velavox.bench.chat_webrtc` has those). CPU time, the cases interleaved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from typing import Any

import numpy as np

from ..engine.adapters.frames import PCM, Frames
from ..engine.methods import METHODS, make
from . import table
from .speech import speech
from .timing import Case, Timing, interleave

MS = 20
FORMS = ((48_000, 1), (48_000, 2), (16_000, 1), (8000, 1))  # WebRTC mono, as aiortc decodes Opus, agents, telephone
LIMIT_US = 1000.0  # p99 of what a frame may take on an event loop


def pcm(rate: int, channels: int) -> Iterator[PCM]:
    """Frames of int16 speech, shape (samples, channels), round and round."""
    x = (speech(rate) * 32767).astype(np.int16)[:, None].repeat(channels, axis=1)
    size = rate * MS // 1000
    return cycle([x[i : i + size].copy() for i in range(0, len(x) - size + 1, size)])


def engines() -> dict[str, Case]:
    """Every method at every form; two channels are one microphone (policy "mix")."""
    found = {}
    for method in METHODS:
        for rate, channels in FORMS:
            frames = Frames(make(method), sample_rate=rate, channels=channels, policy="mix")
            given = pcm(rate, channels)
            name = f"{method}, {rate / 1000:g} kHz, {channels} channel{'s' * (channels > 1)}"
            found[name] = Case(lambda frames=frames, given=given, rate=rate: frames.process(next(given), rate))  # type: ignore[misc]
    return found


def adapters(loop: asyncio.AbstractEventLoop) -> dict[str, Case]:
    """McAdams at 48 kHz through the adapters of the packages that are installed, their frames made and read included."""
    kinds: dict[str, tuple[str, Callable[[asyncio.AbstractEventLoop], Callable[[], Any]]]] = {
        "livekit": ("livekit", _livekit),
        "pipecat": ("pipecat", _pipecat),
        "webrtc": ("aiortc", _webrtc),
    }
    return {f"{name} adapter": Case(made(loop)) for name, (package, made) in kinds.items() if find_spec(package)}


def _livekit(loop: asyncio.AbstractEventLoop) -> Callable[[], Any]:
    from livekit import rtc

    from ..engine.adapters.livekit import VelavoxFrameProcessor

    processor = VelavoxFrameProcessor(make("mcadams"))
    given = cycle([rtc.AudioFrame(x.tobytes(), 48_000, 1, len(x)) for _, x in zip(range(500), pcm(48_000, 1), strict=False)])
    return lambda: processor._process(next(given))


def _pipecat(loop: asyncio.AbstractEventLoop) -> Callable[[], Any]:
    from ..engine.adapters.pipecat import VelavoxFilter

    audio_filter = VelavoxFilter(make("mcadams"))
    loop.run_until_complete(audio_filter.start(48_000))
    given = cycle([x.tobytes() for _, x in zip(range(500), pcm(48_000, 1), strict=False)])
    return lambda: _at_once(audio_filter.filter(next(given)))


def _webrtc(loop: asyncio.AbstractEventLoop) -> Callable[[], Any]:
    from aiortc import MediaStreamTrack
    from av import AudioFrame

    from ..engine.adapters.webrtc import VelavoxTrack

    class Source(MediaStreamTrack):
        kind = "audio"
        given = pcm(48_000, 2)
        pts = 0

        async def recv(self) -> AudioFrame:
            x = next(self.given)
            frame = AudioFrame.from_ndarray(x.reshape(1, -1), format="s16", layout="stereo")
            frame.sample_rate, frame.pts, frame.time_base = 48_000, self.pts, Fraction(1, 48_000)
            self.pts += len(x)
            return frame

    track = VelavoxTrack(make("mcadams"), Source(), channels=2, policy="mix")
    return lambda: _at_once(track.recv())


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing, without a loop's own cost."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waited")


def calls_per_core(timing: Timing) -> int:
    """By the mean: with no time to spare."""
    return int(1 / timing.rtc)


def main() -> None:
    arguments = table.parser("chat", "Calls per core, and what a frame of 20 ms costs an event loop.").parse_args()
    timed = partial(interleave, seconds=MS / 1000, blocks=arguments.blocks)
    loop = asyncio.new_event_loop()
    try:
        timings = timed(engines())
        inline = timed(adapters(loop))
    finally:
        loop.close()
    table.show("a frame of 20 ms through an engine and back", timings, {})
    print("\ncalls per core, if the core does nothing else")
    for name, timing in timings.items():
        print(f"{name:32} {calls_per_core(timing):6}")
    if inline:
        table.show("a frame of 20 ms on the event loop, McAdams, 48 kHz", inline, {})
        print(f"limit of p99: {LIMIT_US:.0f} us")
    table.write(arguments.json, {**timings, **inline}, {})


if __name__ == "__main__":
    main()
