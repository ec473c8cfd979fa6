"""What the package says was measured of its graphs."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from velavox.bench.measured import measured_of
from velavox.models_onnx import manifest, measured


def test_it_is_of_the_graphs_that_are_there() -> None:
    assert set(measured.content_leak()) == {"balanced", "low"}


def test_of_another_encoder_it_says_nothing(tmp_path: Path) -> None:
    for name in (manifest.FILE, measured.FILE):
        shutil.copy(str(files("velavox.models_onnx") / name), tmp_path / name)
    assert measured.content_leak(tmp_path)
    entries = json.loads((tmp_path / manifest.FILE).read_text())
    entries["graphs"]["encoder"]["sha256"] = "0" * 64
    (tmp_path / manifest.FILE).write_text(json.dumps(entries))
    assert measured.content_leak(tmp_path) == {}


def results(*conditions: str) -> dict[str, object]:
    found = [{"condition": c, "leak": {"value": i / 10, "low": 0.0, "high": 0.4}} for i, c in enumerate(conditions, 1)]
    return {"results": found, "speech": {"attacked_speakers": 5}}


def test_each_mode_has_its_own() -> None:
    kept = measured_of(results("dp", "dp:mode=low", "dp:flatten=1"), "f" * 64)
    assert kept["encoder_sha256"] == "f" * 64
    assert {mode: measured.ContentLeak(**leak).eer for mode, leak in kept["content_leak"].items()} == {
        "balanced": 0.1,
        "low": 0.2,
    }


def test_a_comparison_without_a_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="dp:mode=low"):
        measured_of(results("dp"), "f" * 64)
