"""What became of each file and of all, for reading and as JSON. No seed, parameter, hash or absolute path stands in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__
from . import jsonfile

if TYPE_CHECKING:
    from .files import FileReport

Status = Literal["done", "finished", "failed", "skipped"]

SCOPE = (
    "What was changed is the voice. Words, accent, pace, pauses and other sounds are as they were, and so are names that are "
    "spoken. The signal-processing voices (mcadams, vtln, voicemask) make it harder for people, and for systems that do not "
    "expect a changed voice, to recognize a speaker. Somebody who knows the method and trains for it still recognizes most: "
    "published for McAdams, an equal error rate of 2 to 8 % where 50 % is chance (VoicePrivacy 2024, semi-informed attacker)."
)
_SEEDED = (
    "A seed was given: whoever knows or guesses it can draw the same voices and undo the change. No privacy is claimed for"
)
SEEDED, SEEDED_STREAM = f"{_SEEDED} these files.", f"{_SEEDED} this stream."
_NAMED: dict[Status, str] = {"done": "done", "finished": "finished before", "failed": "failed", "skipped": "skipped"}


@dataclass(frozen=True)
class Outcome:
    """What became of one file. `file` is a pseudonym where names are hidden."""

    file: str
    status: Status  # finished: by an earlier run; skipped: no recording
    output: str = ""  # path below the output folder
    cause: str = ""  # of the failure, or why it was skipped
    remedy: str = ""
    report: FileReport | None = None  # of what is done

    @property
    def line(self) -> str:
        """A failure in one line: file, cause, remedy."""
        return f"{self.file}: {self.cause}; {self.remedy}"


@dataclass(frozen=True)
class Result:
    """What became of a batch, in the order of the files' names (of their pseudonyms, where names are hidden)."""

    method: str
    voices: str
    seeded: bool
    outcomes: tuple[Outcome, ...]
    wall_seconds: float
    notes: tuple[str, ...] = ()  # about the run as a whole, one line each

    @property
    def ok(self) -> bool:
        """Nothing failed."""
        return not self.having("failed")

    def having(self, status: Status) -> list[Outcome]:
        return [o for o in self.outcomes if o.status == status]

    @property
    def summary(self) -> str:
        """One line: "3 done, 1 failed: 12.4 min of sound in 8 s (RTC 0.0014)"."""
        counts = {text: len(self.having(status)) for status, text in _NAMED.items()}
        text = ", ".join(f"{n} {what}" for what, n in counts.items() if n or what == "done")
        sound, spent = self._sound()
        length = f"{sound / 60:.1f} min" if sound >= 60 else f"{sound:.1f} s"
        return text + (f": {length} of sound in {self.wall_seconds:.1f} s (RTC {spent / sound:.4f})" if sound else "")

    def as_json(self) -> dict[str, Any]:
        """The report as plain JSON values; times in seconds, rates in Hz, RTC as a ratio."""
        sound, spent = self._sound()
        totals = {s: len(self.having(s)) for s in _NAMED}
        return {
            "velavox": __version__,
            "scope": f"{SCOPE} {SEEDED}" if self.seeded else SCOPE,
            "method": self.method,
            "voices": self.voices,
            "seeded": self.seeded,
            "totals": {
                **totals,
                "seconds": round(sound, 3),
                "rtc": round(spent / sound, 6) if sound else None,
                "wall_seconds": round(self.wall_seconds, 3),
            },
            "notes": list(self.notes),
            "files": [_entry(o) for o in self.outcomes],
        }

    def write(self, path: Path) -> None:
        """The JSON report; whole or not at all. OSError when it cannot be written."""
        jsonfile.write(path, self.as_json())

    def _sound(self) -> tuple[float, float]:
        """Seconds of sound done, and of processor time for it."""
        reports = [o.report for o in self.outcomes if o.report is not None]
        return sum(r.seconds for r in reports), sum(r.cpu_seconds for r in reports)


def _entry(outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"file": outcome.file, "status": outcome.status}
    told |= {k: v for k in ("output", "cause", "remedy") if (v := getattr(outcome, k))}
    if outcome.report is not None:
        told |= asdict(outcome.report)
        told["rtc"] = round(outcome.report.cpu_seconds / outcome.report.seconds, 6) if outcome.report.seconds else None
    return told
