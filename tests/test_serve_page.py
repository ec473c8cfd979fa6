"""The page in a real browser, headless Chromium: what is heard, shown, and done with a keyboard. One browser a microphone."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from likeness import Sound, likeness, loudness
from needs import lacking
from velavox.bench import chromium
from velavox.bench.chromium import Browser
from velavox.engine.serve import load

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("compiled")]

RATE = 48_000
BLOCK = 240  # samples, 5 ms
COMMAND = "from velavox.engine.cli import main; main()"
PATIENT = "import serving; serving.main()"  # lets calls in however busy this machine is
CLIPS = Path(__file__).resolve().parents[1] / "bench/clips"

# Keeps the microphone where tests find it, raw, and records it together with what the page plays, sample-synchronous.
PROBE = """
const getUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
const raw = { audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } };
navigator.mediaDevices.getUserMedia = async () => (window.microphone = await getUserMedia(raw));
window.record = async (seconds) => {
  const code = `registerProcessor("tape", class extends AudioWorkletProcessor {
    constructor({ processorOptions }) {
      super();
      this.sound = new Float32Array(2 * processorOptions.length);
      this.at = 0;
    }
    process(inputs) {
      const length = this.sound.length / 2;
      for (let side = 0; side < 2; side++) {
        const block = inputs[side][0] ?? new Float32Array(128);
        this.sound.set(block.subarray(0, length - this.at), side * length + this.at);
      }
      this.at = Math.min(this.at + 128, length);
      if (this.at === length) this.port.postMessage(this.sound);
      return this.at < length;
    }
  })`;
  const context = new AudioContext({ sampleRate: 48000 });
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const options = { numberOfInputs: 2, numberOfOutputs: 0, processorOptions: { length: seconds * 48000 } };
  const tape = new AudioWorkletNode(context, "tape", options);
  context.createMediaStreamSource(window.microphone).connect(tape, 0, 0);
  for (const { srcObject } of document.querySelectorAll("#people audio"))
    context.createMediaStreamSource(srcObject).connect(tape, 0, 1);
  const sound = await new Promise((done) => (tape.port.onmessage = ({ data }) => done(data)));
  await context.close();
  let text = "";
  const bytes = new Uint8Array(sound.buffer);
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
};
"""


@pytest.fixture(scope="module", autouse=True)
def _browser() -> None:
    if chromium.program() is None:
        lacking(f"no Chromium: {chromium.INSTALL}")


@pytest.fixture(scope="module")
def url(compiled: None) -> Iterator[str]:
    """Of a server."""
    yield from _serve(PATIENT)


def _serve(code: str, *options: str) -> Iterator[str]:
    command = [sys.executable, "-c", code, "serve", "--port", "0", *options]
    server = subprocess.Popen(command, cwd=Path(__file__).parent, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        for line in server.stderr:
            if found := re.search(r"open (https?://\S+/)", line):
                yield found[1]
                break
        else:
            raise AssertionError(f"the server has ended: {server.wait()}")
    finally:
        server.terminate()
        assert server.wait(30) == 0
        server.stderr.close()


def _microphone(folder: Path, clip: str) -> tuple[Path, Sound]:
    """A file for Chromium, which plays it over and over, and its sound."""
    speech = soundfile.read(CLIPS / f"{clip}.flac", dtype="float32")[0]
    sound = np.concatenate([soxr.resample(speech, 16_000, RATE), np.zeros(RATE // 2, np.float32)])
    sound *= 0.08 / np.std(sound)
    file = folder / f"{clip}.wav"
    soundfile.write(file, sound, RATE, subtype="PCM_16")
    return file, np.asarray(sound, np.float32)


@pytest.fixture
def man(tmp_path: Path) -> tuple[Path, Sound]:
    return _microphone(tmp_path, "27-123349-0009")


@pytest.fixture
def woman(tmp_path: Path) -> tuple[Path, Sound]:
    return _microphone(tmp_path, "5789-70653-0013")


async def join(page: Browser, url: str, room: str = "", *, probed: bool = True) -> None:
    """Open the page and start, as a person does."""
    if probed:
        await page.do("Page.setBypassCSP", enabled=True)
        await page.do("Page.addScriptToEvaluateOnNewDocument", source=PROBE)
    await page.open(f"{url}#room={room}" if room else url)
    await page.until("document.getElementById('method').options.length > 1")
    await page.evaluate("document.getElementById('start').click()")
    await page.until("!document.getElementById('call').hidden")


async def heard_by(page: Browser, seconds: int) -> tuple[Sound, Sound]:
    """What its microphone gave, and what was played to its ears meanwhile."""
    sound = np.frombuffer(base64.b64decode(await page.evaluate(f"record({seconds})")), np.float32)
    return sound[: sound.size // 2], sound[sound.size // 2 :]


def decibels(sound: Sound) -> float:
    return float(20 * np.log10(np.std(sound) + 1e-9))


def delay(sent: Sound, heard: Sound) -> tuple[float, float]:
    """s by which the loudness of `heard` follows that of `sent`, up to 1 s, and how well it does: a correlation."""
    a, b = loudness(sent, BLOCK), loudness(heard, BLOCK)
    found = [float(np.corrcoef(a[: a.size - lag], b[lag:])[0, 1]) for lag in range(200)]
    best = int(np.argmax(found))
    return best * BLOCK / RATE, found[best]


def test_two_browsers_in_one_room(url: str, tmp_path: Path, man: tuple[Path, Sound], woman: tuple[Path, Sound]) -> None:
    async def scenario() -> list[tuple[Sound, Sound]]:
        async with Browser(tmp_path, man[0]) as his, Browser(tmp_path, woman[0]) as hers:
            await join(his, url, "tea")
            await join(hers, url, "tea")
            there = "[...document.querySelectorAll('#people li:not([hidden]) span')].map((s) => s.textContent).join()"
            await his.until(f"{there} === 'Voice 2'")
            await hers.until(f"{there} === 'Voice 1'")
            await asyncio.sleep(1)
            both = await asyncio.gather(heard_by(his, 6), heard_by(hers, 6))
            await hers.evaluate("document.getElementById('mute').click()")  # so that it was her whom he heard
            await his.until(f"{there} === 'Voice 2, muted'")
            await asyncio.sleep(1)
            alone = await heard_by(his, 2)
            await hers.evaluate("document.getElementById('leave').click()")
            await his.until("!document.getElementById('alone').hidden")
            assert his.errors == hers.errors == []
            return [*both, alone]

    (his_own, by_him), (her_own, by_her), (alone, silence) = asyncio.run(scenario())
    for own, file, other, heard in ((his_own, man[1], her_own, by_him), (her_own, woman[1], his_own, by_her)):
        assert max(likeness(half, file) for half in np.split(own, 12)) > 0.8  # a voice that goes unchanged is seen
        assert likeness(heard, other) < 0.6
        assert likeness(heard, own) < 0.2
        assert abs(decibels(heard) - decibels(other)) < 6
    assert decibels(alone) > -30
    assert decibels(silence) < -70  # of himself he hears nothing


def test_a_loop_shows_what_it_does_within_the_delay(url: str, tmp_path: Path, man: tuple[Path, Sound]) -> None:
    async def scenario() -> None:
        async with Browser(tmp_path, man[0]) as page:
            await join(page, url)
            await asyncio.sleep(2)
            sent, heard = await heard_by(page, 6)
            assert likeness(heard, sent) < 0.6
            assert abs(decibels(heard) - decibels(sent)) < 6
            seconds, sure = delay(sent, heard)
            assert sure > 0.5
            assert seconds <= 0.4
            shown = await page.until(f"/^([0-9.]+) ms/.exec({figure('Mouth to ear, measured')})?.[1]")
            assert float(shown) == pytest.approx(1000 * seconds, abs=120)
            assert await page.evaluate(figure("of which velavox")) == "25 ms"
            assert re.fullmatch(r"[0-9.]+ ms / [0-9.]+ ms", await page.evaluate(figure("Processing time")))
            assert await page.evaluate(figure("Lost on the way to the server")) == "0.0 %"
            meters = []
            for _ in range(20):
                meters.append(await page.evaluate(LEVELS))
                await asyncio.sleep(0.1)
            assert np.all(np.ptp(np.array(meters), axis=0) > 0.1)  # both move
            assert page.errors == []

    asyncio.run(scenario())


LEVELS = """[...document.querySelectorAll('#sent-meter i, #people li:not([hidden]) i')]
  .map((bar) => Number(/scaleX\\(([^)]*)/.exec(bar.style.transform)[1]))"""


def figure(name: str) -> str:
    """The figure of that name on the page."""
    names = "[...document.querySelectorAll('#figures dt')]"
    return f"{names}.find((name) => name.textContent.startsWith('{name}'))?.nextSibling.textContent"


# The share of a canvas that differs from its background.
INK = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0;
  for (let i = 0; i < data.length; i += 4) inked += Math.abs(data[i] - data[0]) > 40;
  return (4 * inked) / data.length;
}"""


