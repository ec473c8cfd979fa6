"""The comparison: conditions as they are written, what is kept and when it is not, content statistics, all tables."""

import json
from pathlib import Path

import numpy as np
import pytest
import tinygraphs
from signals import noise, voice
from velavox.bench import comparison, leak, quality, standings
from velavox.bench.bootstrap import Figure
from velavox.bench.comparison import Result, score
from velavox.bench.condition import Condition, Spoken
from velavox.bench.judged import Judges
from velavox.bench.measure import best_lag_correlation
from velavox.bench.selection import Selection
from velavox.bench.speech import clips
from velavox.bench.timing import Timing
from velavox.bench.variety import Variety
from velavox.engine import dpvoice
from velavox.engine.identity import Identity
from velavox.kernels import prosody
from velavox.kernels.jit import F32
from velavox.models_onnx.training.corpora import Utterance


def test_conditions_are_read_and_written_alike() -> None:
    for text in ("original", "mcadams", "mcadams:alpha=0.7", "voicemask"):
        assert str(Condition.parse(text)) == text


@pytest.mark.parametrize("text", ["nonesuch", "mcadams:nonesuch=1", "mcadams:alpha=9", "original:a=1"])
def test_conditions_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"nonesuch|alpha|settings"):
        Condition.parse(text)


def test_each_key_its_own_voice_and_the_same_again() -> None:
    condition, x = Condition.parse("mcadams"), voice(1.0)
    first, again, other = (condition.speak(x, key) for key in ("a", "a", "b"))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert Condition.parse("original").speak(x, "a") is x


def test_delay_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Condition, "_made", lambda self: Identity())
    x = voice(1.0)
    y = Condition("identity").speak(x, "a")
    assert y.shape == x.shape
    assert np.argmax(np.correlate(y[4000:8000], x[3900:8100])) == 100
    assert best_lag_correlation(x, y) > 0.99


def test_what_was_spoken_is_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = voice(1.0)
    spoken = Spoken(tmp_path, Condition.parse("vtln"))
    first = spoken(x, "a/b")
    monkeypatch.setattr(Condition, "speak", lambda *_: pytest.fail("made again"))
    assert np.array_equal(Spoken(tmp_path, Condition.parse("vtln"))(x, "a/b"), first)
    folders = {Spoken(tmp_path, Condition.parse(t), s).folder for t, s in (("vtln", 0), ("vtln", 1), ("mcadams", 0))}
    assert len(folders) == 3


def test_verdicts_are_remembered_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def score_of(samples: F32) -> float:
        asked.append(len(samples))
        return 3.0

    monkeypatch.setattr(quality, "dnsmos", score_of)
    x, y = noise(100), noise(100, seed=1)
    for samples in (x, y, x.copy()):
        assert Judges(tmp_path).dnsmos(samples) == 3.0
    assert len(asked) == 2
    with next(tmp_path.glob("dnsmos*")).open("a") as file:
        file.write('["torn')
    assert Judges(tmp_path).dnsmos(y) == 3.0
    assert len(asked) == 2


def test_too_little_speech_is_remembered_too(tmp_path: Path) -> None:
    assert Judges(tmp_path).embedding("ge2e", np.zeros(16_000, np.float32)) is None
    assert Judges(tmp_path).embedding("ge2e", np.zeros(16_000, np.float32)) is None


def test_statistics_of_a_channel() -> None:
    channel = np.zeros((200, 3), np.float32)
    channel[:100, 0] = 1  # silence
    channel[100:, 1] = 0.5
    channel[:, 2] = np.arange(200) % 2
    found = leak.statistics(channel)
    assert found is not None
    mean, spread, change = found.reshape(3, 3)
    assert mean == pytest.approx([0, 0.5, 0.5])
    assert spread == pytest.approx([0, 0, 0.5])
    assert change == pytest.approx([1 / 199, 0.5 / 199, 1])
    assert leak.statistics(channel[:120]) is None


def test_channel_of_the_neural_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tinygraphs.chain(tmp_path)
    monkeypatch.setattr(dpvoice, "FOLDER", tmp_path)
    x = voice(1.0)
    stage = Condition.parse("dp").stage(x)
    assert leak.has_channel(stage)
    assert not leak.has_channel(Identity())
    stage.prepare()
    first = leak.heard(stage, x)
    assert first.shape == (100, dpvoice.STATES + dpvoice.PHONES + prosody.FEATURES)
    stage.new_voice()
    assert np.array_equal(leak.heard(stage, x), first)
    assert not np.array_equal(leak.heard(stage, noise(16_000)), first)


