"""The command over a dummy device: how it ends, what it says, and that wrong use opens nothing."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
import soundfile
from signals import F32, noise, voice
from test_recorder import room
from typer.testing import CliRunner, Result
from velavox.engine import cli_live, keys, portaudio, soundcard
from velavox.engine.card import DeviceError, Format, WrongDevice
from velavox.engine.cli import app
from velavox.engine.dummy import DummyCard
from velavox.engine.exchange import Exchange
from velavox.engine.writer import Writer

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
    assert 1 <= summary["seconds"] < 1.2
    assert summary["voice"] == "mcadams, voice 1"
    assert summary["rate_in_hz"] == summary["rate_out_hz"] == 48_000
    assert summary["delay_ms"] == pytest.approx(sum(summary["delay_parts_ms"].values()), abs=0.01)
    assert summary["delay_parts_ms"]["engine"] == pytest.approx(24.9, abs=0.1)
    lines = result.stderr.splitlines()
    assert sum(line.startswith("running: dummy input at 48000 Hz to dummy output at 48000 Hz") for line in lines) == 1
    assert lines[-1].startswith("ended after ")
    assert "seed" not in result.stderr
    assert np.abs(np.concatenate(Card.made[0].played)).max() > 0.01


def test_what_ran_is_told_though_its_time_is_over_at_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    enter = keys.Keys.__enter__

    def late(self: keys.Keys) -> keys.Keys:
        time.sleep(0.8)  # a machine that is busy elsewhere
        return enter(self)

    monkeypatch.setattr(keys.Keys, "__enter__", late)
    result = live("--seconds", "0.3")
    lines = result.stderr.splitlines()
    assert sum(line.startswith("running: ") for line in lines) == 1
    assert lines[-1].startswith("ended after ")


def test_a_summary_in_a_file(tmp_path: Path) -> None:
    result = live("--seconds", "0", "--json", tmp_path / "summary.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads((tmp_path / "summary.json").read_text())["ended_by"] == "seconds"
    assert os.listdir(tmp_path) == ["summary.json"]
    assert result.stderr.splitlines()[-1] == "ended before any sound"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_an_ordinary_end(number: int) -> None:
    threading.Timer(1.0, os.kill, (os.getpid(), number)).start()
    result = live("--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["ended_by"] == "signal"
    assert not Card.made[0].active


def test_a_signal_that_code_in_c_swallows_is_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a callback of the compiler: the signal's exception is printed there, and goes no further."""

    def read(self: keys.Keys, seconds: float) -> str:
        with suppress(BaseException):
            os.kill(os.getpid(), signal.SIGINT)
        return ""

    monkeypatch.setattr(keys.Keys, "read", read)
    result = live("--seconds", "3", "--json")
    assert json.loads(result.stdout)["ended_by"] == "signal"


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


