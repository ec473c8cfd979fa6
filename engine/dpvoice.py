"""The neural anonymizer: what is said stays; who says it becomes a private vector of bounded information."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources.abc import Traversable
from typing import Any, Self

import numpy as np

from ..kernels import channel, fbank, guard, pause, prosody, vocoder
from ..kernels.jit import F32, F64, I64, State, record_dtype
from ..models_onnx import manifest
from .embedding import SIZE
from .enrolment import NOBODY, Enrolment
from .graphs import Array, GraphError, Model, Stream
from .ledger import Ledger
from .mechanism import HIGHEST_MU, LOWEST_MU, Arithmetic, Mechanism, Release
from .parameter import Parameter, Text, Value
from .stage import RATE, Stage

PAIR, BANDS = 2, 80  # frames of 10 ms in a step; mel bands of a frame
LENGTH, FRAME_HOP = fbank.frame_and_hop(RATE)
BEFORE = LENGTH - FRAME_HOP  # zeros before the first sample, so that a step's last frame ends with the step
STATES, PHONES = 154, 52  # classes: of the frame at hand, and of the one that comes next
DIMENSIONS = 16  # of the private vector
LOUDNESS = 1.1e8  # running level of speech at -26 dBFS, as which the decoder speaks: the median of 85 utterances
FOLDER: Traversable | None = None  # of the graphs; None: the package's

DPVOICE = record_dtype(
    ("fbank", fbank.state_dtype()), ("channel", channel.CHANNEL), ("prosody", prosody.PROSODY), ("vocoder", vocoder.VOCODER)
)


@dataclass(frozen=True)
class Mode:
    """How far ahead is listened before a frame is spoken."""

    decoder: str  # name of its graph
    late: int  # frames
    classes: int  # of the content, the last ones of the encoder's

    @property
    def latency(self) -> int:
        """A frame is centred half its length before its end, and spoken with the step that has the frame `late` after it."""
        return LENGTH // 2 + FRAME_HOP * self.late


MODES = {"balanced": Mode("decoder", 6, STATES + PHONES), "low": Mode("decoder_low", 2, PHONES)}


class DpVoice(Stage):
    """Speaks what is said in a voice made of noise and, where it is told who speaks, of at most mu of that.

    A network hears phones, pitch and loudness; another one speaks them again, in a voice that it is given as 16 numbers. These
    are the speaker's embedding, clipped, with Gaussian noise of which `mu` says how much: `velavox privacy` states what that
    promises, and of what it does not speak. They are drawn once and then stay; `new_voice` draws others, and tells more of the
    speaker. Without `enroll` a constant takes the place of the embedding.

    `enroll` is None, the path of a recording, "self" in files (each channel enrols itself), or an array: an embedding of shape
    (256,), or sound at 16 kHz. `mu`, `calibration`, `enroll` and what concerns the ledger count from the next voice on; `mode`
    is fixed once the stage is prepared.
    """

    method = "dp"
    hop = PAIR * FRAME_HOP
    heavy = True

    mu = Parameter(1.0, "how well speakers may be told apart by the voice: less hides more", LOWEST_MU, HIGHEST_MU)
    enroll = Text(NOBODY, "who speaks: a recording, self for each recording by itself, or none")
    mode = Parameter("balanced", "balanced hears 40 ms more before it speaks than low", choices=tuple(MODES))
    pitch_range = Parameter(1.0, "how far the pitch moves: 0 not at all, 1 as the voice's own does", 0.0, 2.0)
    flatten = Parameter(0.0, "how much of the contour of pitch and loudness goes: 1 all", 0.0, 1.0)
    calibration = Parameter("sound", "sound: noise of 2 U/mu; paper: U/mu, for twice the mu", choices=("sound", "paper"))
    ledger = Text("none", "file that adds up what the voices of a speaker have told, or none")
    speaker = Text("speaker", "name of the enrolled speaker, for the ledger")
    budget = Parameter(0.0, "mu that the ledger lets a speaker spend in all; 0: any", 0.0, 1e6)

    def __init__(self, **values: Any) -> None:
        self._enrolment = Enrolment(values.get("enroll", NOBODY))
        self._entropy: bytes | None = None
        self._release: Release | None = None
        self._arithmetic: Arithmetic | None = None
        super().__init__(**values | {"enroll": self._enrolment.text})

    @property
    def latency(self) -> int:
        return MODES[self.mode].latency

    @property
    def promise(self) -> str:
        return "" if self._release is None else str(self._release)

    @property
    def release(self) -> Release | None:
        """The voice in use as a release of the mechanism, with what it spent; None if it was restored, or not drawn yet."""
        return self._release

    @property
    def channel(self) -> F32:
        """All that the decoder got in the last step but the private vector: content and prosody, shape (2, numbers), a copy."""
        return np.concatenate((self._content[0], self._prosody), axis=1)

    def step(self, x: F32, y: F32) -> None:
        y.fill(0.0)  # whatever fails below, it is silence
        fbank.stream(self._ear, self._mel, x)
        channel.stream(self._room, self._mel, self._mean)
        self._encoder.step()
        prosody.stream(self._manner, self._prosody, self._pitch, self._voicing, self._energy)
        np.copyto(self._content, self._heard)
        self._decoder.step()
        gain = math.log(max(self._level[0], 1e-30) / LOUDNESS)
        pause.stream(self._envelope, self._content[0], gain)
        if not guard.finite(self._flat):
            raise FloatingPointError("the networks gave what is not finite")
        vocoder.stream(self._mouth, y, self._f0, self._envelope, self._noise)

    def prepare(self) -> None:
        super().prepare()
        self._ear, self._room, self._manner, self._mouth = (
            self._state[part] for part in ("fbank", "channel", "prosody", "vocoder")
        )
        self._level = self._manner["level"]
        x, y = np.zeros((2, self.hop), np.float32)
        for _ in range(_WARM_UP):
            self.step(x, y)
        self.reset()

    def reset(self) -> None:
        self._encoder.reset()
        self._decoder.reset()
        super().reset()

    def new_voice(self, entropy: bytes | None = None) -> None:
        """As for every stage; slow, where a recording enrols or a ledger counts. ValueError for entropy with a ledger."""
        self._entropy = entropy
        super().new_voice(entropy)

    def set_parameter(self, name: str, value: Any) -> None:
        if name == "mode" and self._prepared and value != self.mode:
            raise ValueError("mode: changes the delay, which is fixed once the stage is prepared; make another stage")
        if name == "enroll":
            self._enrolment = Enrolment(value)
            value = self._enrolment.text
        super().set_parameter(name, value)

    def clone(self) -> Self:
        other = super().clone()
        other._enrolment = self._enrolment
        return other

    def restore(self, saved: Mapping[str, Any]) -> None:
        """As for every stage. The private vector is in what `save` gives, never the embedding."""
        super().restore(saved)
        self._release = None
        if self.enroll != self._enrolment.text:
            self._enrolment = Enrolment(self.enroll)

    def checked(self, saved: Mapping[str, Any]) -> tuple[dict[str, Value], dict[str, float]]:
        mode = saved.get("values", {}).get("mode", self.mode)
        if self._prepared and mode != self.mode:
            raise ValueError(f"saved state of mode {mode!r}: this stage is prepared for {self.mode!r}")
        return super().checked(saved)

    def hear(self, recording: str | os.PathLike[str], channel: int | None) -> None:
        self._enrolment = self._enrolment.heard(recording, channel)

    def _allocate(self) -> State:
        mode = MODES[self.mode]
        bands: Shape = (1, PAIR, BANDS)
        encoder = _load("encoder", {"mel": bands, "mean": bands}, {"content": (1, PAIR, STATES + PHONES), **_SAID})
        given: dict[str, Shape] = {
            "content": (1, PAIR, mode.classes),
            "prosody": (1, PAIR, prosody.FEATURES),
            "voice": (1, DIMENSIONS),
        }
        self._encoder, self._decoder = Stream(encoder), Stream(_load(mode.decoder, given, _SPOKEN))
        heard, wanted, said = self._encoder.outputs, self._decoder.inputs, self._decoder.outputs
        self._mel, self._mean = (self._encoder.inputs[name][0] for name in ("mel", "mean"))
        self._heard, self._content = heard["content"][..., -mode.classes :], wanted["content"]
        self._pitch, self._voicing, self._energy = (heard[name][0] for name in _SAID)
        self._prosody, self._private = wanted["prosody"][0], wanted["voice"][0]
        self._f0, self._envelope, self._noise = (said[name][0] for name in _SPOKEN)
        self._flat = self._envelope.reshape(-1)
        state = np.zeros(1, DPVOICE)
        state["fbank"], state["vocoder"] = fbank.fresh(), vocoder.fresh()
        state["prosody"] = prosody.fresh(mode.late)
        fbank.stream(state["fbank"], self._mel, np.zeros(BEFORE, np.float32))
        return state

    def _apply(self) -> None:
        for i, number in enumerate(self._voice.values()):
            self._private[i] = number
        prosody.aim(self._state["prosody"], self.pitch_range, self.flatten)

    def _settle(self) -> None:
        prosody.settle(self._state["prosody"])

    def _draw(self) -> None:
        """One release of the mechanism, counted before it is made."""
        self._arithmetic = self._arithmetic or arithmetic()
        embedding = self._enrolment.embedding
        mechanism = Mechanism(self.mu, SIZE, DIMENSIONS, self._arithmetic, self.calibration)
        if embedding is not None and self.ledger != "none":
            if self._entropy is not None:
                raise ValueError("ledger: with a seed no bound holds that could be added up; leave one of the two out")
            Ledger(self.ledger, self.budget or None).spend(self.speaker, mechanism.spends)
        self._release = mechanism.release(embedding, self._entropy)
        self._voice = dict(zip(_NAMES, self._release.vector.tolist(), strict=True))

    def _check_voice(self, voice: Mapping[str, Any]) -> None:
        if tuple(voice) != _NAMES or not _is_private(list(voice.values())):
            raise ValueError("voice: is no private vector, which has 16 numbers and norm 4")


_WARM_UP = 10  # steps; without them the first one takes ten times as long as the others
Shape = tuple[int | str, ...]
_SAID: dict[str, Shape] = {"pitch": (1, PAIR), "voicing": (1, PAIR), "energy": (1, PAIR)}
_SPOKEN: dict[str, Shape] = {
    "f0": (1, PAIR),
    "envelope": (1, PAIR, vocoder.BANDS),
    "noise": (1, PAIR, len(vocoder.NOISE_BANDS)),
}
_NAMES = tuple(f"private{i}" for i in range(DIMENSIONS))


def arithmetic() -> Arithmetic:
    """That of the noise graph, which draws every voice: an embedding (256,), noise (16,) to a private vector.

    GraphError where the graph is not what it should be."""
    given: dict[str, Shape] = {"embedding": ("n", SIZE), "noise": ("n", DIMENSIONS)}
    return partial(_private, _load("noise", given, {"private": ("n", DIMENSIONS)}))


def _private(graph: Model, embedding: F64, noise: I64) -> F32:
    inputs: dict[str, Array] = {"embedding": embedding.astype(np.float32)[np.newaxis], "noise": noise[np.newaxis]}
    found: F32 = graph.run(inputs)["private"][0]
    if not _is_private(found.tolist()):
        raise GraphError("noise", "gave no private vector", "install velavox again")
    return found


def _is_private(vector: Sequence[float]) -> bool:
    return len(vector) == DIMENSIONS and abs(math.hypot(*vector) - math.sqrt(DIMENSIONS)) < 1e-3  # of NaN, too, it is not


def _load(name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> Model:
    """A graph, with the ports that are wanted besides its states; GraphError if it has others."""
    model = manifest.load(name, FOLDER)
    found = [{k: p.shape for k, p in side.items() if not k.startswith("state")} for side in (model.inputs, model.outputs)]
    if found != [dict(inputs), dict(outputs)]:
        raise GraphError(name, "has other inputs or outputs than this velavox feeds it", "install velavox again")
    return model
