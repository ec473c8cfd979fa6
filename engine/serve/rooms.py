"""Who is where: rooms by name, and calls that hear themselves. A place is taken before any work is done for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .limits import Limits, Refused

if TYPE_CHECKING:
    from .call import Call

_NAME = re.compile(r"[\w-]{1,40}", re.ASCII)


class Room:
    """Its calls hear one another; in a loop, which has one place, a call hears itself."""

    def __init__(self, name: str | None, places: int) -> None:
        self.name = name
        self.places = places
        self.calls: list[Call] = []

    @property
    def loop(self) -> bool:
        return self.name is None

    @property
    def voices(self) -> int:
        """How many a call can hear."""
        return 1 if self.loop else self.places - 1

    def enter(self, call: Call) -> None:
        """From now on `call` hears the others, and they hear it."""
        if self.loop:
            call.listen(call)
        for other in self.calls:
            if not self.loop and other is not call:
                other.listen(call)
                call.listen(other)

    def leave(self, call: Call) -> None:
        """Nobody here hears `call` any more, and it hears nobody."""
        for other in {*self.calls, call}:
            other.forget(call)
            call.forget(other)


class Rooms:
    """All of a server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._named: dict[str, Room] = {}
        self._loops: set[Room] = set()

    @property
    def calls(self) -> list[Call]:
        return [call for room in (*self._named.values(), *self._loops) for call in room.calls]

    @property
    def named(self) -> int:
        return len(self._named)

    def room(self, name: object) -> Room:
        """Where `name` is, with a place free; a loop for None. Refused if there is none, or if it is no name."""
        limits = self._limits
        if name is None:
            room = Room(None, 1)
        elif not isinstance(name, str) or not _NAME.fullmatch(name):
            raise Refused(400, "room", "room: give a name of up to 40 letters a-z, digits, - and _")
        else:
            room = self._named.get(name) or Room(name, limits.participants)
        if len(room.calls) >= room.places:
            raise Refused(409, "room_full", f"the room is full: it has {room.places} places")
        if name is not None and name not in self._named and len(self._named) >= limits.rooms:
            raise Refused(503, "rooms", f"all {limits.rooms} rooms of this server are taken", Retry_After="60")
        if len(self.calls) >= limits.calls:
            raise Refused(503, "calls", f"all {limits.calls} places of this server are taken", Retry_After="60")
        return room

    def take(self, room: Room, call: Call) -> None:
        """A place for `call`, which hears nobody yet."""
        room.calls.append(call)
        if room.name is None:
            self._loops.add(room)
        else:
            self._named[room.name] = room

    def release(self, room: Room, call: Call) -> None:
        """`call` has ended; a room that nobody is in is no room."""
        if call in room.calls:
            room.calls.remove(call)
            room.leave(call)
        if not room.calls:
            self._loops.discard(room)
            if room.name is not None and self._named.get(room.name) is room:
                del self._named[room.name]
