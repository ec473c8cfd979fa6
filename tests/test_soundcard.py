"""The sound card: what it plans, how it opens, what it says when it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

import pytest
from cards import opened, rings
from fakesound import FakeSound, PortAudioError, device
from velavox.engine import soundcard, soundserver
from velavox.engine.card import DeviceError, Format, WrongDevice
from velavox.engine.soundcard import SoundCard
from velavox.engine.whereabouts import Watch

UNAVAILABLE = PortAudioError("Error opening Stream: Device unavailable", -9985)


class StillWatch(Watch):
    """Of a server that does nothing by itself."""

    made: list[StillWatch]

    def __init__(self, chosen: Mapping[soundserver.Direction, str], gone: Callable[[], object]) -> None:
        self.lost, self.ended, self.astray, self.gone = "", False, "", gone
        self._chosen, self._mark = dict(chosen), "7"
        self.made.append(self)

    def _astray(self) -> str:
        return self.astray

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSound:
    """One card for both directions, a microphone of its own, loudspeakers of their own."""
    mic, speakers = device("Mic", 1, 0, 44100), device("Speakers", 0, 2, takes={48000})
    fake = FakeSound([device("Card", 8, 2), mic, speakers])
    fake.environment = lambda: {name: os.environ.get(name) for name in ("PULSE_SOURCE", "PULSE_SINK", "PULSE_PROP")}
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    monkeypatch.setattr(soundserver, "nodes", list)
    monkeypatch.setattr(soundserver, "check", lambda: None)
    monkeypatch.setattr(StillWatch, "made", [], raising=False)
    monkeypatch.setattr(soundcard, "Watch", StillWatch)
    monkeypatch.setattr(soundcard, "BETWEEN", 0.001)
    monkeypatch.setattr(soundcard, "ALIVE", 0.002)
    monkeypatch.setattr(soundcard, "_looked", False)
    return fake


def test_one_card_is_one_clock_and_one_stream(fake: FakeSound) -> None:
    card = SoundCard()
    plan = card.plan()
    assert plan == Format(48000, 48000, 480, 480, 2, 2, True, "Card", "Card")
    exchange = rings(plan)
    assert card.open(plan, exchange) == pytest.approx((0.01, 0.02))  # ALSA: a block to fill; what is queued when one is free
    (stream,) = fake.streams
    a = stream.arguments
    assert (stream.kind, a["device"], a["samplerate"], a["blocksize"], a["channels"]) == ("duplex", (0, 0), 48000, 480, (2, 2))
    assert (a["dtype"], a["latency"]) == ("float32", "low")
    assert a["userdata"] == ("void*", exchange.address)
    assert card.active
    card.close()
    assert stream.calls == ["start", "abort", "close"]
    assert not card.active


def test_two_cards_are_two_streams(fake: FakeSound) -> None:
    card = SoundCard("mic", "speakers", latency="high")
    plan = card.plan()
    assert plan == Format(48000, 48000, 480, 480, 1, 2, False, "Mic", "Speakers")
    assert card.open(plan, rings(plan)) == pytest.approx((0.01, 0.02))
    assert [(s.kind, s.arguments["device"], s.arguments["channels"]) for s in fake.streams] == [
        ("input", 1, 1),
        ("output", 2, 2),
    ]
    assert len({s.arguments["callback"] for s in fake.streams}) == 2
    fake.streams[0].lives = 0
    assert not card.active
    card.close()


@pytest.mark.parametrize(
    ("takes_in", "takes_out", "rates"),
    [
        (None, None, (48000, 48000)),  # the output's own
        (None, {44100, 96000}, (44100, 44100)),  # the input's own
        ({16000, 44100}, {16000, 48000}, (16000, 16000)),  # what both take
        ({44100}, {48000}, (44100, 48000)),  # no such: each its own
        ({8000}, {22050}, (8000, 22050)),  # nor its own
    ],
)
def test_rates_are_settled(
    fake: FakeSound, takes_in: set[int] | None, takes_out: set[int] | None, rates: tuple[int, int]
) -> None:
    fake.devices[1]["takes"], fake.devices[2]["takes"] = takes_in, takes_out
    plan = SoundCard("mic", "speakers").plan()
    assert (plan.rate_in, plan.rate_out) == rates
    assert (plan.block_in, plan.block_out) == (round(rates[0] / 100), round(rates[1] / 100))
    assert not plan.one_clock


def test_a_refused_rate_is_answered_with_those_that_work(fake: FakeSound) -> None:
    fake.devices[1]["takes"] = {16000, 48000}
    with pytest.raises(WrongDevice, match=r"44100 Hz; both take 48000$"):
        SoundCard("mic", "speakers", rate=44100).plan()
    assert SoundCard("mic", "speakers", rate=48000).plan().rate_in == 48000


@pytest.mark.parametrize("arguments", [{"rate": 0}, {"block": 0}])
def test_what_cannot_be_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"=0: give"):
        SoundCard(**arguments)  # type: ignore[arg-type]


def test_a_block_is_taken_as_given(fake: FakeSound) -> None:
    plan = SoundCard(block=128).plan()
    assert (plan.block_in, plan.block_out) == (128, 128)


def test_opening_is_tried_again(fake: FakeSound) -> None:
    fake.refusals, fake.lives = [UNAVAILABLE], [0]
    card = SoundCard()
    opened(card)
    assert [s.calls for s in fake.streams] == [["start", "close"], ["start"]]  # one that ended at once, one that lives
    card.close()


def test_what_stays_refused_is_told_in_one_line_and_leaves_nothing_open(fake: FakeSound) -> None:
    fake.lives = [1 << 30, 0] * soundcard.ATTEMPTS  # the output ends at once
    card = SoundCard("mic", "speakers")
    with pytest.raises(DeviceError, match=r"output 'Speakers': the stream ended at once; try again"):
        opened(card)
    assert len(fake.streams) == 2 * soundcard.ATTEMPTS
    assert all(s.calls[-1] == "close" for s in fake.streams)
    assert not card.active
    fake.refusals = [UNAVAILABLE] * soundcard.ATTEMPTS
    with pytest.raises(DeviceError, match=r"input 'Mic': it is in use"):
        opened(card)


def test_devices_are_looked_for_again_unless_a_stream_is_open(fake: FakeSound) -> None:
    card, other = SoundCard(), SoundCard()
    opened(card)
    other.plan()
    assert fake.refreshed == 0  # it would have ended the first one's stream
    card.close()
    card.plan()
    assert fake.refreshed == 1


def test_a_device_that_has_gone_is_not_replaced(fake: FakeSound) -> None:
    card = SoundCard(1, "speakers")
    card.plan()
    fake.devices[1] = device("Camera", 1, 0)  # has its number now
    with pytest.raises(WrongDevice, match="'Mic' is gone"):
        card.plan()
    fake.devices.append(device("Mic", 1, 0))
    assert card.plan().name_in == "Mic"


def test_before_plan_is_called_before_devices_are_looked_for(fake: FakeSound) -> None:
    late = device("Late", 2, 2)
    assert SoundCard(output="late", before_plan=lambda: fake.devices.append(late)).plan().name_out == "Late"


def node(direction: soundserver.Direction, name: str, *hears: str, default: bool = False) -> soundserver.Node:
    return soundserver.Node(direction, "1", name, name.title(), 1, 48000, False, (name, *hears), name, default)


def test_nodes_of_the_server_are_named_to_it_while_opening_only(fake: FakeSound, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.devices.append(device("pulse", 32, 32))
    monkeypatch.setattr(soundserver, "nodes", lambda: [node("input", "mic_a"), node("output", "out_b")])
    monkeypatch.setenv("PULSE_SINK", "before")
    monkeypatch.setenv("PULSE_PROP", "a=b")
    card = SoundCard("mic_a", "out_b")
    plan, _ = opened(card)
    assert not plan.one_clock
    assert [s.arguments["device"] for s in fake.streams] == [3, 3]
    wanted = {"PULSE_SOURCE": "mic_a", "PULSE_SINK": "out_b", "PULSE_PROP": "a=b velavox.stream=7"}
    assert fake.streams[0].environment == wanted
    assert fake.environment() == {"PULSE_SOURCE": None, "PULSE_SINK": "before", "PULSE_PROP": "a=b"}
    card.close()


@pytest.fixture
def pulse(fake: FakeSound, monkeypatch: pytest.MonkeyPatch) -> FakeSound:
    """A sound server with a microphone and an output, known to PortAudio as "pulse", its default."""
    fake.devices.append(device("pulse", 32, 32))
    fake.default_numbers = (3, 3)
    nodes = [node("input", "mic_a", default=True), node("output", "out_b", default=True)]
    monkeypatch.setattr(soundserver, "nodes", lambda: nodes)
    return fake


def test_a_stream_that_is_lost_to_another_device_ends_at_once(pulse: FakeSound) -> None:
    card = SoundCard("mic_a", "out_b")
    opened(card)
    (watch,) = StillWatch.made
    assert card.active
    watch.lost = "moved"
    watch.gone()
    assert not card.active
    assert [s.calls for s in pulse.streams] == [["start", "abort"]] * 2
    card.close()
    assert watch.ended
    assert [s.calls for s in pulse.streams] == [["start", "abort", "abort", "close"]] * 2
    opened(card)
    assert card.active
    card.close()


def test_a_stream_that_opens_elsewhere_is_refused(pulse: FakeSound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StillWatch, "_astray", lambda self: "it is elsewhere")
    card = SoundCard("mic_a")
    with pytest.raises(DeviceError, match="it is elsewhere; plug it in"):
        opened(card)
    assert all(s.calls[-1] == "close" for s in pulse.streams)
    assert all(watch.ended for watch in StillWatch.made)
    assert not card.active


@pytest.mark.parametrize("watched", [True, False])
def test_what_the_server_has_is_watched(pulse: FakeSound, watched: bool) -> None:
    card = SoundCard() if watched else SoundCard("Card", "Card")
    opened(card)
    assert bool(StillWatch.made) == watched
    card.close()


def test_a_server_that_hangs_is_told_before_portaudio_would_hang(fake: FakeSound, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang() -> None:
        raise soundserver.NoAnswer("the sound server does not answer", "restart it")

    monkeypatch.setattr(soundserver, "check", hang)
    monkeypatch.setattr(soundcard, "_looked", True)
    with pytest.raises(DeviceError, match="does not answer; restart it"):
        SoundCard().plan()
    assert fake.refreshed == 0


def test_an_input_that_hears_the_output_is_refused(fake: FakeSound, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.devices.append(device("pulse", 32, 32))
    fake.default_numbers = (3, 3)
    monitor, remapped = node("input", "spk.monitor", "spk", default=True), node("input", "mic", "spk.monitor", "spk")
    nodes = [monitor, remapped, node("output", "spk", default=True), node("output", "other")]
    monkeypatch.setattr(soundserver, "nodes", lambda: nodes)
    for heard in ("spk.monitor", "mic", None):
        for played in ("spk", None):
            with pytest.raises(WrongDevice, match=r"hears what output '(Spk|pulse)' plays"):
                SoundCard(heard, played).plan()
        SoundCard(heard, "other").plan()
