"""The command `velavox`. What is heavy is imported by the command that needs it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from .. import __version__
from .progress import say
from .standard import standard_streams

if TYPE_CHECKING:
    from .parameter import Value

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: an error is one line that can be searched for, and help starts faster
    pretty_exceptions_enable=False,  # they would show the values of variables
)


def _version(asked: bool) -> None:
    if asked:
        print(f"velavox {__version__}")
        raise typer.Exit


@app.callback()
def velavox(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and exit.")] = False,
) -> None:
    """Anonymize voices in files, folders and pipes."""


class Policy(StrEnum):
    each = "each"
    mix = "mix"


class Voices(StrEnum):
    per_file = "per-file"
    per_speaker = "per-speaker"


class Format(StrEnum):
    s16le = "s16le"
    f32le = "f32le"
    mulaw = "mulaw"
    alaw = "alaw"


Method = Annotated[str, typer.Option(help="How the voice is changed: see `velavox methods`.", metavar="NAME")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A parameter of the method, LOW,HIGH for a range to draw from; again for more.", metavar="NAME=VALUE"
    ),
]
Seed = Annotated[int | None, typer.Option(help="Makes voices repeatable, and voids any claim of privacy.", metavar="N")]
ChannelPolicy = Annotated[Policy, typer.Option(help="each: a voice for every channel; mix: one for all.")]


@app.command(no_args_is_help=True)
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
        _refuse("--speakers says who shares a voice, --voices per-file that nobody does: leave one out")
    if report is not None:
        with _told(PlanError):
            _check_report(report, [path for path in (mapping, speakers, *inputs) if path is not None])
    _tell_of_compiling()
    with _told(PlanError), Progress() as shown:
        result = anonymize_folder(
            inputs,
            out,
            method,
            settings=_parsed(settings),
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
            _fail(f"{report}: {error.strerror}; give a --report FILE.json that can be written")
    if not result.ok:
        raise typer.Exit(FAILED)


@app.command()
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
    with _told(ValueError):
        if os.isatty(0) or os.isatty(1):
            raise ValueError("raw samples neither come from a terminal nor go to one: redirect stdin and stdout")
        from .host import Engine
        from .methods import make
        from .reader import MOST_CHANNELS

        if channels > MOST_CHANNELS:
            raise ValueError(f"--channels {channels}: give 1 to {MOST_CHANNELS}")
        _tell_of_compiling()
        engine = Engine(make(method, _parsed(settings)), sample_rate=rate, channels=channels, policy=policy.value, seed=seed)
    from .pipe import CODINGS, stream
    from .report import SEEDED

    delay = f"{engine.latency / rate * 1e3:.1f} ms ({engine.latency} frames)"
    say(f"{rate} Hz, {channels} channel{'s' * (channels > 1)}, {format.value}: delay {delay}")
    if seed is not None:
        say(f"note: {SEEDED}")
    with _told(where="stdin or stdout"):
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
        _fail(f"no sample in it was {format.value} at {rate} Hz; give the --format of the input")
    if counted.muted:
        _fail(f"{counted.muted} hops were muted: {counted.last_error or counted.causes}")


@app.command()
def methods(json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """List the methods, with delays, parameters, ranges and defaults.

    \b
    Example:
      velavox methods --json
    """
    from .listing import as_json, as_text

    print(as_json() if json else as_text())


def main() -> None:
    """The entry point of the command."""
    try:
        with standard_streams():
            app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `velavox methods | head`: whoever asked has enough
        sys.exit(0)
    except OSError as error:
        say(f"failed: stdout: {error.strerror}")
        sys.exit(FAILED)


def _tell_of_compiling() -> None:
    from ..kernels.jit import before_compiling

    before_compiling(lambda: say("compiling kernels for the first run: up to half a minute, once"))


def _parsed(settings: list[str] | None) -> dict[str, Value]:
    parsed: dict[str, Value] = {}
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            _refuse(f"--set {text}: give NAME=VALUE, as in --set alpha=0.7")
        parsed[name.strip()] = value.strip()
    return parsed


def _check_report(path: Path, others: list[Path]) -> None:
    """Before hours of work, not after: it can be written, and is none of the `others`, which it would replace."""
    from .plan import refusals_told

    if path.suffix.lower() != ".json":
        _refuse(f"--report {path}: give a name that ends in .json")
    with refusals_told():
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            _refuse(f"--report {path}: cannot be written; give another")
        for other in others:
            if os.path.realpath(path) == os.path.realpath(other) or (path.exists() and other.exists() and path.samefile(other)):
                _refuse(f"--report {path}: is the file {other}, which it would replace; give another")


def _refuse(text: str) -> NoReturn:
    say(f"velavox: {text}")
    raise typer.Exit(WRONG_USE)


def _fail(text: str) -> NoReturn:
    say(f"failed: {text}")
    raise typer.Exit(FAILED)


@contextmanager
def _told(*wrong_use: type[Exception], where: str = "system") -> Iterator[None]:
    """Wrong use, what the system refuses, Ctrl-C and the signals that end a program become a line and an exit status, not a
    traceback."""

    def end(number: int, frame: object) -> NoReturn:
        sys.exit(128 + number)  # an exception, so that what is half written is removed

    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [number for number in ending if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except wrong_use as error:
        _refuse(str(error))
    except OSError as error:
        _fail(f"{where}: {error.strerror}")
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
