"""The command that attacks speech: audit speech."""

from __future__ import annotations

import platform
import sys
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .options import check_result, fail, put, refuse, tell_of_compiling, told
from .progress import Progress, counted, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..bench.audit.result import Audit
    from ..bench.condition import Condition


class LevelName(StrEnum):
    utterance = "utterance"
    speaker = "speaker"


def speech(
    out: Annotated[Path, typer.Option(help="Folder for the result, the report, and all that is computed.", metavar="DIR")],
    original: Annotated[
        Path | None,
        typer.Option(help="The recordings as they were: a folder for each speaker, or see --manifest.", metavar="DIR"),
    ] = None,
    anonymized: Annotated[
        list[Path] | None, typer.Option(help="What was made of them, under the same names; again for more.", metavar="DIR")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Anonymize here, as in mcadams or dp:mode=low; again for more.", metavar="NAME[:SETTINGS]"),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="A table with columns path,speaker and, where known, utterance, anonymized, source, channel, split, role, "
            "transcript, language, gender, accent, age.",
            metavar="CSV",
        ),
    ] = None,
    kaldi: Annotated[
        list[Path] | None, typer.Option(help="A data folder of Kaldi, in place of --manifest; again for more.", metavar="DIR")
    ] = None,
    level: Annotated[
        LevelName, typer.Option(help="A voice for each utterance, or one for all of a speaker's trials.")
    ] = LevelName.utterance,
    split: Annotated[
        str, typer.Option(help="Attack speakers of this split; without it, all but those of train.", metavar="NAME")
    ] = "",
    across: Annotated[bool, typer.Option("--across", help="Try speakers against those of other corpora, too.")] = False,
    undo: Annotated[
        list[str] | None, typer.Option(help="Also attack by undoing this method, as in mcadams.", metavar="NAME")
    ] = None,
    adapt: Annotated[
        bool, typer.Option("--adapt", help="Also attack with a network adapted to anonymized speech (needs torch).")
    ] = False,
    utility: Annotated[int, typer.Option(min=0, help="Judge what is kept of the speech of so many trials.", metavar="N")] = 40,
    words: Annotated[bool, typer.Option(help="With it, what a recogniser understands, and DNSMOS (extra audit).")] = True,
    seed: Annotated[int, typer.Option(help="Of voices, lots and intervals.", metavar="N")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes at work [as many as there are cores].", metavar="N")
    ] = None,
) -> None:
    """Attack speech: how well are speakers, and what they are, told from it by attackers who know more and more.

    Each attacker stands with what he knows. A run that was interrupted goes on when it is started again.

    \b
    Examples:
      velavox audit speech --original speech --manifest speech/manifest.csv --method mcadams --method dp:mode=low --out audit
      velavox audit speech --original speech --anonymized made --out audit
      velavox audit speech --kaldi data/libri_dev_enrolls --kaldi data/libri_dev_trials_f --anonymized made --out audit
    """
    if manifest is not None and kaldi:
        refuse("--manifest and --kaldi both say who speaks: give one of them")
    if original is None and not kaldi:
        refuse("--original DIR is needed: the recordings as they were")
    if not anonymized and not method:
        refuse("nothing to audit: give --anonymized DIR, or --method NAME to anonymize here")
    for option, folder in (("--original", original), *(("--anonymized", a) for a in anonymized or ())):
        if folder is not None and not folder.is_dir():
            refuse(f"{option} {folder}: there is no such folder; check the path")
    for option, folder in (("--anonymized", a) for a in anonymized or ()):
        _refuse_within("--out", out, option, folder)
    if original is not None and manifest is None and not kaldi:  # all that lies below it is taken for recordings
        for option, inner in (("--out", out), *(("--anonymized", a) for a in anonymized or ())):
            _refuse_within(option, inner, "--original", original)
    if adapt and find_spec("torch") is None:
        refuse("--adapt trains a network and needs torch: pip install 'velavox[train]', or leave it out")
    with told(ValueError):
        check_result("--out", out / "result.json", [p for p in (manifest,) if p is not None], made=out)
        tell_of_compiling()
        from ..bench.audit.kaldi import from_kaldi
        from ..bench.audit.recordings import from_folders, from_table
        from ..bench.audit.speech import Settings, Subject, audit
        from ..bench.audit.work import cores

        subjects = [Subject(condition=_condition("--method", text)) for text in method or ()]
        subjects += [Subject(folder=folder) for folder in anonymized or ()]
        undone = tuple(_condition("--undo", text) for text in undo or ())
        _refuse_twice([str(subject) for subject in subjects])
        base = original or Path.cwd()
        if kaldi:
            listing = from_kaldi(kaldi, base)
        else:
            listing = from_folders(base) if manifest is None else from_table(manifest, base)
        settings = Settings(
            level=level.value,
            split=split.lower(),
            across=across,
            undo=undone,
            adapt=adapt,
            heard=utility,
            words=words,
            seed=seed,
            processes=jobs or cores(),
            made=_made(seed, level.value, split, across),
        )
        with Progress() as shown:
            audits = audit(listing, subjects, out, settings, say, shown.progress)
    for line in _shown(audits):
        put(line)
    _report(out, audits)


