"""A bundled clip through every method: what it costs, how late it is, how far the voice moved, and what that looks like.

    python -m velavox.bench.demo [FOLDER]

Writes original.wav, a WAV for each method, and spectrograms.png.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from time import process_time

import numpy as np

from ..engine.host import Engine
from ..engine.methods import METHODS, make
from ..kernels import f0
from ..kernels.jit import F32
from .measure import RATE, best_lag_correlation, envelope_change, level_change
from .speech import clips

CLIP = "5789-70653-0013"
BLOCK = 160  # 10 ms
_LEGEND = """
RTC: processing time over audio time, one core. Likeness: largest correlation with the input within 50 ms (1: the same
waveform). Formants: distance of the long-term spectra. All say how the sound changed, not how private it is: see README."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.demo", description="A bundled clip through every method.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("demo_out"), help="for the outputs [demo_out]")
    folder: Path = parser.parse_args().folder
    if importlib.util.find_spec("matplotlib") is None:
        sys.exit('the picture needs matplotlib: pip install "velavox[plot]"')
    folder.mkdir(parents=True, exist_ok=True)
    x = clips()[CLIP]
    sounds = {"original": x}
    pitch = _pitch(x)
    print(f"{x.size / RATE:.1f} s of speech at 16 kHz in blocks of 10 ms; a voice drawn at random for each method\n")
    print("method     delay at 16 / 48 kHz   RTC      likeness  formants  pitch           level")
    for method in METHODS:
        engine = Engine(make(method), sample_rate=RATE)
        y, rtc = _run(engine, x)
        sounds[method] = y
        late = engine.latency / 16, Engine(make(method), sample_rate=48_000).latency / 48
        print(
            f"{method:<10} {late[0]:5.1f} / {late[1]:4.1f} ms        {rtc:.4f}   {best_lag_correlation(x, y):.2f}      "
            f"{envelope_change(x, y):4.1f} dB   {pitch:3.0f} -> {_pitch(y):3.0f} Hz   {level_change(x, y):+.1f} dB"
        )
    print(_LEGEND)
    _write(folder, sounds)
    print(f"\nwritten to {folder}/: {', '.join(f'{name}.wav' for name in sounds)}, spectrograms.png")


def _run(engine: Engine, x: F32) -> tuple[F32, float]:
    """Output aligned with x, and the real-time coefficient."""
    began = process_time()
    out = [engine.process(x[start : start + BLOCK]) for start in range(0, x.size, BLOCK)]
    out.append(engine.flush())
    spent = process_time() - began
    return np.concatenate(out)[engine.latency :], spent * RATE / x.size


def _pitch(x: F32) -> float:
    """Median F0 of the voiced frames, Hz."""
    track = f0.offline(x)
    return float(np.median(track[track > 0]))


def _write(folder: Path, sounds: dict[str, F32]) -> None:
    import matplotlib as mpl
    import soundfile

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(sounds), 1, figsize=(10, 2.4 * len(sounds)), sharex=True, layout="constrained")
    for axis, (name, y) in zip(axes, sounds.items(), strict=True):
        soundfile.write(folder / f"{name}.wav", y, RATE, subtype="PCM_16")
        axis.specgram(y + 1e-6, NFFT=512, noverlap=384, Fs=RATE, vmin=-120, vmax=-35, cmap="magma")
        axis.set(ylabel="Hz", title=name)
    axes[-1].set_xlabel("s")
    figure.savefig(folder / "spectrograms.png", dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
