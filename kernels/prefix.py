"""What a network trained with CTC has read so far: prefix beam search, row by row (Graves 2006, section 4; Hannun et al. 2014).

A prefix is a row of classes without blanks; its likelihood is the sum over all paths that spell it, those that end in a blank
kept apart from those that end in its last class, since only a blank lets that class come twice. The likeliest prefixes are
kept. They are nodes of a tree, so that each is there once, and those that go on from the same beginning share it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .jit import F32, F64, State, f32_2d, integer, kernel, record, record_dtype, word

WIDEST = 64  # prefixes that may be kept
NODES = 1 << 14  # of the tree: 40 s of rows of 40 ms, each of 16 prefixes going on
FLOOR = -9.0  # log likelihood below which a class is not tried as the next one
NEVER = -1e30

PREFIX = record_dtype(
    ("width", "i8"),  # prefixes that are kept at most
    ("count", "i8"),  # and now
    ("turn", "i8"),  # which half of the next three is the present
    ("node", "i8", (2, WIDEST)),  # where each prefix ends, the likeliest first
    ("blank", "f8", (2, WIDEST)),  # log likelihood of its paths that end in a blank
    ("said", "f8", (2, WIDEST)),  # and in its last class
    ("row", "i8"),  # rows read
    ("nodes", "i8"),  # of the tree; node 0 is the empty prefix
    ("parent", "i4", (NODES,)),
    ("unit", "i4", (NODES,)),  # its last class
    ("since", "i4", (NODES,)),  # the row in which it was first thought of
    ("child", "i4", (NODES,)),  # its newest child, and the next older child of the same parent; 0: none
    ("sibling", "i4", (NODES,)),
    ("total", "f8", (WIDEST,)),  # for work: the best continuations, of which prefix, by which class; 0: by none
    ("origin", "i8", (WIDEST,)),
    ("by", "i8", (WIDEST,)),
    ("quiet", "f8", (WIDEST,)),  # likelihoods of the prefixes that stay as they are
    ("loud", "f8", (WIDEST,)),
)


def fresh(width: int) -> State:
    """Nothing read. width: prefixes that are kept, 1 to WIDEST; ValueError for others."""
    if not 1 <= width <= WIDEST:
        raise ValueError(f"width={width}: give 1 to {WIDEST} prefixes")
    state = np.zeros(1, PREFIX)
    state[0].width = width
    reset(state)
    return state


@word
def _either(a: float, b: float) -> float:
    """ln(exp a + exp b)."""
    most = max(a, b)
    return most + math.log1p(math.exp(min(a, b) - most))


@word
def _said(s: Any, i: int, unit: int) -> float:
    """Of the paths of prefix i that `unit` may follow: of the same class only those that end in a blank."""
    now = s.turn
    if s.unit[s.node[now, i]] == unit and s.node[now, i]:
        return float(s.blank[now, i])
    return _either(s.blank[now, i], s.said[now, i])


@word
def _kept(s: Any, node: int, unit: int) -> bool:
    """Whether the prefix that goes on from `node` by `unit` is kept already."""
    for j in range(s.count):
        other = s.node[s.turn, j]
        if other and s.parent[other] == node and s.unit[other] == unit:
            return True
    return False


@word
def _insert(s: Any, found: int, total: float, origin: int, unit: int) -> int:
    """Among the best `found` so far, behind those as good; what cannot be, or is NaN, is none of them."""
    if not total > NEVER / 2:
        return found
    if found == s.width:
        if not total > s.total[found - 1]:
            return found
        found -= 1
    k = found
    while k > 0 and total > s.total[k - 1]:
        s.total[k], s.origin[k], s.by[k] = s.total[k - 1], s.origin[k - 1], s.by[k - 1]
        k -= 1
    s.total[k], s.origin[k], s.by[k] = total, origin, unit
    return found + 1


@word
def _child(s: Any, node: int, unit: int) -> int:
    """The node that goes on from `node` by `unit`; a new one if nobody has thought of it."""
    child = s.child[node]
    while child and s.unit[child] != unit:
        child = s.sibling[child]
    if not child:
        child = s.nodes
        s.nodes += 1
        s.parent[child], s.unit[child], s.since[child], s.child[child] = node, unit, s.row, 0
        s.sibling[child] = s.child[node]
        s.child[node] = child
    return int(child)


@word
def _read(s: Any, likely: Any) -> None:
    now = s.turn
    node, blank, said = s.node[now], s.blank[now], s.said[now]
    for i in range(s.count):
        s.quiet[i] = _either(blank[i], said[i]) + likely[0]
        s.loud[i] = said[i] + likely[s.unit[node[i]]]  # NEVER, still, of the empty prefix
    for j in range(s.count):  # a prefix that another one comes to by its last class
        for i in range(s.count):
            if node[j] and node[i] == s.parent[node[j]]:
                s.loud[j] = _either(s.loud[j], _said(s, i, s.unit[node[j]]) + likely[s.unit[node[j]]])
    found = 0
    for i in range(s.count):
        found = _insert(s, found, _either(s.quiet[i], s.loud[i]), i, 0)
    for i in range(s.count):
        for unit in range(1, likely.shape[0]):
            if likely[unit] > FLOOR and not _kept(s, node[i], unit):
                found = _insert(s, found, _said(s, i, unit) + likely[unit], i, unit)
    after = 1 - now
    for k in range(found):
        i, unit = s.origin[k], s.by[k]
        if unit:
            s.node[after, k], s.blank[after, k], s.said[after, k] = _child(s, node[i], unit), NEVER, s.total[k]
        else:
            s.node[after, k], s.blank[after, k], s.said[after, k] = node[i], s.quiet[i], s.loud[i]
    s.count, s.turn = found, after
    s.row += 1


@kernel(record(PREFIX))
def reset(state: State) -> None:
    """As fresh, of the same width."""
    s = state[0]
    s.count, s.turn, s.row, s.nodes = 1, 0, 0, 1
    s.node[0, 0], s.blank[0, 0], s.said[0, 0] = 0, 0.0, NEVER
    s.child[0] = s.sibling[0] = 0


@kernel(record(PREFIX), f32_2d, returns=integer)
def stream(state: State, likely: F32) -> int:
    """Read rows of log likelihoods, (n, classes), class 0 the blank; how many: fewer than n once the tree is full."""
    s = state[0]
    for t in range(likely.shape[0]):
        if s.nodes + s.width > NODES:
            return t
        _read(s, likely[t])
    return len(likely)


def room(state: State, rows: int) -> bool:
    """Whether so many rows are sure to find room in the tree."""
    return bool(state[0].nodes + state[0].width * rows <= NODES)


def spelled(state: State, place: int) -> tuple[list[int], list[int], float]:
    """The prefix that is the likeliest but `place`: its classes, the row in which each was first said, its log likelihood."""
    s = state[0]
    node, units, rows = int(s.node[s.turn, place]), [], []
    while node:
        units.append(int(s.unit[node]))
        rows.append(int(s.since[node]))
        node = int(s.parent[node])
    return units[::-1], rows[::-1], float(np.logaddexp(s.blank[s.turn, place], s.said[s.turn, place]))


def offline(likely: F32 | F64, width: int) -> list[tuple[list[int], float]]:
    """The likeliest readings of all rows, (n, classes), n small enough for the tree, and their log likelihoods."""
    state = fresh(width)
    rows = np.ascontiguousarray(likely, np.float32)
    if stream(state, rows) < len(rows):
        raise ValueError(f"{len(rows)} rows: the tree is full; give less at once")
    return [(units, total) for units, _, total in (spelled(state, place) for place in range(state[0].count))]
