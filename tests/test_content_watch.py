"""A detector's thread by itself; what it does to a line is in test_content_guard.py."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eavesdrop import NONSENSE, RATE, Ear, Failing, Stuck, speech
from signals import F32
from velavox.engine.content.events import Log
from velavox.engine.content.findings import Findings
from velavox.engine.content.raw import PIECE, Raw
from velavox.engine.content.watch import Watch


class Bench:
    """Findings, and watches of them."""

    def __init__(self) -> None:
        self.log = Log()
        self.findings = self.another()
        self.watches: list[Watch] = []

    def another(self) -> Findings:
        return Findings(RATE, Raw(RATE, 1, 2 * RATE), self.log, lambda: 0.0, None, None)

    def watch(self, detector: Ear, by_itself: bool = False) -> Watch:
        self.watches.append(Watch(detector, self.findings, by_itself))
        self.watches[-1].start()
        return self.watches[-1]

    def push(self, x: F32, findings: Findings | None = None) -> Raw:
        raw = (findings or self.findings).raw
        for start in range(0, len(x), PIECE):
            raw.push(x[start : start + PIECE, None])
        return raw


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    for watch in made.watches:
        watch.stop(5)


def test_what_was_found_is_hidden_before_it_is_passed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads first what is passed and then what is hidden misses nothing: here at each moment in between."""
    watch = bench.watch(Ear(), by_itself=True)
    generation = bench.findings.raw.generation
    seen: list[tuple[int, int]] = []
    take = bench.findings.take

    def watched(*given: Any) -> Any:
        before = watch.passed(generation)
        found = take(*given)
        seen.append((before, watch.passed(generation)))
        return found

    monkeypatch.setattr(bench.findings, "take", watched)
    bench.push(speech(1.0, (0.1, 0.2)))
    assert watch.wait_for(5)
    assert watch.passed(generation) == RATE
    assert all(before == after < RATE for before, after in seen)
    assert len(bench.findings.spans.shown.spans) == 1


def test_nothing_is_handed_on_before_publish(bench: Bench) -> None:
    watch = bench.watch(Ear())
    raw = bench.push(speech(0.25, (0.1, 0.2)))
    assert watch.wait_for(5)
    assert watch.passed(raw.generation) == 0
    assert len(bench.findings.spans.shown.spans) == 0
    watch.publish()
    assert watch.passed(raw.generation) == 4000
    assert len(bench.findings.spans.shown.spans) == 1


def test_hits_of_the_stream_before_hide_nothing_of_this_one(bench: Bench) -> None:
    watch = bench.watch(Ear())
    bench.push(speech(0.25, (0.1, 0.2)))
    assert watch.wait_for(5)
    bench.findings.restart(0.25)
    watch.publish()
    assert len(bench.findings.spans.shown.spans) == 0
    assert bench.log.kinds == {}


def test_who_was_given_up_publishes_nothing_until_the_next_stream(bench: Bench) -> None:
    stuck = Stuck(after=0)
    watch = bench.watch(stuck)
    raw = bench.push(speech(0.25))
    assert not watch.wait_for(0.05)
    stuck.let_go.set()
    time.sleep(0.1)
    assert not watch.wait_for(5)
    watch.publish()
    assert watch.passed(raw.generation) == 0
    bench.findings.restart(0.25)
    bench.push(speech(0.25))
    assert watch.wait_for(5)
    watch.publish()
    assert watch.passed(raw.generation) == 4000


def test_attached_to_another_line_it_looks_at_that_from_the_start(bench: Bench) -> None:
    ear = Ear()
    watch, other = bench.watch(ear), bench.another()
    bench.push(speech(0.25))
    assert watch.wait_for(5)
    watch.attach(other)
    watch.publish()  # of the line before
    assert watch.passed(other.raw.generation) == 0
    bench.push(speech(0.5, (0.1, 0.2)), other)
    assert watch.wait_for(5)
    watch.publish()
    assert watch.passed(other.raw.generation) == 8000
    assert (ear.looked[-1], ear.resets) == ((0, 8000, False), 2)
    assert len(other.spans.shown.spans) == 1


def test_a_reset_that_fails_passes_nothing_and_is_tried_again(bench: Bench) -> None:
    class Stubborn(Ear):
        def reset(self) -> None:
            super().reset()
            if self.resets < 3:
                raise MemoryError

    watch = bench.watch(Stubborn())
    for passed in (0, 0, 12_000):
        raw = bench.push(speech(0.25))
        assert watch.wait_for(5)
        watch.publish()
        assert watch.passed(raw.generation) == passed
    assert (watch.failures, watch.error) == (2, "MemoryError")


@pytest.mark.parametrize("name", NONSENSE)
def test_failures_are_counted_by_their_kind(name: str, bench: Bench) -> None:
    watch = bench.watch(Failing(NONSENSE[name], after=0))
    bench.push(speech(0.25))
    assert watch.wait_for(5)
    assert (watch.looks, watch.failures) == (1, 1)
    assert watch.error in ("RuntimeError", "SystemExit", "AttributeError", "TypeError", "ValueError")


def test_started_again_there_is_one_thread() -> None:
    bench, before = Bench(), threading.active_count()
    watch = bench.watch(Ear())
    watch.start()
    assert threading.active_count() == before + 1
    watch.stop(5)
    assert threading.active_count() == before
    watch.start()
    bench.push(np.zeros(4000, np.float32))
    assert watch.wait_for(5)
    assert watch.looks == 1
    watch.stop(5)


def test_the_programs_end_waits_for_a_look_that_goes_on() -> None:
    """A recogniser that is cut off in its own threads aborts the program."""
    program = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
from eavesdrop import Ear, guard, speech
begun = threading.Event()
class Long(Ear):
    def look(self, samples, start, last=False):
        print("begun", flush=True)
        begun.set()
        time.sleep(1.0)
        print("done", flush=True)
guarded = guard(Long(), wait=False)
guarded.process(speech(0.5))
begun.wait(60)
guarded.close()
print("closed", flush=True)
"""
    folder = str(Path(__file__).parent)
    ended = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["begun", "closed", "done"]
