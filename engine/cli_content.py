"""The commands on what is said: content. Each has its file."""

from __future__ import annotations

import typer

from .cli_content_text import text
from .usage import Commands, JsonCommand

content = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find sensitive words in what is said, and hide or replace them.",
)

content.command(cls=JsonCommand)(text)
