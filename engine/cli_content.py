"""The commands on what is said: content. Each has its file."""

from __future__ import annotations

import typer

from .usage import Commands

content = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Find sensitive words in what is said, and hide or replace them.",
)
