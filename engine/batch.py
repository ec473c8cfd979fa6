"""Many files: planned, spread over processes, each on its own, so that one that fails does not stop the others."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import pseudonyms, speakers
from .failure import FileFailure
from .journal import Journal, source_state
from .plan import Job, Plan, PlanError, plan, refusals_told
from .report import Outcome, Result
from .workers import Died, Progress, spread

if TYPE_CHECKING:
    from .host import Policy
    from .stage import Stage

Voices = Literal["per-file", "per-speaker"]
_WITHHELD = "(name withheld)"


def anonymize_folder(
    source: str | Path | Sequence[str | Path],
    target: str | Path,
    method: str = "mcadams",
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    policy: Policy = "each",
    voices: Voices = "per-file",
    speaker_table: str | Path | None = None,
    rename: bool = False,
    mapping: str | Path | None = None,
    keep_cues: bool = False,
    resume: bool = False,
    jobs: int = 1,
    on_progress: Callable[[float, int], None] | None = None,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> Result:
    """Anonymize the recordings in a folder (or a file, or several of both) into the folder `target`, mirrored.

    Args:
        source: never written to. Hidden files and what is no audio are skipped, with the reason in the result.
        target: created; outputs of the same name are replaced. For one file it may be a file name.
        method: as in `velavox methods`; `settings` are its parameters by name.
        seed: makes the voices repeatable, from (seed, path or speaker), and voids any privacy claim.
        policy: "each": every channel of a file has its own voice. "one": all have the same. "mix": one voice for their mix.
        voices: "per-speaker": all files of a speaker have one voice, drawn once. The speaker is the file's folder, or the
            `speaker` of its `path` in `speaker_table`, a CSV file.
        rename: outputs are `recording-0001.wav` and so on, numbered by lot; which is which is written to `mapping` only.
        keep_cues: keep cue positions (their labels never).
        resume: leave out files whose output is finished and belongs to the same source and settings. Without a seed, a
            speaker with an unfinished file is done anew as a whole, since the voice of the finished ones is kept nowhere.
        jobs: processes. With more than one, call this from a script's `if __name__ == "__main__":`.
        on_progress: called with the files done, parts included, and their number.
        on_outcome: called for each file as soon as it is done, failed or passed over.

    Raises:
        PlanError: wrong use; the message says what and what instead, and no output has been touched. A file that fails
            raises nothing: it is in the result.
    """
    began = monotonic()
    from . import host
    from .methods import make

    for name, value, choices in (("policy", policy, get_args(host.Policy)), ("voices", voices, get_args(Voices))):
        if value not in choices:
            raise PlanError(f"{name}={value!r}: give one of {', '.join(choices)}")
    try:
        values = make(method, settings or {}).values
    except (TypeError, ValueError) as error:
        raise PlanError(str(error)) from error
    if values.get("enroll") == "self" and (voices == "per-speaker" or speaker_table is not None):
        raise PlanError("enroll=self gives every file a voice of its own: have voices per-file, or enrol by a path")
    with refusals_told():
        made = plan([source] if isinstance(source, (str, Path)) else list(source), target)
        todo = list(made.jobs)
        if speaker_table is not None:
            voices = "per-speaker"
            todo = speakers.assign(todo, Path(speaker_table))
        if rename:
            todo = _renamed(todo, Path(target), mapping, resume)
        elif mapping is not None:
            raise PlanError(f"{mapping}: without --rename there is nothing to map; add --rename, or leave --mapping out")

    settled = [*_passed(made, rename)]
    per_speaker = voices == "per-speaker"
    journal = Journal(Path(target), json.dumps([method, values, seed, policy, voices, keep_cues], sort_keys=True), resume)
    if resume:
        todo, finished = _split(todo, journal, whole_speakers=per_speaker and seed is None)
        settled += [Outcome(job.label, "finished", output=_below(job, target)) for job in finished]

    # Files of one speaker share a voice through one secret of this run, which is kept nowhere.
    secret = secrets.randbits(256) if seed is None and per_speaker else seed
    setup = _Setup(method, values, secret, policy, per_speaker, keep_cues)
    tell = on_outcome or (lambda outcome: None)
    for outcome in settled:
        tell(outcome)
    try:
        for job, outcome in _run(setup, todo, journal, jobs, on_progress):
            settled.append(replace(outcome, output=_below(job, target)) if outcome.status == "done" else outcome)
            tell(settled[-1])
    finally:
        journal.close()
    settled.sort(key=lambda outcome: outcome.file)
    notes = (journal.note,) if journal.note else ()
    return Result(method, voices, seed is not None, tuple(settled), monotonic() - began, notes)


@dataclass(frozen=True)
class _Setup:
    """What every worker has to know."""

    method: str
    values: Mapping[str, Any]
    seed: int | None
    policy: Policy
    per_speaker: bool
    keep_cues: bool

    def __call__(self) -> Callable[[Job, Progress], Outcome]:
        """Load the method, once in a process."""
        from .methods import make

        return partial(self.anonymize, make(self.method, self.values))

    def anonymize(self, stage: Stage, job: Job, progress: Progress) -> Outcome:
        """One file; whatever goes wrong with it becomes its outcome."""
        from .files import anonymize_file

        try:
            done = anonymize_file(
                job.source,
                job.target,
                stage.clone(),  # without a voice yet, so that every file draws its own
                seed=self.seed,
                key=job.speaker if self.per_speaker else job.name,
                policy=self.policy,
                keep_cues=self.keep_cues,
                progress=lambda frames, total: progress(frames / total if total and frames < total else 0.0),
            )
        except FileFailure as failure:
            return _failed(job, failure)
        told = replace(done, warnings=tuple(_withheld(job, warning) for warning in done.warnings))
        return Outcome(job.label, "done", report=told)


def _run(
    setup: _Setup, todo: Sequence[Job], journal: Journal, count: int, on_progress: Callable[[float, int], None] | None
) -> Iterator[tuple[Job, Outcome]]:
    """Each job with its outcome, as it ends; what is done is in the journal by then."""
    ended, parts = 0, dict[str, float]()

    def progress(job: Job, part: float) -> None:
        parts[job.name] = part
        if on_progress is not None:
            on_progress(ended + sum(parts.values()), len(todo))

    states = {job.name: source_state(job) for job in todo}
    alone = count < 2 or len(todo) < 2
    for job, outcome in _one_by_one(setup, todo, progress) if alone else spread(setup, todo, count, progress):
        if isinstance(outcome, Died):
            died = FileFailure(f"its process ended ({outcome.exit_code})", "try it alone, or with fewer --jobs")
            outcome = _failed(job, died)
        if outcome.status == "done":
            journal.add(job, states[job.name])
        ended += 1
        progress(job, 0.0)
        del parts[job.name]
        yield job, outcome


def _one_by_one(setup: _Setup, todo: Sequence[Job], progress: Callable[[Job, float], None]) -> Iterator[tuple[Job, Outcome]]:
    """As `spread`, in this process: no second start."""
    if todo:
        anonymize = setup()
        for job in todo:
            yield job, anonymize(job, partial(progress, job))


def _renamed(todo: Sequence[Job], target: Path, mapping: str | Path | None, resume: bool) -> list[Job]:
    if [job.target for job in todo] == [target]:
        raise PlanError(f"{target}: --rename names the outputs itself; give a folder as output")
    return pseudonyms.rename(todo, target, Path(mapping) if mapping else None, resume)


def _split(todo: Sequence[Job], journal: Journal, whole_speakers: bool) -> tuple[list[Job], list[Job]]:
    """What is to be done, and what an earlier run has finished; `whole_speakers`: only if all of the speaker's files are."""
    groups: dict[str, list[Job]] = {}
    for job in todo:
        groups.setdefault(job.speaker if whole_speakers else job.name, []).append(job)
    finished = {job.name for group in groups.values() if journal.finished(group) for job in group}
    return [job for job in todo if job.name not in finished], [job for job in todo if job.name in finished]


def _passed(made: Plan, hidden: bool) -> Iterator[Outcome]:
    for passed in made.skipped:
        yield Outcome(_WITHHELD if hidden else passed.name, "skipped", cause=passed.reason)
    for passed in made.closed:
        name = _WITHHELD if hidden else passed.name
        yield Outcome(name, "failed", cause=passed.reason.lower(), remedy="check the permissions of the folder")


def _failed(job: Job, failure: FileFailure) -> Outcome:
    return Outcome(job.label, "failed", cause=_withheld(job, failure.cause), remedy=failure.remedy)


def _withheld(job: Job, text: str) -> str:
    """`text`, without the name where that is to be hidden: libraries put it into their messages."""
    if job.label == job.name:
        return text
    for name in (str(job.source), job.source.name):
        text = text.replace(name, job.label)
    return text


def _below(job: Job, target: str | Path) -> str:
    root = Path(target)
    return job.target.name if job.target == root else job.target.relative_to(root).as_posix()
