"""What is wrong with a command line, in one line: the option, its value, and what to give instead.

The parser's own words depend on its version, and some of them speak of its insides ("unable to parse string as an integer").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .options import STDOUT, refuse

_UsageError: Any = typer.BadParameter.__mro__[1]  # the parser's base of them all, wherever this version of typer keeps it

_REMEDIES = (  # what the parser says, with pydantic in it and without; what to do
    (r"valid integer", "give a whole number"),
    (r"valid (?:number|float)", "give a number"),
    (r"(?:greater than or equal to |range x>=)(\w+)", r"give \1 or more"),
    (r"is not one of (.+?)\.?$", r"give one of \1"),
)


class Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _in_one_line(ctx):
            try:
                return super().parse_args(ctx, list(args))
            except typer.BadParameter as error:
                given = self.make_parser(ctx).parse_args(args=list(args))[0]
                remedy = _remedy(error.message)
                if error.param is None or not remedy or not (value := given.get(error.param.name)):
                    raise
                values = value if isinstance(value, list) else [value]
                refuse(f"{error.param.opts[0]} {', '.join(map(str, values))}: {remedy}")


class JsonCommand(Command):
    """A command whose `--json` may stand without a value, which means `STDOUT`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        pairs = zip(args, [*args, "--"][1:], strict=True)
        alone = [word == "--json" and after != STDOUT and after.startswith("-") for word, after in pairs]
        return super().parse_args(ctx, [f"--json={STDOUT}" if a else word for a, word in zip(alone, args, strict=True)])


class Commands(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _in_one_line(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with _in_one_line(ctx):
            return super().invoke(ctx)


@contextmanager
def _in_one_line(ctx: Any) -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        if type(error).show is not _UsageError.show:  # no error: the help, for who gave nothing
            raise
        refuse(f"{error.format_message().rstrip('.')}; see `{ctx.command_path} --help`")


def _remedy(message: str) -> str:
    for pattern, remedy in _REMEDIES:
        if found := re.search(pattern, message):
            return found.expand(remedy)
    return ""
