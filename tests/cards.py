"""Sound cards, opened to rings of their own."""

from __future__ import annotations

from velavox.engine.card import Format
from velavox.engine.exchange import Exchange
from velavox.engine.soundcard import SoundCard


def rings(plan: Format) -> Exchange:
    rates, channels = (plan.rate_in, plan.rate_out), (plan.channels_in, plan.channels_out)
    return Exchange(*channels, *rates, captured=rates[0], playing=rates[1])


def opened(card: SoundCard) -> tuple[Format, Exchange]:
    plan = card.plan()
    exchange = rings(plan)
    card.open(plan, exchange)
    return plan, exchange
