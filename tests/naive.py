"""Plain NumPy twins of the kernels: short, slow, float64, written from the papers' equations, not from the kernels."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


# --- The engine's own kernels: resampling, guard, limiter, level, mix ---


def resample(x: F64, rate_in: int, rate_out: int, half_length: float, attenuation: float) -> F64:
    """Kaiser-windowed sinc at the common rate F: stuff with zeros, filter, pick. Delay: half_length, floored to ticks."""
    common = np.gcd(rate_in, rate_out)
    up, down = rate_out // common, rate_in // common
    middle = int(half_length * rate_in * up)
    ticks = np.arange(-middle, middle + 1)
    width = (attenuation - 7.95) / (2.285 * 2 * np.pi * 2 * half_length)
    cutoff = min(rate_in, rate_out) / 2 - width / 2
    h = np.sinc(2 * cutoff * ticks / (rate_in * up)) * np.kaiser(ticks.size, 0.1102 * (attenuation - 8.7))
    for phase in range(up):
        h[phase::up] /= h[phase::up].sum()
    stuffed = np.zeros(x.size * up)
    stuffed[::up] = x
    return np.convolve(stuffed, h)[: stuffed.size : down]


def sanitise(x: F64, limit: float, tiny: float) -> F64:
    size = np.abs(x)
    return np.where(np.isfinite(x) & (size <= limit) & (size >= tiny), x, 0.0)


def limit(x: F64, keep: float, ceiling: float) -> F64:
    """gain[n] = min(1 - (1 - gain[n-1]) keep, ceiling / |x[n]|)"""
    gain, y = 1.0, np.empty_like(x)
    for n, value in enumerate(x):
        gain = 1 - (1 - gain) * keep
        if abs(value) * gain > ceiling:
            gain = ceiling / abs(value)
        y[n] = value * gain
    return y


def match_level(y: F64, x: F64, hop: int, latency: int, keep: float, bound: float, floor: float) -> F64:
    """Per hop: smooth both variances alike (the input's at the output's time), gain = sqrt of their ratio, ramped."""
    hops = y.size // hop
    power_x = x[: hops * hop].reshape(hops, hop).var(axis=1)
    power_y = y[: hops * hop].reshape(hops, hop).var(axis=1)
    at = np.arange(hops) - latency / hop
    delayed = np.interp(at, np.arange(-1, hops), np.concatenate([[0.0], power_x]), left=0.0)
    out, gain, smooth_x, smooth_y = y.copy(), 1.0, 0.0, 0.0
    for k in range(hops):
        smooth_x = keep * smooth_x + (1 - keep) * delayed[k]
        smooth_y = keep * smooth_y + (1 - keep) * power_y[k]
        target = np.clip(np.sqrt((smooth_x + floor) / (smooth_y + floor)), 1 / bound, bound)
        out[k * hop : (k + 1) * hop] *= gain + (target - gain) * np.arange(1, hop + 1) / hop
        gain = target
    return out


def mix(x: F64, rate: int, smoothing: float, glide: float, flip: float) -> F64:
    """Channels (rows) to one: signs by correlation with the loudest, then scaled to the loudest channel's power."""
    keep, stay = np.exp(-1 / (smoothing * rate)), np.exp(-1 / (glide * rate))
    channels = x.shape[0]
    power, product, weight = np.zeros(channels), np.zeros(channels), np.ones(channels)
    sum_power, scale, leader, y = 0.0, 1.0, 0, np.empty(x.shape[1])
    for n, value in enumerate(x.T):
        power = keep * power + (1 - keep) * value**2 + 1e-30
        product = keep * product + (1 - keep) * value * value[leader]
        bound = np.where(weight < 0, 0.0, flip * np.sqrt(power * power[leader]))
        weight = stay * weight + (1 - stay) * np.where(product < -bound, -1.0, 1.0)
        total = float(weight @ value)
        sum_power = keep * sum_power + (1 - keep) * total**2 + 1e-30
        loudest = int(np.argmax(power))
        if power[loudest] > 2 * power[leader]:
            leader = loudest
            product[loudest] = power[loudest]
        scale = stay * scale + (1 - stay) * min(1.0, np.sqrt(power[loudest] / sum_power))
        y[n] = total * scale
    return y


