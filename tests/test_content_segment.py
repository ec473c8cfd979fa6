"""Chinese text into words: nothing is lost, nothing is written, traditional characters are simplified one by one."""

from __future__ import annotations

import logging
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from needs import lacking
from velavox.engine.content.segment import Segmenter, segmenter, simplified

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    for package in ("jieba", "opencc"):
        if find_spec(package) is None:
            lacking(f"{package}: pip install 'velavox[content]'")


MIXED = "我是王建国，在西安电子科技大学学习 13800, Alice's carter。\n 3.5%"


@pytest.mark.parametrize("text", [MIXED, "", " ", "a", "。。", "\U00020000x"])
def test_the_pieces_together_are_the_text(text: str) -> None:
    assert "".join(segmenter().words(text)) == text
    assert "".join(tagged.text for tagged in segmenter().tagged(text)) == text


def test_words_have_their_classes() -> None:
    classes = {tagged.text: tagged.tag for tagged in segmenter().tagged(MIXED)}
    assert {classes[w] for w in ("王建国",)} == {"nr"}
    assert (classes["西安电子科技大学"], classes["carter"], classes["，"]) == ("nt", "eng", "x")
    assert segmenter().tag("西安电子科技大学") == "nt"
    assert segmenter().tag("carter") == ""
    assert {"清华大学", "国务院"} <= segmenter().of_class(["nt"]).keys()


def test_loading_writes_no_file_and_logs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with caplog.at_level(logging.DEBUG):
        Segmenter().words(MIXED)
    assert os.listdir(tmp_path) == []
    assert caplog.records == []


def test_traditional_characters_are_simplified_one_by_one() -> None:
    assert simplified("張偉在協和醫院 abc") == "张伟在协和医院 abc"
    assert len(simplified("乾隆皇帝頭髮發現")) == len("乾隆皇帝頭髮發現")
