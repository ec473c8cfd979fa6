"""Who is where, and who hears whom."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from serving import Caller, patient, served
from velavox.engine.mcadams import McAdams
from velavox.engine.serve.call import Call
from velavox.engine.serve.limits import Limits, Refused
from velavox.engine.serve.load import Load
from velavox.engine.serve.metrics import Metrics
from velavox.engine.serve.rooms import Rooms


def test_everybody_hears_the_others_and_nobody_themselves() -> None:
    async def scenario() -> None:
        rooms = Rooms(Limits(participants=3))
        calls = []
        for number in range(3):
            room = rooms.room("tea")
            call = Call(number, room.voices, McAdams(), {}, Metrics(), lambda call: None)
            rooms.take(room, call)
            room.enter(call)
            calls.append(call)
        for call in calls:
            assert {ear.owner for ear in call.ears} == {*calls} - {call}
        with pytest.raises(Refused, match="the room is full"):
            rooms.room("tea")
        left, *others = calls
        rooms.release(room, left)
        for call in others:
            assert {ear.owner for ear in call.ears} == {*others} - {call} | {None}
            assert call._audience == [ear for other in others for ear in other.ears if ear.owner is call]
        newcomer = Call(4, rooms.room("tea").voices, McAdams(), {}, Metrics(), lambda call: None)
        rooms.take(room, newcomer)
        room.enter(newcomer)
        assert {ear.owner for ear in newcomer.ears} == {*others}
        for call in (newcomer, *others):
            rooms.release(room, call)
        assert (rooms.calls, rooms.named) == ([], 0)
        for call in (*calls, newcomer):
            await call.close()

    asyncio.run(scenario())


def test_a_loop_hears_itself_alone() -> None:
    async def scenario() -> None:
        rooms = Rooms(Limits())
        first, second = rooms.room(None), rooms.room(None)
        assert first is not second
        call = Call(1, first.voices, McAdams(), {}, Metrics(), lambda call: None)
        rooms.take(first, call)
        first.enter(call)
        assert [ear.owner for ear in call.ears] == [call]
        await call.close()

    asyncio.run(scenario())


def test_limits_refuse_with_a_reason() -> None:
    async def scenario() -> None:
        rooms = Rooms(Limits(rooms=1, participants=2, calls=3))

        def fill(name: str | None) -> None:
            room = rooms.room(name)
            call = Call(1, room.voices, McAdams(), {}, Metrics(), lambda call: None)
            calls.append(call)
            rooms.take(room, call)

        calls: list[Call] = []
        fill("tea")
        with pytest.raises(Refused, match="all 1 rooms of this server are taken") as rooms_taken:
            rooms.room("coffee")
        fill("tea")
        with pytest.raises(Refused, match="the room is full: it has 2 places") as full:
            rooms.room("tea")
        fill(None)
        with pytest.raises(Refused, match="all 3 places of this server are taken") as taken:
            rooms.room(None)
        assert [error.value.status for error in (rooms_taken, full, taken)] == [503, 409, 503]
        for call in calls:
            await call.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("limits", [{"rooms": 0}, {"participants": 1}, {"participants": 17}, {"calls": 0}])
def test_limits_have_limits(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(limits))):
        Limits(**limits)


def test_load_refuses_before_the_core_is_used_up() -> None:
    idle = Load()
    for _ in range(100):
        idle.beat(0.05, 0.001, 0.002)
    assert [idle.admit(calls) for calls in range(20)] == [""] * 20  # at 2 % in all, nobody knows what they will cost
    busy = Load()
    for _ in range(200):
        busy.beat(0.05, 0.038, 0.04)
    assert "busy with the calls" in busy.admit(20)
    late = Load()
    for _ in range(100):
        late.beat(0.15, 0.01, 0.01)
    assert "machine is too busy" in late.admit(3)
    assert late.admit(0) == ""  # the first call is let in anyway: whose fault it is may be found out


def test_load_counts_calls_that_have_just_come() -> None:
    load = Load()
    for _ in range(200):
        load.beat(0.05, 0.015, 0.015)  # ten calls, 3 % each
    admitted = 0
    while not load.admit(10 + admitted):
        admitted += 1
        assert admitted < 40
    assert 10 <= admitted <= 16  # up to 75 %


def test_load_lets_calls_in_by_and_by_once_the_loop_is_late() -> None:
    load = Load()
    for _ in range(100):
        load.beat(0.07, 0.002, 0.002)
    assert [load.admit(calls) for calls in range(5)] == [""] * 3 + ["other calls are just coming in"] * 2


def test_overload_is_told_and_the_old_call_goes_on() -> None:
    async def scenario() -> None:
        load = patient()
        async with served(load=load) as (_, http):
            old = Caller(1)
            assert (await old.call(http))[0] == 201
            await old.hear()
            load._most_share = load.share / 2
            refused = Caller(1)
            status, told = await refused.call(http)
            assert (status, told["error"]) == (503, "the server is busy with the calls that it has: try again in a moment")
            assert abs(await old.hear()).max() > 0.01
            async with http.get("/metrics") as response:
                assert 'velavox_refused_total{cause="busy"} 1' in await response.text()
            await refused.peer.close()
            await old.leave(http)

    asyncio.run(scenario())
