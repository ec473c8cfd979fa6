"""The wrapper of aiortc tracks, on real aiortc and real frames of FFmpeg; no server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hosts import I16, Broken, Held, framed, likeness, loop, speech
from velavox import DpVoice, Identity, McAdams, Vtln
from velavox.kernels import g711

pytest.importorskip("aiortc", reason="needs the extra webrtc")

from aiortc import AudioStreamTrack, MediaStreamTrack, RTCPeerConnection, VideoStreamTrack
from aiortc.codecs.g711 import PcmuDecoder, PcmuEncoder
from aiortc.jitterbuffer import JitterFrame
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame, Packet
from velavox.engine.adapters.webrtc import MOST_FILLED, VelavoxTrack


def frame(x: I16, rate: int, pts: int | None, kind: str = "s16", base: Fraction | None = None) -> AudioFrame:
    """Of int16 of shape (samples, channels)."""
    layout = {1: "mono", 2: "stereo", 3: "2.1"}[x.shape[1]]
    scale = {"s16": 1, "s32": 65536, "flt": 1 / 32768, "dbl": 1 / 32768, "u8": 1 / 256}[kind.removesuffix("p")]
    dtype = {"s16": "i2", "s32": "i4", "flt": "f4", "dbl": "f8", "u8": "u1"}[kind.removesuffix("p")]
    y = x.astype(float) * scale + (128 if kind.startswith("u8") else 0)
    shaped = y.T if kind.endswith("p") else y.reshape(1, -1)
    made = AudioFrame.from_ndarray(np.ascontiguousarray(shaped.astype(dtype)), format=kind, layout=layout)
    made.sample_rate, made.pts, made.time_base = rate, pts, base or Fraction(1, rate)
    return made


def samples(found: AudioFrame) -> np.ndarray:
    """Shape (samples, channels)."""
    y = found.to_ndarray()
    return y.T if found.format.is_planar else y.reshape(found.samples, found.layout.nb_channels)


class Source(MediaStreamTrack):
    """Gives what it is made with, then ends."""

    kind = "audio"

    def __init__(self, frames: Iterable[Any]) -> None:
        super().__init__()
        self.frames = iter(frames)

    async def recv(self) -> Any:
        await asyncio.sleep(0)
        for found in self.frames:
            return found
        self.stop()
        raise MediaStreamError


def sent(x: I16, rate: int, size: int, kind: str = "s16", without: tuple[int, ...] = ()) -> list[AudioFrame]:
    return [frame(b, rate, 5000 + k * size, kind) for k, b in enumerate(framed(x, size)) if k not in without]


async def heard(track: VelavoxTrack) -> list[AudioFrame]:
    """All of it."""
    found = []
    while True:
        try:
            found.append(await track.recv())
        except MediaStreamError:
            return found


def sound(found: list[AudioFrame]) -> np.ndarray:
    return np.concatenate([samples(f) for f in found])


@pytest.mark.parametrize("kind", ["s16", "s16p", "flt", "fltp", "s32", "s32p", "dblp", "u8"])
@pytest.mark.parametrize("channels", [1, 2])
def test_packed_and_planar_of_every_kind(kind: str, channels: int) -> None:
    x = speech(0.3, 16_000, channels)
    given = sent(x, 16_000, 320, kind)

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(Identity(), Source(given), sample_rate=16_000, channels=channels))

    found = loop(work())
    for before, after in zip(given, found, strict=True):
        assert after.format.name == kind
        assert after.layout.name == before.layout.name
        assert (after.samples, after.sample_rate, after.pts, after.time_base) == (320, 16_000, before.pts, Fraction(1, 16_000))
    y, wanted = sound(found), sound(given)
    np.testing.assert_allclose(y[159:].astype(float), wanted[:-159].astype(float), rtol=1e-6)


@pytest.mark.parametrize("rate", [8000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("ms", [20, 40])
def test_a_voice_at_every_rate(rate: int, ms: int) -> None:
    x = speech(1.0, rate, 2)
    x[:, 1] = 0
    given = sent(x, rate, rate * ms // 1000)

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(McAdams(), Source(given), sample_rate=rate, channels=2))

    found = loop(work())
    assert [f.pts for f in found] == [f.pts for f in given]
    assert {(f.sample_rate, f.time_base, f.samples) for f in found} == {(rate, Fraction(1, rate), rate * ms // 1000)}
    y = sound(found)
    assert y.shape == x.shape
    assert np.std(y[:, 0].astype(float)) > 300
    assert not y[:, 1].any()
    assert likeness(x[:, 0], y[:, 0], rate) < 0.9


def test_telephone_frames_through_aiortcs_own_codec(shared: Path) -> None:
    """mu-law, 8 kHz, 160 samples."""
    x, rate = soundfile.read(shared / "fixtures" / "tel_8k_mulaw.wav", dtype="float32")
    assert rate == 8000
    codes = g711.encode(x, "mulaw").tobytes()
    decoder = PcmuDecoder()
    packets = [codes[i : i + 160] for i in range(0, len(codes) - 159, 160)]
    decoded = [f for k, packet in enumerate(packets) for f in decoder.decode(JitterFrame(packet, 160 * k))]
    given = [f for f in decoded if isinstance(f, AudioFrame)]

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(Vtln(), Source(given), sample_rate=8000))

    found = loop(work())
    assert [(f.pts, f.samples, f.sample_rate) for f in found] == [(160 * k, 160, 8000) for k in range(len(packets))]
    said, y = sound(given)[:, 0], sound(found)[:, 0]
    assert 0.3 < np.std(y.astype(float)) / np.std(said.astype(float)) < 3
    assert not np.array_equal(said[:-318], y[318:])
    encoder = PcmuEncoder()
    back = b"".join(b for f in found for b in encoder.encode(f)[0])
    assert len(back) == 160 * len(packets)


def test_lost_frames_are_filled() -> None:
    """Three frames of 20 ms lost: as many samples as if they had come, timestamps without a gap, the delay unchanged."""
    x = speech(1.0, 16_000)
    given = sent(x, 16_000, 320, without=(10, 11, 12))

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(Identity(), Source(given), sample_rate=16_000))

    found = loop(work())
    assert [f.pts for f in found] == [5000 + 320 * k for k in range(50)]
    y = sound(found)
    assert y.shape == x.shape
    np.testing.assert_array_equal(y[159 : 10 * 320 + 159], x[: 10 * 320])
    assert np.abs(y[10 * 320 + 159 + 256 : 13 * 320 + 159]).max() <= 1
    np.testing.assert_array_equal(y[13 * 320 + 159 + 256 :], x[13 * 320 + 256 : -159])


def test_a_long_gap_is_filled_for_a_second_and_then_jumps() -> None:
    x = speech(0.2, 16_000)
    later = [frame(b, 16_000, 10_000_000 + 320 * k) for k, b in enumerate(framed(x, 320))]

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(Identity(), Source([*sent(x, 16_000, 320), *later]), sample_rate=16_000))

    found = loop(work())
    assert len(found) == 20 + MOST_FILLED * 50
    pts = [f.pts or 0 for f in found]
    assert set(np.diff(pts[:60])) == {320}
    assert pts[-10:] == [10_000_000 + 320 * k for k in range(10)]


def test_timestamps_that_are_rounded_missing_or_run_back_are_no_gaps() -> None:
    x = speech(0.2, 44_100)
    size = 1024
    coarse = [frame(b, 44_100, round(k * size / 44.1), base=Fraction(1, 1000)) for k, b in enumerate(framed(x, size)[:-1])]
    none = [frame(b, 44_100, None) for b in framed(x, size)[:-1]]
    back = [frame(b, 44_100, (5 - k) * size) for k, b in enumerate(framed(x, size)[:-1])]
    for given in (coarse, none, back):

        async def work(given: list[AudioFrame]) -> list[AudioFrame]:
            return await heard(VelavoxTrack(Identity(), Source(given), sample_rate=44_100))

        assert [f.pts for f in loop(work(given))] == [f.pts for f in given]


@pytest.mark.parametrize("why", ["raises", "disabled", "closed"])
@pytest.mark.parametrize("worker", [False, True])
def test_silence(why: str, worker: bool) -> None:
    x = speech(0.6, 48_000, 2)

    async def work() -> list[AudioFrame]:
        stage = Broken() if why == "raises" else Identity()
        track = VelavoxTrack(stage, Source(sent(x, 48_000, 960)), channels=2, worker=worker)
        if why == "disabled":
            track.enabled = False
        if why == "closed":
            track.close()
        return await heard(track)

    found = loop(work())
    assert sound(found).shape == x.shape
    assert not sound(found).any()


@pytest.mark.parametrize("worker", [False, True])
def test_another_rate_and_layout_in_mid_call_is_never_mislabelled(worker: bool) -> None:
    first, second = speech(0.2, 48_000, 2), speech(2.0, 8000)
    given = [*sent(first, 48_000, 960), *sent(second, 8000, 160)]

    async def work() -> tuple[list[AudioFrame], str]:
        track = VelavoxTrack(McAdams(), Source(given), channels=2, worker=worker)
        return await heard(track), track.last_error

    found, error = loop(work())
    assert error == ""
    assert [(f.sample_rate, f.layout.name) for f in found[:10]] == [(48_000, "stereo")] * 10
    rest = found[-100:]
    assert {(f.samples, f.sample_rate, f.layout.name) for f in rest} == {(160, 8000, "mono")}
    assert [f.pts for f in rest] == [f.pts for f in given[10:]]
    y = sound(rest)[:, 0]
    assert np.std(y[len(y) // 2 :].astype(float)) > 300
    assert likeness(second, y, 8000) < 0.9


def test_what_is_no_frame_of_sound_ends_the_track() -> None:
    async def work() -> None:
        for strange in (Packet(b"encoded"), VideoStreamTrack()):
            source = Source([strange])
            track = VelavoxTrack(Identity(), source)
            with pytest.raises(MediaStreamError):
                await track.recv()
            assert track.readyState == "ended"
            assert source.readyState == "live"

    loop(work())


def test_samples_that_numpy_cannot_hold_are_silent() -> None:
    strange = AudioFrame(format="s64", layout="mono", samples=320)
    for plane in strange.planes:
        plane.update(b"\x55" * plane.buffer_size)
    strange.sample_rate, strange.pts, strange.time_base = 16_000, 0, Fraction(1, 16_000)

    async def work() -> list[AudioFrame]:
        return await heard(VelavoxTrack(Identity(), Source([strange]), sample_rate=16_000))

    (found,) = loop(work())
    assert (found.format.name, found.samples) == ("s64", 320)
    assert not any(bytes(found.planes[0]))


def test_ends_with_its_source_and_its_stages_serve_another() -> None:
    x = speech(0.2, 48_000)
    stage = McAdams()

    async def work() -> None:
        track = VelavoxTrack(stage, Source(sent(x, 48_000, 960)))
        ended = []
        voice = stage.voice
        track.on("ended", lambda: ended.append(VelavoxTrack(stage, Source(sent(x, 48_000, 960)))))
        assert len(await heard(track)) == 10
        assert track.readyState == "ended"
        (again,) = ended
        assert sound(await heard(again)).any()
        assert stage.voice == voice
        with pytest.raises(MediaStreamError):
            await track.recv()

    loop(work())


def test_stopping_leaves_the_source_alone() -> None:
    async def work() -> None:
        source = AudioStreamTrack()
        track = VelavoxTrack(Identity(), source, sample_rate=8000)
        await track.recv()
        track.stop()
        with pytest.raises(MediaStreamError):
            await track.recv()
        after = await source.recv()
        assert isinstance(after, AudioFrame)
        assert after.samples == 160

    loop(work())


@pytest.mark.parametrize("worker", [False, True])
def test_a_cancelled_recv_lets_nothing_out_and_goes_on(worker: bool) -> None:
    x = speech(1.0, 16_000)
    stage = Held()

    async def work() -> np.ndarray:
        track = VelavoxTrack(stage, Source(sent(x, 16_000, 320)), sample_rate=16_000, worker=worker)
        found = [await track.recv() for _ in range(10)]
        task = asyncio.create_task(track.recv())
        if worker:
            stage.go.clear()
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stage.go.set()
        return sound([*found, *await heard(track)])

    y = loop(work())
    rest = 30 * 320
    np.testing.assert_array_equal(y[-rest:], x[-rest - 159 : -159])


def test_only_audio_tracks_are_taken() -> None:
    for nothing in (VideoStreamTrack(), None):
        with pytest.raises(TypeError, match="audio track"):
            VelavoxTrack(McAdams(), nothing)  # type: ignore[arg-type]


def test_the_neural_voice_goes_through_a_thread(few_nodes: Any) -> None:
    x = speech(0.4, 48_000)

    async def work() -> tuple[list[AudioFrame], dict[str, int]]:
        track = VelavoxTrack(DpVoice(), Source(sent(x, 48_000, 960)))
        assert type(track._runner).__name__ == "Worker"
        return await heard(track), track.silenced

    found, silenced = loop(work())
    assert sound(found).shape == x.shape
    assert silenced == {}


def test_controls() -> None:
    async def work() -> None:
        track = VelavoxTrack(McAdams(), Source(sent(speech(0.2, 48_000), 48_000, 960)))
        assert track.latency == 1197 / 48_000
        track.set(alpha=0.7)
        assert track.stages[0].value("alpha") == 0.7
        track.muted = True
        assert not track.enabled
        assert not samples(await track.recv()).any()
        assert track.silenced == {"disabled": 960}
        track.new_voice()
        assert track.stats.blocks == 1

    loop(work())


def test_between_two_peers() -> None:
    """Opus, both ways through real peer connections of one process: the far end hears an anonymized voice."""
    x = speech(4.0, 48_000)

    class Paced(Source):
        async def recv(self) -> Any:
            await asyncio.sleep(0.018)
            return await super().recv()

    async def work() -> np.ndarray:
        near, far = RTCPeerConnection(), RTCPeerConnection()
        got: asyncio.Queue[MediaStreamTrack] = asyncio.Queue()
        far.on("track", got.put_nowait)
        near.addTrack(VelavoxTrack(McAdams(alpha=0.6), Paced(sent(x, 48_000, 960))))
        try:
            await near.setLocalDescription(await near.createOffer())
            await far.setRemoteDescription(near.localDescription)
            await far.setLocalDescription(await far.createAnswer())
            await near.setRemoteDescription(far.localDescription)
            track = await asyncio.wait_for(got.get(), 20)
            found = [await asyncio.wait_for(track.recv(), 20) for _ in range(120)]
            return np.concatenate([f.to_ndarray().reshape(-1, 2)[:, 0] for f in found if isinstance(f, AudioFrame)])
        finally:
            await near.close()
            await far.close()

    y = loop(work())
    assert np.std(y.astype(float)) > 300
    assert likeness(x[: len(y), 0], y, 48_000) < 0.7