@pytest.mark.parametrize(
    ("width", "height", "dark"), [(1100, 900, False), (1100, 900, True), (390, 844, False), (390, 844, True)]
)
def test_pictures_of_the_page(url: str, tmp_path: Path, man: tuple[Path, Sound], width: int, height: int, dark: bool) -> None:
    """In light and dark and on a phone: nothing from elsewhere, nothing beside the screen, and the spectrograms are there."""

    async def scenario() -> tuple[bytes, Any]:
        async with Browser(tmp_path, man[0]) as page:
            await page.look(width=width, height=height, dark=dark)
            await join(page, url, probed=False)
            await page.until("['before', 'after'].every((id) => (" + INK + ")(document.getElementById(id)) > 0.1)", 60)
            boxes = await page.evaluate(
                "['before', 'after'].map((id) => document.getElementById(id).getBoundingClientRect())"
                ".map((b) => [b.left + scrollX, b.top + scrollY, b.right + scrollX, b.bottom + scrollY])"
            )
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert {address.split("/")[2] for address in page.requested} == {url.split("/")[2]}
            assert page.errors == []
            return await page.screenshot(), boxes

    shot, boxes = asyncio.run(scenario())
    if folder := os.environ.get("VELAVOX_SCREENSHOTS"):
        Path(folder, f"{width}-{'dark' if dark else 'light'}.png").write_bytes(shot)
    from matplotlib import image

    pixels = image.imread(io.BytesIO(shot))[..., :3].mean(axis=2)
    assert (pixels.mean() < 0.3) == dark
    background = 0.08 if dark else 1.0
    for left, top, right, bottom in boxes:
        picture = pixels[int(top) + 4 : int(bottom) - 4, int(left) + 4 : int(right) - 4]
        inked = np.abs(picture - background) > 0.15
        assert 0.05 < inked.mean() < 0.9  # some of it is sound, some is not
        assert inked[picture.shape[0] // 2 :].mean() > inked[: picture.shape[0] // 4].mean()  # which is where voices are


def test_a_keyboard_is_enough_and_everything_has_a_name(url: str, tmp_path: Path, man: tuple[Path, Sound]) -> None:
    async def scenario() -> None:
        async with Browser(tmp_path, man[0]) as page:
            await page.open(url)
            await page.until("document.getElementById('method').options.length > 1")
            await page.press("Tab", 9)
            assert await page.evaluate("document.activeElement.value") == "loop"
            await page.press("Tab", 9)
            assert await page.evaluate("document.activeElement.id") == "start"
            await page.press("Enter", 13, "\r")
            await page.until("document.activeElement.id === 'mute'")
            await page.until("document.getElementById('status').textContent.startsWith('You hear yourself')")
            assert await page.evaluate("document.getElementById('status').role") == "status"
            await page.press(" ", 32, " ")
            await page.until("document.activeElement.ariaPressed === 'true'")
            await page.until("document.getElementById('status').textContent.startsWith('You are muted')")
            reached = []
            for _ in range(5):
                await page.press("Tab", 9)
                reached.append(await page.evaluate("document.activeElement.id || document.activeElement.ariaLabel"))
            assert reached == ["new-voice", "leave", "method", "alpha, from", "alpha, to"]
            tree = (await page.do("Accessibility.getFullAXTree"))["nodes"]
            named = {"button", "combobox", "spinbutton", "meter", "image", "radio", "textbox", "heading"}
            seen: dict[str, int] = {}
            for node in tree:
                role = node.get("role", {}).get("value")
                if role in named and not node.get("ignored"):
                    seen[role] = seen.get(role, 0) + 1
                    assert node["name"]["value"].strip(), node
            assert seen["meter"] == 2
            assert seen["button"] == 3
            assert seen["image"] == 2
            await page.evaluate("document.getElementById('method').focus()")
            await page.press("ArrowDown", 40)
            await page.until("document.getElementById('parameters').textContent.includes('warp')")
            await page.until(f"({figure('of which velavox')}) === '25 ms'")

    asyncio.run(scenario())


def test_the_page_asks_for_a_token_and_tells_what_is_refused(tmp_path: Path, man: tuple[Path, Sound]) -> None:
    async def scenario(url: str) -> None:
        async with Browser(tmp_path, man[0]) as page:
            status = "document.getElementById('status').textContent"
            await page.open(url)
            await page.until("!document.getElementById('token-field').hidden")
            await page.evaluate("document.getElementById('token').value = 'wrong'; document.getElementById('start').click()")
            await page.until(f"{status} === 'The token is wrong.'")
            await page.open(f"{url}?#token=right-and-long-enough&room=tea")
            await page.until("document.getElementById('method').options.length > 1")
            await page.evaluate("document.getElementById('start').click()")
            await page.until(f"{status} === 'You are in tea.'")
            await page.until(
                f"({figure('of which velavox')}) === '55 ms'"
            )  # VoiceMask, which the server was told to begin with
            assert "token" not in "".join(page.requested)
            async with Browser(tmp_path / "other", man[0]) as other:
                await other.open(f"{url}#token=right-and-long-enough")
                await other.until("document.getElementById('method').options.length > 1")
                await other.evaluate("document.getElementById('start').click()")
                await other.until(f"{status} === 'all 1 places of this server are taken'")
                assert await other.evaluate("document.getElementById('call').hidden")
            await page.open(f"{url}?again#token=right-and-long-enough")  # which leaves the room
            await page.until("document.getElementById('method').options.length > 1")
            await page.evaluate("document.getElementById('start').click()")
            await page.until(f"{status} === 'You hear yourself as others would.'")

    for address in _serve(COMMAND, "--token", "right-and-long-enough", "--calls", "1", "--method", "voicemask"):
        asyncio.run(scenario(address))


def test_without_a_way_for_sound_the_page_says_so(url: str, tmp_path: Path, man: tuple[Path, Sound]) -> None:
    """Neither side learns an address of the other, as where a network lets no UDP through."""
    deaf = """
      const { fetch } = window;
      const without = (sdp) => sdp.replace(/a=candidate:.*\\r\\n/g, "");
      window.fetch = (path, options) => {
        if (!options?.body) return fetch(path, options);
        const wanted = JSON.parse(options.body);
        return fetch(path, { ...options, body: JSON.stringify({ ...wanted, sdp: without(wanted.sdp) }) });
      };
      const { setRemoteDescription } = RTCPeerConnection.prototype;
      RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
        return setRemoteDescription.call(this, { type, sdp: without(sdp) });
      };
    """

    async def scenario() -> None:
        async with Browser(tmp_path, man[0]) as page:
            await page.do("Page.addScriptToEvaluateOnNewDocument", source=deaf)
            await join(page, url, probed=False)
            await page.until("document.getElementById('status').textContent.startsWith('No way for sound')", 40)
            assert await page.evaluate("document.getElementById('call').hidden")
            assert await page.evaluate("document.activeElement.id") == "start"

    asyncio.run(scenario())


def test_twenty_loops_are_served_or_refused_and_none_is_garbled(tmp_path: Path, man: tuple[Path, Sound]) -> None:
    """In one browser. Of what is served, the browser has to make up hardly any sound."""

    async def scenario(url: str) -> None:
        async with Browser(tmp_path, man[0]) as page:
            await page.do("Page.setBypassCSP", enabled=True)
            await page.do("Page.addScriptToEvaluateOnNewDocument", source=PROBE)
            await page.open(url)
            outcome = await page.evaluate(TWENTY)
            assert outcome["served"] + outcome["refused"] == 20
            assert outcome["served"] >= 1
            assert all("try again" in text for text in outcome["reasons"])
            await asyncio.sleep(3)
            found = await page.evaluate("concealed(2)")
            assert len(found) == outcome["served"]
            metrics = await page.evaluate("fetch('/metrics').then((response) => response.text())")
            late = re.search(r"^velavox_loop_late_seconds (\S+)$", metrics, re.MULTILINE)
            assert late
            if float(late[1]) > load.MOST_LATE:  # other programs take the machine: then at least no more calls come in
                assert outcome["refused"] > 0
            else:
                assert max(found) < 0.15  # of the sound was made up by the browser

    for address in _serve(COMMAND):
        asyncio.run(scenario(address))


TWENTY = """(async () => {
  const { Call } = await import("/page/call.js");
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  window.calls = [];
  const reasons = [];
  for (let n = 0; n < 20; n++) {
    const call = new Call(stream.clone(), 1, "", { room: null });
    const audio = new Audio();
    audio.srcObject = call.ears[0];
    audio.play();
    try { await call.started; window.calls.push(call); } catch (error) { reasons.push(error.message); call.leave(); }
  }
  window.concealed = async (seconds) => {
    const counts = async () => Promise.all(window.calls.map(async (call) => {
      for (const r of (await call.stats()).values())
        if (r.type === "inbound-rtp") return [r.concealedSamples ?? 0, r.totalSamplesReceived ?? 0];
      return [0, 0];
    }));
    const before = await counts();
    await new Promise((done) => setTimeout(done, 1000 * seconds));
    return (await counts()).map(([made, all], i) => (made - before[i][0]) / Math.max(1, all - before[i][1]));
  };
  return { served: window.calls.length, refused: reasons.length, reasons };
})()"""
