"""Moving harmonics: each spectral lobe of a frame goes, whole, to the place its peak is warped to.

J. Laroche and M. Dolson, "New phase-vocoder techniques for pitch-shifting, harmonizing and other exotic effects" (1999): a lobe
moved by a constant, turned by the angle that this shift gathers over time, is the same partial at another frequency, in step
with itself from frame to frame. Reading a warped spectrum bin by bin, without that, lets the overlapping frames cancel.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import F32, record_dtype, word

ZERO, HALF, ONE, TWO = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
S1, S2, S3, S4 = (np.float32(1 / n) for n in (2 * 3, 4 * 5, 6 * 7, 8 * 9))  # ratios of terms in the series of sine
C1, C2, C3, C4, C5 = (np.float32(1 / n) for n in (1 * 2, 3 * 4, 5 * 6, 7 * 8, 9 * 10))  # and cosine


def lobes_dtype(bins: int) -> np.dtype[np.record]:
    """The record for spectra of `bins`; zeros are its fresh value."""
    most = bins // 2 + 2
    return record_dtype(
        ("power", "f4", (bins,)),
        ("turn", "f4", (bins,)),  # angle that the lobe over each bin has gathered since the start, in turns
        ("peak", "i8", (most,)),  # of each lobe: its highest bin,
        ("stop", "i8", (most,)),  # the bin after its last one,
        ("shift", "f4", (most,)),  # how far it goes, in bins,
        ("angle", "f4", (most,)),  # its angle in turns from -1/2 to 1/2,
        ("cosine", "f4", (most,)),  # and the cosine
        ("sine", "f4", (most,)),  # and sine of that
    )


@word
def find_lobes(s: np.record) -> int:
    """Peaks, and the valleys where one lobe ends and the next begins; returns their number, at least 1."""
    # Without branches, since noise cannot be predicted: both are written at each bin and counted where they are true.
    p = s.power
    last = len(p) - 1
    peaks = valleys = 0
    rose = True
    for k in range(last):
        rises = p[k + 1] > p[k]
        s.peak[peaks] = k
        s.stop[valleys] = k
        peaks += rose and not rises
        valleys += rises and not rose
        rose = rises
    s.peak[peaks] = last
    peaks += rose
    s.stop[peaks - 1] = last + 1
    return peaks


@word
def shift_lobes(s: np.record, lobes: int, moved: F32, advance: np.float32) -> None:
    """Shift and angle of each lobe, for a frame `advance` turns of bin 1 after the last one."""
    p = s.power
    last = len(p) - 1
    start = 0
    for i in range(lobes):
        peak = s.peak[i]
        place = np.float32(peak)
        if 0 < peak < last:  # a parabola through the power: 0.1 bin off at worst, which is 0.02 bins of shift
            before, at, after = p[peak - 1], p[peak], p[peak + 1]
            place += HALF * (before - after) / (before - at + (after - at))
        j = min(int(place), last - 1)
        shift = moved[j] + (place - np.float32(j)) * (moved[j + 1] - moved[j]) - place
        turn = s.turn[peak] + shift * advance if peak > 0 else ZERO  # a constant stays one, and real
        turn -= np.float32(math.floor(turn + HALF))
        s.shift[i] = shift
        s.angle[i] = turn
        for k in range(start, s.stop[i]):
            s.turn[k] = turn
        start = s.stop[i]


@word
def rotors(cosine: F32, sine: F32, turn: F32) -> None:
    """Cosine and sine of 2 pi `turn`, |turn| <= 1/2, to 2e-5: in vector lanes, 0.03 us for 60 where calls take 0.9."""
    for i in range(len(turn)):
        x = np.float32(math.pi) * turn[i]  # half the angle, up to pi / 2
        y = x * x
        half_sine = x * (ONE - y * S1 * (ONE - y * S2 * (ONE - y * S3 * (ONE - y * S4))))
        half_cosine = ONE - y * C1 * (ONE - y * C2 * (ONE - y * C3 * (ONE - y * C4 * (ONE - y * C5))))
        cosine[i] = ONE - TWO * half_sine * half_sine
        sine[i] = TWO * half_sine * half_cosine


@word
def warp_lobes(s: np.record, out_re: F32, out_im: F32, re: F32, im: F32, moved: F32, source: F32, advance: np.float32) -> None:
    """out = the spectrum X with each lobe moved. Time 0 of X is the middle of its frame.

    moved, source: where each bin goes to and comes from, in bins; advance: hop / transform length.
    """
    last = len(re) - 1
    for k in range(last + 1):
        s.power[k] = re[k] * re[k] + im[k] * im[k]
    lobes = find_lobes(s)
    shift_lobes(s, lobes, moved, advance)
    rotors(s.cosine[:lobes], s.sine[:lobes], s.angle[:lobes])
    k = 0
    for i in range(lobes):
        whole = math.floor(-s.shift[i])
        part = -s.shift[i] - np.float32(whole)
        cosine, sine = s.cosine[i], s.sine[i]
        border = np.float32(s.stop[i]) - HALF
        while k <= last and source[k] < border:
            j = k + whole
            if -1 <= j <= last:  # one bin beyond is taken for the last: bin 256 must not fall to rounding
                low, high = max(j, 0), min(j + 1, last)
                x_re = re[low] + part * (re[high] - re[low])
                x_im = im[low] + part * (im[high] - im[low])
                out_re[k] = x_re * cosine - x_im * sine
                out_im[k] = x_re * sine + x_im * cosine
            else:
                out_re[k] = out_im[k] = ZERO
            k += 1
