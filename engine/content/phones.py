"""The phones that the content channel names, and their states.

39 phones of English (ARPAbet without stress, as in CMUdict) and twelve of Mandarin that English lacks; other Mandarin sounds
share the English phone nearest to them. A phone has three states, its beginning, middle and end; silence has one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SILENCE = "SIL"
ENGLISH = tuple("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH".split())
# By pinyin: z c zh ch sh r j q x, then the vowels of e, of u-umlaut, of zhi and zi.
MANDARIN = ("TZ", "TS", "ZR", "CR", "SR", "RR", "JX", "QX", "SX", "EU", "YU", "IR")
PHONES = (SILENCE, *ENGLISH, *MANDARIN)
NUMBER = {phone: number for number, phone in enumerate(PHONES)}
THIRDS = 3
STATES = 1 + THIRDS * (len(PHONES) - 1)
IGNORED = 255  # the state of a frame whose phone is not known


def state(phone: int, third: int) -> int:
    """Number of the state for the number of a phone and its third, 0 to 2."""
    return 0 if phone == 0 else 1 + THIRDS * (phone - 1) + third


def phone_of_state() -> npt.NDArray[np.int64]:
    """Number of the phone for each state, shape (STATES,)."""
    return (np.arange(STATES) + THIRDS - 1) // THIRDS
