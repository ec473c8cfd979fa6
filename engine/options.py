"""What the commands share: exit statuses, options, and one line for each trouble instead of a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from . import jsonfile
from .failure import Unusable
from .progress import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .parameter import Value

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
STDOUT = "-"


class Policy(StrEnum):
    each = "each"
    one = "one"
    mix = "mix"


Method = Annotated[str, typer.Option(help="How the voice is changed: see `velavox methods`.", metavar="NAME")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A parameter of the method, LOW,HIGH for a range to draw from; again for more.", metavar="NAME=VALUE"
    ),
]
Seed = Annotated[int | None, typer.Option(help="Makes voices repeatable, and voids any claim of privacy.", metavar="N")]
ChannelPolicy = Annotated[Policy, typer.Option(help="each: a voice for every channel; one: the same for all; mix: all in one.")]
JsonSummary = Annotated[  # of a `usage.JsonCommand`
    str | None, typer.Option("--json", help="Write a summary as JSON, to stdout or to a file.", metavar="[FILE]")
]


def parsed(settings: Sequence[str] | None) -> dict[str, Value]:
    """The texts of `--set`, as `methods.make` takes them."""
    found: dict[str, Value] = {}
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            refuse(f"--set {text}: give NAME=VALUE, as in --set alpha=0.7")
        found[name.strip()] = value.strip()
    return found


def check_number(option: str, value: float, low: float, high: float, what: str = "") -> None:
    """Refuse what is not from `low` to `high`."""
    if not low <= value <= high:
        refuse(f"{option} {value:.10g}: give {low:.10g} to {high:.10g}{what and ' '}{what}")


def check_result(option: str, path: Path, others: Sequence[Path] = (), ending: str = "", made: Path | None = None) -> None:
    """Before hours of work, not after: `path` can be written, and is none of the `others`, which it would replace.

    Its folder is there, or is (in) `made`, a folder that the command makes. `ending`: its name has to end so. What the system
    refuses to answer raises PlanError.
    """
    from .plan import refusals_told

    if ending and path.suffix.lower() != ending:
        refuse(f"{option} {path}: give a name that ends in {ending}")
    with refusals_told():
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        special = path.exists() and not path.is_file()  # a folder or a device, which would be replaced
        if folder != path.absolute().parent and folder.is_dir() and not (made and made.absolute() in path.absolute().parents):
            refuse(f"{option} {path}: there is no folder {path.parent}; make it, or give another")
        if special or not folder.is_dir() or not os.access(folder, os.W_OK):
            refuse(f"{option} {path}: cannot be written; give another")
        for other in others:
            if os.path.realpath(path) == os.path.realpath(other) or (path.exists() and other.exists() and path.samefile(other)):
                refuse(f"{option} {path}: is the file {other}, which it would replace; give another")


def check_json(target: str | None, others: Sequence[Path] = ()) -> None:
    """`check_result` for what was given as `--json`."""
    if target not in (None, STDOUT):
        check_result("--json", Path(target), others)


def give_json(target: str | None, value: Mapping[str, Any]) -> None:
    """Write `value` where `--json` says, if it was given."""
    if target == STDOUT:
        put(jsonfile.as_text(value))
    elif target is not None:
        try:
            jsonfile.write(Path(target), value)
        except OSError as error:
            fail(f"{target}: {error.strerror}; give a --json FILE that can be written")


def check_plots(what: str) -> None:
    """Fail early where `what` needs plots and nothing draws them."""
    if find_spec("matplotlib") is None:
        fail(f'{what} needs matplotlib: pip install ".[plot]" where velavox was cloned to, or pip install matplotlib')


def put(text: str) -> None:
    """Print a result. Where nobody reads on, whoever asked has enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        pass
    except OSError as error:
        fail(f"stdout: {error.strerror}")


def tell_of_compiling() -> None:
    """Have a line written if a kernel is not in the cache, just before the wait."""
    from ..kernels.jit import before_compiling

    before_compiling(lambda: say("compiling kernels for the first run: up to half a minute, once"))


def refuse(text: str) -> NoReturn:
    """End as wrongly used."""
    say(f"velavox: {text}")
    raise typer.Exit(WRONG_USE)


def fail(text: str) -> NoReturn:
    """End as failed."""
    say(f"failed: {text}")
    raise typer.Exit(FAILED)


@contextmanager
def told(*wrong_use: type[Exception], where: str = "system") -> Iterator[None]:
    """Wrong use, what the system refuses, Ctrl-C and the signals that end a program become a line and an exit status, not a
    traceback."""

    def end(number: int, frame: object) -> NoReturn:
        sys.exit(128 + number)  # an exception, so that what is half written is removed

    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [number for number in ending if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except wrong_use as error:
        refuse(str(error))
    except Unusable as error:
        fail(str(error))
    except OSError as error:
        fail(f"{where}: {error.strerror}")
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
