"""The contract of a stage, and what every stage shares: parameters, voice, state."""

from __future__ import annotations

import os
import secrets
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ..kernels.jit import F32, State
from .parameter import Parameter, Value

RATE = 16_000  # Hz: stages see mono float32 in [-1, 1] at this rate, whatever the host's
HOP = 160  # samples, 10 ms: the hop of every signal-processing stage

SAVED_VERSION = 1


class Stage(ABC):
    """One anonymizer: mono float32 in [-1, 1] at 16 kHz, `hop` samples in and `hop` samples out.

    Life: construct (parameters only) -> prepare() (slow) -> step(x, y) for each hop. A stage is one stream; `clone()`
    gives the same parameters to another stream, with a voice of its own.

    A subclass declares its parameters as class attributes (`Parameter`), gives `method`, `latency`, and:

    - `_allocate()`: build the kernel state at its fresh value and return it. May be slow; called once, by prepare().
    - `_apply()`: write parameters and voice as targets into `self._state`; kernels glide to a target over two hops.
    - `_settle()`: make every gliding value its target at once (after a reset).
    - `step(x, y)`: one kernel call. No allocation, no lock, no exception on any finite input.
    """

    method: ClassVar[str]  # the name on the command line
    hop: int = HOP
    heavy: ClassVar[bool] = False  # a step may take so long that an event loop has it done beside itself, by a thread

    _state: State
    _fresh: State

    def __init__(self, **values: Any) -> None:
        declared = self.parameters()
        unknown = sorted(values.keys() - declared.keys())
        if unknown:
            raise TypeError(f"{type(self).__name__} has no parameter {unknown[0]!r}: it has {', '.join(declared)}")
        self._values: dict[str, Value] = {n: p.check(values.get(n, p.default)) for n, p in declared.items()}
        self._voice: dict[str, float] = {}
        self._random = _generator(None)
        self._prepared = False
        self._host: weakref.ref[object] | None = None

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The declared parameters by name, in the order of declaration."""
        found: dict[str, Parameter] = {}
        for owner in reversed(cls.__mro__):
            found.update({n: p for n, p in vars(owner).items() if isinstance(p, Parameter)})
        return found

    @property
    def values(self) -> dict[str, Value]:
        """The parameters by name, as a copy."""
        return dict(self._values)

    @property
    def voice(self) -> dict[str, float]:
        """What the voice in use has drawn, by parameter, as a copy; empty before the first draw."""
        return dict(self._voice)

    @property
    def promise(self) -> str:
        """What holds, against whom, while this voice is in use: one line, or "" where nothing is claimed."""
        return ""

    def value(self, name: str) -> Value:
        """The parameter `name`."""
        return self._values[name]

    @property
    @abstractmethod
    def latency(self) -> int:
        """Samples at 16 kHz from an input sample of step() to the same sample in its output."""

    @abstractmethod
    def step(self, x: F32, y: F32) -> None:
        """Read `hop` samples of x, write all `hop` samples of y. Shapes (hop,), float32, C-contiguous, no overlap."""

    @abstractmethod
    def _allocate(self) -> State: ...

    @abstractmethod
    def _apply(self) -> None: ...

    @abstractmethod
    def _settle(self) -> None: ...

    def prepare(self) -> None:
        """Allocate, load, compile; draw a voice if none is there yet. Ready, and as after reset(), when it returns."""
        self._fresh = self._allocate()
        self._state = self._fresh.copy()
        if not self._voice:
            self._draw()
        self._prepared = True
        self.reset()

    def reset(self) -> None:
        """Forget the signal; keep parameters and voice. The stream then runs as a fresh one; allocates nothing."""
        self._state.view(np.uint8)[:] = self._fresh.view(np.uint8)
        self._apply()
        self._settle()

    def new_voice(self, entropy: bytes | None = None) -> None:
        """Draw another voice: from `entropy` (16 bytes or more; equal bytes give the equal voice), else from the system."""
        self._random = _generator(entropy)
        self._draw()
        if self._prepared:
            self._apply()

    def set_parameter(self, name: str, value: Any) -> None:
        """Set the parameter `name`; ValueError if the value is out of range. A drawn one is drawn anew for this voice."""
        self._change(name, self.parameters()[name].check(value))
        if self._prepared:
            self._apply()

    def _change(self, name: str, value: Value) -> None:
        """Store a checked value. A subclass with parameters that depend on each other extends this."""
        self._values[name] = value
        if name in self._voice:
            self._voice[name] = self._one(value)

    def hear(self, recording: str | os.PathLike[str], channel: int | None) -> None:  # noqa: B027  (most have no use for it)
        """Be told, before prepare(), which file it is that will be streamed, for who wants to hear all of it first.

        channel: the one that this stage is for; None: the mix of all. FileFailure if the file is of no use.
        """

    def own(self, host: object) -> None:
        """Note which engine runs this stage; ValueError if another one does, whose stream would mix with its stream."""
        other = self._host() if self._host is not None else None
        if other is not None and other is not host:
            raise ValueError(f"{type(self).__name__}: another engine runs this stage; give each its own, as by clone()")
        self._host = weakref.ref(host)

    def clone(self) -> Self:
        """The same parameters for another stream: own memory, not prepared, and its own voice to be drawn."""
        return type(self)(**self._values)

    def save(self) -> dict[str, Any]:
        """Parameters and voice as plain JSON values. The voice undoes nothing, but it links recordings: keep it private."""
        values = {n: list(v) if isinstance(v, tuple) else v for n, v in self._values.items()}
        return {"version": SAVED_VERSION, "method": self.method, "values": values, "voice": self.voice}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take what `save` gave; ValueError for another method, version or a value out of range, and then nothing changes."""
        self._values, self._voice = self.checked(saved)
        if self._prepared:
            self._apply()

    def checked(self, saved: Mapping[str, Any]) -> tuple[dict[str, Value], dict[str, float]]:
        """Parameters and voice of what `save` gave, if `restore` would take it; else it raises what that would."""
        if saved.get("method") != self.method or saved.get("version") != SAVED_VERSION:
            found = f"{saved.get('method')!r} version {saved.get('version')!r}"
            raise ValueError(f"saved state is for {found}: this stage takes {self.method!r} version {SAVED_VERSION}")
        declared = self.parameters()
        if saved["values"].keys() != declared.keys():
            raise ValueError(f"saved state of {self.method!r} names other parameters than {', '.join(declared)}")
        values = type(self)(**saved["values"]).values  # checked as those of any new stage are
        voice = {str(n): float(v) for n, v in saved["voice"].items()}
        self._check_voice(voice)
        return values, voice

    def _check_voice(self, voice: Mapping[str, Any]) -> None:
        """ValueError for a voice that no draw gives: it could be the speaker's own. A joint constraint extends this."""
        for name, parameter in self.parameters().items():
            if parameter.drawn:
                parameter.check(voice.get(name))

    def _draw(self) -> None:
        """A voice: one value for every drawn parameter. A subclass with a joint constraint overrides this."""
        self._voice = {n: self._one(self._values[n]) for n, p in self.parameters().items() if p.drawn}

    def _one(self, value: Value) -> float:
        if isinstance(value, tuple):
            return float(self._random.uniform(*value))
        assert not isinstance(value, str)
        return value


def _generator(entropy: bytes | None) -> np.random.Generator:
    """Bytes to a generator. Voices are draws from wide ranges, not noise of a privacy proof: any good generator will do."""
    if entropy is not None and len(entropy) < 16:
        raise ValueError(f"entropy of {len(entropy)} bytes: give 16 or more, or None for the system's")
    seed = int.from_bytes(secrets.token_bytes(32) if entropy is None else entropy, "little")
    return np.random.Generator(np.random.PCG64DXSM(seed))
