"""Profiles as text: a row for each run, what a block's time is made of, and the smallest block that is safe."""

from __future__ import annotations

from collections.abc import Sequence

from .profile_figures import ONE_IN, percent, shown
from .profile_report import Report
from .profile_run import Pace, Row
from .profile_safe import SAFE, SERVER, Ladder
from .progress import counted

_HOW: dict[Pace, str] = {
    "fast": "as fast as possible",
    "real": "in real time through a live stream without a device",
}

_COLUMNS = (
    "misses: blocks that took longer than they last; RTC: time over duration; CPU: of one core, by the thread that processes",
    "-: too few blocks to tell",
)
_BAR = 20  # characters
_PARTS = {
    "input": "converted to float; what is no sound removed",
    "mix": "channels mixed to one, and the voice copied to all",
    "resample_in": "to 16 kHz",
    "reblock": "gathered until the stages' hop is full",
    "judge": "a stage's output checked, silenced if not finite",
    "level": "as loud as the input",
    "limiter": "peaks kept below full scale",
    "resample_out": "back to the stream's rate",
    "deliver": "handed over in blocks of the caller's size",
}
_STAGE = "the voice changed"


def as_text(rows: Sequence[Row], ladders: Sequence[Ladder]) -> str:
    """All of it, for a terminal of 120 columns."""
    first = rows[0]
    lengths = sorted({f"{row.seconds:.4g}" for row in rows}, key=float)
    sound = f"{' to '.join(lengths[:: max(1, len(lengths) - 1)])} s of {first.work.sound.name}, {_channels(first)}"
    lines = [f"{sound}, {_HOW[first.pace]}; times of a block in us", "", *_table(rows), *_COLUMNS]
    lines += ["", *(_details(rows[0]) if len(rows) == 1 else _means(rows)), ""]
    for ladder in ladders:
        lines += _safe(ladder, first.pace)
    return "\n".join([*lines, *_meaning(ladders, first.pace)])


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
        cells[-1] += [shown(us) for us in (r.first_us, t["p50"], t["p95"], t["p99"], t["p99_9"], t["max"])]
        cells[-1] += [percent(r.deadline["p99"]), f"{r.misses}", shown(r.rtc, ".4f"), percent(r.cpu_share)]
        cells[-1] += [f"{r.delay.total:.1f}"]
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
        f"  delay {r.delay.total:.1f} ms = algorithmic {sums[0]:.1f} + buffering {sums[1]:.1f} + compute"
        f" {shown(r.delay.compute, '.2f')}",
        f"    {parts}",
        f"  memory: {a.net:.0f} bytes kept a block, {a.peak / 1e3:.1f} kB in use at a time;"
        f" {counted(sum(r.collections), 'garbage collection')}{_pauses(r)}",
    ]
    if row.live is not None:
        lines.append(
            f"  stream: {counted(row.live.xruns, 'xrun')}, {row.live.starved_ms:.0f} ms starved, {row.live.worker} priority"
        )
    return lines


def _pauses(r: Report) -> str:
    return f", {r.pause_us / 1e3:.1f} ms, the longest {r.longest_pause_us / 1e3:.1f} ms" if sum(r.collections) else ""


def _parts(r: Report) -> list[str]:
    if not r.parts:
        return ["  too few blocks to say what takes the time"]
    width = max(len(part.name) for part in r.parts)
    lines = [f"  {'':{width}}     p50     p99    mean   share"]
    for p in r.parts:
        bar = "#" * round(_BAR * p.share)
        times = " ".join(f"{shown(us, '.1f'):>7}" for us in (p.p50_us, p.p99_us, p.mean_us))
        lines.append(f"  {p.name:{width}} {times}  {percent(p.share):>6}  {bar:{_BAR}}  {_PARTS.get(p.name, _STAGE)}")
    looked = f"the parts, timed in {r.looked_into} of {r.blocks - 1} blocks"
    return [
        *lines,
        f"  {'all':{width}} {'':15} {shown(r.times_us['mean'], '.1f'):>7}",
        f"  check: {looked}, add up to {percent(r.parts_to_whole)} of what whole blocks take; 90 to 110% is expected",
    ]


def _safe(ladder: Ladder, pace: Pace) -> list[str]:
    where = f"for {ladder.method} at {ladder.rate} Hz on this machine"
    if ladder.safe is None:
        lines = [f"no safe block {where}"]
    else:
        smallest = ", the smallest tried" if ladder.smallest_tried else ""
        ms = ladder.safe / ladder.rate * 1e3
        lines = [f"smallest safe block {where}: {counted(ladder.safe, 'frame')}, {ms:.1f} ms{smallest}"]
    cells = [["block", "ms", "blocks", "p99/block", "max/block", "misses", *(["xruns"] if pace == "real" else []), "safe"]]
    for block, tried in sorted(ladder.tried.items()):
        cells.append([f"{block}", f"{block / ladder.rate * 1e3:.2f}", f"{tried.blocks}", percent(tried.p99)])
        cells[-1] += [percent(tried.longest), f"{tried.misses}", *([f"{tried.xruns}"] if pace == "real" else [])]
        cells[-1] += ["yes" if tried.safe else "no"]
    return [*lines, *(f"  {line}" for line in _aligned(cells))]


def _meaning(ladders: Sequence[Ladder], pace: Pace) -> list[str]:
    """What the verdicts say, and what not."""
    late = "no miss" if pace == "fast" else "no miss, no xrun"
    use = f"p99 (of fewer than {ONE_IN['p99']} blocks the longest) below {SAFE:.0%} of what a block lasts"
    lines = [
        f"safe: {late}, and {use}; so for",
        "all larger ones tried. That is about velavox's own work: the device and its sound server are not included",
    ]
    if pace == "fast":
        lines[-1] += ", nor is"
        lines.append("waking up for each block, which --pace real includes")
    if any(ladder.safe is not None and ladder.safe < SERVER for ladder in ladders):
        lines.append(f"in a live stream, blocks below about {SERVER} frames depend on the sound server")
    return lines
