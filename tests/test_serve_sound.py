"""What lies between a microphone and an ear: bounded, in order, and for nobody else."""

from __future__ import annotations

import asyncio
from fractions import Fraction

import av
import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError
from likeness import likeness
from serving import RATE, SAMPLES, Microphone
from signals import voice
from velavox.engine.serve import ear, intake
from velavox.engine.serve.ear import Ear
from velavox.engine.serve.intake import Intake
from velavox.engine.serve.opus import Encoder, Sound

SOUND = np.rint(32767 * voice(1.0, rate=RATE)).astype(np.int16)


def decoded(packets: list[Sound]) -> np.ndarray:
    codec = av.CodecContext.create("libopus", "r")
    found = [frame.to_ndarray() for payload, _ in packets for frame in codec.decode(av.Packet(payload))]
    samples = np.concatenate(found, axis=1)
    samples = samples[0] if samples.shape[0] > 1 else samples.reshape(-1, codec.layout.nb_channels)[:, 0]
    return np.asarray(samples, np.float32) / (32768 if samples.dtype == np.int16 else 1)


def test_an_encoder_gives_a_packet_for_every_20_ms() -> None:
    packets = Encoder().encode(SOUND, 7)
    assert [pts for _, pts in packets] == [7 + SAMPLES * k for k in range(SOUND.size // SAMPLES)]
    assert likeness(decoded(packets), (SOUND / 32768).astype(np.float32)) > 0.9


@pytest.mark.parametrize("size", [1, 160, 480, 959, 961, 2880])
def test_an_encoder_takes_frames_of_any_length(size: int) -> None:
    whole, encoder = Encoder().encode(SOUND, 0), Encoder()
    parts = [encoder.encode(SOUND[at : at + size], at) for at in range(0, SOUND.size, size)]
    assert [sound for part in parts for sound in part] == whole


def test_who_falls_behind_loses_the_oldest_frames() -> None:
    async def scenario() -> None:
        behind = Intake(Microphone(voice(1.0, rate=RATE), seconds=0.001, frames=40))
        assert (await behind.recv()).pts == 0
        await asyncio.sleep(0.5)
        kept = [(await behind.recv()).pts for _ in range(intake.MOST_WAITING)]
        with pytest.raises(MediaStreamError):
            await behind.recv()
        assert kept == [SAMPLES * k for k in range(40 - intake.MOST_WAITING, 40)]
        assert behind.dropped == 39 - intake.MOST_WAITING
        behind.stop()

    asyncio.run(scenario())


def test_an_ear_hears_its_owner_alone() -> None:
    async def scenario() -> None:
        hers = Ear()
        his, other = object(), object()
        hers.hear(his, (b"early", 0))
        hers.owner = his
        hers.hear(other, (b"other", 0))
        hers.hear(his, (b"his", 960))
        assert bytes(await hers.recv()) == b"his"
        hers.hear(his, (b"late", 1920))
        hers.owner = None
        hers.hear(his, (b"after", 2880))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hers.recv(), 0.1)

    asyncio.run(scenario())


def test_an_ear_keeps_its_own_time_when_its_owner_changes() -> None:
    async def scenario() -> None:
        hers = Ear()
        stamps = []
        for start in (96_000, 0):
            owner = object()
            hers.owner = owner
            for k in range(3):
                hers.hear(owner, (b"x", start + SAMPLES * k))
                packet = await hers.recv()
                assert packet.time_base == Fraction(1, RATE)
                stamps.append(packet.pts or 0)
            await asyncio.sleep(0.1)
        steps = np.diff(stamps)
        assert list(steps[[0, 1, 3, 4]]) == [SAMPLES] * 4
        assert 0.1 * RATE <= steps[2] <= 2 * RATE  # as long as nobody was there

    asyncio.run(scenario())


def test_an_ear_that_is_not_emptied_forgets_the_oldest() -> None:
    async def scenario() -> None:
        hers, owner = Ear(), object()
        hers.owner = owner
        for k in range(ear.MOST_WAITING + 5):
            hers.hear(owner, (b"%d" % k, SAMPLES * k))
        assert bytes(await hers.recv()) == b"5"
        assert hers.dropped == 5

    asyncio.run(scenario())


def test_an_ear_that_is_stopped_ends() -> None:
    async def scenario() -> None:
        hers, owner = Ear(), object()
        hers.owner = owner
        waiting = asyncio.ensure_future(hers.recv())
        await asyncio.sleep(0)
        hers.stop()
        with pytest.raises(MediaStreamError):
            await waiting
        hers.hear(owner, (b"x", 0))
        assert not hers._packets

    asyncio.run(scenario())
