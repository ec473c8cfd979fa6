"""The wheel holds the product, all of it and nothing else, and starts without sound card libraries."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("engine", "kernels", "models_onnx", "bench")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, built from a copy so that nothing is left behind here."""
    copy, wheels, unpacked = (tmp_path_factory.mktemp(name) for name in ("source", "wheels", "unpacked"))
    for item in (*ROOMS, "__init__.py", "py.typed", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        target = copy / item
        if (ROOT / item).is_dir():
            shutil.copytree(ROOT / item, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / item, target)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(wheels.glob("velavox-*.whl"))) as wheel:
        wheel.extractall(unpacked)
    return unpacked


def test_every_module_and_clip_is_in_it(unpacked: Path) -> None:
    wanted = {path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file()}
    kept_out = Path("bench/results")  # of audits: to be read in the repository
    wanted = {path for path in wanted if "__pycache__" not in path.parts and kept_out not in path.parents}
    found = {path.relative_to(unpacked / "velavox") for path in (unpacked / "velavox").rglob("*") if path.is_file()}
    assert found == wanted | {Path("__init__.py"), Path("py.typed")}


def test_licence_and_version(unpacked: Path) -> None:
    (info,) = unpacked.glob("*.dist-info")
    assert {path.name for path in info.rglob("*")} >= {"LICENSE", "NOTICE", "entry_points.txt"}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    code = "import velavox, sys; print(velavox.__version__, velavox.__file__, 'sounddevice' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=unpacked, capture_output=True, text=True, timeout=60
    )
    version, file, loaded = done.stdout.split()
    assert (version, loaded) == (declared, "False")
    assert Path(file).is_relative_to(unpacked)


def test_files_need_no_sound_card_library() -> None:
    """With sounddevice and onnxruntime out of reach, everything that works on files still imports."""
    code = (
        "import sys; sys.modules['sounddevice'] = sys.modules['onnxruntime'] = sys.modules['opendp'] = None\n"
        "import velavox.engine.cli, velavox.engine.batch, velavox.engine.pipe; from velavox import *; print(Engine)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "Engine" in done.stdout, done.stderr
