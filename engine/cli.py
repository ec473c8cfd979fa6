"""The command `velavox`. What is heavy is imported by the command that needs it."""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated

import typer

from .. import __version__
from .cli_audit import audit
from .cli_content import content
from .cli_files import anonymize, methods, pipe
from .cli_live import devices, live
from .cli_privacy import privacy
from .cli_profile import profile
from .cli_serve import serve
from .options import FAILED, INTERRUPTED
from .progress import say
from .standard import standard_streams
from .usage import Command, Commands, JsonCommand

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: an error is one line that can be searched for, and help starts faster
    pretty_exceptions_enable=False,  # they would show the values of variables
)


def _version(asked: bool) -> None:
    if asked:
        print(f"velavox {__version__}")
        raise typer.Exit


@app.callback()
def velavox(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and exit.")] = False,
) -> None:
    """Anonymize voices while somebody speaks, and in files, folders and pipes."""


app.command(cls=Command, no_args_is_help=True)(anonymize)
app.command(cls=Command)(pipe)
app.command(cls=JsonCommand)(live)
app.command(cls=Command)(devices)
app.command(cls=JsonCommand)(profile)
app.command(cls=JsonCommand)(privacy)
app.command(cls=Command)(serve)
app.add_typer(audit, name="audit")
app.add_typer(content, name="content")
app.command(cls=Command)(methods)


def main() -> None:
    """The entry point of the command."""
    status = _run()
    if threading.active_count() > 1:  # it hangs in a sound driver, which would hang the exit as well
        os._exit(status)
    sys.exit(status)


def _run() -> int:
    try:
        with standard_streams():
            app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `velavox methods | head`: whoever asked has enough
        pass
    except OSError as error:
        say(f"failed: stdout: {error.strerror}")
        return FAILED
    return 0
