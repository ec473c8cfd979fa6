"""A command line that is wrong: one line, with the option, its value and what to give; none of the parser's insides."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner
from velavox.engine.cli import app


def wrong(arguments: str) -> str:
    result = CliRunner().invoke(app, arguments.split(), prog_name="velavox")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("live --rate fast", "velavox: --rate fast: give a whole number"),
        ("live --seed=x", "velavox: --seed x: give a whole number"),
        ("live --seconds soon --json", "velavox: --seconds soon: give a number"),
        ("live --seconds -0.5", "velavox: --seconds -0.5: give 0 or more"),
        ("pipe --rate 8000 --channels 0", "velavox: --channels 0: give 1 or more"),
        ("profile --pace slow", "velavox: --pace slow: give one of 'fast', 'real'"),
        ("profile --rate 8000 --rate x", "velavox: --rate 8000, x: give a whole number"),
        ("anonymize a --out b --jobs many", "velavox: --jobs many: give a whole number"),
        ("privacy --mu much", "velavox: --mu much: give a number"),
    ],
)
def test_values(arguments: str, line: str) -> None:
    assert wrong(arguments) == line


@pytest.mark.parametrize(
    ("arguments", "start", "end"),
    [
        ("live --bypass", "velavox: No such option", "; see `velavox live --help`"),
        ("live --input", "velavox: Option '--input' requires an argument", "; see `velavox live --help`"),
        ("anonymize a", "velavox: Missing option '--out'", "; see `velavox anonymize --help`"),
        ("devices x", "velavox: Got unexpected extra argument", "; see `velavox devices --help`"),
        ("lve", "velavox: No such command 'lve'", "; see `velavox --help`"),
        ("--bypass", "velavox: No such option", "; see `velavox --help`"),
    ],
)
def test_words(arguments: str, start: str, end: str) -> None:
    assert wrong(arguments).startswith(start)
    assert wrong(arguments).endswith(end)


@pytest.mark.parametrize("arguments", [(), ("anonymize",)])
def test_who_gives_nothing_gets_the_help(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Options:" in result.output
