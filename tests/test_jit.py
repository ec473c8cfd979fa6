"""The compile decorator: nothing compiles late, NaN survives the flags, and the cache helps or stays out of the way."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from velavox.kernels import jit

CODE = """
from velavox.kernels.jit import f32, kernel
@kernel(f32, f32)
def double(out, x):
    for i in range(x.size):
        out[i] = 2 * x[i]
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with one kernel, whose cache lies beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    path = tmp_path / "module_of_a_kernel.py"
    path.write_text(CODE)
    return path


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("module_of_a_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.ones(3, np.float32)
    module.double(x, x)
    assert (x == 2).all()
    return module


def hits(module: ModuleType) -> int:
    return sum(module.double.stats.cache_hits.values())


def test_cached(source: Path) -> None:
    assert hits(load(source)) == 0
    assert hits(load(source)) == 1


def test_callbacks_are_cached_too(source: Path) -> None:
    source.write_text(
        CODE
        + """
import numba
from velavox.kernels.jit import callback
@callback(numba.int32, numba.int32)
def add_one(x):
    return x + 1
"""
    )
    for wanted in (0, 1):
        module = load(source)
        assert module.add_one.cache_hits == wanted
        assert module.add_one.ctypes(41) == 42


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "garbage", "flip"])
def test_damaged_cache_means_compiling_again(source: Path, kind: str, damage: str) -> None:
    load(source)
    (file,) = source.parent.glob(f"__pycache__/*.{kind}")
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(
        {
            "empty": b"",
            "cut": data[:middle],
            "garbage": b"\x80garbage" * 30,
            "flip": data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :],
        }[damage]
    )
    load(source)
    assert hits(load(source)) == 1, "and the damage is mended"


def test_compiling_is_announced_once_and_loading_is_not(source: Path) -> None:
    told: list[str] = []
    jit.before_compiling(lambda: told.append("first"))
    load(source)
    assert told == ["first"]
    jit.before_compiling(lambda: told.append("second"))
    load(source)
    assert told == ["first"]
    jit._announce()
    assert told == ["first", "second"]
    jit._announce()
    assert len(told) == 2


def test_an_edit_in_another_kernel_is_noticed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numba's own key covers only the function itself; ours all kernel sources."""
    load(source)
    monkeypatch.setattr(jit, "_source_digest", "of other sources")
    assert hits(load(source)) == 0


def test_no_place_for_a_cache(source: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder would be needed")
    (source.parent / "__pycache__").write_text("likewise")
    environment = {**os.environ, "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked), "PYTHONDONTWRITEBYTECODE": "1"}
    code = "import numpy; from module_of_a_kernel import double; x = numpy.ones(1, 'f4'); double(x, x); print(x[0])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=source.parent, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "2.0", done.stderr


def test_four_processes_at_once_on_an_empty_cache(source: Path) -> None:
    code = "from module_of_a_kernel import double; print(sum(double.stats.cache_hits.values()))"

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", code], cwd=source.parent, stdout=-1, stderr=-1, text=True)

    for process in [started() for _ in range(4)]:
        out, error = process.communicate(timeout=120)
        assert out in ("0\n", "1\n")
        assert error == ""
    assert started().communicate(timeout=120)[0] == "1\n", "and the cache that they left is whole"


FOREIGN = {
    "float64": np.ones(3),
    "int16": np.ones(3, np.int16),
    "2-D": np.ones((3, 1), np.float32),
    "strided": np.ones(6, np.float32)[::2],
    "read-only": np.frombuffer(bytes(12), np.float32),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_types_never_compile(source: Path, kind: str) -> None:
    module = load(source)
    with pytest.raises(TypeError, match="No matching definition"):
        module.double(np.ones(3, np.float32), FOREIGN[kind])


@pytest.mark.nojit
def test_nan_and_infinity_survive_the_flags() -> None:
    @jit.kernel(jit.f32, returns=jit.integer)
    def not_finite(x: jit.F32) -> int:
        count = 0
        for i in range(x.size):
            if not np.isfinite(x[i]) or x[i] != x[i]:
                count += 1
        return count

    assert not_finite(np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)) == 3
