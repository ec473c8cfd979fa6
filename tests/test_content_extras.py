"""Missing packages are told in one line that names the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from velavox.engine.content.extras import needed
from velavox.engine.failure import Unusable

pytestmark = pytest.mark.nojit


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypinyin", None)
    with pytest.raises(Unusable) as told:
        needed("pypinyin", "the sound of Chinese words")
    assert str(told.value) == "the sound of Chinese words needs pypinyin: pip install 'velavox[content]'"
    with pytest.raises(Unusable, match=r"velavox\[pii\]"):
        needed("no_such_package_of_ours", "x", "pii")


def test_what_is_there_is_given() -> None:
    assert needed("json.decoder", "x").JSONDecoder


def test_a_package_that_lacks_another_says_so_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "halfway.py").write_text("import no_such_package_of_ours\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_package_of_ours"):
        needed("halfway", "x")


def test_nothing_of_this_is_loaded_by_the_engine() -> None:
    packages = ["pypinyin", "jieba", "opencc", "pocketsphinx", "hama"]
    code = f"import sys, velavox.engine.cli; print([one for one in {packages} if one in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
