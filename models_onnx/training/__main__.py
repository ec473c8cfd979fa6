"""The command line of training."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ...engine.options import FAILED
from ...engine.progress import say
from . import steps
from .errors import TrainingError
from .journal import Journal
from .student import LATE, SOON

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
Work = Annotated[Path, typer.Option("--work", help="Working folder.")]
Seed = Annotated[int, typer.Option("--seed")]


class Mode(Enum):
    """Of the neural voice."""

    balanced = "balanced"
    low = "low"


@app.callback(invoke_without_command=True)
def training(
    smoke: Annotated[Path | None, typer.Option(help="Do all of it in a minute, on three clips, in this new folder.")] = None,
) -> None:
    """Train the graphs of the neural voice, by these commands in this order."""
    if smoke is not None:
        from .smoke import smoke as run

        run(smoke)


@app.command()
def index(
    corpora: Annotated[list[Path], typer.Argument(help="Manifests (.csv) or folders laid out as LibriSpeech, LibriTTS, VCTK.")],
    work: Work,
) -> None:
    """List the utterances of all corpora."""
    steps.index(corpora, work, Journal(work))


@app.command()
def transcribe(work: Work) -> None:
    """Write down training utterances that have no words."""
    from .transcribe import transcribe as run

    run(work, Journal(work))


@app.command()
def synth(
    work: Work,
    voices: Annotated[Path, typer.Option(help="Folder of Kokoro's voices, *.bin.")],
    english: int = 1800,
    mandarin: int = 1300,
    dev: int = 40,
    seed: Seed = 7,
) -> None:
    """Speak new utterances in mixed voices."""
    from .synth import synthesize

    for language, count in (("en", english), ("zh", mandarin)):
        for split, number in (("dev", dev), ("train", count)):
            synthesize(work, voices, language, number, split, seed, Journal(work))


@app.command()
def align(work: Work) -> None:
    """Find the phones of all utterances with words."""
    steps.align(work, Journal(work))


@app.command()
def pack(
    work: Work, copies: Annotated[int, typer.Option(help="Augmented copies of the training speech.")] = 6, seed: Seed = 11
) -> None:
    """Features and targets, clean and augmented."""
    steps.pack(work, copies, seed, Journal(work))


@app.command()
def student(
    work: Work,
    count: Annotated[int, typer.Option("--steps", help="Steps in all, 96 s of speech each; more: go on.")] = 20_000,
    threads: Annotated[int, typer.Option(help="Processor cores.")] = 2,
    seed: Seed = 13,
) -> None:
    """Train the phone recogniser, from its last checkpoint on."""
    steps.student(work, count, threads, seed, Journal(work))


@app.command()
def evaluate(work: Work) -> None:
    """Accuracy on unheard speakers, by corpus, clean and noisy."""
    steps.evaluate(work, Journal(work))


@app.command()
def leak(work: Work) -> None:
    """Equal error rate of an attacker on the content channel."""
    steps.leak(work, Journal(work))


@app.command()
def targets(work: Work, seed: Seed = 17) -> None:
    """Parameters of the vocoder, of clean speech."""
    steps.targets(work, seed, Journal(work))


@app.command()
def decoder(
    work: Work,
    mode: Annotated[Mode, typer.Option(help="low: of the phones alone, 40 ms earlier.")] = Mode.balanced,
    count: Annotated[int, typer.Option("--steps", help="Steps in all, 102 s of speech each; more: go on.")] = 3000,
    threads: Annotated[int, typer.Option(help="Processor cores.")] = 2,
    seed: Seed = 19,
) -> None:
    """Train the decoder on the content of the best student, from its last checkpoint on."""
    steps.decoder(work, {Mode.balanced: LATE, Mode.low: SOON}[mode], count, threads, seed, Journal(work))


@app.command()
def recogniser(
    work: Work,
    count: Annotated[int, typer.Option("--steps", help="Steps in all, 96 s of speech each; more: go on.")] = 8000,
    threads: Annotated[int, typer.Option(help="Processor cores.")] = 2,
    seed: Seed = 23,
) -> None:
    """Train the streaming recogniser that listens for listed words, from its last checkpoint on."""
    steps.recogniser(work, count, threads, seed, Journal(work))


@app.command()
def export(
    work: Work,
    into: Annotated[Path, typer.Option(help="Folder of the graphs and their manifest; that of the package is models_onnx.")],
    only: Annotated[list[str] | None, typer.Option(help="A graph; again for more. Else encoder and decoders.")] = None,
    resemblyzer: Annotated[Path | None, typer.Option(help="pretrained.pt of Resemblyzer 0.1.4, for speaker.")] = None,
) -> None:
    """Make step graphs of the best checkpoints, and check them against the networks.

    recogniser and phonotactics, which rescores what that has read, are asked for by name.

    Decoders learn voices as the package's noise.onnx gives them: --only noise, which fits another, comes before their training.
    """
    from .publish import TRAINED, publish

    publish(work, into, only or TRAINED, resemblyzer, Journal(work))


@app.command()
def score(
    work: Work,
    graphs: Annotated[Path, typer.Option(help="Folder of the exported graphs and their manifest.")],
    detectors: Annotated[
        list[str] | None, typer.Option(help="Detectors that look for recorded Chinese words, as in asr+stream; again for more.")
    ] = None,
) -> None:
    """Phones that the exported recogniser gets wrong, of unheard speakers, by corpus, clean and noisy."""
    steps.score(work, graphs, Journal(work), names=[row.split("+") for row in detectors or ["stream"]])


def main() -> None:
    """Run the command line; what can be mended is one line on stderr."""
    try:
        app()
    except (TrainingError, OSError) as error:
        say(f"failed: {error}")
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
