"""Embed the engine in a program that hands over blocks as they come, here from a file: python embed.py IN.wav OUT.wav"""

import sys

import numpy as np
import soundfile
from velavox import Engine, McAdams


def main(source: str, target: str) -> None:
    with soundfile.SoundFile(source) as incoming:
        engine = Engine(McAdams(), sample_rate=incoming.samplerate, channels=incoming.channels)
        print(f"delay {engine.latency / incoming.samplerate * 1e3:.1f} ms")
        with soundfile.SoundFile(target, "w", incoming.samplerate, incoming.channels) as outgoing:
            for block in incoming.blocks(blocksize=incoming.samplerate // 50, dtype="int16"):  # 20 ms, as a call has them
                outgoing.write(engine.process(np.asarray(block)))
            outgoing.write(engine.flush())
    stats = engine.stats
    print(f"{stats.blocks} blocks, {stats.muted} hops muted {stats.causes or ''}, {stats.late} blocks late")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
