"""The engine: any block size, rate, channel count and dtype in; an anonymized voice, or silence, out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from math import lcm
from threading import Lock
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, get_args

import numpy as np
import numpy.typing as npt

from ..kernels import guard, mix
from ..kernels.jit import F32
from .lane import Lane
from .laps import INPUT, MIX, Lap
from .profiler import Profiler
from .resample import HIGHEST, LOWEST, Plan, whole
from .samples import full_scale, read_into
from .stage import Stage
from .stats import Stats

Policy = Literal["one", "each", "mix"]
OnError = Literal["mute", "raise"]

# Frames taken through the lanes at a time: bounds a stream's memory (113 kB with McAdams, 301 with VoiceMask), and at 48 kHz
# the extra calls cost below 1 % of a large block.
_PIECE = 2048
MOST_CHANNELS = 1024
SAVED_VERSION = 1
_attaching = Lock()


class Engine:
    """One stream through one stage or several in a row. Ready when constructed.

    ``process(x)`` takes any number of frames, 0 included, and gives as many, `latency` frames later; the output is the same
    for any partition into blocks. ``flush()`` gives the last `latency` frames. Use one engine for each stream and one thread
    at a time in each; engines run side by side in threads, since the kernels release the GIL. Parameters may be set from any
    thread.

    Fails closed: whatever goes wrong, the output is silence, counted in `stats`, never the input. There is no bypass.

    Args:
        stages: a `Stage`, or several that follow one another. They serve channel 0; further channels get clones.
        sample_rate: the host's, any whole number of Hz from 4000 to 384000. Above 8 kHz the voice is band-limited to 7.4 kHz.
        channels: 1 or more.
        policy: "each": every channel is a stream with its own voice. "one": every channel is a stream, and all have one voice,
            which is drawn once. "mix": one stream, of all channels together; every channel gets the same.
        max_block: longer blocks are split inside, into pieces of at most this many frames.
        on_error: "mute": a hop in which a stage raises is silent, and counted. "raise": `process` and `flush` also raise, after
            the whole block has gone through; nothing of that block is returned, and the delay stays.
        seed: makes voices repeatable, from (seed, source, channel), and voids any privacy claim: who knows the seed can draw
            the same voice. None: voices come from the operating system's entropy.
        source: with a seed, what tells this stream from another one (a relative path, a speaker).
        recording: the file that the stream will be, for methods that enrol its speaker from it.
        clones: `clones` of an engine that ran these stages before, whose voices stay; more are made where they are too few.

    Raises:
        ValueError, TypeError: an argument is out of range; the message names it, the limit and what to give.
    """

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        *,
        sample_rate: int,
        channels: int = 1,
        policy: Policy = "each",
        max_block: int = 65536,
        on_error: OnError = "mute",
        seed: int | None = None,
        source: str = "",
        recording: str | os.PathLike[str] | None = None,
        clones: Sequence[Sequence[Stage]] = (),
    ) -> None:
        row = [stages] if isinstance(stages, Stage) else list(stages) if isinstance(stages, Sequence) else []
        if not row or not all(isinstance(stage, Stage) for stage in row):
            raise TypeError("stages: give a Stage, or a sequence of at least one")
        sample_rate = whole("sample_rate", sample_rate, LOWEST, HIGHEST, "Hz")
        channels = whole("channels", channels, 1, MOST_CHANNELS)
        max_block = whole("max_block", max_block, 1, 2**31, "frames")
        seed = None if seed is None else whole("seed", seed, -(2**256), 2**256)
        if not isinstance(source, str):
            raise TypeError(f"source={source!r}: give a text")
        for name, value, choices in (("policy", policy, get_args(Policy)), ("on_error", on_error, get_args(OnError))):
            if value not in choices:
                raise ValueError(f"{name}={value!r}: give one of {', '.join(choices)}")
        further = channels - 1 if policy != "mix" else 0
        given = clones[:further]
        if any(list(map(_kind, own)) != list(map(_kind, row)) for own in given):  # a channel without stages would be raw
            raise ValueError("clones: are of other stages; give the `clones` of an engine that ran these")
        rows = [row, *given, *([stage.clone() for stage in row] for _ in range(further - len(given)))]
        if len({id(stage) for stage in chain(*rows)}) < len(rows) * len(row):
            raise ValueError("stages: the same stage stands there twice; a stage is one stream, give a clone()")
        for stage in chain(*rows):
            stage.own(self)
        hop = lcm(*(stage.hop for stage in row))
        self._plan = Plan(sample_rate, hop, sum(stage.latency for stage in row))
        self.channels = channels
        self.policy: Policy = policy
        self._on_error = on_error
        self._seed, self._source, self._generation = seed, source, 0
        self._counted = Stats()
        self._counts = guard.fresh()
        self._piece = min(max_block, _PIECE)
        self._x = np.zeros((channels, self._piece), np.float32)
        drawing = rows if policy == "each" else rows[:1]
        if recording is not None:
            for c, own in enumerate(drawing):
                for stage in own:
                    stage.hear(recording, c if len(drawing) > 1 else None)
        if seed is not None:
            self._draw_seeded(drawing)
        self._lanes: list[Lane] = []
        for own in rows:
            if policy == "one" and self._lanes:
                _follow(self._lanes[0].stages, own)
            self._lanes.append(Lane(own, self._plan, self._piece, self._counted))
        self._mix = mix.fresh(sample_rate)
        self._mix_work = mix.channels(channels)
        self._closed = False
        self._ended = False  # flushed, and nothing processed since
        self._profiler: Profiler | None = None

    @property
    def sample_rate(self) -> int:
        return self._plan.rate

    @property
    def hop(self) -> int:
        """Samples at 16 kHz that the stages see at a time."""
        return self._plan.hop

    @property
    def latency(self) -> int:
        """Frames at the host's rate from an input sample to the same sample in the output, re-blocking included."""
        return self._plan.latency

    @property
    def latency_parts(self) -> dict[str, float]:
        """`latency` by cause: resample_in, reblock, stages, resample_out; frames at the host's rate."""
        return self._plan.latency_parts

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of channel 0 (of the mix), whose parameters are plain properties; `set` reaches every channel."""
        return tuple(self._lanes[0].stages)

    @property
    def clones(self) -> tuple[tuple[Stage, ...], ...]:
        """Of the further channels, to go on in another engine once this one is gone."""
        return tuple(tuple(lane.stages) for lane in self._lanes[1:])

    @property
    def stats(self) -> Stats:
        """The counters now, as a copy."""
        c, s = self._counts[0], self._counted
        return Stats(
            blocks=s.blocks,
            frames=s.frames,
            hops=s.hops,
            muted=s.muted,
            causes=dict(s.causes),
            last_error=s.last_error,
            clipped=s.clipped + int(c.clipped),
            full_scale=int(c.full_scale),
            sanitised=int(c.not_finite + c.scale),
            scale=int(c.scale),
            late=s.late,
        )

    def set(self, **values: Any) -> None:
        """Set parameters by name in every channel; TypeError if no stage has one, ValueError if a value is out of range."""
        for name, value in values.items():
            owners = [stage for lane in self._drawing for stage in lane.stages if name in stage.parameters()]
            if not owners:
                known = sorted({n for stage in self.stages for n in stage.parameters()})
                raise TypeError(f"no stage has a parameter {name!r}: there are {', '.join(known) or 'none'}")
            for stage in owners:
                setattr(stage, name, value)
            self._share()

    def process(self, x: npt.ArrayLike) -> F32:
        """Anonymize one block.

        Args:
            x: shape (frames,) with one channel, or (frames, channels); any number of frames. float16/32/64 in [-1, 1], or int8,
                int16, int32, uint8 at their full scale; any layout, read-only too; left as it is.

        Returns:
            float32 in [-1, 1], the same shape, new and writable.
        """
        began = perf_counter()
        profiler = self._profiler  # read once: it may be attached and detached in the middle of a block
        lap = profiler.begin() if profiler is not None and profiler.due else None
        block = np.asarray(x)
        frames, y, top = self._checked(block)
        counted = self._counted
        counted.blocks += 1
        counted.frames += frames
        hops = counted.hops
        if self._closed:
            counted.mute("closed")
            return y
        self._ended = self._ended and frames == 0
        self._run(block, y, frames, top, lap)
        ended = perf_counter()
        if frames and (ended - began) * self._plan.rate > frames:
            counted.late += 1
        if frames and profiler is not None:
            profiler.end(began, ended, frames, counted.hops - hops)
        return y

    def flush(self) -> F32:
        """The end of the stream: its last `latency` frames, once; then 0 frames until process() starts the next stream."""
        frames = 0 if self._ended or self._closed else self.latency
        shape = (frames,) if self.channels == 1 else (frames, self.channels)
        y = np.zeros(shape, np.float32)
        if frames:
            try:
                self._run(np.zeros(shape, np.float32), y, frames, 1.0)
            finally:
                self._restart()
                self._ended = True
        return y

    def reset(self) -> None:
        """As fresh, a closed engine too: signal and counters forgotten, parameters and voices kept."""
        self._restart()
        self._counts[0] = np.zeros(1, guard.COUNTS)[0]
        self._counted.__init__()  # type: ignore[misc]
        self._closed = self._ended = False

    def profile(self, every: int = 64) -> Profiler:
        """Attach a profiler, at any time and from any thread; RuntimeError if one is attached.

        Args:
            every: one block in so many, on average, has its parts timed, which takes 4 us. At the default the mean time of a
                block rises by 0.25 us (1.2 % of that of 10 ms with McAdams at 48 kHz).
        """
        every = whole("every", every, 1, 2**20, "blocks")
        with _attaching:
            if self._profiler is not None:
                raise RuntimeError("a profiler is attached to this engine: detach() it first")
            self._profiler = Profiler(self._plan, [stage.method for stage in self.stages], every, self._detach)
            return self._profiler

    def _detach(self, profiler: Profiler) -> None:
        if self._profiler is profiler:
            self._profiler = None

    def close(self) -> None:
        """End for good: from now on every block is silence, until reset()."""
        self._closed = True

    def new_voice(self) -> None:
        """Draw another voice for every channel; it glides in over two hops."""
        if self._seed is not None:
            self._generation += 1
            self._draw_seeded([lane.stages for lane in self._drawing])
        else:
            for lane in self._drawing:
                for stage in lane.stages:
                    stage.new_voice()
        self._share()

    def save(self) -> dict[str, Any]:
        """Parameters and voices of every channel as plain JSON values. They link recordings: keep them private."""
        lanes = [[stage.save() for stage in lane.stages] for lane in self._drawing]
        return {"version": SAVED_VERSION, "generation": self._generation, "lanes": lanes}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take what `save` of an engine with the same stages and channels gave; ValueError otherwise, and nothing changes."""
        shape = [[stage.method for stage in lane.stages] for lane in self._drawing]
        try:
            fits = saved["version"] == SAVED_VERSION and [[s["method"] for s in row] for row in saved["lanes"]] == shape
        except (KeyError, TypeError):
            fits = False
        if not fits:
            wanted = f"stages {shape[0]}, {len(shape)} voices, version {SAVED_VERSION}"
            raise ValueError(f"saved: not from an engine like this one ({wanted})")
        before, changed = self.save(), False
        try:
            _generation(saved)
            for stage, state in self._pairs(saved):  # all, before one is changed: `before` is less than what a stage knows
                stage.checked(state)
            changed = True
            self._restore(saved)
        except Exception as error:
            if changed:
                self._restore(before)
            raise ValueError(f"saved: damaged, nothing was changed: {error}") from error

    def _restore(self, saved: Mapping[str, Any]) -> None:
        self._generation = _generation(saved)  # with a seed: the next voice is a new one
        for stage, state in self._pairs(saved):
            stage.restore(state)
        self._share()

    @property
    def _drawing(self) -> list[Lane]:
        """Those that have a voice of their own."""
        return self._lanes[:1] if self.policy == "one" else self._lanes

    def _share(self) -> None:
        """With one voice: what channel 0 has, the others get."""
        if self.policy == "one":
            for lane in self._lanes[1:]:
                _follow(self._lanes[0].stages, lane.stages)

    def _pairs(self, saved: Mapping[str, Any]) -> list[tuple[Stage, Mapping[str, Any]]]:
        """Every stage with its part of what an engine like this one has saved."""
        rows = zip(self._drawing, saved["lanes"], strict=True)
        return [pair for lane, row in rows for pair in zip(lane.stages, row, strict=True)]

    def __reduce__(self) -> NoReturn:
        """Copying and pickling are refused: the copy's buffers would not be joined as the stream's are."""
        raise TypeError("an engine is a running stream: make another one and restore() what save() gives")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _checked(self, block: npt.NDArray[Any]) -> tuple[int, F32, float]:
        """Of a block of a right kind and shape: its frames, silence of that shape to write the output to, its full scale."""
        top = full_scale(block.dtype)
        if (block.ndim == 1 and self.channels == 1) or (block.ndim == 2 and block.shape[1] == self.channels):
            return block.shape[0], np.zeros(block.shape, np.float32), top
        wanted = "(frames,) or (frames, 1)" if self.channels == 1 else f"(frames, {self.channels})"
        raise ValueError(f"x of shape {block.shape}: give {wanted}")

    def _run(self, block: npt.NDArray[Any], y: F32, frames: int, top: float, lap: Lap | None = None) -> None:
        """Take all of `block` and write all of y, silence at first. Whatever is raised in between, y ends as silence."""
        try:
            self._run_pieces(block, y, frames, top, lap)
        except BaseException as error:  # no stage's: a lane keeps those. Half a block may be in, so start over
            y.fill(0)
            self._restart()
            self._counted.mute("engine")
            self._counted.last_error = f"{type(error).__name__}: {error}".splitlines()[0]
            if self._on_error == "raise" or not isinstance(error, Exception):
                raise
        failed: Exception | None = None
        for lane in self._lanes:
            if lane.error is not None:
                failed, lane.error = failed or lane.error, None
        if failed is not None and self._on_error == "raise":
            raise failed

    def _run_pieces(self, block: npt.NDArray[Any], y: F32, frames: int, top: float, lap: Lap | None) -> None:
        columns = block if block.ndim == 2 else block.reshape(-1, 1)
        out = y if y.ndim == 2 else y.reshape(-1, 1)
        for start in range(0, frames, self._piece):
            count = min(self._piece, frames - start)
            read_into(self._x[:, :count], columns[start : start + count].T)
            guard.sanitise(self._counts, self._x, count, top)
            if lap:
                lap(INPUT)
            if self.policy == "mix" and self.channels > 1:
                mix.mix(self._mix, *self._mix_work, self._x, count)
                if lap:
                    lap(MIX)
            for c, lane in enumerate(self._lanes):
                lane.take(self._x, c, 0, count, lap)
                lane.give(self._counts, out, c, start, count, lap)
        if self.policy == "mix" and self.channels > 1:
            out[:, 1:] = out[:, :1]
            if lap:
                lap(MIX)

    def _restart(self) -> None:
        for lane in self._lanes:
            lane.reset()
        self._mix = mix.fresh(self._plan.rate)
        self._mix_work = mix.channels(self.channels)

    def _draw_seeded(self, rows: Sequence[Sequence[Stage]]) -> None:
        for c, stages in enumerate(rows):
            for i, stage in enumerate(stages):
                key = json.dumps(["velavox voice", self._seed, self._source, c, i, self._generation])
                stage.new_voice(hashlib.sha256(key.encode()).digest())


def _kind(stage: object) -> tuple[type, int]:
    """What the stages of all channels have to agree in: they are delayed alike, and anonymize."""
    return type(stage), stage.latency if isinstance(stage, Stage) else -1


def _follow(first: Sequence[Stage], others: Sequence[Stage]) -> None:
    """Give `others` the parameters and the voice of `first`; none is drawn."""
    for stage, other in zip(first, others, strict=True):
        other.restore(stage.save())


def _generation(saved: Mapping[str, Any]) -> int:
    return whole("generation", saved.get("generation", 0), 0, 2**63)
