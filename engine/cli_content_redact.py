"""The commands on recordings of speech: content redact, content scan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_content_options import (
    FILES,
    Act,
    ActionName,
    Categories,
    Detectors,
    Language,
    Pii,
    Strict,
    Substitutes,
    Tts,
    Words,
    check_recording,
    clips_of,
    detectors_of,
    finder_of,
)
from .failure import FileFailure, Unusable
from .options import (
    FAILED,
    STDOUT,
    ChannelPolicy,
    JsonSummary,
    Method,
    Policy,
    Seed,
    Settings,
    check_json,
    check_result,
    fail,
    give_json,
    parsed,
    put,
    tell_of_compiling,
    told,
)
from .progress import Progress, counted, say

if TYPE_CHECKING:
    from .content.find import Finder
    from .content.summary import Summary


def redact(
    file: Annotated[Path, typer.Argument(help="A recording.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="The output.", metavar="OUT")],
    words: Words = None,
    pii: Pii = False,
    category: Categories = None,
    language: Language = "en",
    action: Act = ActionName.bleep,
    delay: Annotated[
        float | None, typer.Option(help="Hold the voice for s, as live; else as long as it takes.", metavar="S")
    ] = None,
    strict: Strict = 0.0,
    detector: Detectors = None,
    tts: Substitutes = Tts.hq,
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    policy: ChannelPolicy = Policy.each,
    report: Annotated[
        Path | None, typer.Option(help="Write what was found and hidden, without the words.", metavar="FILE.json")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Have the output recognised, too; words in it are a failure.")
    ] = False,
) -> None:
    """Anonymize a recording, and hide sensitive words in it.

    Several channels are heard mixed, and hidden together. What recognisers miss stays: `velavox content resynthesize` speaks
    filtered text instead.

    \b
    Examples:
      velavox content redact interview.wav --out redacted.wav --words list.txt
      velavox content redact call.wav --out redacted.wav --pii --strict 0.5 --report report.json --verify
    """
    with _told(file):
        check_recording(file)
        check_result("--out", out, [file, *([words] if words else [])])
        if report is not None:
            check_result("--report", report, [path for path in (file, out, words) if path is not None], ".json")
        tell_of_compiling()
        from .content.redaction import redact_file
        from .methods import make
        from .report import SEEDED_STREAM

        finder = finder_of(words, pii, category, language)
        stage = make(method, parsed(settings))
        clips = clips_of(finder, action, tts)
        found = detectors_of(finder, detector, FILES if delay is None else delay, strict)
        with Progress() as shown:
            made, summary = redact_file(
                file,
                out,
                found,
                stage,
                delay=delay,
                action=action.value,
                clips=clips,
                seed=seed,
                policy=policy.value,
                progress=lambda done, total: shown.progress(done / max(total or done, 1), 1),
            )
        say(summary.line)
        if action is ActionName.substitute:
            say(f"a substitute is heard in {counted(summary.played, 'place')}, the bleep in all others")
        for warning in (*made.warnings, *summary.troubles):
            say(f"warning: {warning}")
        if seed is not None:
            say(f"note: {SEEDED_STREAM}")
        heard = _verified(out, finder) if verify else None
        if heard is not None and not (heard.failed or heard.found):
            say("verified: nothing is found in the output")
        if report is not None:
            asked = {"action": action.value, "strict": strict, "language": language, "categories": list(finder.categories)}
            told_all: dict[str, Any] = {**summary.as_json(), "asked": asked, "file": asdict(made)}
            if heard is not None:
                told_all["verify"] = heard.as_json()
            give_json(str(report), told_all)
        if heard is not None and heard.failed:
            fail(f"--verify: {heard.troubles[0]}")
        if heard is not None and heard.found:
            fail(f"--verify: {heard.found} found in the output, first at {heard.events[0].at:.1f} s: still heard, or like it")
        if summary.failed:
            raise typer.Exit(FAILED)


def scan(
    file: Annotated[Path, typer.Argument(help="A recording.", metavar="FILE")],
    words: Words = None,
    pii: Pii = False,
    category: Categories = None,
    language: Language = "en",
    strict: Strict = 0.0,
    detector: Detectors = None,
    json: JsonSummary = None,
) -> None:
    """Say where sensitive words are in a recording: time, length, kind, line of the word list; not the words.

    \b
    Example:
      velavox content scan interview.wav --words list.txt --pii
    """
    with _told(file):
        check_recording(file)
        check_json(json, [path for path in (file, words) if path is not None])
        tell_of_compiling()
        from .content.redaction import scan_file

        finder = finder_of(words, pii, category, language)
        found = detectors_of(finder, detector, FILES, strict)
        with Progress() as shown:
            summary = scan_file(file, found, lambda done, total: shown.progress(done / max(total or done, 1), 1))
        if json != STDOUT:
            for event in sorted(summary.events, key=lambda event: event.at):
                entry = finder.lexicon.entry(event.term) if finder.lexicon and event.term else None
                line = f"  line {entry.line}" if entry else ""
                put(f"{event.at:9.2f} s  {event.seconds:5.2f} s  {event.kind}{line}")
        give_json(json, summary.as_json())
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(summary.kinds.items()))
        say(f"{summary.found} found{f' ({kinds})' if kinds else ''} in {summary.seconds:.1f} s")
        for trouble in summary.troubles:
            say(f"warning: {trouble}")
        if summary.failed:
            raise typer.Exit(FAILED)


def _verified(out: Path, finder: Finder) -> Summary:
    """What a recogniser finds in the output. Spotting phones would find more than there is in an anonymized voice."""
    from .content.redaction import scan_file

    return scan_file(out, detectors_of(finder, ["asr"], FILES, 0.0))


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """As `told`; a recording that cannot be used has failed, a list or a model that cannot be used is wrong use."""
    with told(ValueError, Unusable):
        try:
            yield
        except FileFailure as failure:
            fail(f"{file}: {failure}")
