"""What a live stream sent to the device, as a file: every sample of it, and nothing else.

A thread of its own fetches and writes, so that the stream never waits for the disk; libsndfile works without the GIL. The
file gets its name when it is whole; a crash leaves only a hidden part of it, of anonymized sound. While the device is lost
nothing is sent, and nothing recorded; nor are the holes that a device makes by itself. A device that comes back at another
rate ends the recording, and so does a disk that is full: what it took is kept, where the codec allows it.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from ..kernels.jit import F32
from .failure import FileFailure
from .form import Form, form_for
from .progress import counted
from .status import Status
from .writer import Writer

FETCH_EVERY = 0.25  # s
ENDING = 60.0  # s that the disk may take at the end: an hour of sound may wait in the system's cache
DROPPING = 0.3  # s that giving up may take


class Source(Protocol):
    """What is recorded: a `Live` with record=True."""

    def sent(self, y: F32) -> int: ...

    @property
    def unrecorded(self) -> int: ...

    def status(self) -> Status: ...


class Recorder:
    """Records to `target`, mono, in the form of its ending, where that has floats in floats. A context, or `close` ends it.

    Attributes:
        trouble: why there is no recording, or not all of it, in one line; "" while all is well.
        note: what else there is to say of it, in one line; "" if nothing.
        seconds: of sound written, and at the end of sound kept.
    """

    def __init__(self, target: Path) -> None:
        """FileFailure if nothing can be written under such a name."""
        self.trouble, self.note, self.seconds = "", "", 0.0
        self._target, self._form = target, form_for(Form("", "FLOAT"), Path(), target, None, 1)
        self._stop, self._ended = threading.Event(), threading.Event()
        self._dropped = ""  # why
        self._writer: Writer | None = None

    def start(self, source: Source) -> None:
        """Record `source`, which runs, from its start on. FileFailure if the place refuses, or the codec its rate."""
        rate = source.status().rate_out
        self._writer = Writer(self._target, self._form, rate, 1)
        threading.Thread(target=self._run, args=(source, self._writer, rate), name="velavox record", daemon=True).start()

    def finish(self, seconds: float) -> bool:
        """Have what is left written, and the file named; False if that takes longer. The source is closed by now."""
        self._stop.set()
        return self._writer is None or self._ended.wait(seconds)

    def drop(self, why: str) -> None:
        """Give it up, unless it is whole by now: no file is left, `why` is the trouble."""
        self._dropped = why
        if self._writer is not None and not self.finish(DROPPING):  # it hangs in the system, maybe for good
            self._writer.forget()
            self._fail(why)

    def close(self) -> None:
        """`finish`, and `drop` it if the disk hangs."""
        if not self.finish(ENDING):
            self.drop(f"the disk did not take it within {ENDING:.0f} s")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _run(self, source: Source, writer: Writer, rate: int) -> None:
        try:
            with writer:
                stopped = self._record(source, writer, rate)
                writer.commit(short=True)
            missing = source.unrecorded
            late = f"it lacks {counted(missing, 'frame')}: the disk, or the machine, did not keep up" if missing else ""
            self.trouble = stopped or late
        except FileFailure as failure:
            self._fail(str(failure))
        except Exception as error:  # of a codec: whatever it is, the stream goes on, and its user is told
            self._fail(f"{type(error).__name__}: {error}".splitlines()[0])
        finally:
            self._ended.set()

    def _record(self, source: Source, writer: Writer, rate: int) -> str:
        """Until it is to stop; why it had to before, if it had."""
        y = np.empty(round(FETCH_EVERY * rate), np.float32)  # of a disk that fills, all but the last such piece is kept
        last = False
        while not last:
            last = self._stop.wait(FETCH_EVERY)  # asked before the last fetch, which so gets all
            while frames := source.sent(y):
                if self._dropped:
                    raise FileFailure(self._dropped, "record again")
                if (new := source.status().rate_out) != rate:
                    self.note = f"it ends after {self.seconds:.1f} s, as the device came back at {new} Hz"
                    return ""
                try:
                    writer.write(y[:frames, None])
                except FileFailure as failure:
                    if not writer.cut():
                        raise
                    return f"{failure}; the first {self.seconds:.1f} s are kept"
                self.seconds += frames / rate
        return ""

    def _fail(self, why: str) -> None:
        self.trouble, self.seconds = self._dropped or f"{why}; nothing of it is kept", 0.0
