"""Whether figures can be believed: what attackers and judges make of the original speech is the yardstick.

An attacker who does not tell speakers apart by their own voices shows nothing when he fails on others; a recogniser that does
not understand the originals shows nothing about words that got lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .result import Attack, Audit
from .strongest import USER, strongest

ORIGINAL = "original"
_MOST_EER = 0.15  # of speakers, by originals; published ones: 0.4 to 9 %
_MOST_ERRORS = {"wer": 0.3, "cer": 0.2}  # of originals; published WERs of read speech: 2 to 11 %


@dataclass(frozen=True)
class Baseline:
    """What was found of the originals; None: they were not audited."""

    original: Audit | None

    @classmethod
    def among(cls, audits: Iterable[Audit]) -> Baseline:
        return cls(next((audit for audit in audits if audit.condition == ORIGINAL), None))

    def doubt(self, attack: Attack) -> str:
        """Why this attack's failure shows little; "" where nothing speaks against it."""
        found = self._same(attack)
        if not found:
            return ""
        best = strongest(found)
        eer, auc, by = best.summary.eer, best.summary.auc, f"{best.attacker} on original speech, by {best.encoder}"
        if attack.privacy == USER and eer.value > _MOST_EER:
            return f"speakers are hardly told apart by their own voices: EER {eer.value:.1%} ({by})"
        if attack.privacy != USER and not auc.low > 0.5:  # its EER, of a convex hull, never reaches chance
            return f"{attack.privacy} is not heard in the original speech either: AUC {auc.value:.1%}, chance is 50% ({by})"
        return ""

    def doubt_of_words(self, name: str) -> str:
        """The same of a figure of utility."""
        if self.original is None or name not in _MOST_ERRORS or name not in self.original.utility:
            return ""
        value = self.original.utility[name].value
        return f"{name.upper()} of the original speech is {value:.1%}" if value > _MOST_ERRORS[name] else ""

    def doubts(self, audits: Sequence[Audit]) -> list[str]:
        """What has to be known before any figure is read, each once."""
        found: dict[str, None] = {}
        if self.original is None and audits:
            found["The originals were not audited: no figure here can be set beside them. Audit them too."] = None
        for audit in audits:
            for attack in audit.attacks:
                if doubt := self.doubt(attack):
                    found[f"Marked (?): {doubt}."] = None
            for name in audit.utility:
                if doubt := self.doubt_of_words(name):
                    found[f"Marked (?): {doubt}."] = None
            found |= dict.fromkeys(self._easier(audit))
        return list(found)

    def _easier(self, audit: Audit) -> list[str]:
        """Attackers whom anonymized speech helps: often a trace of how it was made, not of who speaks."""
        found: dict[tuple[str, str], str] = {}
        for attack in audit.attacks if audit is not self.original else ():
            for before in self._same(attack):
                eer, own = attack.summary.eer, before.summary.eer
                alike = (before.attacker, before.pooling, before.enrolment) == (
                    attack.attacker,
                    attack.pooling,
                    attack.enrolment,
                )
                if alike and before.channel == attack.channel and eer.high < own.low:
                    who = "speaker" if attack.privacy == USER else attack.privacy
                    found[who, attack.attacker] = (
                        f"{audit.condition}: {attack.attacker} ({attack.encoder}) finds the {who} more surely than "
                        f"in original speech, EER {eer.value:.1%} against {own.value:.1%}: check that nothing else tells, "
                        "such as the recording or the voice drawn."
                    )
        return list(found.values())

    def _same(self, attack: Attack) -> list[Attack]:
        """Attacks on originals with the same question and encoder."""
        if self.original is None:
            return []
        question = attack.privacy, attack.form, attack.encoder
        return [a for a in self.original.attacks if (a.privacy, a.form, a.encoder) == question]
