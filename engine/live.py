"""A live stream: microphone, engine, output; opened, watched over, reopened, and closed within 2 s whatever hangs.

Three parts share the work. The card's callback (`kernels.callback`) only copies between rings, without the GIL. One worker
thread opens the card, runs the engine (`session`) and reopens what was lost. The caller's thread asks and steers.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..kernels.jit import F32
from .card import Card, DeviceError, Format
from .exchange import Exchange
from .host import Engine
from .realtime import real_time
from .session import ROOM, Counts, Session
from .stage import Stage
from .status import State, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .content.guard import ContentGuard
    from .profiler import Profiler

REOPEN_EVERY = 1.0  # s between attempts to open a lost device
CLOSING = 0.8  # s that closing may take before it is left to itself
HANGING = 0.5  # s that the worker may take to notice that it is to end; with both, and a rest, below 2 s
RECORDED = 4.0  # s of what was sent that are kept until sent() fetches them
_SILENCE_DB = -120.0

_left: list[Exchange] = []  # of cards that hung in closing and may call back yet: never to be freed


class Live:
    """A live stream through a card. Silence goes out unless everything is in order.

    Use it as a context, or call `start` and `close`. Every method may be called from any thread but `run`.

    Args:
        stages: as for `Engine`. Several input channels are mixed; the voice goes to every output channel.
        card: a `SoundCard`, or a `DummyCard`.
        seed, source: as for `Engine`.
        record: keep what is sent to the device, to be fetched with `sent`.
        around: makes the guard that the sound goes through, from the engine that it would go through; asked again, for the same
            guard, when the device has come back at another rate. Whoever gives it closes the guard.
    """

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        *,
        card: Card,
        seed: int | None = None,
        source: str = "",
        record: bool = False,
        around: Callable[[Engine], ContentGuard] | None = None,
    ) -> None:
        self._stages = [stages] if isinstance(stages, Stage) else list(stages)
        self._card, self._seed, self._source, self._record = card, seed, source, record
        self._around = around
        self._engine: Engine | ContentGuard | None = None
        self._session: Session | None = None  # the last one, also when it is over
        self._lost = False  # from when the device was lost until sound goes through again
        self._plan: Format | None = None
        self._latencies = (0.0, 0.0)
        self._counts = Counts()
        self._muted = False
        self._voices = 1
        self._cause = ""
        self._failure: BaseException | None = None
        self._real_time = False
        self._began = card.now()
        self._recorded: list[Exchange] = []  # the oldest first
        self._unrecorded = 0  # frames, of those that have been fetched to their end
        self._rebuild = threading.Lock()  # held while the engine is replaced, never for a block
        self._thread: threading.Thread | None = None
        self._closer: threading.Thread | None = None  # the thread that closes the card, while it does
        self._closing = threading.Lock()  # held while such a thread is started
        self._stop = threading.Event()
        self._opened = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Run in a thread of its own; returns when the card runs. DeviceError, ValueError, TypeError if that cannot be."""
        if self._thread is not None or self._stop.is_set():
            raise RuntimeError("a live stream starts once: make another one")
        self._thread = threading.Thread(target=self._run_quietly, name="velavox live", daemon=True)
        self._thread.start()
        try:
            self._opened.wait()
        except BaseException:
            self.close()
            raise
        if self._failure is not None:
            raise self._failure

    def run(self, seconds: float | None = None) -> None:
        """Run in the calling thread, for `seconds` of the card's time or until close(); what `start` raises, it raises."""
        try:
            self._began = self._card.now()
            self._serve(seconds)
        except BaseException as error:
            self._failure = error
            self._cause = _in_a_line(error)
            raise
        finally:
            self._stop.set()
            self._close_card()
            self._ended.set()
            self._opened.set()

    def close(self) -> None:
        """End it: silence, the device closed, the thread ended; within 2 s, whatever hangs."""
        self._stop.set()
        if self._thread is None or self._thread is threading.current_thread():
            return
        self._thread.join(HANGING)
        if self._thread.is_alive():  # a stage hangs, or the card does: the microphone is closed all the same
            self._start_closing().join(CLOSING)
            self._thread.join(0.1)

    def wait(self, seconds: float | None = None) -> bool:
        """Until it has ended (True) or `seconds` are over (False). Raises what ended it, if that was an error."""
        ended = self._ended.wait(seconds)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    @property
    def muted(self) -> bool:
        """Silence goes out. The engine runs on, so that unmuting is immediate."""
        return self._muted

    @muted.setter
    def muted(self, on: bool) -> None:
        self._muted = on
        if self._session is not None:
            self._session.muted = on

    def new_voice(self) -> None:
        """Draw another voice; it glides in over two hops."""
        with self._rebuild:
            self._running_engine.new_voice()
            self._voices += 1

    def set(self, **values: Any) -> None:
        """Set parameters by name, as `Engine.set`."""
        with self._rebuild:
            self._running_engine.set(**values)

    def profile(self) -> Profiler:
        """Attach a profiler to the engine, as `Engine.profile`; it ends when the device comes back at another rate."""
        with self._rebuild:
            return self._running_engine.profile()

    @property
    def engine(self) -> Engine | ContentGuard:
        """The engine, or the guard around it, that runs now; another one after the device came back at another rate."""
        with self._rebuild:
            return self._running_engine

    @property
    def _running_engine(self) -> Engine | ContentGuard:
        if self._engine is None:
            raise RuntimeError("the live stream has not started")
        return self._engine

    def sent(self, y: F32) -> int:
        """Fill y, shape (n,), with the oldest frames sent to the device and not fetched yet; how many. Needs record=True."""
        while self._recorded:
            count = self._recorded[0].sent(y)
            if count or len(self._recorded) == 1:
                return count
            self._unrecorded += _unrecorded(self._recorded.pop(0))
        return 0

    @property
    def unrecorded(self) -> int:
        """Frames sent that sent() does not give, since nobody had fetched those of the last RECORDED s."""
        return self._unrecorded + sum(map(_unrecorded, self._recorded))

    def status(self) -> Status:
        """What it does now, and what has happened since the start."""
        now, session, plan = self._card.now(), self._session, self._plan
        engine = self._engine
        parts: dict[str, float] = {}
        loads = np.zeros(1)
        level_in = level_out = _SILENCE_DB
        state, starving = self._state(now), 0.0
        if session is not None:
            parts = {"device_in": self._latencies[0], **session.delay_parts(now), "device_out": self._latencies[1]}
            loads = session.loads[: session.chunks] if session.chunks else loads
            starving = session.unaccounted
            if state not in (State.lost, State.closed):
                level_in = _db(session.exchange.counts.peak_in)
            if state in (State.running, State.overloaded):
                level_out = _db(session.exchange.counts.peak_out)
        counts = self._counts
        return Status(
            state=state,
            cause=self._cause,
            seconds=now - self._began,
            input=plan.name_in if plan else "",
            output=plan.name_out if plan else "",
            rate_in=plan.rate_in if plan else 0,
            rate_out=plan.rate_out if plan else 0,
            block=plan.block_out if plan else 0,
            voice=f"{' + '.join(stage.method for stage in self._stages)}, voice {self._voices}",
            level_in_db=level_in,
            level_out_db=level_out,
            delay_ms=1e3 * sum(parts.values()),
            delay_parts_ms={name: 1e3 * seconds for name, seconds in parts.items()},
            deadline_p50=float(np.percentile(loads, 50)),
            deadline_p99=float(np.percentile(loads, 99)),
            xruns=counts.xruns + (starving > 0),
            starved_ms=1e3 * (counts.starved + starving),
            dropped_ms=1e3 * counts.dropped,
            muted_hops=counts.muted_hops + (engine.stats.muted if engine else 0),
            reopened=counts.reopened,
            corrections=counts.corrections,
            drift_ppm=1e6 * session.drift.correction if session else 0.0,
            worker="real-time" if self._real_time else "ordinary",
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _state(self, now: float) -> State:
        session = self._session
        if self._stop.is_set() or self._ended.is_set():
            return State.closed
        if self._lost:
            return State.lost
        if session is None or not session.running:
            return State.starting
        if self._muted:
            return State.muted
        return State.overloaded if now < session.overloaded or session.hung(now) else State.running

    def _run_quietly(self) -> None:
        with suppress(BaseException):  # it is kept: start() and wait() raise it
            self.run()

    def _serve(self, seconds: float | None) -> None:
        end = None if seconds is None else self._began + seconds
        while not self._stop.is_set():
            if not self._open_card(end):
                return
            # Only from here on: threads that opening starts would inherit the priority, and PortAudio's spins at times, through
            # PulseAudio, which must then get a core itself.
            with real_time() as self._real_time:
                self._work(end)
            if end is not None and self._card.now() >= end:
                return
            self._close_card()

    def _open_card(self, end: float | None) -> bool:
        """Open it: the first time at once or not at all, later whenever it is back; False if that is not before the end."""
        while not self._over(end):
            try:
                self._open_once()
                return True
            except Exception as error:  # whatever the system says of a device that is being plugged in
                if not self._opened.is_set():
                    raise
                self._cause = str(error) if isinstance(error, DeviceError) else _in_a_line(error)
            again = self._card.now() + REOPEN_EVERY
            while not self._over(end) and self._card.now() < again:
                self._card.wait(0.05)
        return False

    def _over(self, end: float | None) -> bool:
        return self._stop.is_set() or (end is not None and self._card.now() >= end)

    def _open_once(self) -> None:
        plan = self._card.plan()
        engine = self._engine_for(plan)
        exchange = Exchange(
            plan.channels_in,
            plan.channels_out,
            plan.rate_in,
            plan.rate_out,
            captured=int(ROOM * plan.rate_in) + plan.block_in,
            playing=int(ROOM * plan.rate_out) + 8 * plan.block_out,
            sent=int(RECORDED * plan.rate_out) if self._record else 0,
        )
        session = Session(plan, exchange, engine, self._counts, self._card.now())
        _left.append(exchange)  # from here on the card may call back
        try:
            self._latencies = self._card.open(plan, exchange)
        except BaseException:
            _left.remove(exchange)
            raise
        self._plan, self._session = plan, session
        session.muted = self._muted  # after that: whoever sets it in between has told the new session
        while len(self._recorded) > 1:  # nobody has fetched what was sent two openings ago
            old = self._recorded.pop(0)
            self._unrecorded += _unrecorded(old) + old.to_fetch
        if self._record:  # last, so that no frame can be fetched before status() has its rate
            self._recorded.append(exchange)
        self._opened.set()

    def _engine_for(self, plan: Format) -> Engine | ContentGuard:
        """A fresh stream with the parameters and voice that were there before, if there was one."""
        with self._rebuild:
            old = self._engine
            muted = old.stats.muted if old is not None else 0
            if old is not None and (old.sample_rate, old.channels) == (plan.rate_in, plan.channels_in):
                old.reset()
                self._counts.muted_hops += muted
                return old
            stages = self._stages if old is None else [_continued(stage) for stage in old.stages]
            made = Engine(
                stages,
                sample_rate=plan.rate_in,
                channels=plan.channels_in,
                policy="mix",
                seed=self._seed,
                source=self._source,
            )
            if old is not None:
                made.restore(old.save())
            engine = made if self._around is None else self._around(made)
            _warm(engine)
            self._engine = engine
            self._counts.muted_hops += muted
            return engine

    def _work(self, end: float | None) -> None:
        session, card = self._session, self._card
        if session is None:
            return
        looked = card.now()
        while not (self._stop.is_set() or session.lost):
            now = card.now()
            pause = session.turn(now)
            if self._lost and session.running:
                self._lost, self._cause = False, ""
                self._counts.reopened += 1
            if now - looked > 0.1:
                looked = now
                if not card.active:
                    session.lost = session.lost or "the device has gone"
                elif end is not None and now >= end:
                    break
            if pause and not session.lost:
                card.wait(pause)
        session.account(card.now())
        if session.lost:
            self._lost, self._cause = True, session.lost

    def _close_card(self) -> None:
        """Close it; where that hangs, as with a sound server that is stopped, wait for it as long as the stream goes on."""
        session = self._session
        closer = self._start_closing()
        closer.join(CLOSING)
        while closer.is_alive() and not self._stop.is_set():
            closer.join(0.1)
        if not closer.is_alive() and session is not None and session.exchange in _left:
            _left.remove(session.exchange)

    def _start_closing(self) -> threading.Thread:
        """A thread that closes the card; the one at work, if there is one: two would free PortAudio's streams twice."""
        with self._closing:
            if self._closer is None or not self._closer.is_alive():
                self._closer = threading.Thread(target=self._card.close, name="velavox close", daemon=True)
                self._closer.start()
            return self._closer


def _in_a_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _unrecorded(exchange: Exchange) -> int:
    return int(exchange.counts.unrecorded)


def _db(peak: float) -> float:
    return float(20 * np.log10(max(float(peak), 1e-6)))


def _continued(stage: Stage) -> Stage:
    """The same voice for another stream, from the first: one that is drawn and thrown away may cost what a ledger counts."""
    other = stage.clone()
    other.restore(stage.save())
    return other


def _warm(engine: Engine | ContentGuard) -> None:
    """Run it on silence for half a second of sound, so that the first block finds memory mapped and caches filled."""
    shape = (engine.sample_rate // 100, engine.channels)
    for _ in range(50):
        engine.process(np.zeros(shape, np.float32))
    engine.reset()
