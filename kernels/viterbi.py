"""Where a row of phones is spoken: the best path through the outputs of a network trained with CTC, from anywhere to anywhere.

Such a network says of each frame how likely each phone begins to be heard there, or that nothing new is (blank): between the
phones of a word may be blanks, and a phone may last (A. Graves et al., ICML 2006). A path's score is the mean log likelihood
that its frames cost a phone: 0 where the network is sure of just this row, below otherwise.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from .jit import F32, I64, f32_2d, i64, kernel

NEVER = np.float32(-1e9)
_i64_2d = numba.int64[:, ::1]
_Table = npt.NDArray[np.int64]


@kernel(f32_2d, _i64_2d, f32_2d, _i64_2d, i64, f32_2d, _i64_2d)
def spot(score: F32, first: _Table, likely: F32, rows: _Table, lengths: I64, best: F32, since: _Table) -> None:
    """For each of K rows and T frames the best path that ends in the frame: its score, NEVER to 0, and its first frame.

    score, first: shape (K, T), written. likely: shape (T, C), logarithms, <= 0; class 0 is the blank. rows: shape (K, L), the
    classes of the phones; lengths: (K,), how many of them, 1 to L. best, since: shape (2, 2 L - 1) or more, for work: what has
    been reached, and from where, in a frame and in the one before.
    """
    for k in range(rows.shape[0]):
        places = 2 * lengths[k] - 1  # a phone on each even one, a blank on each odd one
        for place in range(places):
            best[0, place] = NEVER
        before, now = 0, 1
        for t in range(likely.shape[0]):
            best[now, 0], since[now, 0] = likely[t, rows[k, 0]], t  # a later beginning is never worse
            for place in range(1, places):
                value, start = best[before, place], since[before, place]
                if best[before, place - 1] > value:
                    value, start = best[before, place - 1], since[before, place - 1]
                if place % 2:
                    heard = 0
                else:
                    heard = rows[k, place // 2]
                    if best[before, place - 2] > value and heard != rows[k, place // 2 - 1]:  # equal ones need a blank
                        value, start = best[before, place - 2], since[before, place - 2]
                value += likely[t, heard]
                best[now, place] = value if value > NEVER else NEVER  # NaN too
                since[now, place] = start
            score[k, t] = max(NEVER, best[now, places - 1] / lengths[k])
            first[k, t] = since[now, places - 1]
            before, now = now, before
