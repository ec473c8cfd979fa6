"""Mel bands as librosa makes them."""

import numpy as np
import pytest
from velavox.engine.slaney import triangles


@pytest.mark.parametrize(("bands", "points"), [(40, 400), (40, 512), (80, 400)])
def test_agrees_with_librosa(bands: int, points: int) -> None:
    filters = pytest.importorskip("librosa").filters.mel(sr=16_000, n_fft=points, n_mels=bands)
    np.testing.assert_allclose(triangles(bands, points, 16_000), filters.T, atol=1e-8)


def test_no_one_writes_to_what_is_shared() -> None:
    with pytest.raises(ValueError, match="read-only"):
        triangles(40, 400, 16_000)[0, 0] = 1
