"""The engine's laws, with stages that do nothing, that delay, and that fail in every way we could think of."""

import gc
import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from doubles import Delay, Gain, run
from memory import net_growth
from signals import awkward, noise, partitions, tone, voice
from velavox import Engine, Identity

RATES = (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000)


@pytest.mark.parametrize("rate", RATES)
def test_any_partition_gives_the_same(rate: int) -> None:
    x = voice(0.4, rate=rate)
    engine = Engine([Identity(), Delay()], sample_rate=rate)
    whole = run(engine, x)
    assert whole.size == x.size
    for name, sizes in partitions(x.size):
        np.testing.assert_array_equal(run(engine, x, sizes), whole, err_msg=name)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("stages", [[Identity], [Delay], [Delay, Identity, Delay]])
def test_latency_reported_is_latency_measured(rate: int, stages: list[type]) -> None:
    """Below the band edge, delay and gain are those of a pure delay: a tone's phase shows it to 1 % of a sample."""
    engine = Engine([stage() for stage in stages], sample_rate=rate)
    hz, n = 700.0, rate // 2
    x = tone(n, hz, rate=rate)
    y = np.concatenate([engine.process(x), engine.flush()])
    late = np.arange(n // 2, n)
    assert np.abs(y[: engine.latency // 2]).max() < 1e-3
    carrier = np.exp(-2j * np.pi * hz * late / rate)
    phase = np.angle(np.dot(y[late + engine.latency], carrier) / np.dot(x[late], carrier))
    assert abs(phase / (2 * np.pi * hz) * rate) < 0.01


@pytest.mark.parametrize("rate", RATES)
def test_any_length_keeps_its_length(rate: int) -> None:
    engine = Engine(Identity(), sample_rate=rate)
    for n in range(0, 2000, 37):
        assert run(engine, noise(n)).size == n


def test_budget_of_delay() -> None:
    engine = Engine(Delay(), sample_rate=48000)
    assert engine.latency_parts["stages"] == 163 * 3
    assert engine.latency - 163 * 3 <= 0.015 * 48000


def test_bit_exact_at_16_kHz_at_full_scale() -> None:  # noqa: N802
    x = np.random.default_rng(0).integers(-32768, 32768, 8000).astype(np.int16)
    y = run(Engine(Identity(), sample_rate=16000), x)
    np.testing.assert_array_equal(y * 32768, x)


def test_impulse_near_the_end_comes_out_by_flush() -> None:
    x = np.zeros(4800, np.float32)
    x[-50] = 0.5
    engine = Engine(Delay(), sample_rate=48000)
    head = engine.process(x)
    tail = engine.flush()
    assert tail.size == engine.latency
    assert engine.flush().size == 0
    y = np.concatenate([head, tail])[engine.latency :]
    assert np.argmax(np.abs(y)) == x.size - 50


def test_flush_starts_the_next_stream_afresh() -> None:
    engine, x = Engine(Delay(), sample_rate=44100), voice(0.2, rate=44100)
    np.testing.assert_array_equal(run(engine, x), run(engine, x))
    assert engine.process(np.zeros(0)).size == 0
    assert engine.flush().size == 0


def test_reset_equals_fresh() -> None:
    engine = Engine([Delay(), Identity()], sample_rate=44100, channels=2, policy="mix")
    x = np.stack([voice(0.3, rate=44100), voice(0.3, seed=1, rate=44100)], axis=1)
    first = engine.process(x)
    engine.process(noise(2 * 3333).reshape(-1, 2))
    engine.reset()
    assert engine.stats.blocks == 0
    np.testing.assert_array_equal(engine.process(x), first)


def test_clicks_stay_where_they_are() -> None:
    """60 s of one click a second: none moves by a sample."""
    rate = 44100
    x = np.zeros(60 * rate, np.float32)
    x[rate // 2 :: rate] = 0.9
    y = run(Engine(Delay(), sample_rate=rate), x, [313] * (x.size // 313) + [x.size % 313])
    peaks = np.abs(y).reshape(60, rate).argmax(axis=1)
    assert (peaks == rate // 2).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "uint8"])
def test_any_dtype_and_layout(dtype: str) -> None:
    plain = np.clip(np.stack([voice(0.2), voice(0.2, seed=1)], axis=1) * 2, -0.99, 0.99)
    if np.dtype(dtype).kind == "f":
        x = plain.astype(dtype)
    else:
        info = np.iinfo(dtype)
        x = (plain * (info.max + 1 if info.min else 128) + (0 if info.min else 128)).astype(dtype)
    wanted = run(Engine(Identity(), sample_rate=16000, channels=2), plain)
    readonly = np.frombuffer(x.tobytes(), dtype).reshape(x.shape)
    layouts = [x, readonly, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x.astype(x.dtype.newbyteorder())]
    for layout in layouts:
        before = layout.copy()
        y = run(Engine(Identity(), sample_rate=16000, channels=2), layout)
        np.testing.assert_allclose(y, wanted, atol={1: 0.009, 2: 6e-4}.get(x.itemsize, 1e-6))
        np.testing.assert_array_equal(layout, before)
        assert y.dtype == np.float32


def test_output_belongs_to_the_caller() -> None:
    engine = Engine(Identity(), sample_rate=16000)
    y = engine.process(noise(320))
    assert y.flags.writeable
    assert y.flags.owndata
    kept = y.copy()
    engine.process(noise(320, seed=1))
    np.testing.assert_array_equal(y, kept)


@pytest.mark.parametrize(
    ("x", "channels"), [(np.zeros((4, 2)), 1), (np.zeros(4), 2), (np.zeros((2, 4)), 4 + 1), (np.zeros((1, 4, 1)), 1), (0.0, 1)]
)
def test_wrong_shape(x: Any, channels: int) -> None:
    with pytest.raises(ValueError, match="give"):
        Engine(Identity(), sample_rate=16000, channels=channels).process(x)


@pytest.mark.parametrize(
    "arguments",
    [
        {"sample_rate": 0},
        {"sample_rate": 10**9},
        {"channels": 0},
        {"channels": 1.5},
        {"policy": "dry"},
        {"on_error": "pass"},
        {"max_block": 0},
    ],
)
def test_bad_arguments_name_themselves(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        Engine(Identity(), **{"sample_rate": 16000, **arguments})


def test_bad_stages() -> None:
    stage = Identity()
    for stages in ([], ["mcadams"], None, [stage, "x"]):
        with pytest.raises(TypeError, match="Stage"):
            Engine(stages, sample_rate=16000)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="twice"):
        Engine([stage, stage], sample_rate=16000)


def test_closed_is_silent_until_reset() -> None:
    x = noise(1600)
    for _ in range(3):
        with Engine(Identity(), sample_rate=16000) as engine:
            engine.process(x)
        y = engine.process(x)
        assert y.shape == x.shape
        assert (y == 0).all()
        assert engine.stats.causes == {"closed": 1}
        assert engine.flush().size == 0
        engine.reset()
        assert np.abs(engine.process(x)).max() > 0


def test_sanitised_input() -> None:
    x = noise(1600)
    x[[10, 20, 30]] = np.nan, np.inf, -np.inf
    x[40] = 16000.0
    x[50] = 2.0
    engine = Engine(Identity(), sample_rate=16000)
    y = run_without_flush = engine.process(np.concatenate([x, np.zeros(400, np.float32)]))[engine.latency :]
    assert np.isfinite(run_without_flush).all()
    assert (y[[10, 20, 30, 40]] == 0).all()
    assert y[50] == 1.0
    stats = engine.stats
    assert (stats.sanitised, stats.scale, stats.full_scale, stats.clipped) == (4, 1, 1, 1)


@pytest.mark.parametrize("rate", [8000, 16000, 44100])
def test_awkward_signals_stay_within_full_scale(rate: int) -> None:
    for name, x in awkward().items():
        y = run(Engine(Delay(), sample_rate=rate), x)
        assert np.isfinite(y).all(), name
        assert np.abs(y).max() <= 1, name


def test_each_channel_has_its_own_voice_mix_has_one() -> None:
    x = np.stack([voice(0.3)] * 3, axis=1)
    each = Engine(Gain(), sample_rate=16000, channels=3)
    gains = [stage.voice["gain"] for lane in each._lanes for stage in lane.stages]
    assert len(set(gains)) == 3
    mixed = Engine(Gain(), sample_rate=16000, channels=3, policy="mix")
    y = mixed.process(x)
    assert len(mixed._lanes) == 1
    np.testing.assert_array_equal(y[:, 0], y[:, 2])


def test_one_voice_in_all_channels_is_drawn_once() -> None:
    x = noise(48_000, 0.1).reshape(-1, 3)
    stage = Gain()
    engine = Engine(stage, sample_rate=16000, channels=3, policy="one")
    changes: list[Callable[[], None]] = [
        engine.reset,
        engine.new_voice,
        lambda: engine.set(gain=(0.1, 0.9)),
        lambda: engine.restore(engine.save()),
    ]
    for change in changes:
        change()
        engine.reset()
        y = engine.process(x)
        for channel in range(3):  # each a stream of its own
            alone = stage.clone()
            alone.restore(stage.save())
            np.testing.assert_array_equal(y[:, channel], Engine(alone, sample_rate=16000).process(x[:, channel]))
    assert len(engine.save()["lanes"]) == 1
    with pytest.raises(ValueError, match="1 voices"):
        engine.restore(Engine(Gain(), sample_rate=16000, channels=3).save())


def test_clones_keep_their_voices_in_another_engine() -> None:
    x = np.repeat(noise(16_000, 0.1)[:, None], 3, axis=1)
    stage = Gain()
    engine = Engine(stage, sample_rate=16000, channels=3)
    y, clones = engine.process(x), engine.clones
    with pytest.raises(ValueError, match="another engine"):
        Engine(Gain(), sample_rate=16000, channels=3, clones=clones)
    del engine
    assert np.array_equal(Engine(stage, sample_rate=16000, channels=2, clones=clones).process(x[:, :2]), y[:, :2])
    wider = Engine(stage, sample_rate=16000, channels=4, clones=clones).process(np.repeat(x[:, :1], 4, axis=1))
    assert np.array_equal(wider[:, :3], y)
    assert not np.array_equal(wider[:, 3], y[:, 2])


@pytest.mark.parametrize("own", [[], [Delay()], [Gain(), Gain()], ["gain"]], ids=["none", "another", "more", "no stage"])
def test_clones_of_other_stages_are_refused(own: list[Any]) -> None:
    """With none the channel would be raw."""
    with pytest.raises(ValueError, match="clones: are of other stages"):
        Engine(Gain(), sample_rate=16000, channels=2, clones=[own])


def test_a_stage_is_not_its_own_clone() -> None:
    stage = Gain()
    with pytest.raises(ValueError, match="stands there twice"):
        Engine(stage, sample_rate=16000, channels=2, clones=[[stage]])


def test_silent_channel_stays_silent() -> None:
    x = np.stack([voice(0.3, rate=48000), np.zeros(14400, np.float32)], axis=1)
    y = Engine(Delay(), sample_rate=48000, channels=2).process(x)
    assert (y[:, 1] == 0).all()
    assert np.abs(y[:, 0]).max() > 0.1


def test_voices_by_seed_source_and_channel() -> None:
    def gains(**arguments: Any) -> list[float]:
        engine = Engine(Gain(), sample_rate=16000, channels=2, **arguments)
        return [lane.stages[0].voice["gain"] for lane in engine._lanes]

    assert gains(seed=1) == gains(seed=1)
    every = gains(seed=1) + gains(seed=2) + gains(seed=1, source="b") + gains() + gains()
    assert len(set(every)) == len(every)


def test_new_voice_with_a_seed_is_repeatable_and_new() -> None:
    a, b = (Engine(Gain(), sample_rate=16000, seed=7) for _ in range(2))
    first = a.stages[0].voice["gain"]
    a.new_voice()
    b.new_voice()
    assert a.stages[0].voice == b.stages[0].voice
    assert a.stages[0].voice["gain"] != first


def test_set_reaches_every_channel() -> None:
    engine = Engine(Gain(), sample_rate=16000, channels=3)
    engine.set(gain=0.25)
    assert [lane.stages[0].voice["gain"] for lane in engine._lanes] == [0.25] * 3
    with pytest.raises(TypeError, match="there are gain"):
        engine.set(gian=0.1)
    with pytest.raises(ValueError, match="gain=2"):
        engine.set(gain=2)


def test_save_and_restore() -> None:
    engine = Engine([Gain(), Delay()], sample_rate=16000, channels=2)
    other = Engine([Gain(), Delay()], sample_rate=48000, channels=2)
    saved = json.loads(json.dumps(engine.save()))
    other.restore(saved)
    assert other.save() == engine.save()
    with pytest.raises(ValueError, match="not from an engine like this"):
        Engine(Gain(), sample_rate=16000).restore(saved)
    saved["lanes"][1][0]["values"]["gain"] = 5
    before = engine.save()
    with pytest.raises(ValueError, match="gain"):
        engine.restore(saved)
    assert engine.save() == before


def test_engines_side_by_side_in_threads() -> None:
    signals = [voice(1.0, seed=k, rate=48000) for k in range(6)]
    alone = [run(Engine(Delay(), sample_rate=48000), x) for x in signals]
    together: list[Any] = [None] * len(signals)

    def work(k: int) -> None:
        sizes = [480] * (signals[k].size // 480)
        together[k] = run(Engine(Delay(), sample_rate=48000), signals[k], sizes)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(signals))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rate", [16000, 48000])
def test_no_growth_and_no_collection(rate: int) -> None:
    engine = Engine(Identity(), sample_rate=rate)
    x = noise(rate // 100)
    for _ in range(200):
        engine.process(x)
    gc.collect()
    full: list[str] = []
    gc.callbacks.append(lambda phase, info: full.append(phase) if info["generation"] == 2 else None)

    def run_on() -> None:
        for _ in range(3000):
            engine.process(x)

    try:
        grown = net_growth(run_on)
    finally:
        gc.callbacks.pop()
    assert grown < 1024  # the counters' boxed numbers
    assert not full
