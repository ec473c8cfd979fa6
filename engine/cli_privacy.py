"""The command that says what the speaker mechanism promises: privacy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .. import __version__
from .options import STDOUT, JsonSummary, check_json, check_number, give_json, put, told


class CalibrationName(StrEnum):
    sound = "sound"
    paper = "paper"


def privacy(
    mu: Annotated[float, typer.Option(help="How well speakers may be told apart, 0.01 to 100; less hides more.", metavar="X")],
    sessions: Annotated[int, typer.Option(help="Also after so many sessions of one speaker.", metavar="N")] = 1,
    calibration: Annotated[
        CalibrationName, typer.Option(help="sound: sigma = 2 U/mu; paper: sigma = U/mu, which spends twice the mu.")
    ] = CalibrationName.sound,
    json: JsonSummary = None,
) -> None:
    """State exactly what the noise on the speaker embedding promises against any attacker, and what it does not speak of.

    \b
    Examples:
      velavox privacy --mu 1 --sessions 10
      velavox privacy --mu 0.5 --calibration paper --json statement.json
    """
    with told(ValueError):
        from .mechanism import HIGHEST_MU, LOWEST_MU
        from .statement import MOST_SESSIONS, Statement

        check_number("--mu", mu, LOWEST_MU, HIGHEST_MU)
        check_number("--sessions", sessions, 1, MOST_SESSIONS)
        statement = Statement(mu, calibration.value, sessions)
        check_json(json)
        if json != STDOUT:
            put(statement.as_text())
        give_json(json, {"velavox": __version__, **statement.as_json()})