def test_enrolment_from_the_utterance_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tinygraphs.chain(tmp_path)
    monkeypatch.setattr(dpvoice, "FOLDER", tmp_path)
    x = clips()["27-123349-0009"]
    stage = Condition.parse("dp:enroll=self,mode=low").stage(x)
    stage.new_voice()
    assert isinstance(stage, dpvoice.DpVoice)
    assert stage.release is not None
    assert stage.release.mu == 1
    alone = Condition.parse("dp:mode=low").stage(x)
    alone.new_voice()
    assert isinstance(alone, dpvoice.DpVoice)
    assert alone.release is not None
    assert alone.release.mu == 0


class _Judges:
    """Judges that hear perfectly: the voice is the mean, the words are what they should be."""

    def __init__(self, folder: Path) -> None:
        pass

    def embedding(self, encoder: str, samples: F32) -> np.ndarray | None:
        return None if len(samples) < 20 and encoder == "dvector" else np.resize(samples, 16).astype(np.float64)

    def words(self, samples: F32, language: str) -> str:
        return "red green blue"

    def dnsmos(self, samples: F32) -> float:
        return 3.0


def test_score_puts_everything_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("whisper_normalizer", reason="needs the extra audit")
    random = np.random.default_rng(0)
    people = {f"p{i}": random.normal(size=40) for i in range(8)} | {f"k{i}": random.normal(size=40) for i in range(8)}

    def said(names: str, count: int, role: str) -> list[Utterance]:
        return [
            Utterance(f"{name}{role}{n}", f"c:{name}", "c", "", 1.0, "dev", role, "en", "red green grey")
            for name in people
            if name.startswith(names)
            for n in range(count)
        ]

    def audio(u: Utterance) -> F32:
        if u.utterance == "p0trial0":
            return np.zeros(10, np.float32)
        samples = people[u.speaker.split(":")[1]] + 0.1 * np.random.default_rng(abs(hash(u.utterance))).normal(size=40)
        return np.asarray(samples, np.float32)

    monkeypatch.setattr(Utterance, "audio", audio)
    monkeypatch.setattr(comparison, "Judges", _Judges)
    monkeypatch.setattr(Condition, "speak", lambda self, x, key, seed=0: x)
    trial = said("p", 3, "trial")
    chosen = Selection(enrol=said("p", 2, "enrol"), trial=trial, heard=trial[:5], known=said("k", 5, "known"))
    result = score(Condition.parse("mcadams"), chosen, 0, tmp_path, say=lambda _: None)
    assert result.wer["c"].value == pytest.approx(1 / 3)
    assert result.dnsmos["c"] == Figure(3, 3, 3)
    assert result.unheard == 1
    assert result.delay_ms == pytest.approx(20, abs=10.1)
    assert result.leak is None is result.variety
    assert set(result.eer["all"]) == {"ignorant", "lazy-informed", "semi-informed"}
    assert all(f.value < 0.05 for by in result.eer["all"].values() for f in by.values())


def test_tables_hold_every_figure() -> None:
    third, timing = Figure(0.333, 0.2, 0.4), Timing(10.0, 10.0, 11.0, 0.0123)
    same = {"ignorant": {"ge2e": third}}
    voices = Variety(50, 0.61, 0.93, 0.91, 0.84, 98.0, 221.0)
    plain = Result("original", 0.0, {"c": third}, {"c": third}, {"c": Figure(3, 3, 3)}, {"all": same}, None, None, 0, 1.0)
    other = Result("dp", 92.4, {"c": third}, {"c": third}, {"c": Figure(3, 3, 3)}, {"all": same}, third, voices, 2, 1.0)
    u = Utterance("u", "c:s", "c", "", 1.0, "dev", "trial", "en", "WORDS")
    text = standings.text([plain, other], {"dp": timing, standings.PLAIN: timing}, Selection([u], [u], [u], [u], ["a note"]))
    for part in ("33.3 [20, 40]", "92.4 ms", "0.0123", "98 to 221", "0.61", "PUBLISHED", "33.9 / 34.7", "a note", "'dp': 2"):
        assert part in text
    assert max(map(len, text.splitlines())) < 200
    assert json.dumps(standings.counts(Selection([u], [u], [u], [u])))
