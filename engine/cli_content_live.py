"""The command on sound devices that hides words: content live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_content_options import (
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
    clips_of,
    detectors_of,
    finder_of,
)
from .cli_live import Block, Input, Output, Rate, Record, Seconds, VirtualMicName, converse
from .failure import Unusable
from .options import JsonSummary, Method, Seed, Settings, refuse

if TYPE_CHECKING:
    from .content.detector import Detector
    from .content.findings import Clips
    from .content.guard import ContentGuard
    from .content.summary import Summary
    from .host import Engine

_TOLD = 10.0  # s of sound between lines on what goes wrong


def live(
    words: Words = None,
    pii: Pii = False,
    category: Categories = None,
    language: Language = "en",
    action: Act = ActionName.bleep,
    delay: Annotated[float, typer.Option(help="Hold the voice for s, 1.5 at least; shorter finds less.", metavar="S")] = 2.0,
    strict: Strict = 0.0,
    detector: Detectors = None,
    tts: Substitutes = Tts.hq,
    input: Input = None,
    output: Output = None,
    rate: Rate = None,
    block: Block = None,
    method: Method = "mcadams",
    settings: Settings = None,
    seed: Seed = None,
    virtual_mic: VirtualMicName = None,
    record: Record = None,
    seconds: Seconds = None,
    json: JsonSummary = None,
) -> None:
    """Anonymize a microphone and hide sensitive words, while somebody speaks, until Ctrl-C.

    The voice comes by --delay later; what the recogniser has not passed by then is silent. Everything else is as with
    `velavox live`.

    \b
    Examples:
      velavox content live --words list.txt --virtual-mic Anonymous
      velavox content live --pii --language auto --delay 2.5 --action babble --json summary.json
    """
    added = _Words(words, pii, category, language, action, delay, strict, detector, tts)
    converse(input, output, rate, block, method, settings, seed, virtual_mic, record, seconds, json, added)


class _Words:
    """The guard of a live stream, as `cli_live.Addition`."""

    def __init__(
        self,
        words: Path | None,
        pii: bool,
        categories: Sequence[str] | None,
        language: str,
        action: ActionName,
        delay: float,
        strict: float,
        names: Sequence[str] | None,
        tts: Tts,
    ) -> None:
        self._asked = (words, pii, categories, language)
        self._action, self._delay, self._strict, self._names, self._tts = action, delay, strict, names, tts
        self._detectors: list[Detector] = []
        self._clips: Callable[[Engine], Clips] | None = None
        self._guard: ContentGuard | None = None
        self._told_at, self._troubles = 0.0, ""

    def open(self) -> None:
        try:
            finder = finder_of(*self._asked)
            self._clips = clips_of(finder, self._action, self._tts)
            self._detectors = detectors_of(finder, self._names, self._delay, self._strict)
        except Unusable as error:  # a package that is missing
            refuse(str(error))

    def around(self, engine: Engine) -> ContentGuard:
        from .content.guard import ContentGuard

        if self._guard is not None:
            self._guard.take(engine)
            return self._guard
        clips = self._clips(engine) if self._clips is not None else None
        self._guard = ContentGuard(engine, self._detectors, delay=self._delay, action=self._action.value, clips=clips)
        return self._guard

    def look(self, say: Callable[[str], None]) -> None:
        summary = self._summary
        if summary is None:
            return
        troubles = "; ".join(summary.troubles)
        if troubles and troubles != self._troubles and summary.seconds - self._told_at >= _TOLD:
            say(f"warning: {troubles}")
            self._told_at, self._troubles = summary.seconds, troubles

    def summary(self, say: Callable[[str], None]) -> dict[str, Any]:
        summary = self._summary
        if summary is None:
            return {}
        for line in (summary.line, *(f"warning: {trouble}" for trouble in summary.troubles)):
            say(line)
        return {"content": summary.as_json()}

    def close(self) -> None:
        if self._guard is not None:
            self._guard.close()

    @property
    def _summary(self) -> Summary | None:
        return self._guard.report() if self._guard is not None else None
