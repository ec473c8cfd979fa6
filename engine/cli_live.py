"""The commands on sound devices: live, devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .options import (
    JsonSummary,
    Method,
    Seed,
    Settings,
    check_json,
    check_result,
    fail,
    give_json,
    parsed,
    refuse,
    tell_of_compiling,
    told,
)
from .progress import say

if TYPE_CHECKING:
    from .keys import Keys
    from .live import Live
    from .livelog import LiveLog
    from .recorder import Recorder
    from .statusline import StatusLine

_LOOK_EVERY = 0.2  # s: redraws of the status line, and how late the end of the stream may be noticed


def live(
    input: Annotated[
        str | None, typer.Option(help="Microphone: its name, a part of it, or its number.", metavar="NAME")
    ] = None,
    output: Annotated[str | None, typer.Option(help="Where the voice is played, likewise.", metavar="NAME")] = None,
    rate: Annotated[int | None, typer.Option(help="Frames a second; else as the devices like it.", metavar="HZ")] = None,
    block: Annotated[int | None, typer.Option(help="Frames a block; else 10 ms.", metavar="N")] = None,
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    virtual_mic: Annotated[
        str | None, typer.Option(help="Play into a microphone of this name, which other programs can choose.", metavar="NAME")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Also write what was sent to the output.", metavar="FILE")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="End after so long.", metavar="N")] = None,
    json: JsonSummary = None,
) -> None:
    """Anonymize a microphone while somebody speaks, until Ctrl-C.

    Whatever goes wrong, silence goes out and never the voice as it is. A device that was lost is opened again when it is back.

    \b
    Examples:
      velavox live --input headset --virtual-mic Anonymous
      velavox live --block 480 --seconds 60 --record sent.wav --json summary.json
    """
    from .ending import Ending
    from .livelog import LiveLog, troubles
    from .report import SEEDED
    from .statusline import StatusLine

    with told(ValueError):
        if output is not None and virtual_mic is not None:
            refuse("--output says where the voice is played, and so does --virtual-mic: leave one out")
        check_json(json, [record] if record else [])
        recorder = _recorder(record) if record else None
    line = StatusLine()
    log = LiveLog(line.say)
    stream: Live | None = None
    ended_by = "signal"
    with Ending() as ending, ExitStack() as opened:
        with ending.at_once():
            tell_of_compiling()
            from .keys import Keys
            from .live import Live
            from .methods import make
            from .portaudio import quiet
            from .soundcard import SoundCard
            from .virtualmic import virtual_microphone
        with _devices_told():
            opened.enter_context(quiet())
            with ending.at_once():
                stage = make(method, parsed(settings))
                card = SoundCard(input, output, rate, block)
                if virtual_mic is not None:
                    mic = opened.enter_context(virtual_microphone(virtual_mic))
                    card = SoundCard(input, mic.output, rate, block, before_plan=mic.renew)
            if recorder is not None:
                opened.enter_context(recorder)
            stream = Live(stage, card=card, seed=seed, record=recorder is not None)
            opened.callback(_close, stream)
            with ending.at_once():
                stream.start()
            if virtual_mic is not None:
                say(f"choose the microphone {mic.pick!r} in the program that is to hear you")
            if seed is not None:
                say(f"note: {SEEDED}")
            if recorder is not None:
                recorder.start(stream)
            with line, Keys() as keys, ending.at_once():
                ended_by = _attend(stream, line, log, keys, recorder, seconds)
    if stream is not None:
        end = stream.status()
        summary = {"velavox": __version__, "ended_by": ended_by, "seeded": seed is not None, **log.summary(end)}
        _conclude(summary, troubles(end), recorder, json)


def _attend(stream: Live, line: StatusLine, log: LiveLog, keys: Keys, recorder: Recorder | None, seconds: float | None) -> str:
    """Show it, and do what the keys say, until it ends; by what it did."""
    until = monotonic() + seconds if seconds is not None else float("inf")
    warned = False
    while (left := until - monotonic()) > 0:
        try:
            if stream.wait(0):
                break
        except Exception:  # of its own thread: its status has the cause
            return "error"
        status = stream.status()
        log.look(status)
        if recorder is not None and recorder.trouble and not warned:
            line.say(f"warning: the recording has stopped: {recorder.trouble}; the voice goes on")
            warned = True
        line.show(status, keys.there)
        for key in keys.read(min(left, _LOOK_EVERY)).lower():
            if key == "m":
                stream.muted = not stream.muted
            elif key == "n":
                stream.new_voice()
            elif key == "q":
                return "key"
    return "seconds"


def _conclude(summary: dict[str, Any], lost: str, recorder: Recorder | None, json: str | None) -> None:
    """The last lines, the summary where it is wanted, and the exit status."""
    say(f"ended after {summary['seconds']:.1f} s: {lost or 'no sound was late or lost'}")
    if recorder is not None:
        summary["record"] = {"seconds": recorder.seconds, "trouble": recorder.trouble, "note": recorder.note}
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
    tell_of_compiling()
    with _devices_told():
        from .devices import listing
        from .portaudio import quiet

        with quiet():
            listed = listing(json)
        print(listed)


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
