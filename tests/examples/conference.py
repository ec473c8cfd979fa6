"""Many streams at once, one engine and one voice each, in threads: python conference.py SPEAKERS"""

import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
from velavox import Engine, VoiceMask

RATE, SECONDS = 48_000, 5


def talk(seed: int) -> Engine:
    rng = np.random.default_rng(seed)
    engine = Engine(VoiceMask(), sample_rate=RATE)
    for _ in range(SECONDS * 100):
        engine.process(rng.normal(0, 0.1, RATE // 100).astype(np.float32))
    return engine


def main(speakers: int) -> None:
    began = perf_counter()
    with ThreadPoolExecutor() as pool:
        engines = list(pool.map(talk, range(speakers)))
    voices = {engine.stages[0].voice["pitch"] for engine in engines}
    print(f"{speakers} speakers, {len(voices)} voices, {perf_counter() - began:.1f} s for {SECONDS} s of each")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(int(sys.argv[1]))
