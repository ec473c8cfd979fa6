"""Substitutes: another word, in the anonymized voice, as short as the hole asks for or none."""

from __future__ import annotations

import numpy as np
import pytest
from humming import Humming
from needs import lacking
from signals import voice
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.speech import RATE, speaker
from velavox.engine.content.substitutes import FASTEST, Substitutes, trimmed
from velavox.engine.content.whisper import Whisper
from velavox.engine.failure import Unusable
from velavox.engine.host import Engine
from velavox.engine.mcadams import McAdams
from velavox.engine.vtln import Vtln


def humming() -> Humming:
    """As long as the text, .1 s a letter, between silences."""
    return Humming(lambda letters: np.pad(voice(0.1 * letters, seed=letters), 4000))


def engine(channels: int = 1, seed: int = 1) -> Engine:
    return Engine(McAdams(), sample_rate=48_000, channels=channels, seed=seed)


def lexicon(*lines: str) -> Lexicon:
    try:
        return Lexicon.of(lines)
    except Unusable as missing:
        lacking(str(missing))


def test_each_word_is_spoken_once_and_only_words_with_a_substitute_have_a_sound() -> None:
    listed = lexicon("Alice | name | Emily", "Clara | name | Emily", "Boston | place | Denver", "secret")
    who = humming()
    made = Substitutes.of(listed, who, engine())
    assert sorted(who.said) == ["denver", "emily"]
    assert len(made) == 3
    emily, same, denver, none = (made.clip(entry.term, 10**6) for entry in listed.entries)
    assert emily is not None
    assert emily is same
    assert denver is not None
    assert len(denver) > len(emily) > 0.4 * RATE
    assert none is None
    assert made.clip("", 10**6) is made.clip("unknown", 10**6) is None
    assert not any(word in repr(made) for word in ("Emily", "emily", "Alice"))


def test_a_sound_fits_its_hole_or_there_is_none() -> None:
    listed = lexicon("Alice | name | Emily")
    made = Substitutes.of(listed, humming(), engine())
    term = listed.entries[0].term
    whole = made.clip(term, 10**6)
    assert whole is not None
    for hole in (len(whole), len(whole) - 1, int(len(whole) / 1.2), int(np.ceil(len(whole) / FASTEST))):
        sound = made.clip(term, hole)
        assert sound is not None
        assert hole - 1 <= len(sound) <= hole
        assert np.sqrt(np.mean(sound**2)) == pytest.approx(np.sqrt(np.mean(whole**2)), rel=0.3)
    for hole in (int(len(whole) / FASTEST) - 1, 100, 0):
        assert made.clip(term, hole) is None


def test_it_sounds_in_the_voice_of_the_engine_and_follows_it_to_another() -> None:
    listed = lexicon("Alice | name | Emily")
    term = listed.entries[0].term
    first, other = engine(seed=1), engine(seed=2)
    made = Substitutes.of(listed, humming(), first)
    before = made.clip(term, 10**6)
    again = Substitutes.of(listed, humming(), engine(channels=2, seed=1)).clip(term, 10**6)
    made.take_voice(other)
    after = made.clip(term, 10**6)
    assert before is not None
    assert again is not None
    assert after is not None
    assert np.array_equal(before, again)
    assert not np.allclose(before[:4000], after[:4000], atol=1e-3)


def test_it_is_anonymized_by_all_stages() -> None:
    """Exactly as the same speech through a fresh engine of the same voice at its own rate."""
    listed = lexicon("Alice | name | Emily")
    pair = Engine([McAdams(), Vtln()], sample_rate=RATE, seed=3)
    sound = Substitutes.of(listed, humming(), pair).clip(listed.entries[0].term, 10**6)
    assert sound is not None
    expected = np.concatenate([pair.process(humming().speak("emily")), pair.flush()])[pair.latency :]
    assert np.array_equal(sound, trimmed(expected))


def test_no_voice_is_drawn_for_it() -> None:
    """A voice of the dp method is counted in a ledger; this one is there already."""
    drawn = []

    class Counting(McAdams):
        def _draw(self) -> None:
            drawn.append(self)
            super()._draw()

    counting = Engine(Counting(), sample_rate=RATE)
    before = len(drawn)
    made = Substitutes.of(lexicon("Alice | name | Emily"), humming(), counting)
    assert len(drawn) == before == 1
    made.take_voice(counting)
    assert len(drawn) == 1


def test_silence_around_a_word_goes() -> None:
    x = np.concatenate([np.full(8000, 1e-4, np.float32), voice(0.4), np.zeros(8000, np.float32)])
    assert 0.25 * RATE < len(trimmed(x)) < 0.46 * RATE
    assert len(trimmed(np.zeros(4000, np.float32))) == 0
    assert len(trimmed(np.zeros(0, np.float32))) == 0


def test_a_substitute_that_cannot_be_said_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 2: its substitute cannot be said: it speaks English alone") as refused:
        Substitutes.of(lexicon("Boston | place | Denver", "Alice | name | 小红"), humming(), engine())
    assert "小红" not in str(refused.value)


def test_names_without_a_substitute_get_another_of_their_class() -> None:
    listed = lexicon("Alice | name", "secret", "4155550123 | number")
    who = humming()
    try:
        made = Substitutes.of(listed, who, engine(), seed=5)
    except Unusable as missing:
        lacking(str(missing))
    assert len(made) == len(who.said) == 1
    assert who.said[0].isalpha()
    assert who.said != ["alice"]


def test_a_recogniser_reads_the_substitute_and_not_the_word() -> None:
    listed = lexicon("Alice | name | Washington")
    try:
        made = Substitutes.of(listed, speaker("hibari"), Engine(McAdams(alpha=0.85), sample_rate=RATE))
        recogniser = Whisper()
    except (Unusable, ModuleNotFoundError) as missing:
        lacking(str(missing))
    whole = made.clip(listed.entries[0].term, 10**6)
    assert whole is not None
    for hole in (len(whole), int(len(whole) / 1.45)):
        sound = made.clip(listed.entries[0].term, hole)
        assert sound is not None
        assert recogniser.text(np.pad(sound, 8000)).strip(" .").lower() == "washington"
