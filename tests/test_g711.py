"""G.711 against libsndfile and the Recommendation's own values, over every code and every 16-bit level."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
from velavox.kernels import g711
from velavox.kernels.g711 import Law

pytestmark = pytest.mark.nojit
CODES = np.arange(256, dtype=np.uint8)
LEVELS = np.arange(-32768, 32768).astype(np.int16)
SUBTYPE: dict[Law, str] = {"mulaw": "ULAW", "alaw": "ALAW"}


@pytest.mark.parametrize("law", g711.LAWS)
def test_every_code_decodes_as_in_libsndfile(law: Law) -> None:
    theirs, _ = soundfile.read(
        io.BytesIO(CODES.tobytes()), samplerate=8000, channels=1, format="RAW", subtype=SUBTYPE[law], dtype="float32"
    )
    np.testing.assert_array_equal(g711.decode(CODES, law), theirs)


@pytest.mark.parametrize(("law", "edges"), [("mulaw", 0), ("alaw", 127)])
def test_every_level_encodes_as_in_libsndfile(law: Law, edges: int) -> None:
    """libsndfile divides a negative level by 16 where the Recommendation takes its ones' complement: A-law's 127 negative
    decision levels themselves fall one step lower there, and nothing else differs."""
    file = io.BytesIO()
    soundfile.write(file, LEVELS, 8000, format="RAW", subtype=SUBTYPE[law])
    theirs = np.frombuffer(file.getvalue(), np.uint8)
    differ = g711.encode((LEVELS / 32768).astype(np.float32), law) != theirs
    assert differ.sum() == edges
    assert (LEVELS[differ] % 16 == 0).all()
    assert (LEVELS[differ] < 0).all()


@pytest.mark.parametrize(("law", "zeros"), [("mulaw", 2), ("alaw", 0)])
def test_rising_levels_and_stable_codes(law: Law, zeros: int) -> None:
    """Decoding then encoding gives the code again, mu-law's second (negative) zero excepted; order is kept."""
    again = g711.encode(g711.decode(CODES, law), law)
    assert (g711.LEVELS[law] == 0).sum() == zeros
    np.testing.assert_array_equal(again[again != CODES], [0xFF] if zeros else [])
    assert (np.diff(g711.decode(g711.encode((LEVELS / 32768).astype(np.float32), law), law)) >= 0).all()


@pytest.mark.parametrize(
    ("law", "code", "level"),
    [
        ("mulaw", 0xFF, 0),
        ("mulaw", 0x80, 32124),
        ("mulaw", 0x00, -32124),
        ("alaw", 0xD5, 8),
        ("alaw", 0xAA, 32256),
        ("alaw", 0x2A, -32256),
    ],
)
def test_landmarks_of_the_recommendation(law: Law, code: int, level: int) -> None:
    assert g711.LEVELS[law][code] == level
    assert g711.encode(np.array([level / 32768], np.float32), law) == [code]


@pytest.mark.parametrize("law", g711.LAWS)
def test_beyond_full_scale_is_full_scale(law: Law) -> None:
    loud = g711.decode(g711.encode(np.array([[3.0, -3.0], [1.0, -1.0]], np.float32), law), law)
    assert loud.shape == (2, 2)
    np.testing.assert_array_equal(loud[0], loud[1])
    assert loud[0, 0] > 0.97
    assert loud[0, 1] < -0.97
