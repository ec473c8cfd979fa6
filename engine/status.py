"""What a live stream says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    starting = "starting"  # the card is being opened, or its first callbacks are being measured: silence
    running = "running"
    muted = "muted"  # by its user: silence
    overloaded = "overloaded"  # within the last second there was nothing to play, or old sound was dropped
    lost = "device lost"  # silence, until it is back
    closed = "closed"


@dataclass(frozen=True)
class Status:
    """A live stream now. Counters run since its start, over all openings of the device."""

    state: State
    cause: str  # of "device lost", and of the end if it was an error: one line
    seconds: float  # since the start
    input: str  # names of the devices
    output: str
    rate_in: int  # Hz
    rate_out: int
    block: int  # frames a callback, of the output
    voice: str  # method and number of the voice in use
    level_in_db: float  # falling peaks, dB over full scale; -120 is silence
    level_out_db: float
    delay_ms: float  # now, from the input device to the output device, both included
    delay_parts_ms: dict[str, float] = field(default_factory=dict)  # device_in, engine, handover, match, device_out
    deadline_p50: float = 0.0  # time to process a block over its duration, recent blocks
    deadline_p99: float = 0.0
    xruns: int = 0  # blocks that were late or lost, at the device or here
    starved_ms: float = 0.0  # silence played for want of sound
    dropped_ms: float = 0.0  # old sound dropped, so that the delay stays
    muted_hops: int = 0  # silenced by the engine: see Stats
    reopened: int = 0  # times the device was lost and came back
    corrections: int = 0  # changes of the resampling ratio that follows the two clocks
    drift_ppm: float = 0.0  # that ratio now, over nominal: negative where the output has the faster clock
    worker: str = ""  # how the worker runs: "real-time" or "ordinary" priority
