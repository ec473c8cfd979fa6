"""Vectors are kept by content, whatever the file is called, and computed once; a file is looked at as a whole."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from signals import RATE, noise, voice
from velavox.bench import encoders
from velavox.bench.audit.embedded import Embedded, Take
from velavox.bench.condition import Condition, Spoken
from velavox.bench.judged import Judges
from velavox.engine.embedding import spoken
from velavox.kernels.jit import F32


def _quiet(done: float, total: int) -> None:
    pass


class _Counted:
    """An encoder that can be foreseen, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, samples: F32) -> F32:
        self.asked += 1
        if len(spoken(samples)) < RATE // 2:
            raise ValueError("too little speech")
        return np.array([len(samples), np.abs(samples).mean(), 1], np.float32)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> _Counted:
    encoder = _Counted()
    monkeypatch.setitem(encoders.ENCODERS, "ge2e", encoder)
    return encoder


def _written(path: Path, samples: F32, rate: int = RATE) -> Path:
    soundfile.write(path, samples, rate, subtype="FLOAT" if path.suffix == ".wav" else "PCM_16")
    return path


def test_a_file_is_looked_at(tmp_path: Path, asked: _Counted) -> None:
    x = voice(3.0)
    still = np.concatenate([x, np.zeros(2 * RATE, np.float32)])
    paths = [
        _written(tmp_path / "a.wav", x),
        _written(tmp_path / "b.wav", still),
        _written(tmp_path / "c.wav", np.zeros(RATE, np.float32)),
        tmp_path / "d.wav",
        tmp_path / "none.wav",
    ]
    paths[3].write_bytes(b"RIFF\x00\x00")
    a, b, c, d, none = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet).sounds(paths)
    assert (a.seconds, a.rate, a.channels, a.trouble) == (3.0, RATE, 1, "")
    assert a.speech == pytest.approx(len(spoken(x)) / RATE)
    assert b.seconds == 5.0
    assert b.speech < 3.5
    assert c.speech == 0
    assert d.trouble
    assert "no such file" in none.trouble
    assert asked.asked == 0


def test_content_is_what_counts(tmp_path: Path, asked: _Counted) -> None:
    whole = np.round(voice(2.0) * 32768).astype(np.int16)
    x = np.asarray(whole / 32768, np.float32)
    soundfile.write(tmp_path / "b.flac", whole, RATE)
    paths = [_written(tmp_path / "a.wav", x), tmp_path / "b.flac", _written(tmp_path / "c.wav", -x)]
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    first = embedded.vectors(embedded.sounds(paths))["ge2e"]
    assert asked.asked == 2
    assert np.array_equal(first[0], first[1])
    again = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    assert np.array_equal(again.vectors(again.sounds(paths[::-1]))["ge2e"], first[::-1])
    assert Judges(tmp_path / "out").embedding("ge2e", x) is not None
    assert asked.asked == 2
    _written(paths[0], x * np.float32(0.5))
    changed = again.vectors(again.sounds(paths))["ge2e"]
    assert asked.asked == 3
    assert changed[0, 1] == pytest.approx(first[0, 1] / 2, rel=1e-3)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = _Counted()

    def breaking(samples: F32) -> F32:
        if encoder.asked == 2:
            raise KeyboardInterrupt
        return encoder(samples)

    paths = [_written(tmp_path / f"{n}.wav", voice(1.5, seed=n)) for n in range(4)]
    monkeypatch.setitem(encoders.ENCODERS, "ge2e", breaking)
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    with pytest.raises(KeyboardInterrupt):
        embedded.vectors(embedded.sounds(paths))
    monkeypatch.setitem(encoders.ENCODERS, "ge2e", encoder)
    after = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    assert after.vectors(after.sounds(paths))["ge2e"].shape == (4, 3)
    assert encoder.asked == 4


