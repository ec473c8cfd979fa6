"""The audit of speech, whole: synthetic speakers, an encoder that hears their filters, one real one."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import RATE, voice
from velavox.bench import encoders
from velavox.bench.audit import adapted, informed, kept, resampling, scored, speech
from velavox.bench.audit.attributes import ATTACKS
from velavox.bench.audit.checked import IDENTICAL, SILENT, UNSURE
from velavox.bench.audit.embedded import Embedded, Take
from velavox.bench.audit.informed import IGNORANT, INVERTING, LAZY, NETWORK, NETWORK_PLDA, PLDA, SEMI
from velavox.bench.audit.material import Material
from velavox.bench.audit.recordings import NO_COUNTERPART, Listing, from_folders, from_table
from velavox.bench.audit.result import Attack, Audit, read
from velavox.bench.audit.speech import Settings, Subject, audit
from velavox.bench.audit.utility import Pair, Utility
from velavox.bench.condition import Condition, Spoken
from velavox.kernels.jit import F32

SPEAKERS, EACH = 8, 6
QUICK = Settings(heard=0)


def _quiet(*_: object) -> None:
    pass


def _filtered(speaker: int, seed: int, seconds: float = 2.5) -> F32:
    """Speech of one of several speakers, who differ by pitch and by a short filter."""
    taps = np.random.default_rng(1000 + speaker).normal(size=12)
    y = np.convolve(voice(seconds, 100 + 12 * speaker, seed), taps, "same")
    return np.asarray(0.3 * y / np.abs(y).max(), np.float32)


def _bands(samples: F32) -> F32:
    """The shape of the spectrum, coarsely."""
    power = np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2
    bands = np.log([part.mean() + 1e-12 for part in np.array_split(power, 24)])
    return np.asarray(bands - bands.mean(), np.float32)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long was what the only encoder heard."""
    heard: list[int] = []

    def encoder(samples: F32) -> F32:
        heard.append(len(samples))
        return _bands(samples)

    monkeypatch.setattr(speech, "encoders", lambda: ("ge2e",))
    monkeypatch.setattr(resampling, "REPETITIONS", 50)  # intervals are tested elsewhere
    monkeypatch.setitem(encoders.ENCODERS, "ge2e", encoder)
    return heard


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each speaker."""
    root = tmp_path_factory.mktemp("people")
    for speaker in range(SPEAKERS):
        (root / f"s{speaker}").mkdir()
        for n in range(EACH):
            soundfile.write(root / f"s{speaker}/{n}.wav", _filtered(speaker, 10 * speaker + n), RATE)
    return root


def _audited(listing: Listing, subject: Subject, out: Path, settings: Settings = QUICK) -> tuple[Audit, Audit]:
    original, found = audit(listing, [subject], out, settings, _quiet, _quiet)
    return original, found


def _attacks(found: Audit, attacker: str, **wanted: object) -> list[Attack]:
    return [a for a in found.attacks if a.attacker == attacker and all(getattr(a, k) == v for k, v in wanted.items())]


def _changed(people: Path, to: Path, change: Callable[[F32], F32]) -> Path:
    for path in sorted(people.rglob("*.wav")):
        target = to / path.relative_to(people).with_suffix(".flac")
        target.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(target, change(soundfile.read(path, dtype="float32")[0]), RATE)
    return to


def test_a_method_from_recordings_to_figures(people: Path, tmp_path: Path, asked: list[int]) -> None:
    subject = Subject(condition=Condition.parse("mcadams"))
    listing = from_folders(people)
    original, found = _audited(listing, subject, tmp_path)
    assert (original.condition, found.condition) == ("original", "mcadams")
    assert {a.attacker for a in found.attacks} == {IGNORANT, LAZY, SEMI, PLDA, INVERTING}
    assert {a.attacker for a in original.attacks} == {IGNORANT, SEMI, PLDA}
    assert {(a.enrolment, a.pooling) for a in found.attacks} == {(n, p) for n in (1, 3) for p in ("average", "maximum")}
    assert all(a.knows and a.speakers == SPEAKERS and a.privacy == "user" and a.form == "relaxed" for a in found.attacks)
    assert found.counts["speakers"] == SPEAKERS
    assert found.counts["enrolment utterances"] == found.counts["trial utterances"] == SPEAKERS * EACH // 2
    plain, hidden = (_attacks(a, IGNORANT, enrolment=3, pooling="average")[0].summary for a in (original, found))
    assert plain.trials == SPEAKERS * SPEAKERS * EACH // 2
    assert plain.same == SPEAKERS * EACH // 2
    assert plain.eer.value < 0.15
    assert hidden.eer.value > plain.eer.value + 0.05
    assert hidden.matching is not None  # with a threshold from the originals
    semi = _attacks(found, SEMI, enrolment=3, pooling="average")[0].summary
    assert semi.trials == hidden.trials / 2  # within halves
    assert any("within each half" in note for note in found.notes)
    assert any("each has a voice of its own" in note for note in found.notes)
    assert found.delay_ms > 0
    assert [a.condition for a in read(tmp_path / speech.RESULT)] == ["original", "mcadams"]
    assert set(json.loads((tmp_path / speech.FINDINGS).read_text())) == {"original", "mcadams"}

    count = len(asked)
    again = _audited(listing, subject, tmp_path)
    assert len(asked) == count  # all that was heard is remembered
    assert [a.summary.eer for a in again[1].attacks] == [a.summary.eer for a in found.attacks]


def test_processes_find_the_same(people: Path, tmp_path: Path) -> None:
    """With the real encoder, since a process has no other."""
    recordings = from_folders(people).recordings[::8]
    takes = [Take(r.path, r.utterance, "") for r in recordings]
    found = []
    for processes in (1, 2):
        embedded = Embedded(tmp_path / str(processes), ("ge2e",), processes, _quiet)
        made = embedded.speak(Spoken(tmp_path / f"made-{processes}", Condition.parse("mcadams:alpha=0.8")), takes)
        found.append(embedded.vectors(made)["ge2e"])
    assert np.array_equal(found[0], found[1])
    assert np.linalg.norm(found[0], axis=1) == pytest.approx(1, abs=1e-4)


def test_speakers_who_cannot_be_told_apart_end_the_audit(people: Path, tmp_path: Path, asked: list[int]) -> None:
    paths = sorted(people.rglob("*.wav"))
    lot = np.random.default_rng(3).permutation(len(paths))
    with (tmp_path / "wrong.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "speaker"])
        writer.writerows([path, f"s{lot[i] % SPEAKERS}"] for i, path in enumerate(paths))
    with pytest.raises(ValueError, match=r"original against original speech: EER .* near chance"):
        _audited(from_table(tmp_path / "wrong.csv", people), Subject(folder=people), tmp_path / "out")
    assert not (tmp_path / "out" / speech.RESULT).exists()


def test_a_folder_of_somebody_else(people: Path, tmp_path: Path, asked: list[int]) -> None:
    made = _changed(people, tmp_path / "made", lambda x: -0.5 * x[::-1])
    everything = sorted(made.rglob("*.flac"))
    everything[0].unlink()
    soundfile.write(everything[1], np.zeros(int(2.5 * RATE), np.float32), RATE)
    soundfile.write(everything[2], *soundfile.read(people / "s0/2.wav", dtype="int16"))
    settings = Settings(heard=3, words=False)
    original, found = _audited(from_folders(people), Subject(folder=made), tmp_path / "out", settings)
    assert original.utility["f0_correlation"].value == pytest.approx(1)
    assert found.utility["level_change_db"].value == pytest.approx(20 * math.log10(0.5), abs=0.1)
    assert {"distinctiveness", "deidentification"} <= found.utility.keys() - original.utility.keys()
    assert found.counts[NO_COUNTERPART] == found.counts[SILENT] == found.counts[IDENTICAL] == 1
    assert found.counts["trials left out"] + found.counts["enrolments left out"] == 2
    assert math.isnan(found.delay_ms)
    assert not _attacks(found, INVERTING)
    names = json.loads((tmp_path / "out" / speech.FINDINGS).read_text())["made"]
    assert (names[NO_COUNTERPART], names[SILENT], names[IDENTICAL]) == (["s0/0"], ["s0/1"], ["s0/2"])
    assert any("hardly another voice" in note for note in found.notes)


def test_the_originals_themselves_are_no_result(people: Path, tmp_path: Path, asked: list[int]) -> None:
    with pytest.raises(ValueError, match="all 24 recordings"):
        _audited(from_folders(people), Subject(folder=people), tmp_path)


def test_one_voice_for_a_speaker_and_another_for_his_enrolments(people: Path, tmp_path: Path, asked: list[int]) -> None:
    material = Material(from_folders(people), Embedded(tmp_path / "judged", ("ge2e",), 1, _quiet))
    condition = Condition.parse("mcadams")
    drawn: dict[str, set[tuple[str, str]]] = {}
    for level in ("utterance", "speaker"):
        side = material.made(condition, tmp_path / level, level)
        for part, recordings in material.parts.items():
            for recording, sound in list(zip(recordings, side.sounds[part], strict=True))[:3]:
                assert sound is not None
                x = soundfile.read(recording.path, dtype="float32")[0]
                own = condition.speak(x, sound.path.stem, 0)
                shared = condition.speak(x, f"{part}:{recording.speaker}", 0)
                for name, y in (("own", own), ("shared", shared)):
                    if np.allclose(soundfile.read(sound.path, dtype="float32")[0], y, atol=1e-4):
                        drawn.setdefault(f"{level} {part}", set()).add((name, recording.utterance))
    for level in ("utterance", "speaker"):
        for part, recordings in material.parts.items():
            kind = "shared" if level == "speaker" and part != "known" else "own"
            assert drawn[f"{level} {part}"] == {(kind, r.utterance) for r in recordings[:3]}


def test_what_a_table_tells_is_asked(people: Path, tmp_path: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Attributes, texts, languages, channels, and short trials."""
    given: list[Pair] = []

    def utility(pairs: list[Pair], *_: object) -> Utility:
        given.extend(pairs)
        return Utility({}, {})

    monkeypatch.setattr(kept, "utility", utility)
    monkeypatch.setattr(kept, "can_judge", lambda: True)
    short = tmp_path / "short.wav"
    soundfile.write(short, _filtered(0, 5, 2.5)[: int(1.2 * RATE)], RATE)
    with (tmp_path / "all.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "speaker", "split", "channel", "gender", "transcript", "language"])
        for speaker in range(SPEAKERS):
            split, gender = "train" if speaker < 4 else "dev", "" if speaker == 4 else "FM"[speaker % 2]
            for n in range(4):
                row = (
                    people / f"s{speaker}/{n}.wav",
                    speaker,
                    split,
                    "ab"[n % 2],
                    gender,
                    f"Sentence {n % 2}!",
                    "de" if speaker == 6 else "",
                )
                writer.writerow(row)
        writer.writerow([short, 5, "dev", "a", "M", "Short", ""])
    listing = from_table(tmp_path / "all.csv", people)
    made = _changed(people, tmp_path / "made", lambda x: -x[::-1])
    soundfile.write(made / "short.flac", soundfile.read(short)[0][::-1], RATE)
    _, found = _audited(listing, Subject(folder=made), tmp_path / "out", Settings(heard=100))
    assert any(note.startswith("words of 2 trials are not judged") for note in found.notes)
    words = {(pair.speaker[-1], pair.language, bool(pair.transcript)) for pair in given}
    assert words == {("4", "en", True), ("5", "en", True), ("6", "de", False), ("7", "en", True)}
    of_user = {(a.form, a.channel) for a in found.attacks if a.privacy == "user"}
    assert of_user >= {("relaxed", "all"), ("relaxed", "same"), ("relaxed", "cross"), ("strict", "all")}
    relaxed, strict = (_attacks(found, LAZY, form=f, channel="all", enrolment=1)[0].summary for f in ("relaxed", "strict"))
    assert strict.trials < relaxed.trials
    assert all(a.speakers == 4 for a in found.attacks if a.privacy == "user" and a.channel == "all")
    of_gender = [a for a in found.attacks if a.privacy == "gender"]
    assert {(a.form, a.attacker) for a in of_gender} == {(f, a) for f in ("relaxed", "strict") for a in ATTACKS}
    assert all(a.speakers == 3 and "left out" in a.notes[0] for a in of_gender if a.form == "relaxed")
    assert found.counts["trials under 2 s of speech"] == found.counts.get(UNSURE, 0)
    assert found.counts["speakers learnt from"] == 4


def test_the_networks_that_are_there() -> None:
    assert speech.encoders()[0] == "ge2e"
    assert set(speech.encoders()) <= set(encoders.ENCODERS)


def test_a_network_learns_from_others_only(
    people: Path, tmp_path: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which speech it is given, and that its vectors are scored like any others."""
    given: list[set[str]] = []

    class Adapted:
        key = "weights"

        def __call__(self, samples: F32) -> F32:
            return _bands(samples)

    def adapt(speech: list[tuple[str, F32]], folder: Path, **_: object) -> Adapted:
        assert all(len(samples) == int(2.5 * RATE) for _, samples in speech)
        given.append({speaker for speaker, _ in speech})
        return Adapted()

    monkeypatch.setattr(adapted, "adapt", adapt)
    embedded = Embedded(tmp_path / "judged", ("ge2e",), 1, _quiet)
    material = Material(from_folders(people), embedded)
    original = material.originals()
    found = list(informed.network(material, original, original, tmp_path / "adapted", 0, _quiet))
    assert [likened.attacker for likened in found] == [NETWORK, NETWORK_PLDA]
    assert len(given) == len(material.protocol.folds) == 2
    enrol, trial = material.parts["enrol"], material.parts["trial"]
    for fold, speakers in zip(material.protocol.folds, given, strict=True):
        assert speakers == {r.speaker for r in fold.known}
        assert not speakers & fold.speakers
    apart = [[any(f.speakers >= {e.speaker, t.speaker} for f in material.protocol.folds) for t in trial] for e in enrol]
    for likened in found:
        assert np.array_equal(~np.isnan(likened.trials[0]), apart)
    plain = scored.cosine(original.vectors["ge2e"]["enrol"], original.vectors["ge2e"]["trial"])
    assert found[0].trials[0][apart] == pytest.approx(plain[apart], abs=1e-5)
