"""speaker.onnx is made as it should: PyTorch's weights in ONNX's order, halved in size."""

from __future__ import annotations

from pathlib import Path

import naive
import numpy as np
import pytest
from velavox.engine.graphs import Model
from velavox.kernels.jit import F32
from velavox.models_onnx.training import speaker

pytestmark = pytest.mark.nojit


def weights(seed: int = 0) -> dict[str, F32]:
    """Random ones that float16 holds exactly, named and shaped as in the checkpoint."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"linear.weight": (256, 256), "linear.bias": (256,)}
    for layer, inputs in enumerate((40, 256, 256)):
        shapes |= {f"lstm.weight_ih_l{layer}": (1024, inputs), f"lstm.weight_hh_l{layer}": (1024, 256)}
        shapes |= {f"lstm.bias_{side}_l{layer}": (1024,) for side in ("ih", "hh")}
    return {name: (random.normal(size=s) * 0.1).astype(np.float16).astype(np.float32) for name, s in shapes.items()}


def test_the_graph_is_the_network_of_the_paper() -> None:
    known = weights()
    model = Model(speaker.graph(known).SerializeToString(), "speaker")
    mels = np.random.default_rng(1).exponential(size=(3, 160, 40)).astype(np.float32)
    found = model.run({"mels": mels})["embeddings"]
    for row, mel in zip(found, mels, strict=True):
        assert np.allclose(row, naive.ge2e(mel.astype(float), {n: w.astype(float) for n, w in known.items()}), atol=1e-5)


def test_the_weights_come_back() -> None:
    known = weights()
    found = speaker.weights_of(speaker.graph(known))
    assert found.keys() == known.keys()
    for name, value in known.items():
        assert np.array_equal(found[name], value), name


def test_an_embedding_without_a_positive_element_is_zeros_not_nan() -> None:
    known = weights() | {"linear.weight": np.zeros((256, 256), np.float32), "linear.bias": np.full(256, -1, np.float32)}
    found = Model(speaker.graph(known).SerializeToString(), "speaker").run({"mels": np.ones((1, 160, 40), np.float32)})
    assert not found["embeddings"].any()


def test_another_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pretrained.pt").write_bytes(b"other weights")
    with pytest.raises(ValueError, match=r"take it from resemblyzer 0\.1\.4"):
        speaker.export_speaker(tmp_path / "pretrained.pt", tmp_path)
