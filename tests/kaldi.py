"""Features by kaldi-native-fbank, dither off: the peer that ours must agree with."""

from __future__ import annotations

import platform
import sys
from typing import Any

import kaldi_native_fbank as knf
import numpy as np
import pytest
from signals import F32

# Elsewhere its compiler may fuse products into sums, and what holds nothing but rounding noise comes out different.
same_rounding = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="kaldi-native-fbank rounds otherwise on this machine"
)


def fbank(x: F32, rate: int = 16_000, num_mel: int = 80, window: str = "hamming", snip_edges: bool = True) -> F32:
    """Log mel energies of x in [-1, 1], shape (frames, num_mel)."""
    options = knf.FbankOptions()
    options.frame_opts, options.mel_opts = _common(rate, num_mel, window, snip_edges)
    return _run(knf.OnlineFbank(options), x, rate, num_mel)


def mfcc(
    x: F32, num_mel: int = 23, num_ceps: int = 13, use_energy: bool = True, lifter: float = 22.0, snip_edges: bool = True
) -> F32:
    """Cepstral coefficients of x in [-1, 1] at 16 kHz, povey window, shape (frames, num_ceps)."""
    options = knf.MfccOptions()
    options.frame_opts, options.mel_opts = _common(16_000, num_mel, "povey", snip_edges)
    options.num_ceps, options.use_energy, options.cepstral_lifter = num_ceps, use_energy, lifter
    return _run(knf.OnlineMfcc(options), x, 16_000, num_ceps)


def triangles(rate: int, num_mel: int) -> F32:
    """Weights, shape (num_mel, bins), Nyquist included."""
    frame_options, mel_options = _common(rate, num_mel, "povey", True)
    return np.array(knf.MelBanks(mel_options, frame_options).get_matrix(), np.float32)


def rfft(x: F32) -> tuple[F32, F32]:
    """(re, im), shape (N/2 + 1,) each."""
    packed = np.array(knf.Rfft(x.size).compute(x.tolist()), np.float32)
    ends = np.float32(0)
    return np.array([*packed[::2], packed[1]]), np.array([ends, *packed[3::2], ends])


def _common(rate: int, num_mel: int, window: str, snip_edges: bool) -> tuple[Any, Any]:
    frame_options, mel_options = knf.FrameExtractionOptions(), knf.MelBanksOptions()
    frame_options.samp_freq, frame_options.dither = rate, 0.0
    frame_options.window_type, frame_options.snip_edges = window, snip_edges
    mel_options.num_bins, mel_options.low_freq, mel_options.high_freq = num_mel, 20.0, 0.0
    return frame_options, mel_options


def _run(online: Any, x: F32, rate: int, width: int) -> F32:
    online.accept_waveform(rate, (x * np.float32(32768)).tolist())
    online.input_finished()
    return np.array([online.get_frame(t) for t in range(online.num_frames_ready)], np.float32).reshape(-1, width)
