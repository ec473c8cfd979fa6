"""The sound card: PortAudio streams whose callback is compiled and never takes the GIL."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from ..kernels import callback
from ..kernels.jit import Callback
from . import devices, portaudio, soundserver
from .card import DeviceError, Format, WrongDevice
from .devices import Device, End
from .exchange import Exchange
from .soundserver import Direction
from .whereabouts import Watch

BLOCK = 0.01  # s a callback
RATES = (48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 8_000)  # Hz, tried after the devices' own
ATTEMPTS = 5  # to open: through PulseAudio about 1 in 60 streams ends at once
BETWEEN = 0.25  # s between them
ALIVE = 0.1  # s that a stream has to live to count as open

_BY_ALSA = ("ALSA", devices.SERVER_API)

_open = 0  # streams of this process, which looking for devices again would end
_looked = False  # for devices, since sounddevice was imported


class SoundCard:
    """A `Card` for the devices of this machine. One thread plans and opens.

    Args:
        input, output: as `devices.find` takes them.
        rate: Hz for both, WrongDevice if one of them refuses it. None: the first that both take of the output's own, the
            input's own and RATES; if there is none, each runs at its own.
        block: frames a callback, of the output where the rates differ. None: 10 ms. Through PulseAudio at 48 kHz blocks of
            128 frames gave 24 ms there and back, 480 gave 20 to 30, and 960 gave 40.
        latency: what PortAudio is asked for: "low", "high" (callbacks come two or three at a time), or s.
        before_plan: called at the start of each `plan`, to bring back what devices depend on.
    """

    def __init__(
        self,
        input: str | int | None = None,
        output: str | int | None = None,
        rate: int | None = None,
        block: int | None = None,
        latency: Literal["low", "high"] | float = "low",
        before_plan: Callable[[], object] | None = None,
    ) -> None:
        if rate is not None and rate < 1:
            raise ValueError(f"rate={rate}: give Hz, such as 48000")
        if block is not None and block < 1:
            raise ValueError(f"block={block}: give frames, 1 or more")
        self._input, self._output = input, output
        self._rate, self._block, self._latency = rate, block, latency
        self._before_plan = before_plan
        self._found: tuple[Device, Device] | None = None
        self._streams: list[Any] = []
        self._ending = threading.Lock()  # held while streams are ended: the watch ends them too
        self._watch: Watch | None = None
        self._exchange: Exchange | None = None

    def plan(self) -> Format:
        """Find the devices, as they are now unless a stream is open in this process, and settle rates, blocks and channels."""
        global _looked
        if self._before_plan is not None:
            self._before_plan()
        soundserver.check()  # a server that hangs would hang PortAudio, and this thread with it
        if _looked and not _open:
            portaudio.refresh()
        _looked = True
        source, sink = self._look("input"), self._look("output")
        self._found = source, sink
        heard, played = source.end("input"), sink.end("output")
        assert heard is not None
        assert played is not None
        if played.chain and played.chain[0] in heard.chain:
            raise WrongDevice(f"input {source.name!r} hears what output {sink.name!r} plays", "choose another input")
        rate_in, rate_out = self._rates(source, heard, sink, played)
        block_out = self._block or max(1, round(BLOCK * rate_out))
        return Format(
            rate_in=rate_in,
            rate_out=rate_out,
            block_in=max(1, round(block_out * rate_in / rate_out)),
            block_out=block_out,
            channels_in=devices.used(heard),
            channels_out=devices.used(played),
            one_clock=rate_in == rate_out and heard.clock == played.clock,
            name_in=source.name,
            name_out=sink.name,
        )

    def open(self, plan: Format, exchange: Exchange) -> tuple[float, float]:
        """Start calling `exchange`, by one stream where one clock runs both directions, else by two."""
        if self._streams:
            raise RuntimeError("the sound card is open")
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(BETWEEN)
            try:
                return self._open(plan, exchange)
            except DeviceError as error:
                failure = error
        raise failure

    def close(self) -> None:
        """End the streams, without waiting for what they have yet to play."""
        if not self._streams:
            return
        global _open
        sd = portaudio.sounddevice()
        if self._watch is not None:
            self._watch.end()
            self._watch = None
        # A sound server that hangs keeps this thread here, in a thread that a process may leave behind; but at exit
        # sounddevice would end PortAudio, and hang the process for good. So it is told only once streams are closed.
        atexit.unregister(sd._exit_handler)
        with self._ending:
            for stream in self._streams:
                stream.abort()
                stream.close()
            self._streams = []
        self._exchange = None
        _open -= 1
        atexit.register(sd._exit_handler)

    @property
    def active(self) -> bool:
        """False where not open, or once a stream has ended by itself, or was moved to another device than was chosen.

        A sound server that hangs stays active."""
        streams, watch = list(self._streams), self._watch
        if not streams or (watch is not None and watch.lost):
            return False
        try:
            return all(stream.active for stream in streams)
        except portaudio.sounddevice().PortAudioError:
            return False

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _look(self, direction: Direction) -> Device:
        """As was asked for; what has a name or number, and was found once, is that device from then on or none."""
        wanted = self._input if direction == "input" else self._output
        if wanted is None or self._found is None:
            return devices.find(wanted, direction)
        return devices.again(self._found[0 if direction == "input" else 1], direction)

    def _rates(self, source: Device, heard: End, sink: Device, played: End) -> tuple[int, int]:
        def take(rate: int) -> bool:
            return devices.takes(source, "input", rate) and devices.takes(sink, "output", rate)

        if self._rate is not None:
            if not take(self._rate):
                both = [str(rate) for rate in devices.rates(source, "input") if rate in devices.rates(sink, "output")]
                cause = f"input {source.name!r} and output {sink.name!r} do not both take {self._rate} Hz"
                raise WrongDevice(cause, f"both take {', '.join(both)}" if both else "give no rate: each runs at its own")
            return self._rate, self._rate
        for rate in dict.fromkeys((played.rate, heard.rate, *RATES)):
            if take(rate):
                return rate, rate
        return _own_rate(source, "input", heard), _own_rate(sink, "output", played)

    def _open(self, plan: Format, exchange: Exchange) -> tuple[float, float]:
        """One attempt."""
        global _open
        assert self._found is not None, "plan first"
        source, sink = self._found
        sd = portaudio.sounddevice()
        streams: list[Any] = []
        doing = f"input {source.name!r}, output {sink.name!r}"
        watch = self._watched(source, sink)
        try:
            with watch.marked() if watch is not None else nullcontext():
                for part in _parts(plan, source, sink):
                    doing = part.name
                    streams.append(
                        sd._StreamBase(  # sounddevice's way in for callbacks in C
                            part.kind,
                            device=part.device,
                            samplerate=part.rate,
                            blocksize=part.block,
                            channels=part.channels,
                            dtype="float32",
                            latency=self._latency,
                            callback=sd._ffi.cast("PaStreamCallback*", part.callback.address),
                            userdata=sd._ffi.cast("void*", exchange.address),
                        )
                    )
                for stream in streams:
                    stream.start()
            _live_on(streams, doing)
            if watch is not None:
                watch.verify()
            reported = [stream.latency for stream in streams]
        except BaseException as error:
            if watch is not None:
                watch.end()
            for stream in streams:
                stream.close()
            if isinstance(error, sd.PortAudioError):
                raise portaudio.explained(error, doing) from None
            raise
        with self._ending:
            self._streams, self._exchange, self._watch = streams, exchange, watch
        _open += 1
        delays = (reported[0], reported[1]) if len(streams) == 2 else reported[0]
        return _delay_in(plan, source, delays[0]), _delay_out(plan, sink, delays[1])

    def _watched(self, source: Device, sink: Device) -> Watch | None:
        """A watch on where the server will have the streams, if a server has them."""
        if not any(end is not None and end.chain for end in (source.input, sink.output)):
            return None
        chosen: dict[Direction, str] = {"input": source.node, "output": sink.node}
        return Watch({direction: node for direction, node in chosen.items() if node}, self._silence)

    def _silence(self) -> None:
        """End the streams where they are, at once, by the watch's thread; they stay to be closed."""
        with self._ending:
            for stream in self._streams:
                stream.abort()


