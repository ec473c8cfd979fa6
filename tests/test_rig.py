"""The tests' sound card itself: exact, and gone afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rig import Rig
from signals import noise

pytestmark = pytest.mark.live


def test_what_is_fed_is_recorded_as_it_is(rig: Rig) -> None:
    x = noise(24_000)
    with rig.recording() as take:
        assert rig.feed(x).wait(20) == 0
    heard = take.sound[:, 0]
    start = int(np.flatnonzero(heard == x[0])[0])
    np.testing.assert_array_equal(heard[start : start + x.size], x)
    assert not take.sound[:, 1].any()


def test_a_killed_server_comes_back(fresh_rig: Rig) -> None:
    fresh_rig.kill()
    assert fresh_rig.pactl("info", check=False) == ""
    fresh_rig.restart()
    assert "Default Source: fakemic" in fresh_rig.pactl("info")


def test_nothing_is_left_of_a_server_that_hangs(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.pause()
    rig.close()
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert os.fspath(tmp_path) not in left
