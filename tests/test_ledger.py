"""The ledger: nothing is lost, whatever is killed; budgets; and whatever is wrong with it refuses."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from velavox.engine import ledger
from velavox.engine.ledger import Ledger, LedgerError, OverBudgetError
from velavox.engine.locked import locked

pytestmark = pytest.mark.nojit

JANE = "Jane Example"

SPEND = """
import sys
from velavox.engine.ledger import Ledger
ledger = Ledger(sys.argv[1])
for _ in range(int(sys.argv[3])):
    ledger.spend(sys.argv[2], 0.5)
    print(".", end="", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.json"


def spending(path: Path, key: str, times: int, code: str = SPEND) -> subprocess.Popen[str]:
    """A process that spends, and prints a dot for each release that it may make."""
    return subprocess.Popen([sys.executable, "-c", code, str(path), key, str(times)], stdout=subprocess.PIPE, text=True)


def test_releases_add_up_as_squares_and_speakers_apart(path: Path) -> None:
    book = Ledger(path)
    assert str(book.spend(JANE, 3)) == "mu 3 after 1 release of this speaker"
    assert book.spend("Joe", 1).total == 1
    after = Ledger(path).spend(JANE, 4)
    assert (after.total, after.releases, after.over) == (5, 2, False)
    assert Ledger(path).total(JANE) == after
    assert book.spend(JANE, 0).total == 5
    assert book.total("nobody").releases == 0


def test_eight_processes_at_once_lose_nothing(path: Path) -> None:
    running = [spending(path, JANE if i % 2 else f"speaker {i}", 6) for i in range(8)]
    assert [process.communicate()[0] for process in running] == 8 * ["......"]
    assert Ledger(path).total(JANE).releases == 24
    assert Ledger(path).total(JANE).total == pytest.approx(math.sqrt(24) / 2)
    assert all(Ledger(path).total(f"speaker {i}").releases == 6 for i in (0, 2, 4, 6))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_killed_while_it_writes_the_file_is_as_before(path: Path, call: str) -> None:
    Ledger(path).spend(JANE, 1)
    before = path.read_bytes()
    killed = spending(path, JANE, 1, f"import os\nos.{call} = lambda *_: os.kill(os.getpid(), 9)" + SPEND)
    assert (killed.communicate()[0], killed.returncode) == ("", -9)
    assert path.read_bytes() == before
    assert Ledger(path).spend(JANE, 1).releases == 2
    assert len(list(path.parent.iterdir())) == 2  # what the killed one left is gone; the lock stays


def test_killed_at_any_time_it_has_counted_all_that_it_released(path: Path) -> None:
    killed = spending(path, JANE, 10**6)
    assert killed.stdout is not None
    killed.stdout.read(5)
    time.sleep(0.05)
    killed.kill()
    released = 5 + len(killed.communicate()[0])
    assert Ledger(path).total(JANE).releases in (released, released + 1)


def test_a_budget_refuses_before_and_counts_nothing(path: Path) -> None:
    book = Ledger(path, budget=1)
    for _ in range(3):
        after = book.spend(JANE, 1 / math.sqrt(3))
    assert after.total > 1  # by rounding, which is not held against it
    assert not after.over
    before = path.read_bytes()
    with pytest.raises(OverBudgetError, match=r"mu 0\.1 would bring this speaker from 1 to 1\.005, past the budget of 1; give"):
        book.spend(JANE, 0.1)
    assert path.read_bytes() == before
    assert book.spend("Joe", 1).total == 1


def test_a_budget_that_warns_counts_and_says_so(path: Path) -> None:
    book = Ledger(path, budget=1.2, past_budget="warn")
    assert not book.spend(JANE, 1).over
    assert book.spend(JANE, 1).over
    assert str(book.total(JANE)) == "mu 1.414 after 2 releases of this speaker, past the budget of 1.2"


def test_the_file_has_no_names_and_is_its_owners(path: Path) -> None:
    for name in ("one", "two"):
        Ledger(path.with_name(name)).spend(JANE, 1)
    one, two = (path.with_name(name).read_text() for name in ("one", "two"))
    assert "Jane" not in one
    assert "Example" not in one
    assert not json.loads(one)["speakers"].keys() & json.loads(two)["speakers"].keys()
    if os.name == "posix":
        assert all(file.stat().st_mode & 0o077 == 0 for file in path.parent.iterdir())


def test_a_speaker_however_written_is_one(path: Path) -> None:
    for key in ("Zo\u00eb", "Zoe\u0308", " Zo\u00eb "):
        Ledger(path).spend(key, 1)
    assert Ledger(path).total("Zo\u00eb").releases == 3
    assert Ledger(path).spend("\udcff", 1).releases == 1  # of a file name that is no text


@pytest.mark.parametrize("at", [0, 1, 40, -60, -1])
def test_a_ledger_cut_off_refuses_and_stays(path: Path, at: int) -> None:
    Ledger(path).spend(JANE, 1)
    path.write_bytes(path.read_bytes().rstrip()[:at])
    refused(path, "the ledger is damaged, or no ledger of this version; put back a copy, or")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0", "0.1"),
        ("ledger 1", "ledger 2"),
        ('"sha256"', '"sha"'),
        ("[", "{"),
        (
            "{",
            "[{",
        ),
    ],
    ids=str,
)
def test_a_ledger_changed_refuses_and_stays(path: Path, old: str, new: str) -> None:
    Ledger(path).spend(JANE, 1)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    refused(path, "the ledger is damaged, or")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\xff\xfe", b"RIFF0000WAVE"])
def test_what_is_no_ledger_refuses_and_stays(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused(path, "the ledger is damaged, or")


def refused(path: Path, why: str) -> None:
    before = path.read_bytes()
    asked: list[Callable[[], object]] = [lambda: Ledger(path).spend(JANE, 1), lambda: Ledger(path).total(JANE)]
    for ask in asked:
        with pytest.raises(LedgerError) as caught:
            ask()
        assert str(caught.value).startswith(f"{path}: {why}")
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_what_cannot_be_written_refuses(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(path).spend(JANE, 1)
    before = path.read_bytes()

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(LedgerError, match=r"cannot be used: No space left on device; give"):
            Ledger(path).spend(JANE, 1)
    assert path.read_bytes() == before
    for place in (path.parent, Path(os.devnull), path / "below"):
        with pytest.raises(LedgerError, match=r"; give a"):
            Ledger(place).spend(JANE, 1)
    assert not Path(os.devnull + ".lock").exists()


def test_a_lock_that_stays_taken_refuses(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_SECONDS", 0.05)
    with (
        locked(path.with_name("ledger.json.lock"), 1),
        pytest.raises(LedgerError, match=r"in use by another program for 0\.05 s; end that one"),
    ):
        Ledger(path).spend(JANE, 1)
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_leads_to_the_ledger(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    Ledger(link).spend(JANE, 1)
    assert link.is_symlink()
    assert Ledger(path).total(JANE).releases == 1


def test_wrong_use_is_refused_and_writes_nothing(path: Path) -> None:
    for mu in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^mu=\S+: give a number from 0 up$"):
            Ledger(path).spend(JANE, mu)
    with pytest.raises(ValueError, match=r"^speaker key: is empty; give a name$"):
        Ledger(path).spend(" ", 1)
    for budget in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^budget="):
            Ledger(path, budget)
    with pytest.raises(ValueError, match=r"^past_budget="):
        Ledger(path, 1, "ask")  # type: ignore[arg-type]
    assert not path.exists()
