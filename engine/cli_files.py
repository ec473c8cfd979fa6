"""The commands on recordings and streams of samples: anonymize, pipe, methods."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    FAILED,
    ChannelPolicy,
    Method,
    Policy,
    Seed,
    Settings,
    check_number,
    check_result,
    fail,
    parsed,
    put,
    refuse,
    tell_of_compiling,
    told,
)
from .progress import say


class Voices(StrEnum):
    per_file = "per-file"
    per_speaker = "per-speaker"


class Format(StrEnum):
    s16le = "s16le"
    f32le = "f32le"
    mulaw = "mulaw"
    alaw = "alaw"


def anonymize(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT", help="Files, and folders with all below them.")],
    out: Annotated[str, typer.Option(help="Folder for the outputs, or a file name for one file.", metavar="OUT")],
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    policy: ChannelPolicy = Policy.each,
    voices: Annotated[
        Voices | None, typer.Option(help="A voice for each file, or one for all files of a speaker, who is their folder.")
    ] = None,
    speakers: Annotated[
        Path | None, typer.Option(help="A table with columns path,speaker that says who speaks where.", metavar="CSV")
    ] = None,
    rename: Annotated[bool, typer.Option("--rename", help="Call the outputs recording-0001 and so on, by lot.")] = False,
    mapping: Annotated[
        Path | None, typer.Option(help="With --rename: write here, and only here, which is which.", metavar="FILE")
    ] = None,
    keep_cues: Annotated[bool, typer.Option("--keep-cues", help="Keep cue positions of WAV files (never labels).")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at work.", metavar="N")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Leave out what an earlier run has finished with equal settings.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write what became of each file.", metavar="FILE.json")] = None,
) -> None:
    """Anonymize files and folders.

    Container, length, rate and channels stay; tags and other metadata go. Inputs are never touched; outputs of the same name
    are replaced. A file that fails is told in one line, and the others go on.

    \b
    Examples:
      velavox anonymize interview.wav --out anonymous.wav
      velavox anonymize interviews --out anonymous --voices per-speaker --jobs 4 --report report.json
    """
    from .batch import anonymize_folder
    from .plan import PlanError
    from .progress import Progress
    from .report import SEEDED

    if speakers is not None and voices is Voices.per_file:
        refuse("--speakers says who shares a voice, --voices per-file that nobody does: leave one out")
    if report is not None:
        with told(PlanError):
            check_result("--report", report, [p for p in (mapping, speakers, *inputs) if p is not None], ".json", Path(out))
    tell_of_compiling()
    with told(PlanError), Progress() as shown:
        result = anonymize_folder(
            inputs,
            out,
            method,
            settings=parsed(settings),
            seed=seed,
            policy=policy.value,
            voices=voices.value if voices else "per-file",
            speaker_table=speakers,
            rename=rename,
            mapping=mapping,
            keep_cues=keep_cues,
            resume=resume,
            jobs=jobs,
            on_progress=shown.progress,
            on_outcome=shown.outcome,
        )
    say(result.summary if len(result.outcomes) > len(result.having("skipped")) else "no recordings found")
    for note in (*result.notes, *([SEEDED] if result.seeded else ())):
        say(f"note: {note}")
    if report is not None:
        try:
            result.write(report)
        except OSError as error:
            fail(f"{report}: {error.strerror}; give a --report FILE.json that can be written")
    if not result.ok:
        raise typer.Exit(FAILED)


def pipe(
    rate: Annotated[int, typer.Option(help="Frames a second.", metavar="HZ")],
    format: Annotated[Format, typer.Option(help="Kind of samples, in and out.")] = Format.s16le,
    channels: Annotated[int, typer.Option(min=1, help="Interleaved channels.", metavar="N")] = 1,
    live: Annotated[bool, typer.Option("--live", help="Drop what piled up before the start, lest it stay as delay.")] = False,
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    policy: ChannelPolicy = Policy.each,
) -> None:
    """Anonymize raw PCM from stdin to stdout, as it comes.

    The delay is constant: the output starts with that much silence and ends that much later than the input.

    \b
    Examples:
      parec --rate=48000 --channels=1 --format=s16le --latency-msec=10 | velavox pipe --live --rate 48000 |
        pacat --rate=48000 --channels=1 --format=s16le --latency-msec=10
      velavox pipe --rate 8000 --format mulaw < call.ul > anonymous.ul
    """
    with told(ValueError):
        if os.isatty(0) or os.isatty(1):
            raise ValueError("raw samples neither come from a terminal nor go to one: redirect stdin and stdout")
        from .host import Engine
        from .methods import make
        from .reader import MOST_CHANNELS
        from .resample import HIGHEST, LOWEST

        check_number("--rate", rate, LOWEST, HIGHEST, "Hz")
        check_number("--channels", channels, 1, MOST_CHANNELS)
        tell_of_compiling()
        engine = Engine(make(method, parsed(settings)), sample_rate=rate, channels=channels, policy=policy.value, seed=seed)
    from .pipe import CODINGS, stream
    from .report import SEEDED_STREAM

    delay = f"{engine.latency / rate * 1e3:.1f} ms ({engine.latency} frames)"
    say(f"{rate} Hz, {channels} channel{'s' * (channels > 1)}, {format.value}: delay {delay}")
    if promise := engine.stages[0].promise:
        say(f"note: {promise}")
    if seed is not None:
        say(f"note: {SEEDED_STREAM}")
    with told(where="stdin or stdout"):
        dropped = stream(engine, CODINGS[format.value], 0, 1, live)
    if dropped:
        say(f"warning: {dropped} bytes at the end were no whole frame")
    counted = engine.stats
    for count, what in (
        (counted.sanitised - counted.scale, "not finite"),
        (counted.scale, "far beyond full scale, which is 1"),
    ):
        if count:
            say(f"warning: {count} samples were {what}: they are silent")
    if counted.sanitised and counted.sanitised == counted.frames * channels:
        fail(f"no sample in it was {format.value} at {rate} Hz; give the --format of the input")
    if counted.muted:
        fail(f"{counted.muted} hops were muted: {counted.last_error or counted.causes}")


def methods(json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """List the methods, with delays, parameters, ranges and defaults.

    \b
    Example:
      velavox methods --json
    """
    from .listing import as_json, as_text

    put(as_json() if json else as_text())
