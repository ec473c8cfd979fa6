"""The command that says what the speaker mechanism promises: privacy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .. import __version__
from .options import STDOUT, JsonSummary, check_json, give_json, told


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
        from .statement import Statement

        statement = Statement(mu, calibration.value, sessions)
        check_json(json)
        if json != STDOUT:
            print(statement.as_text())
        give_json(json, {"velavox": __version__, **statement.as_json()})
