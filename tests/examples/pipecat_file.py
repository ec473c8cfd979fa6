"""A Pipecat pipeline with a voice in it, here between two files: python pipecat_file.py IN.wav OUT.wav

In a bot the first processor is `transport.input()`, and speech recognition follows the voice.
"""

import asyncio
import sys

import numpy as np
import soundfile
from pipecat.frames.frames import EndFrame, Frame, InputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner
from velavox import McAdams
from velavox.engine.adapters.pipecat import VelavoxProcessor


class Writer(FrameProcessor):
    """In place of a bot."""

    def __init__(self, target: soundfile.SoundFile) -> None:
        super().__init__()
        self._target = target

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self._target.buffer_write(frame.audio, "int16")
        await self.push_frame(frame, direction)


async def main(source: str, target: str) -> None:
    x, rate = soundfile.read(source, dtype="int16", always_2d=True)
    channels, size = x.shape[1], rate // 50
    voice = VelavoxProcessor(McAdams(), sample_rate=rate, channels=channels)
    with soundfile.SoundFile(target, "w", rate, channels, "PCM_16") as file:
        worker = PipelineWorker(Pipeline([voice, Writer(file)]), cancel_on_idle_timeout=False, enable_rtvi=False)

        async def speak(worker: PipelineWorker, frame: Frame) -> None:
            for block in np.split(x, range(size, len(x), size)):
                await worker.queue_frame(InputAudioRawFrame(block.tobytes(), rate, channels))
            await worker.queue_frame(EndFrame())

        worker.add_event_handler("on_pipeline_started", speak)
        runner = WorkerRunner()
        await runner.add_workers(worker)
        await runner.run()
    print(f"delay of the voice {voice.latency * 1e3:.1f} ms, {voice.stats.muted} hops muted")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
