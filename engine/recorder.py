"""What a live stream sent to the device, as a file: every sample of it, and nothing else.

A thread of its own fetches and writes, so that the stream never waits for the disk; libsndfile works without the GIL. The
file gets its name when it is whole; a crash leaves only a hidden part of it, of anonymized sound. While the device is lost
nothing is sent, and nothing recorded. A device that comes back at another rate ends the recording.
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
from .status import Status
from .writer import Writer

FETCH_EVERY = 0.25  # s
ENDING = 10.0  # s that the disk may take at the end


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
        seconds: of sound written.
    """

    def __init__(self, target: Path) -> None:
        """FileFailure if nothing can be written under such a name."""
        self.trouble, self.note, self.seconds = "", "", 0.0
        self._target, self._form = target, form_for(Form("", "FLOAT"), Path(), target, None, 1)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, source: Source) -> None:
        """Record `source`, which runs, from its start on. FileFailure if the place refuses, or the codec its rate."""
        rate = source.status().rate_out
        writer = Writer(self._target, self._form, rate, 1)
        self._thread = threading.Thread(target=self._run, args=(source, writer, rate), name="velavox record", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what is left, and give the file its name. The source is closed by now: it sends nothing more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(ENDING)
            if self._thread.is_alive():
                self.trouble = f"the disk did not take it within {ENDING:.0f} s"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _run(self, source: Source, writer: Writer, rate: int) -> None:
        try:
            with writer:
                self._record(source, writer, rate)
                writer.commit(short=True)
            if missing := source.unrecorded:
                self.trouble = f"{missing} frames are missing in it: the disk, or the machine, did not keep up"
        except FileFailure as failure:
            self.trouble = str(failure)
        except Exception as error:  # of a codec: whatever it is, the stream goes on, and its user is told
            self.trouble = f"{type(error).__name__}: {error}".splitlines()[0]

    def _record(self, source: Source, writer: Writer, rate: int) -> None:
        y = np.empty(rate, np.float32)
        last = False
        while not last:
            last = self._stop.wait(FETCH_EVERY)  # asked before the last fetch, which so gets all
            while frames := source.sent(y):
                if (new := source.status().rate_out) != rate:
                    self.note = f"it ends after {self.seconds:.1f} s, as the device came back at {new} Hz"
                    return
                writer.write(y[:frames, None])
                self.seconds += frames / rate
