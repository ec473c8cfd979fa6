"""Speech spoken anew: what is listed is never spoken, everything else is, where it was."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from humming import Humming
from needs import lacking
from signals import F32, noise, voice
from velavox.engine.content.desensitise import Desensitised, Desensitiser
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.plain import plain
from velavox.engine.content.resynthesize import Resynthesis, Resynthesizer, found_again, pieces, written
from velavox.engine.content.speech import RATE, speaker
from velavox.engine.content.whisper import WINDOW, Whisper
from velavox.engine.content.word import Word
from velavox.engine.failure import Unusable

SECOND = RATE


class Hearing(Whisper):
    """In place of the recogniser: what each piece says, in order, from its start on, .3 s a word."""

    def __init__(self, *said: str) -> None:
        self._said_of = list(said)

    def hear(self, samples: F32, languages: Sequence[str] = ("en",), start: int = 0) -> list[Word]:
        texts = self._said_of.pop(0).split()
        return [Word(text, start + n * 4800, start + (n + 1) * 4800, language=languages[0]) for n, text in enumerate(texts)]


def humming() -> Humming:
    """.1 s of sound a letter."""
    return Humming(lambda letters: np.full(letters * 1600, 0.1, np.float32))


def as_it_is(text: str) -> Desensitised:
    return Desensitised(text, {})


def said(
    *texts: str, clean: Callable[[str], Desensitised] = as_it_is, words: Sequence[str] = ()
) -> tuple[Humming, Resynthesis]:
    """What is spoken of a recording whose pieces say `texts`."""
    who = humming()
    try:
        lexicon = Lexicon.of(words) if words else None
        made = Resynthesizer(who, clean, lexicon, recogniser=Hearing(*texts))(recording(len(texts)))
    except Unusable as missing:
        lacking(str(missing))
    return who, made


def recording(parts: int) -> F32:
    """As many pieces as parts, 8 s each."""
    return np.concatenate([np.pad(noise(7 * SECOND, 0.1, n), (SECOND // 2, SECOND // 2)) for n in range(parts)])


def test_all_of_it_is_spoken_where_it_was() -> None:
    who, made = said("One, two.", "three four")
    assert who.said == ["one, two", "three four"]
    loud = np.flatnonzero(made.sound)
    assert (loud[0], made.words, made.phrases, made.withheld) == (0, 4, 2, 0)
    gap = np.flatnonzero(np.diff(loud) > 1)
    assert len(gap) == 1
    assert loud[gap[0] + 1] == pytest.approx(8 * SECOND, abs=SECOND // 2)
    assert len(made.sound) == len(recording(2))


def test_what_takes_longer_waits_for_the_phrase_before_it() -> None:
    who, made = said("a" * 200, "b")
    assert who.said == ["a" * 200, "b"]
    loud = np.flatnonzero(made.sound)
    assert len(made.sound) == 200 * 1600 + SECOND // 10 + 1600
    assert len(loud) == 201 * 1600


@pytest.mark.parametrize("text", ["Carter called", "the carter's house", "Karter called"])
def test_what_is_listed_still_is_not_spoken(text: str) -> None:
    who, made = said(text, "we left", words=["Carter"])
    assert who.said == ["we left"]
    assert (made.phrases, made.withheld, made.replaced) == (1, 1, {})
    assert not any(word in repr(made).lower() for word in ("carter", "left"))


def test_what_is_listed_only_over_two_pieces_is_not_spoken() -> None:
    who, made = said("that is my", "secret place", "we left", words=["my secret"])
    assert who.said == ["that is my", "we left"]
    assert made.withheld == 1


def test_an_abbreviation_of_what_is_listed_is_not_spoken() -> None:
    who, made = said("Dr. Smith", "5 days", words=["doctor", "five"])
    assert who.said == []
    assert made.withheld == 2


def test_letters_that_nobody_knows_are_not_spoken() -> None:
    def unknown(text: str) -> Desensitised:
        if not text.isascii():
            raise ValueError("unknown letters")
        return Desensitised(text, {})

    assert said("привет you", "hello", clean=unknown)[0].said == ["hello"]
    assert said("我 you", "hello")[0].said == ["hello"]  # the speaker does not know them


def test_what_is_replaced_is_counted() -> None:
    def clean(text: str) -> Desensitised:
        return Desensitised(text.replace("Carter", "Miller"), {"name": text.count("Carter")})

    who, made = said("Carter and Carter", "Carter", clean=clean, words=["Carter"])
    assert who.said == ["miller and miller", "miller"]
    assert made.replaced == {"name": 3}
    assert made.line == "3 replaced (name 3) in 4 words; 2 phrases spoken, 0 withheld"
    assert made.as_json() == {"words": 4, "replaced": {"name": 3}, "phrases": 2, "withheld": 0}


def test_silence_stays_silence() -> None:
    for samples in (np.zeros(3 * SECOND, np.float32), np.zeros(0, np.float32), np.full(20_000, 1e-5, np.float32)):
        made = Resynthesizer(humming(), as_it_is, recogniser=Hearing())(samples)
        assert len(made.sound) == len(samples)
        assert not made.sound.any()
        assert (made.words, made.phrases, made.withheld) == (0, 0, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_sound_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        Resynthesizer(humming(), as_it_is, recogniser=Hearing())(np.full(SECOND, bad, np.float32))


def test_a_language_that_the_voice_does_not_speak_is_refused() -> None:
    with pytest.raises(ValueError, match="humming does not speak zh"):
        Resynthesizer(humming(), as_it_is, languages=("en", "zh"), recogniser=Hearing())


@pytest.mark.parametrize("seconds", [0.0, 0.005, 3.0, 10.0, 10.01, 47.3])
def test_pieces_are_short_and_all_of_it(seconds: float) -> None:
    x = noise(int(seconds * SECOND), 0.1)
    found = list(pieces(x))
    assert all(0 < end - start <= WINDOW for start, end in found)
    assert [start for start, _ in found[1:]] == [end for _, end in found[:-1]]
    if len(x) >= 160:
        assert (found[0][0], found[-1][1]) == (0, len(x))


def test_pieces_end_where_it_is_quiet() -> None:
    x = noise(30 * SECOND, 0.1)
    quiet = [int(at * SECOND) for at in (7.3, 16.0, 25.5)]
    for at in quiet:
        x[at - 1000 : at + 1000] *= 0.01
    assert [end for _, end in pieces(x)][:3] == pytest.approx(quiet, abs=1000)


def test_words_as_text() -> None:
    def text(*parts: str) -> str:
        return written([Word(part, 0, 1) for part in parts])

    assert text("Hello,", "my", "friend.") == "Hello, my friend."
    assert text("我", "是", "Alice", "北", "京") == "我是 Alice 北京"
    assert text() == ""


def refused(*_: object, **__: object) -> None:
    raise AssertionError("a socket")


def test_a_recogniser_does_not_find_in_it_what_it_finds_in_the_recording(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One speaker says it, another says it anew; no log has a word of it, no socket is opened."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    try:
        voice_of, who, recogniser = speaker("espeak"), speaker("hibari"), Whisper()
        lexicon = Lexicon.of(["umbrella | | jacket"])
    except (Unusable, ModuleNotFoundError) as missing:
        lacking(str(missing))
    recording = voice_of.speak(plain("My sister bought a yellow umbrella because it rained all week."))
    clean = Desensitiser("fixed", lexicon=lexicon, categories=(), language="en")
    made = Resynthesizer(who, clean, lexicon, recogniser=recogniser)(recording)
    assert made.replaced == {"word": 1}
    assert found_again(recording, lexicon, ("en",), recogniser) == 1
    assert found_again(made.sound, lexicon, ("en",), recogniser) == 0
    assert plain(recogniser.text(made.sound)) == "my sister bought a yellow jacket because it rained all week"
    assert "umbrella" not in caplog.text.lower()
    assert "sister" not in caplog.text.lower()


def test_nothing_of_the_recording_is_left() -> None:
    """What comes out depends on the words alone."""
    one = Resynthesizer(humming(), as_it_is, recogniser=Hearing("hello you"))(voice(3.0, seed=1))
    other = Resynthesizer(humming(), as_it_is, recogniser=Hearing("hello you"))(voice(3.0, f0=200, seed=2))
    assert np.array_equal(one.sound, other.sound)
