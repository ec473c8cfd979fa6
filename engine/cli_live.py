"""The commands on sound devices: live, devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from .. import __version__
from .failure import Unusable
from .options import (
    JsonSummary,
    Method,
    Seed,
    Settings,
    check_json,
    check_number,
    check_result,
    fail,
    give_json,
    parsed,
    put,
    refuse,
    tell_of_compiling,
    told,
)
from .progress import say

if TYPE_CHECKING:
    from .content.guard import ContentGuard
    from .ending import Ending
    from .host import Engine
    from .keys import Keys
    from .live import Live
    from .livelog import LiveLog
    from .recorder import Recorder
    from .statusline import StatusLine
    from .virtualmic import VirtualMic

_LOOK_EVERY = 0.2  # s: redraws of the status line, and how late the end of the stream may be noticed
_HINT_EVERY = 2.0  # s: a cat may sit on the keyboard
_USUAL = 48_000  # Hz, of devices
_SOON = 0.5  # s of writing the recording without a word


Input = Annotated[str | None, typer.Option(help="Microphone: its name, a part of it, or its number.", metavar="NAME")]
Output = Annotated[str | None, typer.Option(help="Where the voice is played, likewise.", metavar="NAME")]
Rate = Annotated[int | None, typer.Option(help="Frames a second; else as the devices like it.", metavar="HZ")]
Block = Annotated[int | None, typer.Option(help="Frames a block, 1 s at most; else 10 ms.", metavar="N")]
VirtualMicName = Annotated[
    str | None, typer.Option(help="Play into a microphone of this name, which other programs can choose.", metavar="NAME")
]
Record = Annotated[
    Path | None,
    typer.Option(help="Also write what was sent to the output. Holes that the device makes are not in it.", metavar="FILE"),
]
Seconds = Annotated[float | None, typer.Option(min=0, help="End after so long.", metavar="N")]


class Addition(Protocol):
    """What another command adds to a live stream."""

    def open(self) -> None:
        """Load what it needs, before a device is opened. ValueError: wrong use."""

    def around(self, engine: Engine) -> ContentGuard:
        """As for `Live`."""

    def look(self, say: Callable[[str], None]) -> None:
        """Tell what is new."""

    def summary(self, say: Callable[[str], None]) -> dict[str, Any]:
        """The stream has ended: tell how it was; what belongs into the summary."""

    def close(self) -> None:
        """The stream is over."""


def live(
    input: Input = None,
    output: Output = None,
    rate: Rate = None,
    block: Block = None,
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    virtual_mic: VirtualMicName = None,
    record: Record = None,
    seconds: Seconds = None,
    json: JsonSummary = None,
) -> None:
    """Anonymize a microphone while somebody speaks, until Ctrl-C.

    Whatever goes wrong, silence goes out and never the voice as it is. A device that was lost is opened again when it is back.
    Files of the same name are replaced. An xrun is a time when sound came late or was lost.

    On a terminal, keys: m mute, n new voice, q quit.

    \b
    Examples:
      velavox live --input headset --virtual-mic Anonymous
      velavox live --block 480 --seconds 60 --record sent.wav --json summary.json
    """
    converse(input, output, rate, block, method, settings, seed, virtual_mic, record, seconds, json)


def converse(
    input: str | None,
    output: str | None,
    rate: int | None,
    block: int | None,
    method: str,
    settings: list[str] | None,
    seed: int | None,
    virtual_mic: str | None,
    record: Path | None,
    seconds: float | None,
    json: str | None,
    added: Addition | None = None,
) -> None:
    """Run a live stream until it ends; arguments are those of `live`."""
    from .ending import Ended, Ending
    from .livelog import LiveLog
    from .statusline import StatusLine

    line = StatusLine()
    log = LiveLog(line.say)
    stream: Live | None = None
    mic: VirtualMic | None = None
    ended_by = "signal"
    with Ending() as ending:
        if output is not None and virtual_mic is not None:
            refuse("--output says where the voice is played, and so does --virtual-mic: leave one out")
        with told(ValueError):
            check_json(json, [record] if record else [])
            recorder = _recorder(record) if record else None
        with recorder or nullcontext():  # closed last: whatever the disk does, the device is closed by then
            with suppress(Ended), ExitStack() as opened:
                with ending.at_once():
                    tell_of_compiling()
                    from .keys import Keys
                    from .live import Live
                    from .methods import make
                    from .portaudio import quiet
                    from .report import SEEDED_STREAM
                    from .soundcard import SoundCard
                    from .virtualmic import virtual_microphone
                with _devices_told():
                    opened.enter_context(quiet())
                    with ending.at_once():
                        _check_numbers(rate, block)
                        stage = make(method, parsed(settings))
                        if added is not None:
                            opened.callback(added.close)
                            added.open()
                        card = SoundCard(input, output, rate, block)
                        if virtual_mic is not None:
                            mic = opened.enter_context(virtual_microphone(virtual_mic))
                            card = SoundCard(input, mic.output, rate, block, before_plan=mic.renew)
                    around = added.around if added is not None else None
                    stream = Live(stage, card=card, seed=seed, record=recorder is not None, around=around)
                    opened.callback(_close, stream)
                    with ending.at_once():
                        stream.start()
                    if mic is not None:
                        say(f"choose the microphone {mic.pick!r} in the program that is to hear you")
                    for note in filter(None, (stage.promise, SEEDED_STREAM if seed is not None else "")):
                        say(f"note: {note}")
                    if recorder is not None:
                        recorder.start(stream)
                    with line, Keys() as keys, ending.at_once():
                        ended_by = _attend(stream, line, log, keys, recorder, seconds, ending, added)
            if mic is not None and mic.kept:
                say(f"{mic.pick!r} stays, silent: a program listens, which would be given another microphone, perhaps yours")
                say("the next run takes it over, and removes it at its end if nobody listens then")
            if recorder is not None:
                _finish(recorder, ending)
        end = stream.status() if stream is not None else None
        summary = {"velavox": __version__, "ended_by": ended_by, "seeded": seed is not None, **log.summary(end)}
        if added is not None:
            summary |= added.summary(say)
        _conclude(log.closing(end), summary, recorder, json)


def _check_numbers(rate: int | None, block: int | None) -> None:
    from .resample import HIGHEST, LOWEST

    if rate is not None:
        check_number("--rate", rate, LOWEST, HIGHEST, "Hz")
    if block is not None:
        check_number("--block", block, 1, rate or _USUAL, "frames: more than 1 s is no conversation")


def _attend(
    stream: Live,
    line: StatusLine,
    log: LiveLog,
    keys: Keys,
    recorder: Recorder | None,
    seconds: float | None,
    ending: Ending,
    added: Addition | None,
) -> str:
    """Show it, and do what the keys say, until it ends; by what it did."""
    from .keys import HINT
    from .statusline import voice

    hinted = monotonic()
    if keys.there:
        line.say(HINT)
    warned = False
    try:
        while True:
            ending.look()
            status = stream.status()
            log.look(status)
            if added is not None:
                added.look(line.say)
            left = float("inf") if seconds is None else seconds - status.seconds
            try:
                if left <= 0 or stream.wait(0):
                    return "seconds"
            except Exception:  # of its own thread: its status has the cause
                return "error"
            if recorder is not None and recorder.trouble and not warned:
                line.say(f"warning: the recording has stopped: {recorder.trouble}; the voice goes on")
                warned = True
            line.show(status)
            for key in keys.read(min(left, _LOOK_EVERY)).lower():
                if key == "m":
                    stream.muted = not stream.muted
                elif key == "n":
                    try:
                        stream.new_voice()
                        line.say(voice(stream.status()))
                    except Unusable as error:
                        line.say(f"the voice stays: {error}")
                elif key == "q":
                    return "key"
                elif monotonic() - hinted > _HINT_EVERY:
                    line.say(HINT)
                    hinted = monotonic()
    finally:
        log.end(stream.status())


def _finish(recorder: Recorder, ending: Ending) -> None:
    """The last of it, which another Ctrl-C gives up."""
    from .ending import Ended

    if recorder.finish(_SOON):
        return
    ending.again()
    say("finishing the recording; Ctrl-C gives it up")
    try:
        with ending.at_once():
            recorder.close()
    except Ended:
        recorder.drop("given up before it was finished; nothing of it is kept")


def _conclude(closing: str, summary: dict[str, Any], recorder: Recorder | None, json: str | None) -> None:
    """The last lines, the summary where it is wanted, and the exit status."""
    say(closing)
    if recorder is not None:
        summary["record"] = {"seconds": round(recorder.seconds, 6), "trouble": recorder.trouble, "note": recorder.note}
        if recorder.note:
            say(f"note: {recorder.note}")
    give_json(json, summary)
    if summary["ended_by"] == "error":
        fail(summary["cause"])
    if recorder is not None and recorder.trouble:
        fail(f"--record: {recorder.trouble}")


def devices(json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """List the sound devices, with rates, channels and which ones are the system's defaults.

    \b
    Example:
      velavox devices --json
    """
    with _devices_told():
        from .devices import listing
        from .portaudio import quiet

        with quiet():
            listed = listing(json)
    put(listed)


def _close(stream: Live) -> None:
    from .status import State

    if stream.status().state is not State.closed:  # else start() has failed, and waited for what hangs
        stream.close()


def _recorder(target: Path) -> Recorder:
    from .failure import FileFailure
    from .recorder import Recorder

    check_result("--record", target)
    try:
        return Recorder(target)
    except FileFailure as failure:
        refuse(f"--record {target}: {failure}")


@contextmanager
def _devices_told() -> Iterator[None]:
    """As `told`, for devices that do not exist, and for those that do not work."""
    from .card import DeviceError, WrongDevice
    from .failure import FileFailure

    with told(WrongDevice, ValueError, TypeError):
        try:
            yield
        except WrongDevice:
            raise
        except (DeviceError, FileFailure) as error:
            fail(str(error))
