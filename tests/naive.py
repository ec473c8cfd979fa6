"""Plain NumPy twins of the kernels: short, slow, float64, written from the papers' equations, not from the kernels."""

from __future__ import annotations

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
