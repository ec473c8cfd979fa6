"""Graphs in real time: streams that share weights, keep their state apart, allocate nothing, and fail in a line."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
import tinygraphs
from memory import net_growth
from onnx import TensorProto
from velavox import Engine
from velavox.engine.graphs import GraphError, Model, Stream
from velavox.engine.stage import Stage
from velavox.kernels.jit import F32, State

pytestmark = pytest.mark.nojit


def model(made: onnx.ModelProto) -> Model:
    return Model(made.SerializeToString(), "tiny")


def run(stream: Stream, x: F32) -> F32:
    """All of x, cut into the calls of the stream."""
    frames = len(stream.inputs["x"])
    out = []
    for start in range(0, len(x), frames):
        stream.inputs["x"][:] = x[start : start + frames]
        stream.step()
        out.append(stream.outputs["y"].copy())
    return np.concatenate(out)


def test_a_stream_gives_what_the_whole_signal_gives() -> None:
    x = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    expected = np.array([x[max(0, t - 3) : t + 1].sum(0) for t in range(60)])
    for frames in (1, 2, 5, 60):
        assert np.allclose(run(Stream(model(tinygraphs.moving_sum(frames))), x), expected, atol=1e-5)


def test_a_stream_starts_fresh_and_reset_makes_it_so_again() -> None:
    x = np.random.default_rng(1).normal(size=(9, 64)).astype(np.float32)  # odd: reset in the other half of the pair
    stream = Stream(model(tinygraphs.recurrent()))
    first = run(stream, x)
    assert not np.allclose(run(stream, x), first)
    stream.reset()
    assert not stream.outputs["y"].any()
    assert np.array_equal(stream.inputs["x"], x[-1:])  # the caller's
    assert np.array_equal(run(stream, x), first)
    assert np.array_equal(run(Stream(stream.model), x), first)


def test_buffers_stay_and_states_are_not_among_them() -> None:
    stream = Stream(model(tinygraphs.moving_sum()))
    assert list(stream.inputs) == ["x"]
    assert list(stream.outputs) == ["y"]
    x, y = stream.inputs["x"], stream.outputs["y"]
    x.fill(1)
    stream.step()
    stream.step()
    stream.reset()
    x.fill(2)
    stream.step()
    assert stream.inputs["x"] is x
    assert stream.outputs["y"] is y
    assert np.array_equal(y[:, 0], [2, 4])


def test_twenty_thousand_steps_keep_no_memory() -> None:
    stream = Stream(model(tinygraphs.recurrent()))

    def steps(count: int = 20_000) -> None:
        for _ in range(count):
            stream.step()

    steps(100)
    before = resident()
    assert net_growth(steps, 2) < 1024
    assert resident() - before < 1e6
    stream.reset()
    assert net_growth(stream.reset) < 1024


def resident() -> int:
    """Bytes of memory that the process holds."""
    import resource

    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_streams_in_threads_give_what_each_gives_alone() -> None:
    shared = model(tinygraphs.recurrent(128))
    signals = [np.random.default_rng(seed).normal(size=(3000, 128)).astype(np.float32) for seed in range(4)]
    alone = [run(Stream(shared), x) for x in signals]
    streams = [Stream(shared) for _ in signals]
    with ThreadPoolExecutor(len(signals)) as pool:
        together = list(pool.map(run, streams, signals))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_streams_may_outlive_the_name_of_their_model() -> None:
    stream = Stream(model(tinygraphs.moving_sum()))
    stream.inputs["x"].fill(1)
    for _ in range(3):
        stream.step()
    assert np.array_equal(stream.outputs["y"], np.full((2, 4), 4))


def test_a_call_outside_of_a_stream_takes_any_size_that_the_graph_takes() -> None:
    loaded = model(tinygraphs.doubled())
    for count in (1, 7):
        x = np.random.default_rng(count).normal(size=(count, 3)).astype(np.float32)
        assert np.array_equal(loaded.run({"x": x})["y"], 2 * x)


def test_a_stream_needs_fixed_sizes() -> None:
    with pytest.raises(GraphError, match=r"graph tiny: x of shape \('n', 3\) has no fixed size"):
        Stream(model(tinygraphs.doubled()))


def test_a_failing_step_raises_and_leaves_the_state(capfd: pytest.CaptureFixture[str]) -> None:
    stream = Stream(model(tinygraphs.picky()))
    good = Stream(stream.model)
    for calls in range(1, 4):
        stream.step()
        assert stream.outputs["count"] == calls
    stream.inputs["index"][:] = 9
    for _ in range(3):
        with pytest.raises(Exception, match="Gather"):
            stream.step()
    stream.inputs["index"][:] = 2
    stream.inputs["x"][:] = 5, 6, 7, 8
    stream.step()
    assert stream.outputs["y"] == 7
    assert stream.outputs["count"] == 4
    good.step()
    assert capfd.readouterr().err == ""


class Picky(Stage):
    """Passes samples through a graph that fails on a loud one."""

    method, latency = "picky", 0

    def _allocate(self) -> State:
        self._stream = Stream(model(tinygraphs.picky()))
        return np.zeros(1, np.dtype((np.record, [("unused", "f4")])))

    def _apply(self) -> None: ...

    def _settle(self) -> None: ...

    def step(self, x: F32, y: F32) -> None:
        self._stream.inputs["index"][0] = int(x.max() * 10)
        self._stream.inputs["x"].fill(0.1)
        self._stream.step()
        y.fill(self._stream.outputs["y"][0])


def test_the_engine_mutes_a_hop_whose_graph_fails() -> None:
    engine = Engine(Picky(), sample_rate=16_000)
    x = np.full(1600, 0.1, np.float32)
    x[800:960] = 0.9
    y = np.concatenate([engine.process(x), engine.flush()])[engine.latency :]
    assert not y[800:960].any()
    assert y[:800].all()
    assert engine.stats.causes == {"error": 1}


def damaged(change: str) -> bytes:
    made = tinygraphs.moving_sum()
    if change == "newer IR":
        made.ir_version = 999
    elif change == "newer opset":
        made.opset_import[0].version = 999
    elif change == "unknown operator":
        made.graph.node[0].op_type = "Conjure"
    whole = bytes(made.SerializeToString())
    others = {"empty": b"", "noise": bytes(range(256)) * 9, "text": b"not found", "half": whole[: len(whole) // 2]}
    return others.get(change, whole)


@pytest.mark.parametrize("change", ["empty", "noise", "text", "half", "newer IR", "newer opset", "unknown operator"])
def test_what_is_no_graph_is_refused_in_a_line(change: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GraphError, match=r"^graph tiny: [^\n]+; install velavox again, or export the graph anew$"):
        Model(damaged(change), "tiny")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("inputs", "outputs", "cause"),
    [
        ({"x": (1,), "state_a": (2,)}, {"y": (1,)}, "input state_a has no output state_a_next"),
        ({"x": (1,), "state_a": (2,)}, {"y": (1,), "state_a_next": (3,)}, "state_a and state_a_next differ"),
        ({"x": (1,)}, {"y": (1,), "state_a_next": (3,)}, "output state_a_next belongs to no input"),
    ],
    ids=str,
)
def test_states_pair(inputs: dict[str, tuple[int, ...]], outputs: dict[str, tuple[int, ...]], cause: str) -> None:
    with pytest.raises(GraphError, match=cause):
        model(tinygraphs.passed(inputs, outputs))


def test_types_that_no_buffer_has_are_refused() -> None:
    with pytest.raises(GraphError, match=r"x is of type tensor\(float16\); give one of"):
        model(tinygraphs.doubled(TensorProto.FLOAT16))


def test_on_one_core_there_is_no_thread_and_no_complaint(tmp_path: Path) -> None:
    file = tmp_path / "tiny.onnx"
    file.write_bytes(tinygraphs.recurrent().SerializeToString())
    code = f"""
import os, onnxruntime
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
count = lambda: len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 0
before = count()
from velavox.engine.graphs import Model, Stream
stream = Stream(Model(open({str(file)!r}, "rb").read(), "tiny"))
for _ in range(100):
    stream.step()
print(count() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("0\n", "")