def test_too_little_speech_has_no_vector(tmp_path: Path, asked: _Counted) -> None:
    paths = [_written(tmp_path / "a.wav", voice(2.0)), _written(tmp_path / "b.wav", np.zeros(RATE, np.float32))]
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    found = embedded.vectors(embedded.sounds(paths))["ge2e"]
    assert np.isnan(found).all(1).tolist() == [False, True]
    with pytest.raises(ValueError, match="no recording has enough speech"):
        embedded.vectors(embedded.sounds(paths[1:]))


def test_what_a_method_makes_is_kept_and_a_failure_is_told(
    tmp_path: Path, asked: _Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "a.wav", voice(2.0))
    made = Spoken(tmp_path / "made", Condition.parse("mcadams:alpha=0.7"))
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    takes = [Take(path, "one", ""), Take(path, "two", "one"), Take(tmp_path / "none.wav", "three", "")]
    one, two, three = embedded.speak(made, takes)
    assert one.seconds == 2.0
    assert one.digest == two.digest  # one voice, of one key
    assert "no such file" in three.trouble
    monkeypatch.setattr(Condition, "speak", lambda *_: pytest.fail("made again"))
    assert embedded.speak(made, takes[:2]) == [one, two]


def test_an_encoder_of_somebody_else(tmp_path: Path, asked: _Counted) -> None:
    paths = [_written(tmp_path / "a.wav", voice(2.0)), _written(tmp_path / "b.wav", np.zeros(RATE, np.float32))]
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    sounds = embedded.sounds(paths)
    other = _Counted()
    for _ in range(2):
        found = embedded.by(other, "weights", sounds)
        assert np.isnan(found).all(1).tolist() == [False, True]
    assert (other.asked, asked.asked) == (2, 0)
    embedded.by(other, "other weights", sounds[:1])
    assert other.asked == 3


def test_candidates_of_who_undoes(tmp_path: Path, asked: _Counted) -> None:
    from velavox.bench.audit.inverted import undoings

    condition = Condition.parse("mcadams")
    paths = [_written(tmp_path / f"{n}.wav", voice(1.5, seed=n)) for n in range(2)]
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    sounds = embedded.sounds(paths)
    found = embedded.undone(sounds, condition)["ge2e"]
    candidates = undoings(condition)
    assert found.shape == (len(candidates), 2, 3)
    assert found[1, 1, 1] == pytest.approx(np.abs(candidates[1](sounds[1].samples())).mean(), abs=1e-5)
    count = asked.asked
    assert np.array_equal(embedded.undone(sounds, condition)["ge2e"], found)
    assert asked.asked == count


def test_the_real_encoder_hears_one_voice_at_any_rate(tmp_path: Path) -> None:
    x = voice(4.0)
    high = soxr.resample(x, RATE, 48_000)
    stereo = np.stack([high, high], axis=1)
    paths = [
        _written(tmp_path / "16.wav", x),
        _written(tmp_path / "48.wav", high, 48_000),
        _written(tmp_path / "44.flac", soxr.resample(x, RATE, 44_100), 44_100),
        _written(tmp_path / "stereo.wav", stereo, 48_000),
        _written(tmp_path / "misread.wav", high, RATE),  # as if it had been fed at a wrong rate
    ]
    embedded = Embedded(tmp_path / "out", ["ge2e"], 2, _quiet)
    sounds = embedded.sounds(paths)
    assert [s.rate for s in sounds] == [16_000, 48_000, 44_100, 48_000, 16_000]
    first, *others, misread = embedded.vectors(sounds)["ge2e"]
    for other in others:
        assert first @ other > 0.98
    assert first @ misread < 0.9


def test_noise_is_another_voice(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path / "out", ["ge2e"], 1, _quiet)
    paths = [_written(tmp_path / "a.wav", voice(2.0)), _written(tmp_path / "b.wav", noise(2 * RATE))]
    first, second = embedded.vectors(embedded.sounds(paths))["ge2e"]
    assert first @ second < 0.9
