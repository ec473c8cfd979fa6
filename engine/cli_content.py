"""The commands on what is said: content. Each has its file."""

from __future__ import annotations

import typer

from .cli_content_bench import bench
from .cli_content_live import live
from .cli_content_redact import redact, scan
from .cli_content_resynthesize import resynthesize
from .cli_content_text import text
from .cli_content_words import words
from .usage import Command, Commands, JsonCommand

content = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find sensitive words in what is said, and hide or replace them.",
)

content.command(cls=Command, no_args_is_help=True)(redact)
content.command(cls=JsonCommand, no_args_is_help=True)(scan)
content.command(cls=JsonCommand)(live)
content.command(cls=JsonCommand)(text)
content.command(cls=Command, no_args_is_help=True)(resynthesize)
content.command(cls=JsonCommand)(bench)
content.add_typer(words, name="words")
