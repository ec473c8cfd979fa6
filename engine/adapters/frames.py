"""What every adapter does with a frame of PCM: through the engine and back, in the same form, or silence of that form.

Hosts of voice chats fail open: they pass the speaker's own frame on when a filter raises or is switched off. So nothing here
raises for a frame, whatever is in it, and "disabled" means mute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from threading import RLock
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ...kernels.exchange import JOIN
from ..host import Engine, Policy
from ..samples import read_into, silence, written_as
from ..stage import Stage
from ..stats import Stats
from .making import Form, Making, checked

PCM = npt.NDArray[Any]


class Frames:
    """The frames of one stream through one engine. Ready when constructed; loading and compiling happen there.

    Fails closed by itself: `process` gives silence of the frame's own form while `enabled` is False, after `close`, for what is
    no PCM, on any error. When a frame of another rate or channel count comes, the engine is prepared anew beside the caller, in
    a thread, with the same stages and voice, and until that is done (1 to 30 ms with a signal-processing stage, half a second
    with DpVoice) frames are silent, unless they `wait`. What is said while muted comes out at no time, and the delay stays.

    Args:
        stages: a `Stage`, or several that follow one another; theirs is the voice of this stream until it ends.
        sample_rate, channels: of the frames to come.
        policy: "one": every channel keeps its place and has the same voice, as a person in stereo has one. "each": a voice for
            each channel, for one person in each. "mix": one voice for the mix of all, given to every channel: half of the work
            where both channels of a microphone are the same.

    Raises:
        ValueError, TypeError: as `Engine`.
    """

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        *,
        sample_rate: int = 48_000,
        channels: int = 1,
        policy: Policy = "one",
    ) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"policy={policy!r}: give one of {', '.join(get_args(Policy))}")
        self.enabled = True
        self.policy: Policy = policy
        row = [stages] if isinstance(stages, Stage) else stages if isinstance(stages, Sequence) else []
        self.stages: tuple[Stage, ...] = tuple(row)
        self.muted: dict[str, int] = {}  # samples of a channel that became silence outside of the engine, by cause
        self.last_error = ""
        self._form = checked(sample_rate, channels)
        self._clones: tuple[tuple[Stage, ...], ...] = ()  # of further channels: they keep their voices from engine to engine
        self._engine: Engine | None = self._prepared(self._form)
        self._counted = Stats()
        self._making: Making | None = None
        self._refused: Form | None = None  # what no engine could be made for
        self._latency = self._engine.latency
        self._swapping = RLock()  # held by who takes the engine away or brings one, and by other threads that use it
        self._closed = self._restart = False
        self._joint = False  # what comes next does not follow what came last: sound was lost, or the engine is a new one
        self._last: PCM = np.zeros(self._form.channels, np.float32)  # the last sample of each channel

    @property
    def latency(self) -> int:
        """Samples of a channel from an input sample to the same one in the output, at the rate in use."""
        return self._latency

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def audible(self) -> bool:
        """Neither disabled nor closed."""
        return self.enabled and not self._closed

    @property
    def sample_rate(self) -> int:
        """Hz, of the frames that came last."""
        return self._form.sample_rate

    @property
    def channels(self) -> int:
        return self._form.channels

    @property
    def stats(self) -> Stats:
        """The counters of the engine in use, or of the last one, as a copy; what was muted outside of it is in `muted`."""
        with self._swapping:
            return self._engine.stats if self._engine is not None else self._counted

    def set(self, **values: Any) -> None:
        """Set parameters of the stages by name, in every channel; TypeError and ValueError as `Engine.set`."""
        with self._swapping:
            if self._engine is not None:
                self._engine.set(**values)
                return
        for name, value in values.items():
            owners = [stage for stage in self._drawing if name in stage.parameters()]
            if not owners:
                raise TypeError(f"no stage has a parameter {name!r}")
            for stage in owners:
                stage.set_parameter(name, value)

    def new_voice(self) -> None:
        """Draw another voice; it glides in over two hops. Slow where DpVoice enrols from a recording or keeps a ledger."""
        with self._swapping:
            if self._engine is not None:
                self._engine.new_voice()
                return
        for stage in self._drawing:
            stage.new_voice()

    @property
    def _drawing(self) -> list[Stage]:
        """Those that have a voice of their own."""
        return [*self.stages, *chain(*self._clones)] if self.policy == "each" else [*self.stages]

    def process(self, x: PCM, sample_rate: int) -> PCM:
        """Anonymize one frame; raises nothing but what is no Exception (KeyboardInterrupt and the like).

        x: shape (samples, channels), any layout and number of samples, of a kind that `Engine.process` takes; left as it is.
        Returns a new array of the same shape and kind.
        """
        return self._process(x, x.shape, x.dtype, sample_rate)

    def lost(self, shape: tuple[int, int], dtype: np.dtype[Any], sample_rate: int) -> PCM:
        """The output for a frame of that shape and kind that never came: its place in time, with what the delay still holds."""
        return self._process(None, shape, dtype, sample_rate)

    def skip(self) -> None:
        """Say that a frame was dropped before it came here, and its place in time filled elsewhere."""
        self._joint = True

    def fits(self, sample_rate: int, channels: int) -> bool:
        """`process` will not be silent for want of an engine for such frames."""
        return self._closed or (self._engine is not None and self._form == Form(sample_rate, channels))

    def wait(self, sample_rate: int, channels: int, seconds: float) -> None:
        """Begin to prepare for such frames, and wait until that is done, but not for longer; not on an event loop."""
        if not self._closed and self._engine_for(Form(sample_rate, channels)) is None and self._making is not None:
            self._making.join(seconds)

    def close(self) -> None:
        """From now on every frame is silence, until `open`."""
        self._closed = True

    def open(self) -> None:
        """Begin a new stream after `close`, with the same voice. What came before is forgotten."""
        self._restart = True
        self._closed = False

    def release(self) -> None:
        """Close, and leave the stages to others."""
        self._closed = True
        self._drop()

    def prepare(self, sample_rate: int, channels: int) -> None:
        """Open, and be ready for such frames when this returns. Slow; ValueError as `Engine`. Not beside `process`."""
        form = checked(sample_rate, channels)
        if self._making is not None:
            self._making.join()
        if self._engine is None or form != self._form:
            self._drop()
            self._adopt(self._prepared(form), form)
        self.open()

    def _process(self, x: PCM | None, shape: tuple[int, ...], dtype: np.dtype[Any], sample_rate: int) -> PCM:
        try:
            if self._closed:
                return self.mute("closed", shape, dtype)
            engine = self._engine_for(Form(sample_rate, shape[1]))
            if engine is None:
                return self.mute("refused" if self._making is None else "preparing", shape, dtype)
            if self._restart:
                self._restart = False
                engine.reset()
                self._adopt(engine, self._form)
            enabled = self.enabled
            y = engine.process(self._joined(x if enabled else None, shape))
            return written_as(y, dtype) if enabled else self.mute("disabled", shape, dtype)
        except Exception as error:
            self.last_error = f"{type(error).__name__}: {error}".splitlines()[0]
            self._joint = True
            return self.mute("error", shape, dtype)

    def mute(self, cause: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> PCM:
        """Silence of this form, counted."""
        self.muted[cause] = self.muted.get(cause, 0) + (shape[0] if shape else 0)
        return silence(shape, dtype)

    def _joined(self, x: PCM | None, shape: tuple[int, ...]) -> PCM:
        """x, or silence for what is lost; without a step at the joint, which would click."""
        if x is not None and not self._joint:
            if len(x):
                self._last = x[-1].copy()
            return x
        y = np.zeros(shape, np.float32)
        if len(y) == 0:
            return y
        if x is not None:
            read_into(y, x)
        last = np.zeros(self._last.shape, np.float32)
        read_into(last, self._last)
        self._last = y[-1].copy()
        fading = np.exp(-np.arange(1, min(len(y), self._fading) + 1) / (JOIN * self._form.sample_rate)).astype(np.float32)
        y[: len(fading)] += fading[:, None] * (last - y[0])
        if x is None:
            self._last = y[-1].copy()
        self._joint = x is None
        return y

    @property
    def _fading(self) -> int:
        """Samples until 3e-4 of a step is left."""
        return int(8 * JOIN * self._form.sample_rate)

    def _engine_for(self, form: Form) -> Engine | None:
        """The engine for frames of this form; None while it is being made, or if there can be none."""
        if self._engine is not None and form == self._form:
            return self._engine
        with self._swapping:
            return self._swapped(form)

    def _swapped(self, form: Form) -> Engine | None:
        making = self._making
        if making is not None and making.is_alive():
            return None
        if making is not None and making.form == form:
            self._making = None
            if making.made is None:
                self._refused, self.last_error = form, making.error
                return None
            self._adopt(making.made, form)
            return making.made
        if form == self._refused:
            return None
        self._drop()
        self._refused = None
        self._making = Making(self._prepared, form)
        self._making.start()
        return None

    def _prepared(self, form: Form) -> Engine:
        return Engine(
            self.stages,
            sample_rate=form.sample_rate,
            channels=form.channels,
            policy=self.policy,
            clones=self._clones,
        )

    def _drop(self) -> None:
        """Leave the stages to another engine."""
        with self._swapping:
            if self._engine is not None:
                self._counted = self._engine.stats
                clones = self._engine.clones
                self._clones = (*clones, *self._clones[len(clones) :])
            if self._making is not None:
                self._making.drop()
            self._engine = self._making = None

    def _adopt(self, engine: Engine, form: Form) -> None:
        self._engine, self._form, self._latency, self._joint = engine, form, engine.latency, True
        self._last = np.zeros(form.channels, np.float32)
