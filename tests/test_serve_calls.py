"""Calls between this process and itself, by WebRTC: what is heard, what may be changed, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError
from doubles import FAULTS
from likeness import likeness
from serving import RATE, Caller, served
from signals import voice
from velavox.engine.mcadams import McAdams
from velavox.engine.methods import METHODS
from velavox.engine.serve import call as call_module
from velavox.engine.serve import choices
from velavox.engine.serve.limits import Limits
from velavox.kernels.jit import F32

SOUND = voice(2.0, rate=RATE)


def test_likeness_sees_a_voice_through_a_coder() -> None:
    heard = SOUND[5000:60_000] + 0.001 * np.random.default_rng(0).normal(size=55_000).astype(np.float32)
    assert likeness(heard, SOUND) > 0.99
    assert likeness(SOUND, heard) > 0.99
    assert likeness(-0.1 * SOUND[RATE:], SOUND[: RATE + RATE // 2]) > 0.99
    assert likeness(voice(1.5, f0=210, seed=5, rate=RATE), SOUND) < 0.5


def test_a_loop_hears_the_changed_voice() -> None:
    lines: list[str] = []

    async def scenario() -> None:
        async with served(say=lines.append) as (server, http):
            caller = Caller(1, SOUND)
            status, told = await caller.call(http)
            assert (status, told["number"]) == (201, 1)
            await caller.hear(frames=25)
            heard = await caller.hear(frames=75)
            assert likeness(heard, SOUND) < 0.6
            assert abs(20 * np.log10(np.std(heard) / np.std(SOUND))) < 6
            state = await caller.state(muted_hops=0)
            assert state["method"] == "mcadams"
            assert state["engine_ms"] == pytest.approx(24.9, abs=0.1)
            assert 0 < state["frame_p50_ms"] <= state["frame_max_ms"]
            assert state["ears"] == [{"voice": 1, "muted": False}]
            assert state["received_packets"] > 50
            await caller.leave(http)
            assert server.signalling is not None
            assert server.signalling.rooms.calls == []

    asyncio.run(scenario())
    assert len(lines) == 2
    assert lines[0] == "call 1 begins, hears itself: 1 calls, 0 rooms"
    assert lines[1].startswith("call 1 ends after ")


def test_two_in_a_room_hear_each_other() -> None:
    lines: list[str] = []

    async def scenario() -> None:
        async with served(say=lines.append, limits=Limits(participants=3)) as (_, http):
            low, high = SOUND, voice(2.0, f0=220, seed=3, rate=RATE)
            first, second = Caller(2, low), Caller(2, high)
            assert (await first.call(http, room="secret-room"))[0] == 201
            assert (await second.call(http, room="secret-room"))[0] == 201
            await first.hear()
            await second.hear()
            async with asyncio.TaskGroup() as both:
                by_first = both.create_task(first.hear(frames=75))
                by_second = both.create_task(second.hear(frames=75))
            for heard, own, other in ((by_first.result(), low, high), (by_second.result(), high, low)):
                assert likeness(heard, other) < 0.6
                assert likeness(heard, own) < 0.5
                assert abs(20 * np.log10(np.std(heard) / np.std(other))) < 6
            assert (await first.state())["ears"] == [{"voice": 2, "muted": False}, None]
            second.control.send('{"muted": true}')
            assert (await first.state(ears=[{"voice": 2, "muted": True}, None]))["muted"] is False
            await first.hear(frames=40)
            assert abs(await first.hear()).max() < 1e-3  # although it speaks itself
            await second.leave(http)
            await first.state(ears=[None, None])
            await first.leave(http)

    asyncio.run(scenario())
    assert len(lines) == 4
    assert "secret-room" not in "".join(lines)


def test_method_parameters_and_voice_change_while_somebody_speaks() -> None:
    async def scenario() -> None:
        async with served() as (_, http):
            caller = Caller(1, SOUND)
            await caller.call(http, settings={"alpha": 0.5})
            await caller.hear()
            assert (await caller.state())["settings"] == {"alpha": 0.5}
            caller.control.send('{"method": "mcadams", "settings": {"alpha": [0.6, 0.7]}}')
            await caller.state(settings={"alpha": [0.6, 0.7]})
            caller.control.send('{"voice": "new"}')
            caller.control.send('{"method": "vtln", "settings": {"amount": 0.2}}')
            await caller.state(method="vtln")
            caller.control.send('{"method": "dp", "settings": {"mode": "low"}}')
            state = await caller.state(method="dp")
            assert state["engine_ms"] == pytest.approx(57.4, abs=0.5)
            caller.control.send('{"method": "dp", "settings": {"mode": "balanced"}}')
            await caller.state(engine_ms=pytest.approx(97.4, abs=0.5))
            caller.control.send('{"method": "voicemask", "settings": {}}')
            await caller.state(method="voicemask")
            await caller.hear(frames=50)
            assert abs(await caller.hear()).max() > 0.02
            for message, text in [
                ("", "a message is JSON"),
                ("[]", "a message asks for"),
                ('{"muted": 1}', "a message asks for"),
                ('{"voice": "old"}', "a message asks for"),
                ("[" * 4000, "a message"),
                ('{"muted": true' + " " * 5000 + "}", "a message is a text"),
                ('{"method": "identity"}', "method 'identity'"),
                ('{"method": "dp", "settings": {"enroll": "self"}}', "dp has no parameter 'enroll'"),
                ('{"method": "vtln", "settings": {"amount": 9}}', "amount=9"),
            ]:
                assert (await caller.error(message)).startswith(text)
            assert (await caller.state())["method"] == "voicemask"
            assert abs(await caller.hear(frames=50)).max() > 0.02
            await caller.leave(http)

    asyncio.run(scenario())


@pytest.mark.parametrize("fault", ["raise", "nan", "infinite"])
def test_a_stage_that_fails_is_silence(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(McAdams):
        def step(self, x: F32, y: F32) -> None:
            FAULTS[fault](x, y)

    monkeypatch.setattr(choices, "stage", lambda method, settings: Broken())

    async def scenario() -> None:
        async with served() as (_, http):
            caller = Caller(1, SOUND)
            assert (await caller.call(http))[0] == 201
            assert abs(await caller.hear(frames=75)).max() < 1e-3
            assert (await caller.state())["muted_hops"] > 50
            await caller.leave(http)

    asyncio.run(scenario())


@pytest.mark.parametrize("where", ["VelavoxTrack", "_mono", "Encoder.encode"])
def test_whatever_else_fails_nothing_is_heard(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(f"velavox.engine.serve.voice.{where}", fail)
    lines: list[str] = []

    async def scenario() -> None:
        async with served(say=lines.append) as (_, http):
            caller = Caller(1, SOUND)
            await caller.call(http)
            with pytest.raises((TimeoutError, MediaStreamError)):
                await asyncio.wait_for(caller.ears[0].receiver.track.recv(), 2)
            await caller.peer.close()
            async with http.get("/healthz") as response:
                assert response.status == 200

    asyncio.run(scenario())
    assert len(lines) == 2


def test_who_never_connects_gives_the_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_module, "CONNECTING", 0.5)

    async def scenario() -> None:
        async with served(limits=Limits(calls=1)) as (server, http):
            caller = Caller(1)
            async with http.post("/calls", json={"sdp": await caller.offer()}) as response:
                assert response.status == 201
            other = Caller(1)
            assert (await other.call(http))[0] == 503
            await asyncio.sleep(1.5)
            assert server.signalling is not None
            assert server.signalling.rooms.calls == []
            await caller.peer.close()
            await other.peer.close()

    asyncio.run(scenario())


def test_a_server_that_stops_ends_its_calls() -> None:
    async def scenario() -> None:
        async with served() as (server, http):
            caller = Caller(1, SOUND)
            await caller.call(http)
            await caller.hear()
            await server.stop()
            with pytest.raises(MediaStreamError):
                await caller.hear(frames=500)
            assert server.signalling is not None
            assert server.signalling.rooms.calls == []
            await caller.peer.close()

    asyncio.run(scenario())


def test_nothing_is_left_of_calls_that_have_ended() -> None:
    """The whole of this law, 200 cycles and the memory of the process, is in `velavox.bench.chat_webrtc`."""
    alive: list[weakref.ref[Any]] = []

    async def scenario() -> None:
        async with served() as (server, http):
            assert server.signalling is not None
            before = -1
            for cycle in range(12):
                first, second = Caller(5, SOUND), Caller(5, SOUND)
                await first.call(http, room="tea")
                await second.call(http, room="tea", method="dp" if cycle % 4 == 3 else "mcadams")
                await first.hear(frames=2)
                alive.extend(weakref.ref(call) for call in server.signalling.rooms.calls)
                await first.leave(http)
                await second.leave(http)
                assert server.signalling.rooms.calls == []
                if cycle == 3:
                    await asyncio.sleep(0.5)
                    before = len(asyncio.all_tasks())
            del first, second
            await asyncio.sleep(0.5)
            assert len(asyncio.all_tasks()) <= before

    threads = threading.active_count()
    asyncio.run(scenario())
    gc.collect()
    assert len(alive) == 24
    assert [call() for call in alive] == [None] * 24
    assert threading.active_count() <= threads + 1


def test_the_methods_of_the_page_are_all_there_are() -> None:
    for method in METHODS:
        assert choices.parameters(method)
