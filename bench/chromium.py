"""Headless Chromium for tests and benches, driven through its DevTools protocol. One process for each fake microphone.

async with Browser(tmp_path, microphone=wav) as page:
    await page.open(url)
    await page.evaluate("document.title")
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get install chromium"
_FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--remote-debugging-port=0",
]
_LEASHED = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []  # a test run that is killed leaves nothing


def program() -> str | None:
    """The browser that is installed here."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One process with one page, as a context.

    Attributes:
        errors: what went wrong in the page: exceptions, and what its policy kept it from.
        requested: every address that it asked for.
    """

    def __init__(self, folder: Path, microphone: Path, *, size: tuple[int, int] = (1100, 900)) -> None:
        self._folder = folder / f"chromium-{microphone.stem}"
        self._flags = [*_FLAGS, f"--use-file-for-fake-audio-capture={microphone}", f"--window-size={size[0]},{size[1]}"]
        self.errors: list[str] = []
        self.requested: list[str] = []
        self._number = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}

    async def __aenter__(self) -> Self:
        found = program()
        assert found, INSTALL
        shutil.rmtree(self._folder, ignore_errors=True)  # of a run that was killed: its port is another one's now
        command = [*_LEASHED, found, *self._flags, f"--user-data-dir={self._folder}", "about:blank"]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
        self._http = aiohttp.ClientSession()
        try:
            port = await self._port()
            async with self._http.get(f"http://127.0.0.1:{port}/json/list") as response:
                pages = [target for target in await response.json() if target["type"] == "page"]
            self._socket = await self._http.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
            self._reading = asyncio.ensure_future(self._read())
            for domain in ("Page", "Runtime", "Network", "Log"):
                await self.do(f"{domain}.enable")
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if hasattr(self, "_reading"):
            self._reading.cancel()
            await self._socket.close()
        await self._http.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _port(self) -> str:
        told = self._folder / "DevToolsActivePort"
        for _ in range(600):
            if told.exists() and (text := told.read_text()).count("\n"):
                return text.splitlines()[0]
            assert self._process.poll() is None, "Chromium has ended at once"
            await asyncio.sleep(0.05)
        raise AssertionError("Chromium has not started within 30 s")

    async def _read(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                answer = self._answers.pop(told["id"], None)
                if answer is not None and not answer.done():
                    answer.set_result(told)
                continue
            about = told["params"]
            if told["method"] == "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description") or details["text"])
            elif told["method"] == "Log.entryAdded" and about["entry"]["level"] == "error":
                self.errors.append(about["entry"]["text"])
            elif told["method"] == "Network.requestWillBeSent":
                self.requested.append(about["request"]["url"])

    async def do(self, method: str, **parameters: Any) -> Any:
        """One command of the protocol, and its result."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps({"id": self._number, "method": method, "params": parameters}))
        told = await asyncio.wait_for(answer, 60)
        assert "error" not in told, f"{method}: {told.get('error')}"
        return told["result"]

    async def open(self, url: str) -> None:
        """Load a page."""
        await self.do("Page.navigate", url=url)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, of its promise if it is one."""
        asked = {"awaitPromise": True, "returnByValue": True, "userGesture": True}
        told = await self.do("Runtime.evaluate", expression=expression, **asked)
        if "exceptionDetails" in told:
            details = told["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description") or details["text"])
        return told["result"].get("value")

    async def until(self, expression: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true, and give its value."""
        return await until(lambda: self.evaluate(expression), seconds, expression)

    async def press(self, key: str, code: int, text: str = "") -> None:
        """A key of the keyboard, down and up."""
        about = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        await self.do("Input.dispatchKeyEvent", type="keyDown", **about)
        await self.do("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def look(self, *, width: int, height: int, dark: bool) -> None:
        """Show the page on a screen of that size and scheme."""
        await self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.do("Emulation.setEmulatedMedia", features=[feature])

    async def screenshot(self) -> bytes:
        """The whole page as PNG."""
        told = await self.do("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(told["data"])


async def until(ask: Callable[[], Awaitable[Any]], seconds: float, what: str) -> Any:
    """Ask again and again, until the answer is true."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not (found := await ask()):
        assert loop.time() < end, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(0.1)
    return found
