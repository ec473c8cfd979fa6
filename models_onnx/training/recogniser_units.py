"""What the recogniser shall say of a piece of speech: the phones in it, and when each of them may be said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...engine.content import phones
from .recogniser import LATE, ROW, UNITS

_HEARD = 2  # frames of a phone that are heard before it is named
_WHOLE = 4  # frames after a phone's end that a piece must have for the phone to be asked for
_PHONE = phones.phone_of_state()

Frames = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Spoken:
    """Phones one after the other, silence left out, (n,) each."""

    phone: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]  # frame
    end: npt.NDArray[np.int64]  # the frame after its last


def spoken(state: Frames) -> Spoken:
    """The phones of frames whose states are known, (frames,). The same phone twice is two where its states begin anew."""
    known = state != phones.IGNORED
    phone = np.where(known, _PHONE[np.where(known, state, 0)], 0)
    third = np.where(phone > 0, (np.where(known, state, 0).astype(np.int64) - 1) % phones.THIRDS, 0)
    new = np.ones(len(state), bool)
    new[1:] = (np.diff(phone) != 0) | (np.diff(third) < 0)
    start = np.flatnonzero(new)
    end = np.append(start[1:], len(state))
    named = phone[start] > 0
    return Spoken(phone[start][named], start[named], end[named])


def asked(state: Frames) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The phones that a piece (frames,) is asked for, and in which of its rows each unit may be said, (rows, UNITS).

    A phone may be said from where it is heard to LATE frames after its end, so that what is said tells when it was spoken.
    """
    found = spoken(state)
    rows = len(state) // ROW
    allowed = np.zeros((rows, UNITS), bool)
    allowed[:, 0] = True
    whole = found.end + _WHOLE <= ROW * rows
    for phone, start, end in zip(found.phone[whole], found.start[whole], found.end[whole], strict=True):
        allowed[(start + _HEARD) // ROW : (end + LATE) // ROW, phone] = True
    return found.phone[whole], allowed
