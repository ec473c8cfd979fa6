"""A voice from its parameters: pulses and noise through a vocal tract, streamed, one frame each 10 ms at 16 kHz.

A frame is F0, the spectral envelope and the part of noise in a few bands. Up to its instant, what it hears fades, 10 ms long,
from the filter of the frame before to its own (raised cosine), as gains and timbre do: nothing jumps. Filters are of minimum
phase. Voices that have harmonics up to 8 kHz buzz: noise takes their place from 4 to 6 kHz, whatever the frame says.

Pulses go through an all-pass that lets low frequencies come late: without it the sound is peaky (0.04 of DNSMOS). Copies of
recordings lose 0.14 of DNSMOS and a word in a hundred (`models_onnx/training/vocoding.py`). A frame takes 9 us.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import excitation, fft, minimum_phase
from .biquad import biquads, high_pass
from .excitation import EXCITATION, excite
from .jit import F32, State, f32, f32_2d, kernel, record, record_dtype, word
from .log import natural_log
from .minimum_phase import minimum_phase_dtype

HOP, RATE = excitation.HOP, excitation.RATE
BANDS = 64
NOISE_BANDS = (500.0, 1500.0, 2500.0, 4000.0)  # Hz
SIZE = 1024  # of transforms: 10 ms and the 54 ms of a filter
BINS = SIZE // 2 + 1
LATENCY = HOP

FLOOR, CEILING = -28.0, 7.0  # ln of power: -122 dB, which in all bands is exact silence, and 30 dB
NOISY = (4000.0, 6000.0)  # Hz, over which the part of noise rises to 1
LEAST_NOISE, LEAST_PULSE = 1e-6, 1e-4  # parts: filters have a phase only where they have a logarithm
MEL = 700.0  # Hz: the mel scale goes with ln(1 + f / MEL)
ORDER, HIGH_PASS = 2, 40.0  # Hz: below there is no voice, but pulses of one sign have an offset
STAGES, POLE = 9, 0.75  # all-passes of first order for pulses: 63 samples late at 0 Hz, half that at 740, 1.3 at 8000

_PLAN = fft.plan_dtype(SIZE)
_FOLD = minimum_phase_dtype(SIZE)

VOCODER = record_dtype(
    ("excitation", EXCITATION),
    ("fft", _PLAN),
    ("fold", _FOLD),
    ("rise", "f4", (HOP,)),  # weight of a frame before its instant
    ("band", "i4", (BINS,)),  # of the envelope, at or below a bin
    ("band_part", "f4", (BINS,)),  # how far the bin is on the way to the next one
    ("noise_band", "i4", (BINS,)),
    ("noise_part", "f4", (BINS,)),
    ("noisy", "f4", (BINS,)),  # least part of noise
    ("late_re", "f4", (BINS,)),  # all-pass of the pulses
    ("late_im", "f4", (BINS,)),
    ("pulse_re", "f4", (2, BINS)),  # filter of the pulses, of the last frame and of this one
    ("pulse_im", "f4", (2, BINS)),
    ("noise_re", "f4", (2, BINS)),
    ("noise_im", "f4", (2, BINS)),
    ("power", "f4", (BANDS,)),  # the frame's envelope and parts of noise within their bounds
    ("share", "f4", (len(NOISE_BANDS),)),
    ("rough", "f4", (BINS,)),  # ln of the parts of noise and of pulses
    ("smooth", "f4", (BINS,)),
    ("re", "f4", (BINS,)),
    ("im", "f4", (BINS,)),
    ("sum_re", "f4", (BINS,)),
    ("sum_im", "f4", (BINS,)),
    ("frame", "f4", (SIZE,)),
    ("tail", "f4", (SIZE,)),  # of the output, from this call on
    ("high_pass", "f8", (ORDER // 2, 5)),
    ("memory", "f8", (ORDER // 2, 2)),
)


def centres() -> npt.NDArray[np.float64]:
    """Hz of the envelope's bands: evenly on the mel scale from 0 to 8000, shape (BANDS,)."""
    return np.asarray(MEL * np.expm1(np.linspace(0.0, math.log1p(RATE / 2 / MEL), BANDS)))


