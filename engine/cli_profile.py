"""The command that measures the engine on this machine: profile."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import replace
from enum import StrEnum
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import __version__
from .options import (
    STDOUT,
    JsonSummary,
    Seed,
    Settings,
    check_json,
    check_number,
    check_plots,
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
    from .profile_run import Pace as PaceName
    from .profile_run import Row, Work
    from .profile_safe import Ladder


class Pace(StrEnum):
    fast = "fast"
    real = "real"


_SECONDS = (0.1, 86_400.0)
_LARGEST = 65_536  # frames
_OPENING = 0.4  # s that a stream in real time takes to begin and to end


def profile(
    method: Annotated[
        list[str] | None, typer.Option(help="How the voice is changed [mcadams]; again for more.", metavar="NAME")
    ] = None,
    settings: Settings = None,
    input: Annotated[
        Path | None,
        typer.Option(help="A recording to process, over and over; else generated noise like speech.", metavar="FILE"),
    ] = None,
    rate: Annotated[
        list[int] | None, typer.Option(help="Frames a second [the recording's, else 48000]; again for more.", metavar="HZ")
    ] = None,
    block: Annotated[list[int] | None, typer.Option(help="Frames a block [10 ms]; again for more.", metavar="N")] = None,
    seconds: Annotated[
        float, typer.Option(help="Sound to process for each row; longer where that is too few blocks.", metavar="N")
    ] = 10.0,
    pace: Annotated[
        Pace, typer.Option(help="fast: block after block; real: as in a live stream, which takes as long as the sound lasts.")
    ] = Pace.fast,
    seed: Seed = None,
    json: JsonSummary = None,
    plot: Annotated[Path | None, typer.Option(help="Draw block times and what they are made of.", metavar="FILE.png")] = None,
) -> None:
    """Measure on this machine how long blocks take, what takes it, and how small they may safely be.

    Every combination of --method, --rate and --block is a row. At real pace the processor sleeps between blocks, as it does in
    a call, and they take several times as long: caches are cold by then. To find the smallest safe block, more sizes are tried,
    at real pace for a second or more each. No device and no sound server take part.

    \b
    Examples:
      velavox profile --pace real --plot profile.png
      velavox profile --method mcadams --method voicemask --rate 16000 --rate 48000 --block 128 --block 480 --json profile.json
    """
    from .failure import FileFailure

    with told(ValueError):
        check_number("--seconds", seconds, *_SECONDS)
        _check_results(json, plot, input)
        tell_of_compiling()
        try:
            works = _works(method or ["mcadams"], settings, input, rate, block, seed)
            if pace is Pace.real:
                _check_real(works)
        except FileFailure as error:
            fail(f"{input}: {error.cause}; {error.remedy}")
        rows, ladders = _measured(works, pace.value, seconds)
        _give(rows, ladders, json)
        if plot is not None:
            _draw(plot, rows)


def _check_results(json: str | None, plot: Path | None, input: Path | None) -> None:
    inputs = [input] if input else []
    check_json(json, inputs)
    if plot is None:
        return
    others = [*inputs, *([Path(json)] if json not in (None, STDOUT) else [])]
    check_result("--plot", plot, others, ".png")
    check_plots("--plot")


def _works(
    methods: list[str],
    settings: list[str] | None,
    input: Path | None,
    rates: list[int] | None,
    blocks: list[int] | None,
    seed: int | None,
) -> list[Work]:
    """Every combination, checked before the first one runs."""
    from .methods import METHODS, make
    from .profile_run import Work
    from .profile_sound import generated, read
    from .resample import HIGHEST, LOWEST

    values = parsed(settings)
    for name in methods:
        try:
            make(name, values)
        except ValueError as error:
            refuse(f"{error}" if len(methods) == 1 or name not in METHODS else f"--method {name}: {error}")
    for hz in rates or ():
        check_number("--rate", hz, LOWEST, HIGHEST, "Hz")
    for frames in blocks or ():
        check_number("--block", frames, 1, _LARGEST, "frames")
    recording = read(input) if input else None
    rates = rates or [recording.rate if recording else 48_000]
    sounds = [recording.at(hz) if recording else generated(hz, seed) for hz in rates]
    return [
        Work(name, values, sound, frames, seed)
        for name, sound in product(methods, sounds)
        for frames in blocks or [sound.rate // 100]
    ]


def _check_real(works: list[Work]) -> None:
    """A stream in real time has blocks that a device could ask for."""
    from math import ceil

    from .profile_run import LONGEST, SHORTEST

    for work in works:
        if not SHORTEST <= work.block_seconds <= LONGEST:
            rate = work.sound.rate
            limits = f"give {ceil(SHORTEST * rate)} to {int(LONGEST * rate)} frames at {rate} Hz"
            refuse(f"--block {work.block}: lasts {work.block_seconds * 1e3:.4g} ms; with --pace real {limits}")


def _measured(works: list[Work], pace: PaceName, seconds: float) -> tuple[list[Row], list[Ladder]]:
    """All rows and, for each method and rate, the ladder."""
    from .profile_run import run
    from .profile_safe import climb_down

    groups = [list(group) for _, group in groupby(works, lambda work: (work.method, work.sound.rate))]
    _tell_beforehand(groups, pace, seconds)

    def tell(work: Work) -> None:
        if sys.stderr.isatty():  # a line, no bar: drawing that would disturb what is measured
            say(f"{work.method} at {work.sound.rate} Hz: blocks of {work.block} ...")

    rows, ladders = [], []
    for group in groups:
        tried = []
        for work in group:
            tell(work)
            tried.append(run(work, pace, seconds))
        ladders.append(climb_down(tried, tell))
        rows += tried
    return rows, ladders


def _tell_beforehand(groups: list[list[Work]], pace: PaceName, seconds: float) -> None:
    """What was lengthened and, where time is that of a clock, how long all of it takes."""
    from .profile_run import FEWEST
    from .profile_safe import SECONDS, sizes
    from .progress import counted

    for block, rate in dict.fromkeys((work.block, work.sound.rate) for group in groups for work in group):
        length = FEWEST[pace] * block / rate
        if length > seconds:
            why = f"since fewer than {FEWEST[pace]} tell little"
            say(f"blocks of {block} at {rate} Hz: {length:.3g} s instead of {seconds:g}, {why}")
    if pace == "real":
        own = [work.lengthened(pace, seconds) for group in groups for work in group]
        ladder = [replace(group[0], block=size).lengthened(pace, SECONDS[pace]) for group in groups for size in sizes(group)]
        total = sum(own) + sum(ladder) + _OPENING * len([*own, *ladder])
        more = f"then {counted(len(ladder), 'more block size')} to find the smallest safe one"
        say(f"this takes up to {total:.0f} s: {counted(len(own), 'row')} in {sum(own):.3g} s, {more}")


def _give(rows: list[Row], ladders: list[Ladder], json: str | None) -> None:
    from .profile_text import as_text

    if json != STDOUT:
        put(as_text(rows, ladders))
    first = rows[0]
    value = {
        "velavox": __version__,
        "machine": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "system": platform.system(),
            "cpus": os.cpu_count(),
        },
        "sound": first.work.sound.name,
        "pace": first.pace,
        "rows": [row.as_json() for row in rows],
        "safe_blocks": [ladder.as_json() for ladder in ladders],
    }
    give_json(json, value)


def _draw(plot: Path, rows: list[Row]) -> None:
    from .profile_plot import write

    try:
        write(plot, rows)
    except OSError as error:
        fail(f"{plot}: {error.strerror}; give a --plot FILE.png that can be written")
