"""Single keys from the terminal, without echo; none where stdin is no terminal, or another program has it."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self

KEYS = {"m": "mute", "n": "new voice", "q": "quit"}
HINT = "keys: " + ", ".join(f"{key} {meaning}" for key, meaning in KEYS.items())

if sys.platform == "win32":
    import msvcrt

    _POLL = 0.02  # s
    _PREFIXES = "\0\xe0"  # of keys that are no character, before one more code

    class Keys:
        """Single keys, as a context."""

        def __enter__(self) -> Self:
            self.there = sys.stdin is not None and sys.stdin.isatty()
            return self

        def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
            self.there = False

        def read(self, seconds: float) -> str:
            """Wait for that long at most; the characters typed, "" if none."""
            until = time.monotonic() + seconds
            while not (self.there and msvcrt.kbhit()):
                if time.monotonic() >= until:
                    return ""
                time.sleep(min(_POLL, seconds))
            character = msvcrt.getwch()
            if character in _PREFIXES:
                msvcrt.getwch()
                return ""
            return character

else:
    import select
    import termios
    from contextlib import suppress

    _STDIN = 0
    _LOCAL, _CHARACTERS = 3, 6  # places in what tcgetattr gives
    _ESCAPE = b"\x1b"  # begins what arrows and other keys without a character send

    class Keys:
        """Single keys, as a context that leaves the terminal as it was.

        Ctrl-C works as ever. Ctrl-Z does nothing meanwhile: a stopped program would leave the terminal in this mode, and
        keep the sound card.

        Attributes:
            there: somebody may type.
        """

        def __enter__(self) -> Self:
            self.there = os.isatty(_STDIN) and _in_front()
            self._before = termios.tcgetattr(_STDIN) if self.there else None
            if self.there:
                mode = termios.tcgetattr(_STDIN)
                mode[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
                none = os.fpathconf(_STDIN, "PC_VDISABLE")
                for place, value in ((termios.VMIN, 1), (termios.VTIME, 0), (termios.VSUSP, none)):
                    mode[_CHARACTERS][place] = value
                termios.tcsetattr(_STDIN, termios.TCSANOW, mode)  # not after the output, which a terminal may hold back
            return self

        def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
            if self._before is not None and _in_front():  # else the shell has it, in the shell's own mode
                with suppress(termios.error):  # it has been closed
                    termios.tcsetattr(_STDIN, termios.TCSANOW, self._before)
                    termios.tcflush(_STDIN, termios.TCIFLUSH)  # what was typed was meant for us
            self.there = False

        def read(self, seconds: float) -> str:
            """Wait for that long at most; the characters typed, "" if none."""
            if not (self.there and _in_front()):  # reading in the background would stop us
                time.sleep(seconds)
                return ""
            if not select.select([_STDIN], [], [], seconds)[0]:
                return ""
            typed = b""
            with suppress(OSError):
                typed = os.read(_STDIN, 64)
            self.there = typed != b""  # else the terminal has been closed
            return "" if typed.startswith(_ESCAPE) else typed.decode(errors="ignore")

    def _in_front() -> bool:
        """The terminal gives its keys to this program, not to a shell that has put it in the background."""
        try:
            return os.tcgetpgrp(_STDIN) == os.getpgrp()
        except OSError:  # a terminal that controls no session, as one that a program has made for us
            return True
