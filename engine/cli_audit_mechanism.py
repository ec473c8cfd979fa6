"""The command that tests the claim of the speaker mechanism: audit mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_privacy import CalibrationName
from .options import (
    FAILED,
    STDOUT,
    JsonSummary,
    check_json,
    check_number,
    check_plots,
    check_result,
    fail,
    give_json,
    put,
    refuse,
    told,
)
from .progress import Progress

if TYPE_CHECKING:
    from ..bench.audit.mechanism import MechanismAudit

_PICTURES = (".png", ".svg", ".pdf")


def mechanism(
    mu: Annotated[float, typer.Option(help="What the noise is asked for with, 0.01 to 100.", metavar="X")],
    calibration: Annotated[
        CalibrationName, typer.Option(help="sound: sigma = 2 U/mu; paper: sigma = U/mu.")
    ] = CalibrationName.sound,
    claim: Annotated[
        float | None, typer.Option(help="The mu that it is sold as [what `velavox privacy` states].", metavar="MU")
    ] = None,
    draws: Annotated[int, typer.Option(help="Releases of each of the two speakers; 900 take a second.", metavar="N")] = 20_000,
    json: JsonSummary = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the trade-off curve against the claim.", metavar="FILE.png|svg|pdf")
    ] = None,
) -> None:
    """Attack the noise on the speaker embedding, and bound from below how well it lets speakers be told apart.

    Two speakers as far apart as can be are released over and over by the noise graph that velavox ships, and told apart by
    their likelihood ratio. Exit status 1 when the bound exceeds the claim, 0 when nothing speaks against it; a sound mechanism
    is called false once in a thousand audits at most.

    \b
    Examples:
      velavox audit mechanism --mu 1
      velavox audit mechanism --mu 1 --calibration paper --claim 1 --plot tradeoff.png
    """
    with told(ValueError):
        from ..bench.audit.mechanism import FEWEST, MOST, audited
        from .mechanism import HIGHEST_MU, LOWEST_MU

        check_number("--mu", mu, LOWEST_MU, HIGHEST_MU)
        check_number("--draws", draws, FEWEST, MOST)
        if claim is not None:
            check_number("--claim", claim, LOWEST_MU, 2 * HIGHEST_MU)
        check_json(json)
        if plot is not None:
            _check_plot(plot, json)
        with Progress() as bar:
            found = audited(mu, calibration.value, claim, draws, bar.progress)
        if json != STDOUT:
            put(found.as_text())
        give_json(json, found.as_json())
        if plot is not None:
            _draw(plot, found)
    if not found.holds:
        raise typer.Exit(FAILED)


def _check_plot(plot: Path, json: str | None) -> None:
    if plot.suffix.lower() not in _PICTURES:
        refuse(f"--plot {plot}: give a name that ends in {', '.join(_PICTURES)}")
    check_result("--plot", plot, [Path(json)] if json not in (None, STDOUT) else [])
    check_plots("--plot")


def _draw(plot: Path, found: MechanismAudit) -> None:
    from ..bench.audit.plots import trade_off
    from ..bench.audit.svg import write

    try:
        write(plot, [trade_off(found), trade_off(found, logarithmic=True)])
    except OSError as error:
        fail(f"{plot}: {error.strerror}; give a --plot FILE that can be written")
