"""An engine for frames of another form, made in a thread, so that no event loop waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

from ..host import MOST_CHANNELS, Engine
from ..resample import HIGHEST, LOWEST, whole


@dataclass(frozen=True)
class Form:
    """What an engine is prepared for."""

    sample_rate: int  # Hz
    channels: int


def checked(sample_rate: int, channels: int) -> Form:
    """ValueError if no engine has it."""
    rate = whole("sample_rate", sample_rate, LOWEST, HIGHEST, "Hz")
    return Form(rate, whole("channels", channels, 1, MOST_CHANNELS))


class Making(Thread):
    """The making of an engine, beside the caller. Done with it, the thread refers to nobody: no cycle keeps a stream alive."""

    def __init__(self, prepared: Callable[[Form], Engine], form: Form) -> None:
        super().__init__(target=self._make, args=(prepared,), name="velavox prepares", daemon=True)
        self.form = form
        self.made: Engine | None = None
        self.error = ""
        self._wanted = True

    def _make(self, prepared: Callable[[Form], Engine]) -> None:
        try:
            self.made = prepared(self.form)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}".splitlines()[0]
        if not self._wanted:
            self.made = None

    def drop(self) -> None:
        """Leave the stages as soon as may be, which is not when this object is collected."""
        self._wanted = False
        self.made = None