# --- Linear prediction and McAdams ---


def burg(x: F64, order: int) -> F64:
    """Kay (1988), 7.7: k = -2 <f, b> / (<f, f> + <b, b>) at each stage; no guards."""
    a, f, b = np.ones(1), x[1:], x[:-1]
    for _ in range(order):
        k = -2 * (f @ b) / (f @ f + b @ b)
        a = np.append(a, 0.0)
        a = a + k * a[::-1]
        f, b = (f + k * b)[1:], (b + k * f)[:-1]
    return a


def mcadams_frame(frame: F64, a: F64, alpha: float) -> F64:
    """Patino et al. (2021): frame through A(z) / A'(z), complex poles r e^{+-i phi} at r e^{+-i phi^alpha}, phi^alpha <= pi."""
    from scipy.signal import lfilter

    poles = np.roots(a)
    angle = np.minimum(np.abs(np.angle(poles)) ** alpha, np.pi) * np.sign(poles.imag)
    moved = np.where(poles.imag == 0, poles, np.abs(poles) * np.exp(1j * angle))
    return np.asarray(lfilter(a, np.poly(moved).real, frame))


def mcadams(x: F64, alpha: F64, step: float, peak_gain: float, order: int = 20, hop: int = 160) -> F64:
    """Offset off by a one-pole average; frame k, with alpha[k], ends with hop k; energy kept, peak held; not delayed."""
    from scipy.signal import lfilter

    hops = x.size // hop
    x = lfilter([1 - step, step - 1], [1, step - 1], x)
    x = np.concatenate([np.zeros(hop), x])
    w = np.sqrt(0.5 - 0.5 * np.cos(np.pi * np.arange(2 * hop) / hop))
    y = np.zeros_like(x)
    for k in range(hops):
        part = slice(k * hop, (k + 2) * hop)
        frame = w * x[part]
        if frame @ frame < 1e-16 * frame.size:
            continue
        moved = w * mcadams_frame(frame, burg(frame, order), alpha[k])
        seen = w * frame
        y[part] += moved * min(np.sqrt(seen @ seen / (moved @ moved)), peak_gain * np.abs(seen).max() / np.abs(moved).max())
    return y[hop:]


# --- Spectral front end: pre-emphasis, log mel energies, mean normalisation, MFCC ---


def preemphasis(x: F64, alpha: float) -> F64:
    return x - alpha * np.concatenate([[0.0], x[:-1]])


