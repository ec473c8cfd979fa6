"""The command: exit statuses, one line for each trouble, and nothing half written when it is stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
import soundfile
from signals import noise, voice
from typer.testing import CliRunner, Result
from velavox.engine.cli import app

pytestmark = pytest.mark.usefixtures("compiled")

LONG = "x" * 300
COMMAND = [sys.executable, "-c", "from velavox.engine.cli import main; main()"]


@pytest.fixture(autouse=True)
def _own_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for name in ("a.wav", "b.wav"):
        soundfile.write(tmp_path / "in" / name, voice(0.5), 16_000)
    return tmp_path / "in"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_one_file_in_one_command(folder: Path, tmp_path: Path) -> None:
    result = run("anonymize", folder / "a.wav", "--out", tmp_path / "new.wav")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("1 done: 0.5 s of sound in ")
    assert soundfile.info(tmp_path / "new.wav").frames == 8000


def test_failures_are_lines_and_a_status(folder: Path, tmp_path: Path) -> None:
    (folder / "empty.wav").touch()
    (folder / "text.wav").write_text("hello")
    (folder / "notes.txt").touch()
    result = run("anonymize", folder, "--out", tmp_path / "out", "--report", tmp_path / "report.json")
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert [line.split(":")[:2] for line in lines[:3]] == [
        ["skipped", " notes.txt"],
        ["failed", " empty.wav"],
        ["failed", " text.wav"],
    ]
    assert all("; " in line for line in lines[1:3])
    assert lines[3].startswith("2 done, 2 failed, 1 skipped: ")
    assert len(lines) == 4
    assert json.loads((tmp_path / "report.json").read_text())["totals"]["failed"] == 2


def test_awkward_names(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(shared / "fixtures/names.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    (tmp_path / "names/two\nlines.wav").write_bytes(b"broken")
    monkeypatch.chdir(tmp_path / "names")
    result = run("anonymize", ".", "--out", "../out")
    assert result.exit_code == 1
    assert "failed: two\\nlines.wav: " in result.stderr
    assert "11 done, 1 failed, 5 skipped" in result.stderr
    made = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert {"%d%s.wav", "-starts-with-dash.wav", "sub dir/ünï/deep.wav", "Ümlaut_日本語_🎤.wav", "noextension"} < made
    assert run("anonymize", "--out", "../alone", "--", "-starts-with-dash.wav").exit_code == 0


def test_a_report_in_the_output_folder_that_is_yet_to_be_made(folder: Path, tmp_path: Path) -> None:
    assert run("anonymize", folder, "--out", tmp_path / "out", "--report", tmp_path / "out/about/report.json").exit_code == 0
    assert json.loads((tmp_path / "out/about/report.json").read_text())["totals"]["done"] == 2


def test_many_skipped_files_do_not_fill_the_screen(folder: Path, tmp_path: Path) -> None:
    for n in range(25):
        (folder / f"{n}.txt").touch()
    lines = run("anonymize", folder, "--out", tmp_path / "out").stderr.splitlines()
    assert len(lines) == 12
    assert lines[10] == "skipped: 15 more: not audio"


def test_nothing_to_do_is_said(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    result = run("anonymize", tmp_path / "in", "--out", tmp_path / "out", "--jobs", "16")
    assert (result.exit_code, result.stderr) == (0, "no recordings found\n")


def test_a_seed_is_said_to_void_privacy(folder: Path, tmp_path: Path) -> None:
    result = run("anonymize", folder, "--out", tmp_path / "out", "--seed", "5", "--report", tmp_path / "r.json")
    assert "No privacy is claimed" in result.stderr
    assert "No privacy is claimed" in json.loads((tmp_path / "r.json").read_text())["scope"]
    assert "privacy" not in run("anonymize", folder, "--out", tmp_path / "out").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--out OUT", "Missing argument"),
        ("IN", "Missing option '--out'"),
        ("IN missing.wav --out OUT", "velavox: missing.wav: no such file or folder"),
        ("IN --out IN", "output folder is the input folder"),
        ("IN --out OUT --method nothing", "velavox: method 'nothing': give one of mcadams"),
        ("IN --out OUT --set alhpa=0.7", "velavox: mcadams has no parameter 'alhpa': it has alpha"),
        ("IN --out OUT --set alpha=loud", "alpha='loud': give a number"),
        ("IN --out OUT --set alpha", "velavox: --set alpha: give NAME=VALUE"),
        ("IN --out OUT --policy both", "velavox: --policy both: give one of 'each', 'one', 'mix'"),
        ("IN --out OUT --jobs 0", "--jobs"),
        ("IN --out OUT --seed x", "--seed"),
        ("IN --out OUT --mapping m.csv", "add --rename"),
        ("IN --out OUT --rename --resume", "needs the --mapping"),
        ("IN/a.wav --out new.wav --rename", "give a folder"),
        ("IN --out OUT --speakers missing.csv", "missing.csv: No such file"),
        ("IN --out OUT --speakers x.csv --voices per-file", "leave one out"),
        ("IN --out OUT --report IN/a.wav", "ends in .json"),
        ("IN --out OUT --report IN/a.wav/report.json", "cannot be written"),
        ("IN --out OUT --report nowhere/report.json", "there is no folder nowhere; make it, or give another"),
        ("IN --out OUT --rename --mapping m.json --report IN/../in/../m.json", "is the file m.json"),
        ("IN --out OUT --speakers IN/who.json --report IN/who.json", "which it would replace"),
        ("IN IN/who.json --out OUT --report link.json", "which it would replace"),
        (f"IN --out OUT --report {LONG}.json", "file name too long; give a shorter name"),
        (f"IN --out OUT --speakers {LONG}", "ile name too long"),
        (f"IN --out OUT --rename --mapping {LONG}", "file name too long"),
        (f"IN --out {LONG}", "file name too long"),
        (f"IN {LONG} --out OUT", "file name too long"),
        ("IN/a.wav --out new.m4a", "cannot be written as .m4a; give a folder, or end the name in .wav, "),
        ("IN --out OUT --off", "No such option: --off"),
        ("IN --out OUT --no-anonymize", "No such option"),
    ],
)
def test_wrong_use_is_told_and_touches_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (folder / "who.json").write_text("path,speaker\na.wav,Ann\nb.wav,Ben\n")
    (tmp_path / "link.json").hardlink_to(folder / "who.json")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    filled = arguments.replace("IN", str(folder)).replace("OUT", str(tmp_path / "out"))
    result = run("anonymize", *filled.split())
    assert result.exit_code == 2
    assert message in result.stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "link.json"]


def test_what_the_system_refuses_is_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "name is empty" in run("anonymize", folder, "--out", "").stderr
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for arguments in (("a.wav", "--out", "out"), (folder, "--out", tmp_path / "out", "--report", "report.json")):
        result = run("anonymize", *arguments)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
    assert run("anonymize", folder, "--out", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize("command", ["anonymize", "pipe", "live", "devices", "profile", "methods"])
def test_every_command_helps_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert f"velavox {command}" in result.stdout.split("Example")[1]


def test_methods_as_the_stages_declare_them() -> None:
    listed = json.loads(run("methods", "--json").stdout)["methods"]
    assert [method["name"] for method in listed] == ["mcadams", "vtln", "voicemask", "dp"]
    for method in listed:
        assert 0 < method["latency_ms"] <= (72.5 if method["name"] == "dp" else 40)
        assert method["latency_ms"] < method["engine_latency_ms"] < method["latency_ms"] + 25
        assert all(parameter["meaning"] for parameter in method["parameters"])
    (alpha,) = (p for p in listed[0]["parameters"] if p["name"] == "alpha")
    assert alpha["drawn"]
    assert alpha["low"] <= alpha["default"][0] < alpha["default"][1] <= alpha["high"]
    text = run("methods").stdout
    for method in listed:
        assert method["name"] in text
        assert all(parameter["name"] in text for parameter in method["parameters"])


def loaded(code: str) -> set[str]:
    """The modules that are loaded after `code`."""
    report = "import sys; print(*sys.modules, file=sys.__stdout__)"
    done = subprocess.run([sys.executable, "-c", f"{code}; {report}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_heavy_is_loaded_without_need(folder: Path, tmp_path: Path) -> None:
    """numba takes 0.25 s, scipy.signal 0.7 s, sounddevice may not even have its library."""
    start = loaded("import velavox.engine.cli, velavox")
    assert not start & {"numba", "numpy", "soundfile", "rich.progress"}
    arguments = [str(folder / "a.wav"), "--out", str(tmp_path / "out")]
    work = loaded(f"from velavox.engine.cli import app; app(['anonymize', *{arguments}], standalone_mode=False)")
    assert "numba" in work
    assert not work & {"scipy.signal", "sounddevice", "onnxruntime", "rich.progress"}
    listing = loaded("from velavox.engine.cli import app; app(['methods'], standalone_mode=False)")
    assert not listing & {"scipy.signal", "soundfile", "onnxruntime"}


def test_a_thread_that_hangs_in_a_driver_does_not_keep_the_command() -> None:
    """As the exit handler of a sound library would, which waits for that driver."""
    code = (
        "import atexit, threading, time; from velavox.engine.cli import main\n"
        "atexit.register(time.sleep, 60); threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); main()"
    )
    done = subprocess.run([sys.executable, "-c", code, "methods"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    assert "mcadams" in done.stdout


def start_long_run(tmp_path: Path, *options: str) -> subprocess.Popen[bytes]:
    """The command at work on two recordings of 10 minutes, of which one at least is being written."""
    (tmp_path / "long").mkdir()
    block = noise(96_000)
    with soundfile.SoundFile(tmp_path / "long/a.wav", "w", 16_000, 1) as file:
        for _ in range(100):
            file.write(block)
    shutil.copy(tmp_path / "long/a.wav", tmp_path / "long/b.wav")
    command = [*COMMAND, "anonymize", "long", "--out", "out", *options]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").glob(".*.part")):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return running


@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_it_leaves_nothing_half_written(tmp_path: Path, options: tuple[str, ...], number: int, status: int) -> None:
    running = start_long_run(tmp_path, *options)
    if number == signal.SIGINT:  # as Ctrl-C in a terminal does, which reaches every process of the command
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    _, told = running.communicate(timeout=20)
    assert running.returncode == status
    assert b"Traceback" not in told
    assert list((tmp_path / "out").iterdir()) == []


def test_killed_and_resumed_every_output_is_whole(tmp_path: Path) -> None:
    running = start_long_run(tmp_path)
    running.kill()
    running.communicate()
    assert [p.suffix for p in (tmp_path / "out").iterdir()] == [".part"]
    done = subprocess.run(
        [*COMMAND, "anonymize", "long", "--out", "out", "--resume"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"2 done" in done.stderr
    assert {p.name: soundfile.info(p).frames for p in (tmp_path / "out").iterdir()} == {"a.wav": 9_600_000, "b.wav": 9_600_000}


def test_without_a_home_or_a_place_for_caches(folder: Path, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG", "NUMBA"))}
    environment |= {"HOME": "/nonexistent", "LC_ALL": "C", "TMPDIR": str(tmp_path)}
    command = [*COMMAND, "anonymize", str(folder), "--out", str(tmp_path / "out"), "--resume"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("2 done")
    assert "all was done anew" in done.stderr
    assert not Path("/nonexistent").exists()


def test_without_stderr_or_readers_the_batch_goes_on(folder: Path, tmp_path: Path) -> None:
    (folder / "empty.wav").touch()
    velavox = f"{sys.executable} -c 'from velavox.engine.cli import main; main()'"
    for n, redirection in enumerate(("2>&-", "2>/dev/full", "2>&1 | head -c 1")):
        line = f"{velavox} anonymize in --out out{n} {redirection}; exit ${{PIPESTATUS[0]}}"
        assert subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False).returncode == 1
        assert sorted(p.name for p in (tmp_path / f"out{n}").iterdir()) == ["a.wav", "b.wav"]
    done = subprocess.run(["bash", "-c", f"{velavox} methods >/dev/full"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "failed: stdout: No space left on device\n")


@pytest.mark.parametrize(
    "command", ["methods", "devices", "devices --json", "privacy --mu 1", "privacy --mu 1 --json", "profile --seconds 1"]
)
def test_results_that_stdout_does_not_take(tmp_path: Path, command: str) -> None:
    """A full disk is a failure that names it; a reader who has enough, as head, is none."""
    velavox = f"{sys.executable} -c 'from velavox.engine.cli import main; main()'"
    full = subprocess.run(["bash", "-c", f"{velavox} {command} > /dev/full"], cwd=tmp_path, capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (1, "failed: stdout: No space left on device\n")
    line = f"{velavox} {command} | true; exit ${{PIPESTATUS[0]}}"
    unread = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert (unread.returncode, unread.stderr) == (0, "")
