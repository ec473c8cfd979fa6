"""The graphs that are shipped are those that the manifest says; anything else is refused in a line."""

from __future__ import annotations

import gc
import hashlib
import json
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import onnx
import pytest
import tinygraphs
from velavox.engine.graphs import GraphError, Model
from velavox.models_onnx import manifest

pytestmark = pytest.mark.nojit

PACKAGE = resources.files("velavox.models_onnx")
SHIPPED = sorted(manifest.read(PACKAGE))


def test_every_graph_of_the_package_is_named_and_all_are_small_enough() -> None:
    files = {path.name.removesuffix(".onnx"): path for path in PACKAGE.iterdir() if path.name.endswith(".onnx")}
    assert sorted(files) == SHIPPED
    assert sum(len(path.read_bytes()) for path in files.values()) <= 16e6


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_graph_is_what_the_manifest_says(name: str) -> None:
    entry = manifest.read(PACKAGE)[name]
    loaded = manifest.load(name)
    assert (loaded.inputs, loaded.outputs) == (entry.inputs, entry.outputs)
    made = onnx.load_from_string((PACKAGE / f"{name}.onnx").read_bytes())
    assert (made.ir_version, made.opset_import[0].version) == (entry.ir_version, entry.opset)
    assert made.producer_name == "velavox"
    assert entry.licence
    assert entry.source


def test_loading_needs_no_onnx() -> None:
    code = (
        "import sys; sys.modules['onnx'] = None\nfrom velavox.models_onnx import manifest; print(manifest.load('speaker').name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("speaker\n", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tinygraphs.save(tinygraphs.moving_sum(), tmp_path)
    return tmp_path


def edit(folder: Path, **changes: Any) -> None:
    """Change the entry of `tiny`; as the exporter would if nobody checked."""
    path = folder / manifest.FILE
    found = json.loads(path.read_text())
    found["graphs"]["tiny"] |= changes
    path.write_text(json.dumps(found))


def replace(folder: Path, graph: bytes, sign: bool = False) -> None:
    (folder / "tiny.onnx").write_bytes(graph)
    if sign:
        edit(folder, bytes=len(graph), sha256=hashlib.sha256(graph).hexdigest())


def test_one_graph_is_loaded_once_while_anybody_uses_it(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(lambda _: manifest.load("tiny", folder), range(8))
    assert all(other is first for other in others)
    (folder / "tiny.onnx").unlink()
    assert manifest.load("tiny", folder) is first
    del first, others
    gc.collect()
    with pytest.raises(GraphError, match="file missing"):
        manifest.load("tiny", folder)


def test_one_session_whoever_asks_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Slow(Model):
        def __init__(self, graph: bytes, name: str) -> None:
            made.append(name)
            sleep(0.05)
            super().__init__(graph, name)

    monkeypatch.setattr(manifest, "Model", Slow)
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda _: manifest.load("tiny", folder), range(4)))
    assert (len(kept), made) == (4, ["tiny"])


def test_graphs_of_one_name_are_told_apart(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    tinygraphs.save(tinygraphs.moving_sum(weight=2), other)
    first, second = manifest.load("tiny", folder), manifest.load("tiny", other)
    given = {"x": np.ones((2, 4), np.float32), "state_x": np.zeros((3, 4), np.float32)}
    np.testing.assert_array_equal(second.run(given)["y"], 2 * first.run(given)["y"])


def test_from_a_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for name in ("tiny.onnx", manifest.FILE):
            archive.write(folder / name, f"models/{name}")
    inside = zipfile.Path(folder / "all.zip", "models/")
    loaded = manifest.load("tiny", inside)
    x = np.ones((2, 4), np.float32)
    assert np.array_equal(loaded.run({"x": x, "state_x": np.zeros((3, 4), np.float32)})["y"][:, 0], [1, 2])
    with pytest.raises(GraphError, match="not named"):
        manifest.load("other", inside)


def test_the_exporter_gives_the_same_bytes_and_keeps_the_other_entries(folder: Path) -> None:
    before = (folder / "tiny.onnx").read_bytes(), (folder / manifest.FILE).read_text()
    tinygraphs.save(tinygraphs.recurrent(), folder, "another")
    assert set(manifest.read(folder)) == {"another", "tiny"}
    (folder / "another.onnx").unlink()
    (folder / manifest.FILE).unlink()
    tinygraphs.save(tinygraphs.moving_sum(), folder)
    assert before == ((folder / "tiny.onnx").read_bytes(), (folder / manifest.FILE).read_text())
    assert sorted(path.name for path in folder.iterdir()) == [manifest.FILE, "tiny.onnx"]


def refused(folder: Path, cause: str, name: str = "tiny") -> None:
    with pytest.raises(GraphError, match=cause) as caught:
        manifest.load(name, folder)
    assert "\n" not in str(caught.value)
    assert str(folder) not in str(caught.value)


def test_files_that_are_not_those_of_the_manifest_are_refused(folder: Path) -> None:
    whole = (folder / "tiny.onnx").read_bytes()
    refused(folder, "graph other: not named in manifest.json", "other")
    replace(folder, whole[:-1])
    refused(folder, f"damaged: {len(whole) - 1} bytes instead of {len(whole)}")
    replace(folder, whole[:-1] + bytes([whole[-1] ^ 1]))
    refused(folder, "another SHA-256")
    heavier = tinygraphs.moving_sum(weight=2).SerializeToString(deterministic=True)
    assert len(heavier) == len(whole)
    replace(folder, heavier)
    refused(folder, "another SHA-256")
    (folder / "tiny.onnx").unlink()
    refused(folder, "graph tiny: file missing")


def test_foreign_graphs_are_refused_although_their_digest_is_right(folder: Path) -> None:
    replace(folder, tinygraphs.recurrent().SerializeToString(), sign=True)
    refused(folder, "other inputs or outputs")
    replace(folder, tinygraphs.moving_sum(width=5).SerializeToString(), sign=True)
    refused(folder, "other inputs or outputs")
    replace(folder, b"no graph at all", sign=True)
    refused(folder, "graph tiny: onnxruntime")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": 2, "graphs": {}}',
        '{"version": 1, "graphs": []}',
        '{"version": 1, "graphs": {"tiny": 3}}',
        '{"version": 1, "graphs": {"tiny": {}}}',
        '{"version": 1, "graphs": {"tiny": {"inputs": {"x": {"type": "what", "shape": [1]}}, "outputs": {}}}}',
        '{"version": 1, "graphs": {"tiny": {"inputs": {}, "outputs": {}, "colour": 3}}}',
    ],
)
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / manifest.FILE).write_text(text)
    refused(folder, r"graph manifest.json: damaged: [^\n]+; install velavox again")


def test_a_missing_manifest_is_refused(folder: Path) -> None:
    (folder / manifest.FILE).unlink()
    refused(folder, "graph manifest.json: missing")
    (folder / manifest.FILE).write_bytes(b"\xff\xfe\x00")
    refused(folder, "graph manifest.json: damaged")
