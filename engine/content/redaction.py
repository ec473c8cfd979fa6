"""A file without the words that must not be heard, and where such words are in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..files import FileReport, Progress, anonymize_file
from ..host import Engine, Policy
from ..identity import Identity
from ..reader import Reader
from ..stage import Stage
from .detector import Detector
from .findings import Clips
from .guard import ContentGuard
from .line import Action
from .summary import Summary


def redact_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    detectors: Sequence[Detector],
    stage: str | Stage = "mcadams",
    *,
    delay: float | None = None,
    action: Action = "bleep",
    clips: Callable[[Engine], Clips] | None = None,
    seed: int | None = None,
    policy: Policy = "each",
    progress: Progress | None = None,
) -> tuple[FileReport, Summary]:
    """Anonymize `source` into `target`, as `anonymize_file`, and hide what the detectors find. The result depends on no clock.

    Args:
        delay: s that the line holds, as live; None: as long as any look can see a sample.
        clips: for action="substitute": the sounds, once it is known how the engine sounds.

    Raises:
        FileFailure, ValueError: as `anonymize_file`; ValueError also as `ContentGuard`. A detector that fails raises nothing:
            what it has not passed is silent, and the summary tells.
    """
    made: list[ContentGuard] = []

    def around(engine: Engine) -> ContentGuard:
        sounds = clips(engine) if clips is not None else None
        made.append(ContentGuard(engine, detectors, delay=delay, action=action, clips=sounds, wait=True))
        return made[0]

    try:
        report = anonymize_file(source, target, stage, seed=seed, policy=policy, progress=progress, around=around)
        return report, made[0].report()
    finally:
        for guard in made:
            guard.close()


def scan_file(source: str | os.PathLike[str], detectors: Sequence[Detector], progress: Progress | None = None) -> Summary:
    """What the detectors find in `source`, which stays as it is; nothing is written. FileFailure if it cannot be read."""
    with Reader(Path(source)) as reader:
        engine = Engine(Identity(), sample_rate=reader.rate, channels=reader.channels)
        with ContentGuard(engine, detectors, delay=None, action="silence", wait=True) as guard:
            done = 0
            for block in reader.blocks():
                guard.process(block)
                done += len(block)
                if progress is not None:
                    progress(done, reader.frames)
            guard.flush()
            return guard.report()
