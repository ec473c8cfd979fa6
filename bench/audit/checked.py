"""Whether recordings are what an audit takes them for: every one is looked at before anything is computed from it.

What is left out, and what is kept but not to be trusted, is a finding, with its name. What is wrong with so many that no figure
would mean anything ends the audit: ValueError, in a line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...engine.embedding import LEAST
from ..selection import SHORT
from .embedded import Sound
from .findings import Findings
from .recordings import NO_COUNTERPART, Recording

UNREADABLE, DAMAGED = "cannot be read, left out", "damaged, or of doubtful form"
SILENT, LITTLE = "silent, left out", f"less than {LEAST:g} s of speech, left out"
UNSURE = f"less than {SHORT:g} s of speech, so voices are not told reliably"
NOT_FINITE = "holds samples that are not finite, taken for 0"
ONE_SOUND = "the same samples as another recording"
IDENTICAL = "anonymized is the original, to the sample"
LENGTH = "anonymized lasts longer or shorter by a tenth or more"
RATE_TOLD = "anonymized lasts as if its header told a wrong rate, left out"

_RATES = (8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_RATIOS = sorted({a / b for a in _RATES for b in _RATES if a != b})
_CLOSE = 0.003  # of a ratio of rates: 24000 to 22050 are 9 % apart
_OTHERWISE = 0.1


def originals(recordings: Sequence[Recording], sounds: Mapping[str, Sound], findings: Findings) -> list[Recording]:
    """Those that can be used; `sounds` by utterance."""
    kept = [r for r in recordings if _usable(r.utterance, sounds[r.utterance], findings)]
    alike = defaultdict(list)
    for recording in kept:
        alike[sounds[recording.utterance].digest].append(recording)
    for group in alike.values():
        speakers = {r.speaker for r in group}
        for recording in group[1:]:
            other = "" if len(speakers) == 1 else f", who is {group[0].speaker} there and {recording.speaker} here"
            findings.add(ONE_SOUND, f"{recording.utterance} ({group[0].utterance}{other})")
    if not kept:
        raise ValueError(f"none of {len(recordings)} recordings can be used: {'; '.join(findings.lines())}")
    return kept


def anonymized(
    recordings: Sequence[Recording], before: Mapping[str, Sound], after: Mapping[str, Sound], findings: Findings
) -> set[str]:
    """Utterances whose anonymized form can be used. `before` and `after`: original and anonymized ones, by utterance; where
    there is no counterpart it is a finding already."""
    names = [r.utterance for r in recordings]
    there = [name for name in names if name in after]
    if len(there) < len(names) / 2:
        missing = [name for name in names if name not in after]
        raise ValueError(f"{NO_COUNTERPART}: {len(missing)} of {len(names)} recordings, as {missing[0]}: give the whole folder")
    kept = [name for name in there if _usable(name, after[name], findings)]
    same = [name for name in kept if after[name].digest == before[name].digest]
    if kept and len(same) == len(kept):
        raise ValueError(f"{IDENTICAL}: all {len(kept)} recordings, as {same[0]}: give what was made of them")
    for name in same:
        findings.add(IDENTICAL, name)
    wrong = _wrong_rates({name: after[name].seconds / before[name].seconds for name in kept}, findings)
    if not kept:
        raise ValueError(f"no anonymized recording of {len(names)} can be used: {'; '.join(findings.lines())}")
    return set(kept) - wrong


def short(utterances: Iterable[str], sounds: Mapping[str, Sound], findings: Findings) -> int:
    """How many of these trials have less than 2 s of speech."""
    found = [name for name in utterances if sounds[name].speech < SHORT]
    for name in found:
        findings.add(UNSURE, name)
    return len(found)


def rates(sounds: Iterable[Sound]) -> str:
    """As in "16000 Hz: 40 files, 48000 Hz: 2 files"."""
    counts = Counter(sound.rate for sound in sounds if not sound.trouble)
    return ", ".join(f"{rate} Hz: {count} file{'s' * (count != 1)}" for rate, count in sorted(counts.items()))


def _usable(name: str, sound: Sound, findings: Findings) -> bool:
    for warning in sound.warnings:
        findings.add(DAMAGED, f"{name} ({warning})")
    if sound.not_finite:
        findings.add(NOT_FINITE, f"{name} ({sound.not_finite})")
    if sound.trouble:
        findings.add(UNREADABLE, f"{name} ({sound.trouble})")
    elif not sound.speech:
        findings.add(SILENT, name)
    elif sound.speech < LEAST:
        findings.add(LITTLE, f"{name} ({sound.speech:.2f} s)")
    else:
        return True
    return False


def _wrong_rates(ratios: Mapping[str, float], findings: Findings) -> set[str]:
    """Of lengths, anonymized over original: whose header tells a wrong rate. Where lengths change anyway, as those of
    synthetic speech do, a single one tells nothing."""
    middle = float(np.median(list(ratios.values()) or [1.0]))
    alike = sum(abs(ratio / middle - 1) < _CLOSE for ratio in ratios.values())
    if alike > len(ratios) / 2 and _of_rates(middle):
        raise ValueError(f"anonymized speech lasts {middle:.3f} times as long as the originals: headers tell a wrong rate")
    kept = alike > len(ratios) / 2
    wrong = {name for name, ratio in ratios.items() if kept and _of_rates(ratio)}
    for name, ratio in ratios.items():
        if name in wrong:
            findings.add(RATE_TOLD, f"{name} (x {ratio:.3f})")
        elif abs(ratio - 1) > _OTHERWISE:
            findings.add(LENGTH, f"{name} (x {ratio:.2f})")
    return wrong


def _of_rates(ratio: float) -> bool:
    return any(abs(ratio / wrong - 1) < _CLOSE for wrong in _RATIOS)
