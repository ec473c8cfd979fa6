"""Profiles as text: a row for each run, what a block's time is made of, and the smallest block that is safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from .profile_report import Report
from .profile_run import Pace, Row
from .profile_safe import SAFE, Ladder

_HOW: dict[Pace, str] = {
    "fast": "as fast as possible",
    "real": "in real time through a live stream without a device",
}


def as_text(rows: Sequence[Row], ladders: Iterable[Ladder]) -> str:
    """All of it, for a terminal of 120 columns."""
    first = rows[0]
    sound = f"{first.seconds:g} s of {first.work.sound.name}, {_channels(first)}"
    lines = [f"{sound}, {_HOW[first.pace]}; times of a block in us", ""]
    lines += _table(rows)
    lines += ["", *(_details(rows[0]) if len(rows) == 1 else _means(rows)), ""]
    return "\n".join([*lines, *(line for ladder in ladders for line in _safe(ladder))])


def _channels(row: Row) -> str:
    channels = row.work.channels
    return "1 channel" if channels == 1 else f"{channels} channels, {'mixed' if row.policy == 'mix' else 'a voice each'}"


def _table(rows: Sequence[Row]) -> list[str]:
    """The first block, percentiles, what share of its duration a block takes, and what that sums up to."""
    head = ["method", "Hz", "block", "ms", "blocks", "first", "p50", "p95", "p99", "p99.9", "max"]
    head += ["p99/block", "misses", "RTC", "CPU", "delay ms"]
    cells = [head]
    for row in rows:
        r, t = row.report, row.report.times_us
        cells.append([row.work.method, f"{row.work.sound.rate}", f"{row.work.block}", f"{row.block_ms:.2f}", f"{r.blocks}"])
        cells[-1] += [f"{value:.0f}" for value in (r.first_us, t["p50"], t["p95"], t["p99"], t["p99_9"], t["max"])]
        cells[-1] += [_percent(r.deadline["p99"]), f"{r.misses}", f"{r.rtc:.4f}", _percent(r.cpu_share), f"{r.delay.total:.1f}"]
    return _aligned(cells)


def _means(rows: Sequence[Row]) -> list[str]:
    """Of several runs: the mean time of each part."""
    names = list(dict.fromkeys(name for row in rows for name in row.report.trace.parts))
    means = [{part.name: f"{part.mean_us:.1f}" for part in row.report.parts} for row in rows]
    names = [name for name in names if any(name in mean for mean in means)]
    cells = [["mean us", "Hz", "block", *names]]
    for row, mean in zip(rows, means, strict=True):
        where = [row.work.method, f"{row.work.sound.rate}", f"{row.work.block}"]
        cells.append(where + [mean.get(name, "") for name in names])
    return _aligned(cells)


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in cells]


def _details(row: Row) -> list[str]:
    """Of one run: its parts, delay and memory."""
    r, a = row.report, row.allocations
    lines = _parts(r)
    parts = ", ".join(f"{name} {ms:.1f}" for name, ms in {**r.delay.algorithmic, **r.delay.buffering}.items() if ms)
    sums = [sum(ms.values()) for ms in (r.delay.algorithmic, r.delay.buffering)]
    lines += [
        f"  delay {r.delay.total:.1f} ms = algorithmic {sums[0]:.1f} + buffering {sums[1]:.1f} + compute {r.delay.compute:.2f}",
        f"    {parts}",
        f"  memory: {a.net:.0f} bytes kept a block, {a.peak / 1e3:.1f} kB in use at a time; garbage collections"
        f" {sum(r.collections)}, {r.pause_us / 1e3:.1f} ms, the longest {r.longest_pause_us / 1e3:.1f} ms",
    ]
    if row.live is not None:
        lines.append(f"  stream: {row.live.xruns} xruns, {row.live.starved_ms:.0f} ms starved, {row.live.worker} priority")
    return lines


def _parts(r: Report) -> list[str]:
    if not r.parts:
        return ["  too few blocks to say what takes the time"]
    width = max(len(part.name) for part in r.parts)
    lines = [f"  {'':{width}}     p50     p99    mean   share"]
    for p in r.parts:
        bar = "#" * round(40 * p.share)
        lines.append(f"  {p.name:{width}} {p.p50_us:7.1f} {p.p99_us:7.1f} {p.mean_us:7.1f}  {_percent(p.share):>6}  {bar}")
    whole = f"parts timed in {r.looked_into} blocks, which add up to {_percent(r.parts_to_whole)} of the time of all"
    return [*lines, f"  {'all':{width}} {'':15} {r.times_us['mean']:7.1f}          {whole}"]


def _safe(ladder: Ladder) -> list[str]:
    where = f"for {ladder.method} at {ladder.rate} Hz on this machine"
    if ladder.safe is None:
        lines = [f"no safe block {where}"]
    else:
        lines = [f"smallest safe block {where}: {ladder.safe} frames, {ladder.safe / ladder.rate * 1e3:.1f} ms"]
    tried = [f"{block}: {_percent(use)}" for block, use in sorted(ladder.use.items())]
    lines.append(f"  safe: p99 below {SAFE:.0%} of what a block lasts, here and for all that are larger; p99 was")
    return [*lines, *wrap(", ".join(tried), 112, initial_indent="  ", subsequent_indent="  ")]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 10 else f"{share:.0%}"
