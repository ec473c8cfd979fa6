import pytest
from velavox.engine.content import events
from velavox.engine.content.events import Log
from velavox.engine.content.hit import Hit

RATE = 16_000


def hit(start: float, end: float, kind: str = "word", term: str = "aa", detector: str = "asr") -> Hit:
    return Hit(round(start * RATE), round(end * RATE), kind, term, detector)


def test_what_is_found_again_is_one_event_that_grows() -> None:
    log = Log()
    assert log.add(hit(1.0, 1.4), 0.0, 2 * RATE, 0) is not None
    assert log.add(hit(0.9, 1.5, detector="phones"), 0.0, 3 * RATE, 0) is None
    (event,) = log.events
    assert event.at == pytest.approx(0.9)
    assert event.seconds == pytest.approx(0.6)
    assert event.detectors == ("asr", "phones")
    assert event.after == 1.0
    assert log.kinds == {"word": 1}
    assert log.terms == {"aa": 1}


@pytest.mark.parametrize("other", [hit(2.0, 2.4), hit(1.0, 1.4, term="bb"), hit(1.0, 1.4, kind="name", term="")])
def test_another_time_entry_or_kind_is_another_event(other: Hit) -> None:
    log = Log()
    log.add(hit(1.0, 1.4), 0.0, 2 * RATE, 0)
    assert log.add(other, 0.0, 2 * RATE, 0) is not None
    assert len(log.events) == 2


def test_late_is_counted_once_and_what_was_heard_adds_up() -> None:
    log = Log()
    log.add(hit(1.0, 1.4), 0.0, 2 * RATE, 0)
    late = log.add(hit(0.8, 1.4), 0.1, 4 * RATE, 0)
    assert late is not None
    assert late.heard == 0.1
    assert log.add(hit(0.7, 1.4), 0.05, 5 * RATE, 0) is None
    assert log.late == 1
    assert log.heard == pytest.approx(0.15)
    assert log.events[0].heard == pytest.approx(0.15)
    log.add(hit(3.0, 3.4), 0.4, 6 * RATE, 0)
    assert log.late == 2


def test_times_go_on_over_streams() -> None:
    log = Log()
    log.add(hit(1.0, 1.4), 0.0, 2 * RATE, 0)
    log.restart(10.0)
    event = log.add(hit(1.0, 1.4), 0.0, 2 * RATE, 0)
    assert event is not None
    assert event.at == 11.0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    for k in range(events.MOST + 500):
        log.add(hit(k, k + 0.3), 0.0, k * RATE, (k - 30) * RATE)
    assert len(log.events) == events.MOST
    assert len(log._recent) < 40
    assert log.kinds["word"] == events.MOST + 500