@pytest.mark.parametrize("where", ["compiling", "starting"])
def test_a_signal_before_any_sound_is_told_and_summed_up(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The first one gets lost, as in a callback that C code calls: it counts all the same."""

    def interrupt(*_: object) -> None:
        with suppress(BaseException):
            os.kill(os.getpid(), signal.SIGINT)

    class Slow(Card):
        def plan(self) -> Format:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(0.5)
            return super().plan()

    if where == "compiling":
        monkeypatch.setattr(cli_live, "tell_of_compiling", interrupt)
    else:
        use(monkeypatch, Slow)
    result = live("--json")
    assert (result.exit_code, result.stderr.splitlines()) == (0, ["ended before any sound"])
    summary = json.loads(result.stdout)
    assert summary["ended_by"] == "signal"
    assert summary["seconds"] < 2


def test_further_signals_do_not_disturb_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Somebody keeps Ctrl-C pressed while the device is closed and the summary is written."""
    closed = threading.Event()

    class Pressed(Card):
        def close(self) -> None:
            time.sleep(0.3)
            super().close()
            closed.set()

    def press() -> None:
        while not closed.wait(0.02):
            os.kill(os.getpid(), signal.SIGINT)

    use(monkeypatch, Pressed)
    threading.Timer(1.0, press).start()
    result = live("--json", "--record", tmp_path / "sent.wav")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["ended_by"] == "signal"
    assert os.listdir(tmp_path) == ["sent.wav"]


@pytest.mark.parametrize("again", [True, False])
def test_a_recording_that_takes_long_is_told_and_can_be_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, again: bool
) -> None:
    commit = Writer.commit

    def slowly(self: Writer, **how: Any) -> None:
        assert not Card.made[0].active  # the device is closed by then
        if again:
            threading.Timer(0.8, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(1.5)
        commit(self, **how)

    monkeypatch.setattr(Writer, "commit", slowly)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    result = live("--json", "--record", tmp_path / "sent.wav")
    assert "finishing the recording; Ctrl-C gives it up" in result.stderr.splitlines()
    trouble = json.loads(result.stdout)["record"]["trouble"]
    if again:
        assert (result.exit_code, os.listdir(tmp_path)) == (1, [])
        assert result.stderr.splitlines()[-1] == f"failed: --record: {trouble}"
        assert "nothing of it is kept" in trouble
    else:
        assert (result.exit_code, os.listdir(tmp_path), trouble) == (0, ["sent.wav"], "")


def test_other_keys_are_answered_with_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["", "x?", "y", "n", "q"])

    class Typed(keys.Keys):
        def __enter__(self) -> Self:
            super().__enter__()
            self.there = True
            return self

        def read(self, seconds: float) -> str:
            return next(typed)

    monkeypatch.setattr(keys, "Keys", Typed)
    monkeypatch.setattr(cli_live, "_HINT_EVERY", 0)
    lines = live("--method", "vtln").stderr.splitlines()
    assert [line for line in lines if line in (keys.HINT, "voice 2")] == [*[keys.HINT] * 4, "voice 2"]


def test_the_help_has_the_keys() -> None:
    assert keys.HINT in " ".join(live("--help").stdout.split())


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


def test_a_voice_that_the_ledger_refuses_leaves_the_one_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    typed = iter([*[""] * 5, "n", *[""] * 5, "q"])

    class Typed(keys.Keys):
        def read(self, seconds: float) -> str:
            time.sleep(min(seconds, 0.1))
            return next(typed)

    monkeypatch.setattr(keys, "Keys", Typed)
    soundfile.write(tmp_path / "ada.wav", voice(3.0), 16_000)
    told = f"enroll={tmp_path / 'ada.wav'}", f"ledger={tmp_path / 'ledger.json'}", "budget=1"
    result = live("--json", "--method", "dp", *(part for setting in told for part in ("--set", setting)))
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["ended_by"], summary["voice"]) == (0, "key", "dp, voice 1")
    assert len([line for line in result.stderr.splitlines() if "the voice stays: " in line and "past the budget" in line]) == 1


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
    kept = soundfile.info(tmp_path / "sent.wav")
    assert summary["record"]["seconds"] == pytest.approx(kept.frames / kept.samplerate)
    assert lines[-1].endswith(f"the first {kept.duration:.1f} s are kept")


def test_a_seed_is_said_to_void_privacy() -> None:
    result = live("--seed", "5", "--seconds", "0", "--json")
    assert "No privacy is claimed for this stream." in result.stderr
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
        ("--json missing/a.json", "velavox: --json missing/a.json: there is no folder missing; make it, or give another"),
        ("--record missing/a.wav", "velavox: --record missing/a.wav: there is no folder missing; make it, or give another"),
        ("--seconds -1", "velavox: --seconds -1: give 0 or more"),
        ("--rate fast", "velavox: --rate fast: give a whole number"),
        ("--rate 0", "velavox: --rate 0: give 4000 to 384000 Hz"),
        ("--block 0", "velavox: --block 0: give 1 to 48000 frames"),
        ("--block 100000", "velavox: --block 100000: give 1 to 48000 frames"),
        ("--rate 16000 --block 16001", "velavox: --block 16001: give 1 to 16000 frames"),
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
