"""The table of engine/form.py, rule by rule."""

from pathlib import Path

import pytest
from velavox.engine.failure import FileFailure
from velavox.engine.form import CONTAINERS, Form, container_for, form_for, size_of


def chosen(
    container: str, subtype: str, source: str, target: str, frames: int | None = 1000, channels: int = 1
) -> tuple[str, str]:
    found = form_for(Form(container, subtype), Path(source), Path(target), frames, channels)
    return found.container, found.subtype


@pytest.mark.parametrize(
    ("container", "subtype", "source", "target", "wanted"),
    [
        ("WAV", "PCM_24", "a.wav", "b.wav", ("WAV", "PCM_24")),
        ("WAV", "ULAW", "a.wav", "b.wav", ("WAV", "ULAW")),
        ("WAV", "PCM_16", "a.mp3", "b.mp3", ("WAV", "PCM_16")),  # by content, whatever the name says
        ("WAVEX", "FLOAT", "a.wav", "b.wav", ("WAVEX", "FLOAT")),
        ("WAV", "FLOAT", "a.wav", "b.flac", ("FLAC", "PCM_24")),
        ("WAV", "PCM_16", "a.wav", "b.ogg", ("OGG", "VORBIS")),
        ("OGG", "OPUS", "a.opus", "b.opus", ("OGG", "OPUS")),
        ("MP3", "MPEG_LAYER_II", "a.mp3", "b.mp3", ("MP3", "MPEG_LAYER_III")),
        ("CAF", "ALAC_24", "a.caf", "b.caf", ("CAF", "PCM_24")),
        ("", "PCM_16", "a.m4a", "b.wav", ("WAV", "PCM_16")),
    ],
)
def test_rules(container: str, subtype: str, source: str, target: str, wanted: tuple[str, str]) -> None:
    assert chosen(container, subtype, source, target) == wanted


def test_what_cannot_be_written_is_refused_with_what_can() -> None:
    with pytest.raises(FileFailure, match=r"\.m4a.*\.wav"):
        chosen("", "PCM_16", "a.m4a", "b.m4a")


@pytest.mark.parametrize(("subtype", "width"), [("PCM_16", 2), ("PCM_24", 3), ("DOUBLE", 8), ("ULAW", 1)])
def test_over_4_gib_or_of_unknown_length_becomes_rf64(subtype: str, width: int) -> None:
    most = (2**32 - 2**20) // (2 * width)
    assert container_for("WAV", subtype, most, 2) == "WAV"
    assert container_for("WAV", subtype, 2**32 // (2 * width) + 1, 2) == "RF64"
    assert container_for("WAV", subtype, None, 2) == "RF64"
    assert container_for("FLAC", subtype, None, 2) == "FLAC"
    assert size_of(subtype, 10, 2) == 20 * width


def test_every_ending_names_something_that_libsndfile_writes() -> None:
    import soundfile

    for container, subtype in CONTAINERS.values():
        assert soundfile.check_format(container, subtype), (container, subtype)