def _condition(option: str, text: str) -> Condition:
    """Wrong use for what is no method."""
    from ..bench.condition import Condition

    try:
        found = Condition.parse(text)
    except (TypeError, ValueError) as error:
        refuse(f"{option} {text}: {error}")
    if not found.anonymizes:
        refuse(f"{option} {text}: the originals are audited anyway; give a method of `velavox methods`")
    return found


def _refuse_within(option: str, inner: Path, outer_option: str, outer: Path) -> None:
    if outer.resolve() in inner.resolve().parents:
        refuse(f"{option} {inner}: lies among the recordings of {outer_option} {outer}; give another")


def _refuse_twice(names: list[str]) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        refuse(f"{min(twice)} is to be audited twice, and results go by that name: give it once, or name a folder otherwise")


def _report(out: Path, audits: Sequence[Audit]) -> None:
    from ..bench.audit.document import write
    from ..bench.audit.speech import RESULT

    if find_spec("matplotlib") is None:
        say(f"note: no report without matplotlib: install it, then `velavox audit report {out / RESULT} --out {out}`")
        return
    try:
        written = write(out, audits)
    except OSError as error:
        fail(f"{out}: {error.strerror}; give a folder that can be written")
    say(f"report: {', '.join(str(path) for path in written)}")


def _made(seed: int, level: str, split: str, across: bool) -> dict[str, Any]:
    """Where a result comes from. Of paths the names alone: a report that is published does not tell whose folders they were."""
    versions = {"velavox": __version__, "python": platform.python_version()}
    for name in ("numpy", "onnxruntime", "scipy", "open-voicefilter-lite", "torch"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    given = {"seed": seed, "level": level, "split": split or "all but train", "across_corpora": across}
    return {"versions": versions, "command": ["velavox", *(_named(argument) for argument in sys.argv[1:])], **given}


def _named(argument: str) -> str:
    """As in "--out=audit" of "--out=/home/somebody/audit"."""
    option, equals, value = argument.rpartition("=") if argument.startswith("--") else ("", "", argument)
    return option + equals + (Path(value).name if Path(value).is_absolute() else value)


def _shown(audits: Sequence[Audit]) -> Iterator[str]:
    """A line for each attacker of speakers: where he gets furthest, of all encoders, poolings and enrolments."""
    for audit in audits:
        yield f"{audit.condition}: {counted(audit.counts['speakers'], 'speaker')}"
        of_user = [a for a in audit.attacks if (a.privacy, a.form, a.channel) == ("user", "relaxed", "all")]
        for attacker in dict.fromkeys(a.attacker for a in of_user):
            best = min((a for a in of_user if a.attacker == attacker), key=lambda a: a.summary.eer.value)
            eer = best.summary.eer
            how = f"{best.encoder}, {counted(best.enrolment, 'enrolment')}, {best.pooling}"
            yield f"  {attacker:36} EER {eer.value:6.1%} ({eer.low:.1%} to {eer.high:.1%}) {how}"
