"""The command content live over a dummy device: what is heard at the other end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from eavesdrop import NONSENSE, Ear, Failing, got_out, speech
from signals import F32
from typer.testing import CliRunner, Result
from velavox.engine import cli_content_live, methods, portaudio, soundcard
from velavox.engine.cli import app
from velavox.engine.dummy import DummyCard
from velavox.engine.identity import Identity

pytestmark = pytest.mark.usefixtures("compiled")

SECONDS = 4.0


class Card(DummyCard):
    """Someone says the secret once a second; what is played is kept."""

    made: ClassVar[list[Card]] = []

    def __init__(self, *asked: Any, **named: Any) -> None:
        x = speech(1.0, (0.5, 0.7), rate=48_000)
        super().__init__(x, real_time=True, listener=lambda now, y: self.played.append(y[:, 0].copy()))
        self.played = list[F32]()
        self.made.append(self)

    @property
    def heard(self) -> F32:
        return np.concatenate(self.played)


@pytest.fixture(autouse=True)
def _dummy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Card.made.clear()
    monkeypatch.setattr(portaudio, "quiet", nullcontext)
    monkeypatch.setattr(soundcard, "SoundCard", Card)
    monkeypatch.setattr(methods, "make", lambda method, settings=None: Identity())
    yield
    for thread in threading.enumerate():
        if thread.name.startswith(("velavox", "dummy card")):
            thread.join(10)
            assert not thread.is_alive()


def live(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any], *options: str) -> Result:
    monkeypatch.setattr(cli_content_live, "finder_of", lambda *asked: None)
    monkeypatch.setattr(cli_content_live, "detectors_of", lambda finder, names, delay, strict: [make()])
    arguments = ["--pii", "--action", "silence", "--delay", "1.0", "--seconds", str(SECONDS), *options]
    return CliRunner().invoke(app, ["content", "live", *arguments])


def test_what_is_said_comes_later_and_without_the_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = live(monkeypatch, lambda: Ear(hop=1600), "--json", str(tmp_path / "summary.json"))
    assert result.exit_code == 0, result.stderr
    heard = Card.made[0].heard
    assert got_out(heard) == 0
    assert np.abs(heard).max() > 0.03
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["delay_ms"] > 1000
    assert summary["content"]["found"] >= 2
    assert summary["content"]["late"] == 0
    assert any(line.startswith(f"{summary['content']['found']} found (word ") for line in result.stderr.splitlines())


@pytest.mark.parametrize("fault", ["raises", "no number passed"])
def test_a_detector_that_fails_lets_nothing_through(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = live(monkeypatch, lambda: Failing(NONSENSE[fault], after=0, hop=1600))
    assert result.exit_code == 0
    assert (Card.made[0].heard == 0).all()
    assert "warning: detector ear failed" in result.stderr
    assert "Alice" not in result.stderr


def test_wrong_use_opens_no_device() -> None:
    result = CliRunner().invoke(app, ["content", "live"])
    assert (result.exit_code, result.stderr.splitlines()[0][:25]) == (2, "velavox: nothing to find:")
    assert Card.made == []
