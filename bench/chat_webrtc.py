"""Voice chat through WebRTC: what a call costs the server, how late a voice is heard in a browser, what calls leave behind.

python -m velavox.bench.chat_webrtc [--method mcadams] [--calls 8] [--seconds 20] [--cycles 400] [--json FILE]

The server is `velavox serve` in a process of its own, asked for its CPU time and memory by /metrics. The delay is what the page
itself measures in headless Chromium, from microphone to loudspeaker, the devices apart. All of it asks for an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import numpy as np
import soundfile
from aiortc import MediaStreamTrack
from av import Packet
from av.stream import Stream

from ..engine import jsonfile
from ..engine.methods import METHODS
from ..engine.serve.opus import RATE, SAMPLES, TIME_BASE, Encoder, Sound
from .caller import Caller
from .chromium import Browser, program
from .speech import speech

_SETTLING = 5.0  # s
_FIGURES = "[...document.querySelectorAll('#figures dd')].slice(0, 3).map((figure) => figure.textContent)"
_SERVER = "from velavox.engine.cli import main; main()"


class Speaking(MediaStreamTrack):
    """`packets` over and over, encoded beforehand, so that a hundred callers cost next to nothing."""

    kind = "audio"

    def __init__(self, packets: list[Sound]) -> None:
        super().__init__()
        self._packets, self._count = packets, 0
        self._began = asyncio.get_running_loop().time()

    async def recv(self) -> Packet[Stream]:
        due = self._began + self._count * SAMPLES / RATE
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        packet: Packet[Stream] = Packet(self._packets[self._count % len(self._packets)][0])
        packet.pts, packet.time_base = self._count * SAMPLES, TIME_BASE
        self._count += 1
        return packet


@asynccontextmanager
async def served(method: str) -> AsyncIterator[aiohttp.ClientSession]:
    """The command, and a client of it."""
    command = [sys.executable, "-c", _SERVER, "serve", "--port", "0", "--calls", "1000", "--method", method]
    server = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    assert server.stderr is not None
    try:
        while not (found := re.search(rb"open (\S+/)", await server.stderr.readline())):
            assert server.returncode is None, "the server has ended"
        reading = asyncio.ensure_future(server.stderr.read())
        async with aiohttp.ClientSession(found[1].decode(), connector=aiohttp.TCPConnector(force_close=True)) as http:
            yield http
        server.terminate()
        await server.wait()
        await reading
    finally:
        if server.returncode is None:
            server.kill()


async def metric(http: aiohttp.ClientSession, name: str) -> float:
    async with http.get("/metrics") as response:
        found = re.search(rf"^{name} (\S+)$", await response.text(), re.MULTILINE)
    assert found, name
    return float(found[1])


def encoded() -> list[Sound]:
    """Speech in packets."""
    return Encoder().encode(np.rint(32767 * np.clip(speech(RATE), -1, 1)).astype(np.int16), 0)


async def cost(http: aiohttp.ClientSession, calls: int, seconds: float) -> dict[str, float]:
    """CPU time of the server for each second of a call that hears itself."""
    packets = encoded()
    callers = [Caller(Speaking(packets), 1) for _ in range(calls)]
    before = await metric(http, "process_cpu_seconds_total")
    await asyncio.sleep(_SETTLING)
    idle = (await metric(http, "process_cpu_seconds_total") - before) / _SETTLING
    served_calls = sum([(await caller.call(http))[0] == 201 for caller in callers])
    await asyncio.sleep(_SETTLING)
    frames, spent = await metric(http, "velavox_frame_seconds_count"), await metric(http, "process_cpu_seconds_total")
    await asyncio.sleep(seconds)
    frames = await metric(http, "velavox_frame_seconds_count") - frames
    spent = await metric(http, "process_cpu_seconds_total") - spent
    for caller in callers:
        await caller.leave(http)
    # For each frame that was served, since a busy machine drops some.
    of_one = (spent / seconds - idle) / (frames / seconds) * RATE / SAMPLES
    return {
        "calls": served_calls,
        "refused": calls - served_calls,
        "frames_per_call_and_second": frames / seconds / served_calls,
        "cpu_ms_per_call_and_second": 1000 * of_one,
        "calls_per_core": 1 / of_one,
    }


async def delay(http: aiohttp.ClientSession, url: str, seconds: float) -> dict[str, float]:
    """Mouth to ear in a browser: the median of what the page shows each second, and velavox's part of it; ms."""
    with tempfile.TemporaryDirectory() as folder:
        microphone = Path(folder) / "speech.wav"
        soundfile.write(microphone, speech(RATE), RATE, subtype="PCM_16")
        async with Browser(Path(folder), microphone) as page:
            await page.open(url)
            await page.until("document.getElementById('method').options.length > 0")
            await page.evaluate("document.getElementById('start').click()")
            await page.until("!document.getElementById('call').hidden")
            await asyncio.sleep(_SETTLING)
            shown = []
            for _ in range(max(10, round(seconds))):  # the page needs some seconds of speech to be sure
                await asyncio.sleep(1)
                texts = await page.evaluate(_FIGURES)
                shown.append([float(text.split()[0]) if text[:1].isdigit() else np.nan for text in texts])
    measured, summed, engine = np.nanmedian(np.array(shown), axis=0)
    return {"mouth_to_ear_ms": float(measured), "sum_of_known_ms": float(summed), "engine_ms": float(engine)}


async def cycles(http: aiohttp.ClientSession, count: int) -> dict[str, float]:
    """Memory of the server over so many times that two meet in a room, are heard, and leave; growth: in the second half."""
    packets = encoded()
    memory = []
    for _ in range(count):
        pair = [Caller(Speaking(packets), 5) for _ in range(2)]
        for caller in pair:
            while (await caller.call(http, room="bench"))[0] != 201:  # the machine is busy: it lets them in by and by
                await asyncio.sleep(1)
        await asyncio.wait_for(pair[0].ears[0].receiver.track.recv(), 20)
        for caller in pair:
            await caller.leave(http)
        memory.append(await metric(http, "process_resident_memory_bytes") / 1e6)
    rest = memory[count // 2 :]  # the allocator's pools fill over the first 200 or so; no object stays from the first on
    slope = np.polyfit(np.arange(len(rest)), rest, 1)[0] if len(rest) > 1 else 0.0
    left = await metric(http, "velavox_calls")
    return {"cycles": count, "memory_mb": max(memory), "growth_kb_per_cycle": 1000 * float(slope), "calls_left": left}


async def run(method: str, calls: int, seconds: float, count: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    async with served(method) as http:
        found["cost"] = await cost(http, calls, seconds)
        if program() is not None:
            found["delay"] = await delay(http, str(http._base_url), seconds)
        if count:
            found["cycles"] = await cycles(http, count)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.chat_webrtc", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--method", default="mcadams", choices=list(METHODS))
    parser.add_argument("--calls", type=int, default=8, metavar="N", help="at a time, in a loop each")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="N", help="of measuring each")
    parser.add_argument("--cycles", type=int, default=400, metavar="N", help="of joining and leaving; 0: leave it out")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    found = asyncio.run(run(arguments.method, arguments.calls, arguments.seconds, arguments.cycles))
    for what, figures in found.items():
        print(what)
        for name, value in figures.items():
            print(f"  {name:28} {value:10.2f}")
    if arguments.json:
        jsonfile.write(arguments.json, {"method": arguments.method, **found})


if __name__ == "__main__":
    main()
