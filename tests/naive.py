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