@dataclass(frozen=True)
class _Part:
    """A stream to open; pairs where it runs both directions."""

    kind: Literal["input", "output", "duplex"]
    name: str
    device: int | tuple[int, int]
    rate: int
    block: int
    channels: int | tuple[int, int]
    callback: Callback


def _parts(plan: Format, source: Device, sink: Device) -> list[_Part]:
    names = f"input {source.name!r}", f"output {sink.name!r}"
    numbers, channels = (source.opened_as, sink.opened_as), (plan.channels_in, plan.channels_out)
    if plan.one_clock:
        return [_Part("duplex", ", ".join(names), numbers, plan.rate_out, plan.block_out, channels, callback.DUPLEX)]
    return [
        _Part("input", names[0], numbers[0], plan.rate_in, plan.block_in, channels[0], callback.CAPTURE),
        _Part("output", names[1], numbers[1], plan.rate_out, plan.block_out, channels[1], callback.PLAY),
    ]


def _live_on(streams: Sequence[Any], doing: str) -> None:
    """DeviceError if a stream ends in its first moments."""
    until = time.monotonic() + ALIVE
    while time.monotonic() < until:
        if not all(stream.active for stream in streams):
            raise DeviceError(f"{doing}: the stream ended at once", "try again, or choose another device")
        time.sleep(ALIVE / 10)


def _delay_in(plan: Format, source: Device, reported: float) -> float:
    """s from the microphone to the callback. On ALSA, PortAudio reports how much its buffer holds; it calls when a block is in.

    Measured there and back through PulseAudio at 48 kHz, with what is made of the reports here, ms: blocks of 128 frames, 21
    (13); 480, 30 (30); 960, 60 (60); 2048, 138 (128); 480 asked for "high" latency, 60 (50).
    """
    return min(reported, plan.block_in / plan.rate_in) if source.host_api in _BY_ALSA else reported


def _delay_out(plan: Format, sink: Device, reported: float) -> float:
    """s from the callback to the loudspeaker. On ALSA it is called when a block of its buffer is free."""
    return max(0.0, reported - plan.block_out / plan.rate_out) if sink.host_api in _BY_ALSA else reported


def _own_rate(device: Device, direction: Direction, end: End) -> int:
    return end.rate if devices.takes(device, direction, end.rate) else devices.rates(device, direction)[-1]