def frames(x: F64, length: int, hop: int, snip_edges: bool = True) -> F64:
    """Whole frames from sample 0 on, or of the mirrored signal, centred on t hop + hop / 2, as x.size / hop rounds many."""
    count, lead = (x.size - length) // hop + 1, 0
    if not snip_edges:
        count, lead = (x.size + hop // 2) // hop, length // 2 - hop // 2
        x = np.pad(x, (lead, length), "symmetric") if x.size else x
    return np.array([x[t * hop : t * hop + length] for t in range(count)]).reshape(-1, length)


def fbank(x: F64, rate: int, num_mel: int, window: F64, alpha: float = 0.97, low: float = 20.0, high: float = 0.0) -> F64:
    """Kaldi's log mel energies (cf. Young et al., The HTK Book, 5.2 to 5.6): 25 ms every 10 ms, int16 scale, no dither."""
    length = window.size
    y = frames(32768 * x, length, rate // 100)
    y = y - y.mean(axis=1, keepdims=True)
    y = window * (y - alpha * np.concatenate([y[:, :1], y[:, :-1]], axis=1))
    points = 2 ** int(np.ceil(np.log2(length)))
    power = np.abs(np.fft.rfft(y, points)[:, :-1]) ** 2
    mel = 1127 * np.log(1 + np.array([low, high or rate / 2, *np.arange(points // 2) * rate / points]) / 700)
    corner = np.linspace(mel[0], mel[1], num_mel + 2)[:, None]
    up = (mel[2:] - corner[:-2]) / (corner[1:-1] - corner[:-2])
    down = (corner[2:] - mel[2:]) / (corner[2:] - corner[1:-1])
    energy = power @ np.clip(np.minimum(up, down), 0, None).T
    return np.asarray(np.log(np.maximum(energy, np.finfo(np.float32).eps)))


def cmn(x: F64, window: int, minimum: int) -> F64:
    """Each frame without the mean of itself and `window` before; the first `minimum` without their common mean."""
    means = [x[max(0, t - window) : max(t + 1, minimum)].mean(axis=0) for t in range(len(x))]
    return x - np.array(means, np.float64)


def mfcc(log_mel: F64, num_ceps: int, lifter: float) -> F64:
    from scipy.fft import dct

    weight = 1 + lifter / 2 * np.sin(np.pi * np.arange(num_ceps) / lifter)
    return np.asarray(dct(log_mel, norm="ortho")[:, :num_ceps] * weight)


# --- Warping: maps of the frequency axis, vocal tract length ---

C128 = npt.NDArray[np.complex128]


def warp(omega: F64, name: str, a: float) -> F64:
    """Suendermann and Ney (2003); the bilinear one as it stands there, Kaldi's by its corners in Hz at 16 kHz."""
    if name == "power":
        return np.pi * (omega / np.pi) ** a
    if name == "quadratic":
        return omega + a * (omega / np.pi - (omega / np.pi) ** 2)
    if name == "bilinear":
        z = np.exp(1j * omega)
        return np.asarray(np.abs(-1j * np.log((z - a) / (1 - a * z))))
    if name == "kaldi":
        low, high = 100 * max(1, a), 7500 * min(1, a)
        hz = np.interp(omega * 8000 / np.pi, [0, 20, low, high, 8000], [0, 20, low / a, high / a, 8000])
        return hz * np.pi / 8000
    knee = 7 / 8 * np.pi / (max(1, a) if name == "symmetric" else 1)
    return np.interp(omega, [0, knee, np.pi], [0, a * knee, np.pi])


def levinson(r: F64) -> F64:
    """Normal equations: sum_j a[j] r[|m - j|] = 0 for m = 1..order."""
    from scipy.linalg import toeplitz

    return np.concatenate([[1.0], np.linalg.solve(toeplitz(r[:-1]), -r[1:])])


def prediction_response(X: C128, order: int = 18) -> C128:
    """A(omega) on 257 bins by linear prediction from |X|^2 with pre-emphasis, high-pass, lag window and noise."""
    omega = np.linspace(0, np.pi, 257)
    high_pass = 1 / (1 + (np.pi * 100 / 8000 / np.maximum(omega, 1e-9)) ** 8)
    r = np.fft.irfft(np.abs(X) ** 2 * np.abs(1 - 0.9 * np.exp(-1j * omega)) ** 2 * high_pass)[: order + 1]
    r = r * np.exp(-0.5 * (2 * np.pi * 50 / 16000 * np.arange(order + 1)) ** 2)
    r[0] *= 1 + 1e-4
    return np.asarray(np.exp(-1j * np.outer(omega, np.arange(order + 1))) @ levinson(r))


def move_lobes(X: C128, turns: F64, moved: F64, source: F64, advance: float) -> C128:
    """Laroche and Dolson (1999): lobes, from valley to valley, shifted as their peaks are; turns (per bin) is updated."""
    power, bins = np.abs(X) ** 2, np.arange(X.size)
    rises = np.concatenate([[True], np.diff(power) > 0, [False]])
    peaks = np.flatnonzero(rises[:-1] & ~rises[1:])
    valleys = np.flatnonzero(~rises[:-1] & rises[1:])
    Y = np.zeros_like(X)
    for peak, start, stop in zip(peaks, [0, *valleys], [*valleys, X.size], strict=True):
        place = float(peak)
        if 0 < peak < bins[-1]:
            before, at, after = power[peak - 1 : peak + 2]
            place += 0.5 * (before - after) / (before - 2 * at + after)
        shift = np.interp(place, bins, moved) - place
        turn = turns[peak] + shift * advance if peak > 0 else 0.0
        turns[start:stop] = turn
        mine = bins[(source >= start - 0.5) & (source < stop - 0.5)]
        inside = (mine - shift >= -1) & (mine - shift < bins[-1] + 1)
        read = np.interp(mine - shift, bins, X.real) + 1j * np.interp(mine - shift, bins, X.imag)
        Y[mine] = np.where(inside, read, 0) * np.exp(2j * np.pi * turn)
    return Y


def vtln(x: F64, moved: F64, on: str, window: int = 480, support: int = 240, hop: int = 80) -> F64:
    """Frames of 480 samples in, the last 240 out, every 80; moved = f(omega) on 257 bins; energy kept; not delayed."""
    middle, bins = window - support // 2, np.arange(257)
    analysis = np.concatenate([np.sin(np.pi / 2 * np.arange(middle) / middle), np.cos(np.pi * np.arange(120) / 240)])
    synthesis = np.sin(np.pi * np.arange(support) / support) ** 2 / analysis[-support:] * 2 * hop / support
    goes, comes = moved * 256 / np.pi, np.interp(bins, moved * 256 / np.pi, bins)
    padded = np.concatenate([np.zeros(window), x, np.zeros(window)])
    y, turns = np.zeros_like(padded), np.zeros(bins.size)
    for start in range(0, padded.size - window + 1, hop):
        X = np.fft.rfft(np.roll(np.pad(analysis * padded[start : start + window], (0, 512 - window)), -middle))
        if np.sum(np.abs(X[3:]) ** 2) <= 1e-16 * window * 512:
            continue
        if on == "envelope":
            A = prediction_response(X)
            Y = X * A / (np.interp(comes, bins, A.real) + 1j * np.interp(comes, bins, A.imag))
            Y[:3] = X[:3]
        else:
            Y = move_lobes(X, turns, goes, comes, hop / 512)
        Y[3:] *= np.sqrt(np.sum(np.abs(X[3:]) ** 2) / np.sum(np.abs(Y[3:]) ** 2))
        y[start + window - support : start + window] += synthesis * np.roll(np.fft.irfft(Y), support // 2)[:support]
    return y[window : window + x.size]


# --- F0, residual, pitch, VoiceMask ---


def f0(x: F64) -> F64:
    """F0 at x[0], x[160], ...: candidates from normalised cross-correlation, then the cheapest path, without look-ahead."""
    from scipy.signal import butter, firwin, sosfilt

    frames = x.size // 160 + 1
    padded = np.concatenate([np.zeros(2000), x, np.zeros(2000)])
    low = np.convolve(padded, firwin(41, 300, fs=16000))[20::4]
    band = sosfilt(butter(4, 100, "high", fs=4000, output="sos"), low)
    speech, noise, heard, usual, best = -27.0, -60.0, 0.0, 0.0, 0
    periods, costs, out = [0.0], [0.0], []
    for k in range(-2, frames):
        piece = band[500 + 40 * k - 115 : 500 + 40 * k + 115]
        correlation = np.zeros(81)
        for lag in range(6, 81):
            a, b = piece[(80 - lag) // 2 :][:150], piece[(80 - lag) // 2 + lag :][:150]
            correlation[lag] = a @ b / np.sqrt((a @ a + 150e-9) * (b @ b + 150e-9))
        found = []
        for lag in range(7, 80):
            before, at, after = correlation[lag - 1 : lag + 2]
            if at > 0.05 and before <= at > after:
                place = lag - 0.5 * (after - before) / (before - 2 * at + after)
                top = at - 0.125 * (after - before) ** 2 / (before - 2 * at + after)
                found.append((top * (1 - 0.43 * np.sqrt(place / 80)), place))
        found = sorted(found, reverse=True)[:6]
        level = 10 * np.log10(piece @ piece / 230 + 1e-9)
        speech, noise = max(level, speech - 0.04), max(min(level, noise + 0.17), -70)
        unvoiced = 0.63 + 0.29 / 30 * (level - speech) + 0.29 / 30 * (level - noise)
        new_costs = [unvoiced + min(c + 1.25 * (j > 0) for j, c in enumerate(costs))]
        for weighted, place in found:
            paths = zip(costs, periods, strict=True)
            jumps = [cost + (1.6 * abs(np.log(place / old)) if old else 0) for cost, old in paths]
            rare = 0.21 * heard / 50 * min(abs(np.log(place) - usual), 1)
            new_costs.append(1 - weighted + rare + min(jumps))
        periods, costs = [0.0, *(place for _, place in found)], new_costs
        best = int(np.argmin(costs))
        if best > 0 and found[best - 1][0] > 0.5:
            heard = min(heard + 1, 50)
            usual += (np.log(periods[best]) - usual) / heard
        out.append(4000 / periods[best] if best else 0.0)
    return np.array(out[2:])


def whiten(x: F64) -> F64:
    """Residual of x by linear prediction: filters from mixed autocorrelations of frames centred every 160 samples."""
    signal = np.concatenate([np.zeros(800), x, np.zeros(800)])
    signal = signal - 0.9 * np.concatenate([[0.0], signal[:-1]])
    out, old = np.zeros_like(signal), np.zeros(19)
    for centre in range(720, signal.size - 240, 160):
        frame = np.hanning(480) * signal[centre - 240 : centre + 240]
        new = np.array([frame[: 480 - m] @ frame[m:] for m in range(19)]) * np.exp(-0.5 * (np.pi / 160 * np.arange(19)) ** 2)
        new[0] *= 1 + 1e-4
        for p in range(4):
            r = old + (p + 0.5) / 4 * (new - old)
            a = levinson(r) if r[0] > 0 else np.eye(19)[0]
            for n in range(centre - 160 + 40 * p, centre - 120 + 40 * p):
                out[n] = a @ signal[n - 18 : n + 1][::-1]
        old = new
    return out[800 : 800 + x.size]


def splice(x: F64, marks: F64, period: float, ratio: float, start: int, stop: int) -> F64:
    """Periods of x from the nearest of `marks`, each period / ratio long; the first one stays where it is."""

    from itertools import pairwise

    def read(at: F64) -> F64:
        i = np.floor(at).astype(int)
        u, a, b, c, d = at - i, x[i - 1], x[i], x[i + 1], x[i + 2]
        y = b + u * (c - a) / 2 + u**2 * (a - 2.5 * b + 2 * c - d / 2) + u**3 * (1.5 * (b - c) + (d - a) / 2)
        return np.asarray(y)

    def piece(source: float, since: F64) -> F64:
        end, half = period - pulse, period / 2 - pulse
        past = np.maximum(since - end, 0)
        turned = np.abs((past + half) % (2 * half) - half)
        return np.asarray(np.exp(-1.5 * past / period) * read(source + np.where(past > 0, end - turned, since)))

    shorter = min(period, period / ratio)
    pulse, fade = min(8.0, shorter / 8), min(48.0, 0.3 * shorter)
    first = float(marks[marks >= start + 56].min())
    out, t = x[start:stop].copy(), np.arange(start, stop, dtype=float)
    born = np.arange(first, stop + 2 * period / ratio, period / ratio)
    for this, following in pairwise(born):
        source, coming = (float(marks[np.argmin(np.abs(marks - b))]) for b in (this, following))
        mine = (t >= this - pulse) & (t < following - pulse)
        left = following - pulse - t[mine]
        part = np.where(left < fade, 0.5 + 0.5 * np.cos(np.pi * left / fade), 0)
        ahead = np.where(left < fade, t[mine] - following, 0)
        out[mine] = (1 - part) * piece(source, t[mine] - this) + part * read(coming + ahead)
    return out


def wanted_f0(contour: F64, hz: float, spread: float) -> F64:
    """Voiced F0 values to those of a voice of mean `hz` and this spread of ln F0, by running mean and variance."""
    mean, variance, count, out = 0.0, 0.15**2, 0.0, []
    for value in np.log(contour):
        count = min(count + 1, 500)
        new = mean + (value - mean) / count
        variance += ((value - mean) * (value - new) - variance) / (count + 100)
        mean = new
        stretch = np.clip(spread / np.sqrt(variance), 0.5, 2)
        wanted = np.log(hz) + stretch * (value - mean + 0.09 * max(0, 1 - count / 300))
        out.append(np.exp(np.clip(wanted, np.log(60), np.log(450))))
    return np.array(out)


# --- Live: reading between samples, fading ---


def read_between(x: F64, times: F64, rate_in: int, rate_out: int, zeros: int, kaiser: float) -> F64:
    """x at `times` (input samples): Kaiser-windowed sinc whose first zeros lie one sample of the lower rate from its centre."""
    width = max(1.0, rate_in / rate_out)
    y = np.zeros(times.size)
    for k, t in enumerate(times):
        n = np.arange(np.ceil(t - zeros * width), np.floor(t + zeros * width) + 1)
        h = np.sinc((n - t) / width) * np.i0(kaiser * np.sqrt(np.maximum(1 - ((n - t) / (zeros * width)) ** 2, 0)))
        there = (n >= 0) & (n < x.size)
        y[k] = np.dot(h[there] / h.sum(), x[n[there].astype(int)])
    return y


def fade(y: F64, rate: int, duration: float, gain: float, target: float) -> F64:
    distance = abs(target - gain) * duration * rate
    return y * np.interp(np.arange(1, y.size + 1), [0, distance], [gain, target])


# --- Vocoder ---


def minimum_phase(log_magnitude: F64) -> npt.NDArray[np.complex128]:
    """H of ln |H| on N / 2 + 1 bins: causal and with a causal inverse."""
    cepstrum = np.fft.irfft(log_magnitude)
    half = cepstrum.size // 2
    cepstrum[1:half] *= 2
    cepstrum[half + 1 :] = 0
    return np.asarray(np.exp(np.fft.rfft(cepstrum)))


def pulse_times(f0: F64) -> list[tuple[float, float]]:
    """(time, gain) of each pulse, in samples after the instant of frame 0, which follows one that is not voiced."""
    found, before, phase = [], 0.0, 0.0
    for t, hz in enumerate(np.where(f0 >= 30, np.minimum(f0, 1000), 0)):
        ends = (before or hz, hz or before)
        for i in range(160):
            step = (ends[0] + (ends[1] - ends[0]) * (i + 1) / 160) / 16000
            phase = phase + step if step else 0.0
            if phase >= 1:
                phase -= 1
                found.append((160 * (t - 1) + 8 + i - phase / step, 1 / np.sqrt(step)))
        before = hz
    return found


def even_noise(n: int, seed: int) -> F64:
    """n values from -sqrt 3 to sqrt 3."""
    values = []
    for _ in range(n):
        seed = (seed * 37769685 + 12345) % 2**31
        values.append(np.sqrt(3) * (seed / 2**30 - 1))
    return np.array(values)


def vocode(f0: F64, envelope: F64, noise: F64, seed: int) -> F64:
    """Sound of n frames, frame t about sample 160 t: values within their bounds, and after the last one silence."""
    from scipy.signal import butter, lfilter

    n, hz = f0.size, np.arange(513) * 16000 / 1024
    clock = np.arange(-160, 160 * (n + 8))
    pulses = np.zeros(clock.size)
    for time, gain in pulse_times(np.append(f0, 0)):
        late = clock - time
        window = np.i0(6 * np.sqrt(np.maximum(0, 1 - (late / 8) ** 2))) / np.i0(6) * (np.abs(late) <= 8)
        pulses += gain * np.sinc(late) * window
    breath = even_noise(160 * (n + 1), seed)
    rise = 0.5 - 0.5 * np.cos(np.pi * (np.arange(160) + 0.5) / 160)
    window = np.concatenate([rise, 1 - rise])
    z = np.exp(-2j * np.pi * hz / 16000)
    late = ((z - 0.75) / (1 - 0.75 * z)) ** 9
    centres = np.linspace(0, np.log(1 + 8000 / 700), envelope.shape[1])
    out = np.zeros(clock.size + 1024)
    for t in range(n):
        log_power = np.interp(np.log(1 + hz / 700), centres, envelope[t])
        part = np.maximum(np.interp(hz, [500, 1500, 2500, 4000], noise[t]), np.clip((hz - 4000) / 2000, 0, 1))
        part = np.maximum(part, 1e-6) if f0[t] >= 30 else np.ones(513)
        voice = late * minimum_phase((log_power + np.log(np.maximum(1 - part, 1e-4))) / 2) * (f0[t] >= 30)
        breath_filter = minimum_phase((log_power + np.log(part)) / 2)
        here = slice(160 * t, 160 * (t + 2))
        p, b = np.fft.rfft(window * pulses[here], 1024), np.fft.rfft(window * breath[here], 1024)
        out[160 * t : 160 * t + 1024] += np.fft.irfft(voice * p + breath_filter * b)
    return np.asarray(lfilter(*butter(2, 40, "high", fs=16000), out)[160 : 160 * (n + 1)])


# --- Speaker encoder ---


def lstm(x: F64, w_ih: F64, w_hh: F64, b_ih: F64, b_hh: F64) -> F64:
    """Hidden states (n, size) of x, shape (n, inputs); weights as PyTorch has them: input, forget, cell and output gate."""
    size = w_hh.shape[1]
    h, c = np.zeros(size), np.zeros(size)
    hidden = []
    for row in x:
        i, f, g, o = np.split(w_ih @ row + b_ih + w_hh @ h + b_hh, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        hidden.append(h)
    return np.array(hidden)


def ge2e(mels: F64, weights: dict[str, F64]) -> F64:
    """The embedding of one window, shape (frames, mels)."""
    x = mels
    for layer in range(3):
        x = lstm(x, *(weights[f"lstm.{name}_l{layer}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))
    y = np.maximum(weights["linear.weight"] @ x[-1] + weights["linear.bias"], 0)
    return np.asarray(y / np.linalg.norm(y))


# --- Prosody ---


def prosody(pitch: F64, voicing: F64, energy: F64, late: int, pitch_range: float = 1, flatten: float = 0) -> F64:
    """Row j, (z-score, voicing, energy) of frame j - late: pitch and voicing come two frames late, energy at once."""
    n = len(pitch)
    smooth, rows = 0.0, np.zeros((n, 3))
    for j in range(n):
        # Running averages: weights fall by 1 - w / 500 once there are 500 frames' worth.
        count, mean, variance, heard, level = 0.0, 0.0, 0.15**2, 0.0, 0.0
        for i in range(j + 1):
            w = voicing[i] * (voicing[i] > 0.5)
            if w:
                count = min(count + w, 500)
                before, mean = mean, mean + (pitch[i] - mean) * w / count
                variance += w / (count + 100) * ((pitch[i] - before) * (pitch[i] - mean) - variance)
                if count == w:
                    first = i
            if i >= 2:
                w = 0.02 + 0.98 * voicing[i]
                heard = min(heard + w, 500)
                level += (np.exp(energy[i - 2]) - level) * w / heard
        if count and first == j:
            smooth = pitch[j]
        near = np.arange(max(j - late + 2 - 8, 0), min(j - late + 2 + 8, j) + 1)
        w = (0.5 + 0.5 * np.cos(np.pi * (near - (j - late + 2)) / 9)) * voicing[near]
        smooth = (0.1 * smooth + w @ pitch[near]) / (0.1 + w.sum())
        z = (smooth - mean + 0.09 * max(0, 1 - count / 300)) / np.sqrt(variance) if count else 0
        near = np.arange(j - late - 4, min(j - late + 4, j) + 1)
        w = 0.5 + 0.5 * np.cos(np.pi * (near - (j - late)) / 5)
        loud = np.where(near < 0, -3, np.clip(energy[np.maximum(near, 0)] - (np.log(level) if heard else np.inf), -3, 1.5))
        e = w @ loud / w.sum()
        flat = min(-0.5, -3 + 2.5 * (e + 3))
        rows[j] = (
            pitch_range * (1 - flatten) * np.clip(z, -3, 3),
            voicing[j - late + 2] if j >= late - 2 else 0,
            (1 - flatten) * e + flatten * flat,
        )
    return rows


# --- Pauses ---


def pause(envelope: F64, silence: F64, gain: float) -> F64:
    """Frames of the vocoder, (frames, 64), louder by `gain`; the surer the silence, the nearer to -17.2."""
    hz = 700 * (np.exp(np.linspace(0, np.log(1 + 8000 / 700), 64)) - 1)
    rows = []
    for frame, p in zip(envelope, silence, strict=True):
        mean = np.log(np.average(np.exp(frame), weights=hz + 700))
        fall = mean - min(mean, -17.2)
        rows.append(frame + gain - (2 * p - 1 if p > 0.5 else 0) * fall)
    return np.array(rows)


# --- Running mean of the features ---


def channel_mean(mel: F64, typical: F64) -> F64:
    """Row t: the mean of the frames up to t by the root of their power and by age; its shape from `typical` in 30 frames."""
    rows = []
    for t in range(len(mel)):
        past = mel[: t + 1]
        weight = np.exp(0.5 * past.mean(1) - np.arange(t, -1, -1) / 300)
        mean = weight @ past / weight.sum()
        trust = (t + 1) / (t + 31)
        rows.append(mean.mean() + trust * (mean - mean.mean()) + (1 - trust) * typical)
    return np.array(rows)


# --- Hiding what must not be heard ---


def redact(
    y: F64, rate: int, spans: list[tuple[int, int]], judged: int, fade: float, filler: F64 | None = None
) -> tuple[F64, F64]:
    """Voice and its gain. Falls from a span's start and to the first unjudged frame, rises to a span's end, never faster than
    in `fade`; `filler` comes in as the voice goes, and goes `fade` before the end."""
    length = round(fade * rate)
    t = np.arange(y.size)
    gain = np.clip((judged - t) / length, 0, 1)
    wanted = np.zeros(y.size)
    for start, end in spans:
        inside = np.minimum(t - start + 1, end - t)
        gain = np.where(inside > 0, np.minimum(gain, np.clip(1 - inside / length, 0, 1)), gain)
        wanted[start : max(start, end - length)] = 1
    level = np.zeros(y.size)
    for n in range(1, y.size):
        level[n] = np.clip(wanted[n], level[n - 1] - 1 / length, level[n - 1] + 1 / length)
        gain[n] = min(gain[n], gain[n - 1] + 1 / length)
    return gain * y + (0 if filler is None else level * filler), gain


# --- Phones in a network's outputs ---


def spot(likely: F64, row: list[int]) -> tuple[F64, npt.NDArray[np.int64]]:
    """For each frame the best path through `row` that ends there: mean over phones of its summed likelihoods; its first frame.

    By hand over all beginnings: blanks (class 0) may stand between phones, must stand between two that are equal.
    """
    frames, places = len(likely), 2 * len(row) - 1
    heard = [row[place // 2] if place % 2 == 0 else 0 for place in range(places)]
    score, first = np.full(frames, -np.inf), np.zeros(frames, np.int64)
    for begin in range(frames):
        reached = np.full(places, -np.inf)
        reached[0] = likely[begin, heard[0]]
        for t in range(begin, frames):
            if t > begin:
                came = reached.copy()
                for place in range(places):
                    ways = [came[place], came[place - 1] if place else -np.inf]
                    if place > 1 and heard[place] not in (0, heard[place - 2]):
                        ways.append(came[place - 2])
                    reached[place] = max(ways) + likely[t, heard[place]]
            if reached[-1] / len(row) >= score[t]:  # of equal ones the latest beginning
                score[t], first[t] = reached[-1] / len(row), begin
    return score, first


# --- What a network trained with CTC has read ---


def readings(likely: F64) -> dict[tuple[int, ...], float]:
    """The log likelihood of every reading: the sum over all paths, of which repetitions are one and blanks (class 0) none."""
    found: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(likely.shape[1]), repeat=len(likely)):
        units = tuple(unit for unit, _ in itertools.groupby(path) if unit)
        total = float(sum(likely[t, unit] for t, unit in enumerate(path)))
        found[units] = float(np.logaddexp(found.get(units, -np.inf), total))
    return found


def prefixes(likely: F64, width: int, floor: float) -> dict[tuple[int, ...], float]:
    """The same of the `width` likeliest after each row, all others forgotten; units below `floor` do not begin."""
    beam: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -np.inf)}
    for row in likely:
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        for units, (blank, said) in beam.items():
            either = np.logaddexp(blank, said)
            ways = [(units, either + row[0], -np.inf)]
            if units:
                ways.append((units, -np.inf, said + row[units[-1]]))
            for unit in range(1, len(row)):
                if row[unit] > floor or (*units, unit) in beam:
                    ways.append(((*units, unit), -np.inf, (blank if units[-1:] == (unit,) else either) + row[unit]))
            for key, quiet, loud in ways:
                before = found.get(key, (-np.inf, -np.inf))
                found[key] = float(np.logaddexp(before[0], quiet)), float(np.logaddexp(before[1], loud))
        best = sorted(found, key=lambda key: -np.logaddexp(*found[key]))[:width]
        beam = {key: found[key] for key in best}
    return {key: float(np.logaddexp(*both)) for key, both in beam.items()}
