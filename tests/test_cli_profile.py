"""velavox profile: table, JSON, picture, the smallest safe block, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from signals import noise, voice
from typer.testing import CliRunner, Result
from velavox.engine import cli_profile, profile_safe
from velavox.engine.cli import app
from velavox.engine.profile_run import Work
from velavox.engine.profile_sound import generated

pytestmark = pytest.mark.usefixtures("compiled")

TIMES = {f"{name}_us" for name in ("first", "mean", "p50", "p95", "p99", "p99_9", "max")}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_safe, "SIZES", (256, 512))
    monkeypatch.setattr(profile_safe, "SECONDS", {"fast": 0.2, "real": 0.2})


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
    assert re.search(
        r"^mcadams +48000 +480 +10\.00 +101 ( +\d+){4} +- +\d+ +\d+\.\d% +\d+ +0\.\d{4} +\d+\.\d% +\d+\.\d$", text, re.M
    )
    for part in ("input", "resample_in", "reblock", "mcadams", "judge", "level", "limiter", "resample_out", "deliver"):
        assert re.search(rf"^  {part} ( +(\d+\.\d|-)){{3}} +\d+\.\d% [ #]{{22}} [a-z1]", text, re.M), part  # and what it is
    check = re.search(
        r"^  check: the parts, timed in (\d+) of 100 blocks, add up to \d+\.\d% of what whole blocks take", text, re.M
    )
    assert check
    assert 10 < int(check[1]) < 50
    assert "delay 3" in text
    assert "garbage collection" in text
    assert "CPU: of one core" in text
    assert (
        re.search(r"^smallest safe block for mcadams at 48000 Hz on this machine: \d+ frames", text, re.M) or "no safe" in text
    )
    assert re.search(
        r"^  block +ms +blocks +p99/block +max/block +misses +safe\n( +\d.+(yes|no)\n)+safe: no miss, and p99", text, re.M
    )
    assert "the device and its sound server are not included, nor is\nwaking up" in text
    assert max(map(len, text.splitlines())) <= 120


def test_json_to_stdout_and_nothing_else() -> None:
    value = told("--seed", "1")
    (row,) = value["rows"]
    assert (row["method"], row["rate_hz"], row["block_frames"], row["block_ms"]) == ("mcadams", 48_000, 480, 10.0)
    assert (row["channels"], row["policy"], row["seconds"], row["live"]) == (1, "each", 1.0, None)
    assert row.keys() > TIMES
    assert 0 < row["p50_us"] <= row["p95_us"] <= row["p99_us"] <= row["max_us"]
    assert row["p99_9_us"] is None  # of 100 blocks
    assert row["rtc"] == pytest.approx(row["mean_us"] / 10_000, rel=1e-4)
    assert row["deadline_share"]["p99"] == pytest.approx(row["p99_us"] / 10_000, rel=1e-4)
    assert row["blocks"] == 101
    assert 0 < row["cpu_share_of_a_core"] <= 1.1
    assert sum(part["mean_us"] for part in row["parts"]) == pytest.approx(row["mean_us"], rel=1e-3)
    assert sum(part["share"] for part in row["parts"]) == pytest.approx(1, rel=1e-3)
    assert row["delay"]["latency_ms"] == pytest.approx(34.94, abs=5)  # 24.94 of the engine, 10 of the block, and compute
    assert row["delay"]["latency_ms"] - row["delay"]["compute_ms"] == pytest.approx(24.9375 + 10, abs=2e-3)
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
    result = run(*sweep, "--seconds", "4", "--json", tmp_path / "all.json")
    assert (result.exit_code, result.stderr) == (0, "")
    value = json.loads((tmp_path / "all.json").read_text())
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
    assert (row["rate_hz"], row["channels"], row["block_frames"], row["blocks"]) == (22_050, 2, 220, 101)
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
    monkeypatch.setattr(profile_safe, "SIZES", (960, 9600))
    result = run("--pace", "real", "--json")
    assert result.exit_code == 0
    assert result.stderr == "this takes up to 2 s: 1 row in 1 s, then 1 more block size to find the smallest safe one\n"
    value = json.loads(result.stdout)
    (row,) = value["rows"]
    assert value["pace"] == "real"
    assert set(row["live"]) == {"xruns", "starved_ms", "dropped_ms", "worker_priority"}
    assert 20 <= row["blocks"] <= 200  # a busy machine hands over some together, and ends late
    assert row["cpu_share_of_a_core"] < 0.8
    parts = row["delay"]["parts_ms"]
    assert {"handover", "match", "reblock", "stages"} < parts.keys()
    assert parts["handover"] > 5
    assert row["delay"]["latency_ms"] == pytest.approx(sum(parts.values()) + row["delay"]["compute_ms"], rel=1e-3)
    tried = value["safe_blocks"][0]["tried"]
    assert {t["block_frames"] for t in tried} <= {480, 960}  # 9600 would last 200 ms
    assert all(t["xruns"] is not None for t in tried)


@pytest.mark.parametrize(("pace", "fewest"), [("fast", 100), ("real", 20)])
def test_too_short_a_run_is_lengthened(pace: str, fewest: int) -> None:
    result = run("--rate", "4000", "--block", "300", "--seconds", "0.1", "--pace", pace, "--json")
    assert result.exit_code == 0
    length = f"{fewest * 0.075:.3g} s instead of 0.1, since fewer than {fewest} tell little"
    assert result.stderr.splitlines()[0] == f"blocks of 300 at 4000 Hz: {length}"
    value = json.loads(result.stdout)
    (row,) = value["rows"]
    assert row["seconds"] == fewest * 0.075
    assert row["blocks"] >= fewest + 1
    assert 0 < row["p50_us"] <= row["p95_us"] <= row["max_us"]
    assert (row["p99_us"] is None) == (row["blocks"] <= 100)
    assert 0 < row["cpu_share_of_a_core"] <= 1.1
    assert value["safe_blocks"][0]["tried"][-1]["blocks"] == row["blocks"] - 1


@pytest.mark.parametrize(("block", "lasts"), [("1", "0.02083"), ("14", "0.2917"), ("65536", "1365")])
def test_no_live_stream_has_such_blocks(block: str, lasts: str) -> None:
    result = run("--pace", "real", "--block", "480", "--block", block)
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr == f"velavox: --block {block}: lasts {lasts} ms; with --pace real give 15 to 48000 frames at 48000 Hz\n"
    )


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(profile_safe, "SIZES", (512,))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    cli_profile.profile(seconds=1.0)
    said = [f"mcadams at 48000 Hz: blocks of {block} ...\n" for block in (480, 512)]
    assert capsys.readouterr().err == "".join(said)


def test_all_rows_of_a_sweep_are_told_beforehand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """16 kHz: 256 and 512 take 1 and 1 s, 48 kHz: 512 takes 1 s, each with 0.4 s to open; 2 rows of 3 s."""
    sound = generated(48_000, 0)
    works = [[Work("mcadams", {}, sound.at(16_000), 160)], [Work("mcadams", {}, sound, 256)]]
    monkeypatch.setattr(profile_safe, "SECONDS", {"real": 1.0})
    cli_profile._tell_beforehand(works, "real", 3.0)
    expected = "this takes up to 11 s: 2 rows in 6 s, then 3 more block sizes to find the smallest safe one\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--method", "none"], 2, "give one of mcadams"),
        (["--set", "alpha"], 2, "NAME=VALUE"),
        (["--set", "alpha=9"], 2, "alpha='9'"),
        (["--set", "beta=1"], 2, "no parameter 'beta'"),
        (["--method", "mcadams", "--method", "vtln", "--set", "alpha=0.7"], 2, "vtln has no parameter"),
        (["--method", "voicemask", "--method", "mcadams", "--set", "alpha=0.5"], 2, "velavox: --method voicemask: alpha='0.5'"),
        (["--method", "mcadams", "--method", "mcadams", "--method", "none"], 2, "velavox: method 'none'"),
        (["--block", "0"], 2, "velavox: --block 0: give 1 to 65536 frames"),
        (["--block", "-5"], 2, "velavox: --block -5: give"),
        (["--block", "480", "--block", "65537"], 2, "--block 65537: give"),
        (["--rate", "100"], 2, "velavox: --rate 100: give 4000 to 384000 Hz"),
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
    monkeypatch.setattr("velavox.engine.options.find_spec", lambda name: None)
    result = run("--plot", tmp_path / "p.png")
    remedy = 'pip install ".[plot]" where velavox was cloned to, or pip install matplotlib'
    assert (result.exit_code, result.stderr) == (1, f"failed: --plot needs matplotlib: {remedy}\n")
    folder = Path(__file__).parents[1]
    assert "matplotlib" in str(
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["optional-dependencies"]["plot"]
    )
