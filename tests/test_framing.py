import naive
import numpy as np
import pytest
from signals import F32, noise, partitions
from velavox.kernels import framing


def streamed(x: F32, length: int, hop: int, snip_edges: bool, blocks: list[int]) -> F32:
    state = framing.fresh(length, hop, snip_edges)
    stream, parts, start = framing.stream_for(state.dtype), [], 0
    for n in [*blocks, None]:
        block = framing.tail(state[0]) if n is None else x[start : start + n]
        out = np.full((block.size // hop + 1, length), np.nan, np.float32)
        parts.append(out[: stream(state, out, block)])
        start += block.size
    return np.concatenate(parts)


@pytest.mark.parametrize("snip_edges", [True, False])
@pytest.mark.parametrize(("length", "hop"), [(400, 160), (275, 110), (25, 12), (7, 1)])
def test_any_partition(length: int, hop: int, snip_edges: bool) -> None:
    x = noise(2000)
    expected = naive.frames(x.astype(np.float64), length, hop, snip_edges)
    np.testing.assert_array_equal(framing.offline(x, length, hop, snip_edges), expected)
    for name, blocks in partitions(x.size):
        np.testing.assert_array_equal(streamed(x, length, hop, snip_edges, blocks), expected, err_msg=name)


@pytest.mark.parametrize("snip_edges", [True, False])
def test_every_short_signal(snip_edges: bool) -> None:
    for n in range(100):
        x = noise(n)
        np.testing.assert_array_equal(
            framing.offline(x, 25, 10, snip_edges), naive.frames(x.astype(np.float64), 25, 10, snip_edges), err_msg=str(n)
        )


def test_little_overlap() -> None:
    x = noise(500)
    np.testing.assert_array_equal(framing.offline(x, 25, 24), naive.frames(x.astype(np.float64), 25, 24))


@pytest.mark.nojit
@pytest.mark.parametrize("snip_edges", [True, False])
def test_a_frame_comes_with_its_last_sample(snip_edges: bool) -> None:
    state = framing.fresh(40, 16, snip_edges)
    stream, out, seen = framing.stream_for(state.dtype), np.empty((1, 40), np.float32), 0
    missing = 40 if snip_edges else 28
    for n in range(1, 200):
        seen += stream(state, out, np.ones(1, np.float32))
        assert seen == max(0, (n - missing) // 16 + 1)


@pytest.mark.nojit
def test_errors() -> None:
    for hop in (0, 400, -1):
        with pytest.raises(ValueError, match=f"hop={hop} .* 399"):
            framing.fresh(400, hop)
    with pytest.raises(ValueError, match=r"hop=201 .* 200 at most"):
        framing.fresh(400, 201, snip_edges=False)
