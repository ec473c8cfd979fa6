"""velavox profile: table, JSON, picture, the smallest safe block, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from signals import noise, voice
from typer.testing import CliRunner, Result
from velavox.engine import profile_safe
from velavox.engine.cli import app
from velavox.engine.profile_run import Work
from velavox.engine.profile_safe import Ladder, climb_down
from velavox.engine.profile_sound import generated, read

pytestmark = pytest.mark.usefixtures("compiled")

TIMES = {f"{name}_us" for name in ("first", "mean", "p50", "p95", "p99", "p99_9", "max")}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_safe, "SIZES", (256, 512))
    monkeypatch.setattr(profile_safe, "SECONDS", 0.2)
    monkeypatch.setattr(profile_safe, "FEWEST", 20)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["profile", "--seconds", "1", *(str(a) for a in arguments)])


def told(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return dict(json.loads(result.stdout))


def test_one_row_as_text() -> None:
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    text = result.stdout
    assert re.search(
        r"^method +Hz +block +ms +blocks +first +p50 +p95 +p99 +p99\.9 +max +p99/block +misses +RTC +CPU", text, re.M
    )
    assert re.search(r"^mcadams +48000 +480 +10\.00 +100 ( +\d+){6} +\d+\.\d% +\d+ +0\.\d{4} +\d+\.\d% +\d+\.\d$", text, re.M)
    for part in ("input", "resample_in", "reblock", "mcadams", "judge", "level", "limiter", "resample_out", "deliver", "all"):
        assert re.search(rf"^  {part} ", text, re.M), part
    assert "delay 3" in text
    assert "garbage collections" in text
    assert (
        re.search(r"^smallest safe block for mcadams at 48000 Hz on this machine: \d+ frames", text, re.M) or "no safe" in text
    )
    assert max(map(len, text.splitlines())) <= 120


def test_json_to_stdout_and_nothing_else() -> None:
    value = told("--seed", "1")
    (row,) = value["rows"]
    assert (row["method"], row["rate_hz"], row["block_frames"], row["block_ms"]) == ("mcadams", 48_000, 480, 10.0)
    assert (row["channels"], row["policy"], row["seconds"], row["live"]) == (1, "each", 1.0, None)
    assert row.keys() > TIMES
    assert 0 < row["p50_us"] <= row["p95_us"] <= row["p99_us"] <= row["p99_9_us"] <= row["max_us"]
    assert row["rtc"] == pytest.approx(row["mean_us"] / 10_000)
    assert row["deadline"]["p99"] == pytest.approx(row["p99_us"] / 10_000)
    assert row["blocks"] == 100
    assert 0 <= row["cpu_share"] <= 1.1
    assert sum(part["mean_us"] for part in row["parts"]) == pytest.approx(row["mean_us"])
    assert sum(part["share"] for part in row["parts"]) == pytest.approx(1)
    assert row["delay"]["latency_ms"] == pytest.approx(34.94, abs=5)  # 24.94 of the engine, 10 of the block, and compute
    assert row["delay"]["latency_ms"] - row["delay"]["compute_ms"] == pytest.approx(24.9375 + 10)
    assert row["allocations"]["net_bytes_per_block"] < 5
    assert 480 * 4 < row["allocations"]["peak_bytes_per_block"] < 480 * 4 + 2000
    assert len(row["gc"]["runs"]) == 3
    assert value["pace"] == "fast"
    assert "seed" not in json.dumps(value)


def test_sweep_and_json_file(tmp_path: Path) -> None:
    sweep = [
        "--method",
        "vtln",
        "--method",
        "mcadams",
        "--rate",
        "16000",
        "--rate",
        "44100",
        "--block",
        "100",
        "--block",
        "512",
    ]
    result = run(*sweep, "--json", tmp_path / "new" / "all.json")
    assert (result.exit_code, result.stderr) == (0, "")
    value = json.loads((tmp_path / "new" / "all.json").read_text())
    expected = [(m, r, b) for m in ("vtln", "mcadams") for r in (16_000, 44_100) for b in (100, 512)]
    assert [(row["method"], row["rate_hz"], row["block_frames"]) for row in value["rows"]] == expected
    assert [(safe["method"], safe["rate_hz"]) for safe in value["safe_blocks"]] == [row[:2] for row in expected[::2]]
    for safe in value["safe_blocks"]:
        assert [tried["block_frames"] for tried in safe["tried"]] in ([100, 256, 512], [512], [256, 512], [100, 512])
    lines = result.stdout.splitlines()
    assert sum(line.startswith(("vtln", "mcadams")) for line in lines) == 16  # each row's times, each row's parts
    assert sum("safe block for" in line for line in lines) == 4


def test_a_recording_at_its_own_rate_and_channels(tmp_path: Path) -> None:
    one = voice(0.7, rate=22_050)
    soundfile.write(tmp_path / "two.wav", np.stack([one, noise(one.size)], axis=1), 22_050)
    (row,) = told("--input", tmp_path / "two.wav")["rows"]
    assert (row["rate_hz"], row["channels"], row["block_frames"], row["blocks"]) == (22_050, 2, 220, 100)
    value = told("--input", tmp_path / "two.wav", "--rate", "48000")
    assert (value["rows"][0]["rate_hz"], value["sound"]) == (48_000, "two.wav")


def test_picture(tmp_path: Path) -> None:
    from matplotlib.image import imread

    assert run("--block", "100", "--block", "480", "--plot", tmp_path / "p.png").exit_code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(PNG)
    picture = imread(tmp_path / "p.png")[:, :, :3]
    height, width, _ = picture.shape
    assert height > 600
    assert width > 1200
    for row, column in np.ndindex(2, 3):
        panel = picture[row * height // 2 : (row + 1) * height // 2, column * width // 3 : (column + 1) * width // 3]
        assert (panel.min(axis=2) < 0.9).mean() > 0.02, (row, column)  # not white
        assert (np.ptp(panel, axis=2) > 0.2).mean() > 0.002, (row, column)  # coloured
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


def test_picture_is_whole_or_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    def full(self: Figure, path: Path, **options: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    (tmp_path / "p.png").write_bytes(b"old")
    monkeypatch.setattr(Figure, "savefig", full)
    result = run("--plot", tmp_path / "p.png")
    assert result.exit_code == 1
    assert (
        result.stderr == f"failed: {tmp_path / 'p.png'}: No space left on device; give a --plot FILE.png that can be written\n"
    )
    assert (tmp_path / "p.png").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


def test_real_pace_goes_through_a_live_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_safe, "SIZES", (960,))
    value = told("--pace", "real")
    (row,) = value["rows"]
    assert value["pace"] == "real"
    assert set(row["live"]) == {"xruns", "starved_ms", "dropped_ms", "worker"}
    assert 20 <= row["blocks"] <= 200  # a busy machine hands over some together, and ends late
    assert row["cpu_share"] < 0.8
    parts = row["delay"]["parts_ms"]
    assert {"handover", "match", "reblock", "stages"} < parts.keys()
    assert parts["handover"] > 5
    assert row["delay"]["latency_ms"] == pytest.approx(sum(parts.values()) + row["delay"]["compute_ms"])
    assert value["safe_blocks"][0]["tried"][-1]["block_frames"] == 960


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--method", "none"], 2, "give one of mcadams"),
        (["--set", "alpha"], 2, "NAME=VALUE"),
        (["--set", "alpha=9"], 2, "alpha='9'"),
        (["--set", "beta=1"], 2, "no parameter 'beta'"),
        (["--method", "mcadams", "--method", "vtln", "--set", "alpha=0.7"], 2, "vtln has no parameter"),
        (["--block", "0"], 2, "--block=0"),
        (["--block", "-5"], 2, "--block=-5"),
        (["--rate", "100"], 2, "4000 to 384000"),
        (["--rate", "48000", "--rate", "1000000"], 2, "4000 to 384000"),
        (["--seconds", "0"], 2, "--seconds 0"),
        (["--seconds", "nan"], 2, "--seconds nan"),
        (["--input", "nothing.wav"], 1, "no such file"),
        (["--input", "text.wav"], 1, "text.wav"),
        (["--json", "."], 2, "--json ."),
        (["--json", "text.wav/a.json"], 2, "--json text.wav"),
        (["--plot", "a.jpg"], 2, "ends in .png"),
        (["--plot", "."], 2, ".png"),
        (["--plot", "a.png", "--json", "a.png"], 2, "replace"),
        (["--input", "text.wav", "--json", "text.wav"], 2, "replace"),
        (["--json", "pipe"], 2, "--json pipe"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], status: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.wav").write_text("no sound")
    os.mkfifo(tmp_path / "pipe")
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"text.wav", "pipe"}
    assert (tmp_path / "text.wav").read_text() == "no sound"
    assert (tmp_path / "pipe").is_fifo()


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.engine.cli_profile.find_spec", lambda name: None)
    result = run("--plot", tmp_path / "p.png")
    assert (result.exit_code, result.stderr) == (1, 'failed: --plot needs matplotlib: pip install "velavox[plot]"\n')


def test_safe_means_all_larger_ones_too() -> None:
    assert Ladder("m", 48_000, {64: 0.6, 128: 0.4, 256: 0.3}).safe == 128
    assert Ladder("m", 48_000, {64: 0.1, 128: 0.5, 256: 0.3}).safe == 256
    assert Ladder("m", 48_000, {64: 0.1, 256: 0.7}).safe is None
    assert Ladder("m", 48_000, {64: 0.1, 256: 0.7}).as_json()["block_ms"] is None


def test_tries_from_the_largest_block_that_anybody_would_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to the first one that is not safe, and none of those that the rows have tried again."""
    tried = []

    class Report:
        def __init__(self, p99: float) -> None:
            self.deadline = {"p99": p99}

    def measure(work: Work, pace: str, seconds: float) -> tuple[Report, None]:
        tried.append(work.block)
        return Report(60 / work.block), None

    class Row:
        work = Work("mcadams", {}, generated(8000, 0), 160)
        pace = "fast"
        report = Report(0.3)

    monkeypatch.setattr(profile_safe, "SIZES", (32, 64, 128, 160, 256, 512, 1024))
    monkeypatch.setattr(profile_safe, "measure", measure)
    ladder = climb_down([Row()], lambda work, block: None)  # type: ignore[list-item]
    assert tried == [512, 256, 128, 64]  # 1024 would last 128 ms
    assert ladder.safe == 128


@pytest.mark.parametrize("rate", [8000, 48_000])
def test_generated_sound_has_syllables_and_pauses(rate: int) -> None:
    sound = generated(rate, 1)
    x = sound.x[:, 0]
    assert sound.x.shape == (10 * rate, 1)
    np.testing.assert_array_equal(sound.x, generated(rate, 1).x)
    assert np.abs(x).max() <= 1
    assert np.sqrt(np.mean(x**2)) == pytest.approx(0.1, rel=0.1)
    levels = np.sqrt(np.mean(x.reshape(-1, rate // 50) ** 2, axis=1))
    assert np.percentile(levels, 10) < 0.005 < 0.05 < np.percentile(levels, 60)
    power, hz = np.abs(np.fft.rfft(x)) ** 2, np.fft.rfftfreq(x.size, 1 / rate)
    assert power[(hz > 400) & (hz < 600)].sum() > 5 * power[(hz > 900) & (hz < 1100)].sum()  # on a formant, and between two


def test_of_a_long_recording_only_the_beginning_is_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", noise(70 * 8000), 8000)
    sound = read(tmp_path / "long.wav")
    assert sound.x.shape == (60 * 8000, 1)
    assert sound.at(16_000).x.shape == (60 * 16_000, 1)
