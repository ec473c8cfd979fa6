"""The command `velavox`. What is heavy is imported by the command that needs it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from .cli_files import anonymize, methods, pipe
from .options import FAILED, INTERRUPTED
from .progress import say
from .standard import standard_streams

app = typer.Typer(
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
    """Anonymize voices in files, folders and pipes."""


app.command(no_args_is_help=True)(anonymize)
app.command()(pipe)
app.command()(methods)


def main() -> None:
    """The entry point of the command."""
    try:
        with standard_streams():
            app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `velavox methods | head`: whoever asked has enough
        sys.exit(0)
    except OSError as error:
        say(f"failed: stdout: {error.strerror}")
        sys.exit(FAILED)
