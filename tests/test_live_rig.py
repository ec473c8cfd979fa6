"""A live stream on a real sound server: exact to the sample, its delay, and what it does when the server hangs or dies."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from livecommand import Command, live
from pulses import lag, offline_difference
from rig import RATE, Rig
from signals import F32, voice
from velavox import Engine, Identity, McAdams

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("compiled")]

# The command has no voice that leaves the speaker's as it is; a program may have, and shows the delay best.
IDENTITY = [
    sys.executable,
    "-c",
    "import json, sys\n"
    "from dataclasses import asdict\n"
    "from velavox import Identity, Live, SoundCard\n"
    "with Live(Identity(), card=SoundCard()) as live:\n"
    "    while live.status().state != 'running': live.wait(0.05)\n"
    "    print('delay', file=sys.stderr, flush=True)\n"
    "    live.wait(8.0)\n"
    "    print(json.dumps(asdict(live.status())))\n",
]


def spoken() -> F32:
    return np.concatenate([np.zeros(RATE // 4, np.float32), voice(3.0, rate=RATE)])


def heard_and_played(rig: Rig, command: Command) -> tuple[F32, F32]:
    """What the microphone heard and what was played while somebody spoke, shape (frames,) each, and the silence around."""
    command.wait_for("delay")
    with rig.recording() as take:
        rig.feed(spoken()).wait(30)
        time.sleep(0.5)
    return take.sound[:, 0].copy(), take.sound[:, 1].copy()


def tried(attempt: Callable[[], float], limit: float) -> float:
    """The best of three: the server slips now and then on a busy machine, and says so to nobody."""
    best = np.inf
    for _ in range(3):
        best = min(best, attempt())
        if best < limit:
            break
    return best


def test_it_plays_what_the_engine_gives_for_what_the_microphone_heard(rig: Rig) -> None:
    def attempt() -> float:
        with live(rig, "--method", "mcadams", "--seed", "7", "--json", "--seconds", "8") as command:
            heard, played = heard_and_played(rig, command)
            summary = json.loads(command.finish())
        if not summary["xruns"]:
            assert (summary["corrections"], summary["drift_ppm"]) == (0, 0.0)
        return offline_difference(played, heard, lambda: Engine(McAdams(), sample_rate=RATE, seed=7))

    assert tried(attempt, 1e-5) < 1e-5


def test_the_delay_is_the_one_reported_and_an_identity_is_exact(rig: Rig) -> None:
    def attempt() -> float:
        with live(rig, command=IDENTITY) as command:
            heard, played = heard_and_played(rig, command)
            status = json.loads(command.finish())
        if status["xruns"]:
            return np.inf
        assert (status["corrections"], status["drift_ppm"]) == (0, 0.0)
        difference = offline_difference(played, heard, lambda: Engine(Identity(), sample_rate=RATE))
        measured = lag(played, heard) / RATE * 1e3
        assert measured == pytest.approx(status["delay_ms"], abs=10 + 1e-3 * status["block"])
        added = sum(status["delay_parts_ms"][part] for part in ("engine", "handover", "match"))
        assert added == pytest.approx(14.94 + 10 + 0.33, abs=0.05)
        return difference

    assert tried(attempt, 1e-5) < 1e-5


def test_a_server_that_is_stopped_is_noticed_and_sound_goes_on_when_it_runs_again(fresh_rig: Rig) -> None:
    with live(fresh_rig, "--seed", "7", "--json") as command:
        command.wait_for("running")
        fresh_rig.pause()
        command.wait_for("device lost: the device stopped calling")
        fresh_rig.resume()
        command.wait_for("the device is back")
        _, played = heard_and_played(fresh_rig, command)
        assert np.abs(played).max() > 0.05
        _, out = command.stop()
    assert json.loads(out)["reopened"] == 1


def test_a_server_that_is_stopped_does_not_hold_up_the_end(fresh_rig: Rig) -> None:
    with live(fresh_rig) as command:
        command.wait_for("running")
        fresh_rig.pause()
        command.wait_for("device lost")
        took, _ = command.stop()
        fresh_rig.resume()
    assert took < 2


def test_a_server_that_dies_is_silence_until_it_is_back(fresh_rig: Rig) -> None:
    with live(fresh_rig, "--seed", "7", "--json") as command:
        command.wait_for("running")
        fresh_rig.kill()
        command.wait_for("device lost")
        fresh_rig.restart()
        command.wait_for("the device is back")
        with fresh_rig.recording() as quiet:
            time.sleep(1.0)
        assert not quiet.sound.any()  # nothing left of what was said before
        heard, played = heard_and_played(fresh_rig, command)
        assert np.abs(played).max() > 0.05
        correlation = np.abs(np.corrcoef(np.roll(heard, lag(played, heard)), played)[0, 1])
        assert correlation < 0.5
        _, out = command.stop()
    assert json.loads(out)["reopened"] == 1
