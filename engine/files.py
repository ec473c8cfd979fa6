"""One file in, one file out: anonymized, aligned to the sample, of the same length, or not written at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from .failure import FileFailure, Unusable
from .form import Form, form_for
from .methods import make
from .reader import Reader
from .stage import Stage
from .writer import WITH_CUES, Writer

if TYPE_CHECKING:
    from .content.guard import ContentGuard
    from .host import Engine, Policy
    from .stats import Stats

__all__ = ["FileFailure", "FileReport", "anonymize_file"]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class FileReport:
    """What became of one file."""

    frames: int
    sample_rate: int  # Hz
    channels: int
    container: str  # of the output, in libsndfile's words, as `subtype`
    subtype: str
    seconds: float  # of audio
    cpu_seconds: float  # of this thread; ffmpeg's are not in it
    clipped: int  # output samples over full scale, limited to it
    full_scale: int  # input samples at full scale or above
    sanitised: int  # input samples that were NaN or infinite, made 0
    muted: int  # hops (10 ms of a channel) that became silence
    warnings: tuple[str, ...]  # one line each


def anonymize_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    stage: str | Stage = "mcadams",
    *,
    seed: int | None = None,
    key: str = "",
    policy: Policy = "each",
    keep_cues: bool = False,
    progress: Progress | None = None,
    around: Callable[[Engine], ContentGuard] | None = None,
) -> FileReport:
    """Anonymize `source` into `target`, in constant memory.

    Output frame n is input frame n; length, rate and channels are the source's; container and codec as `form` says. Tags,
    names, labels and any other metadata are dropped. `target` appears when it is whole; an older file of that name is
    replaced. The source stays as it is.

    Args:
        stage: a method by name, with a voice of its own for each file; or a `Stage`, whose voice, if it has one, is used.
        seed, key: as `seed` and `source` of `Engine`: with a seed, the voice follows from (seed, key, channel).
        policy: "each" channel its own voice, "one" for all of them, or one for their "mix": see `Engine`.
        keep_cues: keep the positions of the cue points of a WAV file, without their labels.
        progress: called after each block with the frames done and the frames expected (None: not known).
        around: makes the guard that the sound goes through, from the engine that it would go through.

    Raises:
        FileFailure: whatever went wrong with this file; no new output is there then, and an older one of that name stays.
        ValueError: `stage` is no method.
    """
    first = make(stage) if isinstance(stage, str) else stage
    try:
        with Reader(Path(source)) as reader:
            return _anonymize(reader, Path(source), Path(target), first, seed, key, policy, keep_cues, progress, around)
    except FileFailure:
        raise
    except Unusable as error:
        cause, _, remedy = str(error).rpartition("; ")
        raise FileFailure(cause, remedy) from error
    except OSError as error:
        raise FileFailure.of(error) from error
    except Exception as error:
        raise FileFailure(f"{type(error).__name__}: {error}", "check the settings; if they are right, report this") from error


def _anonymize(
    reader: Reader,
    source: Path,
    target: Path,
    stage: Stage,
    seed: int | None,
    key: str,
    policy: Policy,
    keep_cues: bool,
    progress: Progress | None,
    around: Callable[[Engine], ContentGuard] | None,
) -> FileReport:
    from .host import Engine

    began = thread_time()
    if target.exists() and target.samefile(source):
        raise FileFailure("the output is the recording itself", "give another output")
    rate, channels = reader.rate, reader.channels
    form = form_for(Form(reader.container, reader.subtype, reader.endian), source, target, reader.frames, channels)
    made = Engine(
        stage,
        sample_rate=rate,
        channels=channels,
        policy=policy,
        on_error="raise",
        seed=seed,
        source=key,
        recording=source,
    )
    engine = made if around is None else around(made)
    with Writer(target, form, rate, channels) as writer:
        early = engine.latency  # frames that come out before the first one of the source
        for block in reader.blocks():
            y = engine.process(block)
            writer.write(y[early:])
            early -= min(early, len(y))
            if progress is not None:
                progress(engine.stats.frames, reader.frames)
        writer.write(engine.flush().reshape(-1, channels)[early:])
        counted = engine.stats
        warnings = reader.warnings + _judged(counted)
        if keep_cues and reader.cues and form.container not in WITH_CUES:
            warnings.append(f"cue points left out: {form.container} output has none")
        writer.commit(reader.channel_mask, [c for c in reader.cues if c <= writer.frames] if keep_cues else ())
    return FileReport(
        frames=writer.frames,
        sample_rate=rate,
        channels=channels,
        container=form.container,
        subtype=form.subtype,
        seconds=writer.frames / rate,
        cpu_seconds=thread_time() - began,
        clipped=counted.clipped + writer.clipped,
        full_scale=counted.full_scale,
        sanitised=counted.sanitised,
        muted=counted.muted,
        warnings=tuple(warnings + writer.warnings),
    )


def _judged(counted: Stats) -> list[str]:
    """Warnings from the engine's counters; FileFailure where they mean that the output is worthless."""
    if counted.causes.get("error") or (counted.hops and counted.muted == counted.hops):
        raise FileFailure(f"the anonymizer failed: {counted.last_error or 'all of it was muted'}", "report this, please")
    warnings = []
    if counted.muted:
        causes = ", ".join(f"{cause} {n}" for cause, n in counted.causes.items())
        warnings.append(f"{counted.muted} of {counted.hops} hops of 10 ms are silent: {causes}")
    if counted.sanitised:
        warnings.append(f"{counted.sanitised} samples were not finite: they are silent")
    return warnings