def interpolation(
    points: npt.ArrayLike, hz: npt.ArrayLike, scale: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The point at or below each of `hz` and the way from it to the next one, 0 to 1, linear in ln(1 + hz / scale); in hz for
    an infinite scale."""
    at, where = np.asarray(points, float), np.asarray(hz, float)
    if math.isfinite(scale):
        at, where = np.log1p(at / scale), np.log1p(where / scale)
    below = np.clip(np.searchsorted(at, where, side="right") - 1, 0, at.size - 2)
    return below, np.clip((where - at[below]) / (at[below + 1] - at[below]), 0.0, 1.0)


def fresh(seed: int = 0) -> State:
    """At rest, after silence; `seed` chooses the noise."""
    state = np.zeros(1, VOCODER)
    s = state[0]
    s.excitation = excitation.fresh(seed)[0]
    s.fft = fft.fresh(SIZE)[0]
    s.rise[:] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(HOP) + 0.5) / HOP)
    hz = np.arange(BINS) * RATE / SIZE
    s.band[:], s.band_part[:] = interpolation(centres(), hz, MEL)
    s.noise_band[:], s.noise_part[:] = interpolation(NOISE_BANDS, hz, math.inf)
    s.high_pass[:] = high_pass(ORDER, HIGH_PASS, RATE)
    s.noisy[:] = np.clip((hz - NOISY[0]) / (NOISY[1] - NOISY[0]), 0.0, 1.0)
    z = np.exp(-2j * np.pi * hz / RATE)
    late = ((z - POLE) / (1.0 - POLE * z)) ** STAGES
    s.late_re[:], s.late_im[:] = late.real, late.imag
    return state


@word
def bound(value: float, low: float, high: float) -> float:
    """Within low and high; NaN gives low."""
    return min(value, high) if value > low else low


@word
def shape(s: np.record, voiced: bool, envelope: F32, noise: F32) -> None:
    """The filters of a frame, at [1] of each pair; what they were goes to [0]."""
    for filters in (s.pulse_re, s.pulse_im, s.noise_re, s.noise_im):
        filters[0] = filters[1]
        filters[1] = np.float32(0.0)
    loud = False
    for b in range(BANDS):
        s.power[b] = bound(envelope[b], FLOOR, CEILING)
        loud |= s.power[b] > np.float32(FLOOR)
    if not loud:
        return
    for k in range(BINS):
        b, part = s.band[k], s.band_part[k]
        s.re[k] = np.float32(0.5) * (s.power[b] + part * (s.power[b + 1] - s.power[b]))
    if not voiced:
        s.noise_re[1] = s.re
        minimum_phase.minimum_phase(s.fold, s.fft, s.noise_re[1], s.noise_im[1])
        return
    for b in range(len(NOISE_BANDS)):
        s.share[b] = np.float32(1.0) - bound(np.float32(1.0) - noise[b], 0.0, 1.0)
    for k in range(BINS):
        b = s.noise_band[k]
        share = max(s.noisy[k], s.share[b] + s.noise_part[k] * (s.share[b + 1] - s.share[b]))
        s.rough[k] = max(share, np.float32(LEAST_NOISE))
        s.smooth[k] = max(np.float32(1.0) - share, np.float32(LEAST_PULSE))
    natural_log(s.rough)
    natural_log(s.smooth)
    for k in range(BINS):
        s.noise_re[1, k] = s.re[k] + np.float32(0.5) * s.rough[k]
        s.pulse_re[1, k] = s.re[k] + np.float32(0.5) * s.smooth[k]
    minimum_phase.minimum_phase(s.fold, s.fft, s.noise_re[1], s.noise_im[1])
    minimum_phase.minimum_phase(s.fold, s.fft, s.pulse_re[1], s.pulse_im[1])
    for k in range(BINS):
        re, im = s.pulse_re[1, k], s.pulse_im[1, k]
        s.pulse_re[1, k] = re * s.late_re[k] - im * s.late_im[k]
        s.pulse_im[1, k] = re * s.late_im[k] + im * s.late_re[k]


@word
def drive(s: np.record, re: F32, im: F32, driver: F32, rising: bool) -> None:
    """Add to the sum what the filter re + i im makes of the driver, shape (160,), under half a window."""
    for i in range(HOP):
        s.frame[i] = driver[i] * (s.rise[i] if rising else np.float32(1.0) - s.rise[i])
    fft.rfft(s.fft, s.re, s.im, s.frame)
    for k in range(BINS):
        s.sum_re[k] += re[k] * s.re[k] - im[k] * s.im[k]
        s.sum_im[k] += re[k] * s.im[k] + im[k] * s.re[k]


@word
def synthesize(s: np.record, out: F32, f0: float, envelope: F32, noise: F32) -> None:
    """One frame: out of shape (160,), envelope (BANDS,), noise (4,)."""
    excite(s.excitation, f0)
    shape(s, s.excitation.f0 > 0.0, envelope, noise)
    s.frame[HOP:] = np.float32(0.0)
    s.sum_re[:] = np.float32(0.0)
    s.sum_im[:] = np.float32(0.0)
    for frame in range(2):
        drive(s, s.pulse_re[frame], s.pulse_im[frame], s.excitation.pulses, frame == 1)
        drive(s, s.noise_re[frame], s.noise_im[frame], s.excitation.noise, frame == 1)
    fft.irfft(s.fft, s.frame, s.sum_re, s.sum_im)
    for i in range(SIZE - HOP):
        s.tail[i] = s.tail[i + HOP] + s.frame[i]
    for i in range(SIZE - HOP, SIZE):
        s.tail[i] = s.frame[i]
    out[:] = s.tail[:HOP]
    biquads(out, s.high_pass, s.memory)


@kernel(record(VOCODER), f32, f32, f32_2d, f32_2d)
def stream(state: State, out: F32, f0: F32, envelope: F32, noise: F32) -> None:
    """The sound that ends at the instant of the last frame: out (160 n,), f0 (n,), envelope (n, BANDS), noise (n, 4)."""
    for frame in range(f0.size):
        synthesize(state[0], out[HOP * frame : HOP * (frame + 1)], f0[frame], envelope[frame], noise[frame])


def offline(f0: npt.ArrayLike, envelope: npt.ArrayLike, noise: npt.ArrayLike, seed: int = 0) -> F32:
    """The sound of n frames, float32 of shape (160 n,): frame t is heard at sample 160 t, and after the last one it fades.

    f0: Hz, shape (n,), 0 where unvoiced. envelope: ln of power in bands about `centres()`, shape (n, BANDS), -28 to 7: a
    constant e gives the mean square exp(e). noise: part of the power that is noise about NOISE_BANDS, shape (n, 4), 0 to 1,
    of no account where unvoiced. Values outside count as the nearest one, NaN as unvoiced, silent, noise. ValueError for
    other shapes.
    """
    frames = np.size(f0)
    hz, power, share = (np.ascontiguousarray(x, np.float32) for x in (f0, envelope, noise))
    if hz.shape != (frames,) or power.shape != (frames, BANDS) or share.shape != (frames, len(NOISE_BANDS)):
        shapes = f"{hz.shape}, {power.shape} and {share.shape}"
        raise ValueError(f"f0, envelope and noise of {shapes}: give (n,), (n, {BANDS}) and (n, {len(NOISE_BANDS)})")
    state, out = fresh(seed), np.empty(HOP * (frames + 1), np.float32)
    end = np.full((1, BANDS), FLOOR, np.float32), np.ones((1, len(NOISE_BANDS)), np.float32)
    stream(state, out, np.append(hz, np.float32(0.0)), np.concatenate((power, end[0])), np.concatenate((share, end[1])))
    return out[LATENCY:]
