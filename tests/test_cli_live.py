"""The command over a dummy device: how it ends, what it says, and that wrong use opens nothing."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import soundfile
from signals import F32, noise
from test_recorder import room
from typer.testing import CliRunner, Result
from velavox.engine import keys, portaudio, soundcard
from velavox.engine.card import DeviceError, Format, WrongDevice
from velavox.engine.cli import app
from velavox.engine.dummy import DummyCard
from velavox.engine.exchange import Exchange

pytestmark = pytest.mark.usefixtures("compiled")


class Card(DummyCard):
    """Keeps what it is asked for and what it played."""

    made: ClassVar[list[Card]] = []

    def __init__(self, *asked: Any, **named: Any) -> None:
        super().__init__(noise(48_000), real_time=True, listener=lambda now, y: self.played.append(y[:, 0].copy()))
        self.asked, self.played = asked, list[F32]()
        self.made.append(self)


@pytest.fixture(autouse=True)
def _dummy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Card.made.clear()
    monkeypatch.setattr(portaudio, "quiet", nullcontext)  # it works on the process's stderr, which is not the runner's
    use(monkeypatch, Card)
    yield
    for thread in threading.enumerate():
        if thread.name.startswith(("velavox", "dummy card")):  # what had to be left hanging ends now
            thread.join(10)
            assert not thread.is_alive()


def use(monkeypatch: pytest.MonkeyPatch, card: Callable[..., Card]) -> None:
    monkeypatch.setattr(soundcard, "SoundCard", card)


def live(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["live", *(str(a) for a in arguments)])


def test_a_while_and_a_summary_on_stdout_alone() -> None:
    result = live("--input", "mic", "--output", "7", "--rate", "48000", "--block", "480", "--seconds", "1", "--json")
    assert result.exit_code == 0
    assert Card.made[0].asked == ("mic", "7", 48_000, 480)
    summary = json.loads(result.stdout)
    assert summary["ended_by"] == "seconds"
    assert 1 <= summary["seconds"] < 5
    assert summary["voice"] == "mcadams, voice 1"
    assert summary["rate_in_hz"] == summary["rate_out_hz"] == 48_000
    assert summary["delay_ms"] == pytest.approx(sum(summary["delay_parts_ms"].values()))
    assert summary["delay_parts_ms"]["engine"] == pytest.approx(24.9, abs=0.1)
    lines = result.stderr.splitlines()
    assert sum(line.startswith("running: dummy input at 48000 Hz to dummy output at 48000 Hz") for line in lines) == 1
    assert lines[-1].startswith("ended after ")
    assert "seed" not in result.stderr
    assert np.abs(np.concatenate(Card.made[0].played)).max() > 0.01


def test_a_summary_in_a_file(tmp_path: Path) -> None:
    result = live("--seconds", "0", "--json", tmp_path / "new/summary.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((tmp_path / "new/summary.json").read_text())["ended_by"] == "seconds"
    assert os.listdir(tmp_path / "new") == ["summary.json"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_an_ordinary_end(number: int) -> None:
    threading.Timer(1.0, os.kill, (os.getpid(), number)).start()
    result = live("--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["ended_by"] == "signal"
    assert not Card.made[0].active


@pytest.mark.parametrize("hangs", ["plan", "open", "close"])
def test_a_signal_ends_it_within_2_s_while_the_device_hangs(monkeypatch: pytest.MonkeyPatch, hangs: str) -> None:
    waiting = threading.Event()
    sent: list[float] = []

    class Hanging(Card):
        def _hang(self, where: str) -> None:
            if where == hangs and not waiting.is_set():
                waiting.wait(30)

        def plan(self) -> Format:
            self._hang("plan")
            return super().plan()

        def open(self, plan: Format, exchange: Exchange) -> tuple[float, float]:
            self._hang("open")
            return super().open(plan, exchange)

        def close(self) -> None:
            self._hang("close")
            super().close()

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    use(monkeypatch, Hanging)
    threading.Timer(1.5, interrupt).start()
    result = live()
    assert sent, result.stderr + str(result.exception)
    took = time.monotonic() - sent[0]
    waiting.set()
    assert result.exit_code == 0
    assert took < 2


def test_keys_mute_draw_a_voice_and_quit(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["", "", "M", *[""] * 6, "mn", "", "q"])

    class Typed(keys.Keys):
        def read(self, seconds: float) -> str:
            time.sleep(seconds)
            return next(typed)

    monkeypatch.setattr(keys, "Keys", Typed)
    result = live("--json", "--method", "vtln")
    summary = json.loads(result.stdout)
    assert (summary["ended_by"], summary["voice"]) == ("key", "vtln, voice 2")
    loud = [np.abs(y).max() > 1e-4 for y in Card.made[0].played]
    silent = "".join(map(str, map(int, loud))).strip("0")
    assert "0" * 80 in silent  # most of 1.2 s, between two of sound


def test_a_device_that_goes_and_comes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loose(Card):
        def __init__(self, *asked: Any, **named: Any) -> None:
            super().__init__(*asked, **named)
            self.vanish(self.now() + 1.5, 0.5)

    use(monkeypatch, Loose)
    result = live("--seconds", "4", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["reopened"] == 1
    lost, back = (
        next(i for i, line in enumerate(result.stderr.splitlines()) if line.startswith(words))
        for words in ("device lost: ", "the device is back after ")
    )
    assert lost < back


@pytest.mark.parametrize(("error", "status", "start"), [(WrongDevice, 2, "velavox: "), (DeviceError, 1, "failed: ")])
def test_a_device_that_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, error: type[DeviceError], status: int, start: str
) -> None:
    class Refusing(Card):
        def plan(self) -> Format:
            raise error("there is no input device 'yeti'", "name one: 0 mic")

    use(monkeypatch, Refusing)
    result = live("--json")
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.splitlines()[-1] == f"{start}there is no input device 'yeti'; name one: 0 mic"


def test_an_error_in_its_thread_ends_it_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Card):
        @property
        def active(self) -> bool:
            if len(self.played) > 50:
                raise RuntimeError("broken\nfor good")
            return True

    use(monkeypatch, Broken)
    result = live("--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ended_by"] == "error"
    assert result.stderr.splitlines()[-1] == "failed: RuntimeError: broken"


def test_a_recording_is_what_was_played(tmp_path: Path) -> None:
    result = live("--seconds", "1.5", "--record", tmp_path / "sent.wav", "--json")
    assert result.exit_code == 0
    y, rate = soundfile.read(tmp_path / "sent.wav", dtype="float32")
    assert json.loads(result.stdout)["record"]["seconds"] == pytest.approx(len(y) / rate)
    np.testing.assert_array_equal(y, np.concatenate(Card.made[0].played)[: len(y)])
    assert np.abs(y).max() > 0.01


def test_a_disk_that_fills_costs_the_recording_alone(tmp_path: Path) -> None:
    with room(150_000):
        result = live("--seconds", "2.5", "--record", tmp_path / "sent.wav", "--json")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert sum(line.startswith("warning: the recording has stopped: ") for line in lines) == 1
    assert lines[-1].startswith("failed: --record: ")
    summary = json.loads(result.stdout)
    assert summary["seconds"] >= 2.5
    assert summary["record"]["trouble"]
    assert os.listdir(tmp_path) == []


def test_a_seed_is_said_to_void_privacy() -> None:
    result = live("--seed", "5", "--seconds", "0", "--json")
    assert "No privacy is claimed" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["seeded"]
    assert "5" not in [str(value) for value in summary.values()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--method nothing", "velavox: method 'nothing': give one of mcadams"),
        ("--set alhpa=0.7", "velavox: mcadams has no parameter 'alhpa': it has alpha"),
        ("--set alpha", "velavox: --set alpha: give NAME=VALUE"),
        ("--output a --virtual-mic b", "leave one out"),
        ('--virtual-mic a"b', "give a name without double quotes"),
        ("--record FOLDER", "cannot be written; give another"),
        ("--record new.m4a", "velavox: --record new.m4a: sound cannot be written as .m4a"),
        ("--json FOLDER", "cannot be written; give another"),
        ("--record a.wav --json a.wav", "is the file a.wav, which it would replace"),
        ("--seconds -1", "--seconds"),
        ("--rate fast", "--rate"),
        ("--bypass", "No such option"),
    ],
)
def test_wrong_use_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = live(*arguments.replace("FOLDER", str(tmp_path)).split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert all(card.opened == 0 for card in Card.made)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["--rate", "--block"])
def test_numbers_that_no_card_takes_are_wrong_use(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(portaudio, "quiet", nullcontext)
    result = live(option, "0")
    assert result.exit_code == 2
    assert f"velavox: {option[2:]}=0: give " in result.stderr
