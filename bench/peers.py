"""CPU time against the libraries and scripts that people use for the same job, 10 ms blocks, interleaved.

    python -m velavox.bench.peers [--json FILE] [--vpc FOLDER]

FOLDER is your own checkout of the VoicePrivacy Challenge 2024 repository: its McAdams function is then timed too.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np

from ..engine.dpvoice import DpVoice
from ..engine.host import Engine
from ..engine.mcadams import McAdams
from ..engine.vtln import Vtln
from ..kernels import f0, fbank, mcadams
from ..kernels.jit import F32
from . import table
from .plain import PlainMcAdams, PlainVtln
from .speech import RATE, fed, speech
from .timing import Case, interleave

ALPHA = 0.8
# row: (what it is compared with, that row)
RATIOS = {
    "Fbank": ("kaldi-native-fbank", "kaldi-native-fbank, streamed"),
    "McAdams step": ("plain NumPy and librosa", "McAdams in NumPy and librosa"),
    "VTLN step": ("plain NumPy", "VTLN in NumPy"),
    "engine, McAdams, 16 kHz": ("pedalboard's PitchShift", "pedalboard PitchShift"),
    "engine, DpVoice, 16 kHz": ("McAdams in plain NumPy and librosa", "McAdams in NumPy and librosa"),
    "engine, DpVoice low, 16 kHz": ("McAdams in plain NumPy and librosa", "McAdams in NumPy and librosa"),
    "F0 and voicing": ("pyworld's dio and stonemask", "pyworld dio + stonemask, whole"),
    "McAdams, whole": ("the challenge's script", "VPC 2024 McAdams, whole"),
}


def fbank_cases() -> dict[str, Case]:
    import kaldi_native_fbank
    import librosa
    import python_speech_features

    state, out = fbank.fresh(), np.zeros((2, 80), np.float32)
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.dither, options.frame_opts.window_type, options.mel_opts.num_bins = 0.0, "hamming", 80
    online, given = kaldi_native_fbank.OnlineFbank(options), 0

    def kaldi(x: F32) -> None:
        nonlocal given
        online.accept_waveform(RATE, (x * np.float32(32768)).tolist())
        while given < online.num_frames_ready:
            online.get_frame(given)
            given += 1

    whole = speech()
    frames = whole.size // 160
    return {
        "Fbank": fed(lambda x: fbank.stream(state, out, x)),
        "kaldi-native-fbank, streamed": fed(kaldi),
        "librosa melspectrogram, whole": Case(
            lambda: librosa.feature.melspectrogram(y=whole, sr=RATE, n_fft=512, win_length=400, hop_length=160, n_mels=80),
            frames,
        ),
        "python_speech_features, whole": Case(
            lambda: python_speech_features.fbank(whole, RATE, nfilt=80, winfunc=np.hamming), frames
        ),
    }


def anonymizer_cases() -> dict[str, Case]:
    import pedalboard

    moving, warping = McAdams(alpha=ALPHA), Vtln()
    for stage in (moving, warping):
        stage.prepare()
    y = np.zeros(160, np.float32)
    engines = {rate: Engine(McAdams(), sample_rate=rate) for rate in (16000, 48000)}
    neural = {mode: Engine(DpVoice(mode=mode), sample_rate=RATE) for mode in ("balanced", "low")}
    shift = pedalboard.PitchShift(semitones=3)
    return {
        "McAdams step": fed(lambda x: moving.step(x, y)),
        "McAdams in NumPy and librosa": fed(PlainMcAdams(ALPHA)),
        "VTLN step": fed(lambda x: warping.step(x, y)),
        "VTLN in NumPy": fed(PlainVtln()),
        "engine, McAdams, 16 kHz": fed(engines[16000].process),
        "engine, McAdams, 48 kHz": fed(engines[48000].process, 48000),
        "engine, DpVoice, 16 kHz": fed(neural["balanced"].process, blocks=2),
        "engine, DpVoice low, 16 kHz": fed(neural["low"].process, blocks=2),
        "pedalboard PitchShift": fed(lambda x: shift(x, RATE, reset=False)),
    }


def pitch_cases() -> dict[str, Case]:
    tracker, track = f0.fresh(), np.zeros(1, np.float32)
    cases = {"F0 and voicing": fed(lambda x: f0.stream(tracker, track, x))}
    if importlib.util.find_spec("pyworld"):
        with catch_warnings():
            simplefilter("ignore")  # it imports pkg_resources, which is deprecated
            import pyworld

        whole = speech().astype(float)
        frames = whole.size // 160

        def dio() -> None:
            rough, times = pyworld.dio(whole, RATE, frame_period=10.0)
            pyworld.stonemask(whole, rough, times, RATE)

        cases["pyworld dio + stonemask, whole"] = Case(dio, frames)
        cases["pyworld harvest, whole"] = Case(lambda: pyworld.harvest(whole, RATE, frame_period=10.0), frames)
    return cases


def challenge_cases(checkout: Path) -> dict[str, Case]:
    """The function of the challenge's second baseline, from a checkout, and ours on the same signal."""
    whole = speech().astype(float)
    theirs = _load(checkout)
    frames = whole.size // 160
    return {
        "McAdams, whole": Case(lambda: mcadams.offline(whole, ALPHA, reference=True), frames),
        "VPC 2024 McAdams, whole": Case(lambda: theirs(samples=whole, freq=RATE, mcadams=ALPHA), frames),
    }


def _load(checkout: Path) -> Callable[..., Any]:
    """Its function `anonym`, without the rest of its file, which needs the whole challenge installed."""
    for path in sorted(checkout.rglob("*mcadams*.py")):
        tree = ast.parse(path.read_text(errors="replace"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "anonym" for node in tree.body):
            found: dict[str, Any] = {}
            for node in tree.body:
                if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef)):
                    with suppress(ImportError):  # what `anonym` does not use may be missing
                        exec(compile(ast.Module([node], []), str(path), "exec"), found)
            return cast("Callable[..., Any]", found["anonym"])
    sys.exit(f"{checkout}: no *mcadams*.py with a function `anonym`; give a checkout of the challenge's repository")


def main() -> None:
    parser = table.parser("peers", "CPU time against peers, one block of 10 ms.")
    parser.add_argument("--vpc", type=Path, metavar="FOLDER", help="a checkout of the VoicePrivacy Challenge 2024 repository")
    arguments = parser.parse_args()
    cases = {**fbank_cases(), **anonymizer_cases(), **pitch_cases()}
    if arguments.vpc:
        cases |= challenge_cases(arguments.vpc)
    timings = interleave(cases, seconds=0.010, blocks=arguments.blocks)
    table.show("one block of 10 ms; `whole`: a signal of 14 s at once, its cost shared out", timings, RATIOS)
    table.write(arguments.json, timings, RATIOS)


if __name__ == "__main__":
    main()
