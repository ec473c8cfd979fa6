"""Scores in a table: a line for each trial, the first names the columns.

score    higher: more alike
label    1: the claim is true (same speaker), 0: it is not
speaker  who spoke; optional, as the others are
claimed  the speaker who is claimed
test     the recording that is tried
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F64
from ..trials import Names, Trials

NEEDED = ("score", "label")
_NAMES = ("speaker", "claimed", "test")
_PART = 1 << 24  # bytes read at a time: a few hundred thousand lines
_LONGEST = 4096  # bytes of a line


class ScoreError(ValueError):
    """What is wrong with a file of scores, in one line: which, where, what to do."""


def read(path: Path) -> Trials:
    """The trials of a CSV file, its columns separated by commas, semicolons or tabs. ScoreError, or OSError as it comes.

    Ten million lines take 2 s of CPU time and 30 bytes each, 4 s and 60 bytes with a column of names.
    """
    if path.exists() and not path.is_file():
        raise ScoreError(f"{path}: is no file; give a table with the columns score,label")
    scores: list[F64] = []
    labels: list[npt.NDArray[np.bool_]] = []
    with path.open("rb") as file:
        header, separator = _header(path, file.readline(_LONGEST))
        columns = [name for name in (*NEEDED, *_NAMES) if name in header]
        numbers: dict[str, list[npt.NDArray[np.int32]]] = {name: [] for name in columns[2:]}
        found: dict[str, dict[bytes, int]] = {name: {} for name in numbers}
        for line, part in _parts(path, file):
            if not part.strip():
                continue
            table = _table(path, part, line, header, columns, separator)
            scores.append(table["score"])
            labels.append(table["label"] == 1)
            for name, column in numbers.items():
                known = found[name]
                given = (known.setdefault(text, len(known)) for text in table[name].tolist())
                column.append(np.fromiter(given, np.int32, len(table)))
    if not scores:
        raise ScoreError(f"{path}: has no trials; give a line for each")
    names = {n: Names(np.concatenate(c), [t.decode("utf-8", "surrogateescape") for t in found[n]]) for n, c in numbers.items()}
    if "claimed" in names and "speaker" not in names:
        raise ScoreError(f"{path}: has a column claimed, and none of who spoke; give the column speaker too")
    return Trials(np.concatenate(scores), np.concatenate(labels), names.get("speaker"), names.get("claimed"), names.get("test"))


def _header(path: Path, line: bytes) -> tuple[list[str], str]:
    text = line.decode("utf-8-sig", "replace").strip()
    separator = max(",;\t", key=text.count)
    header = [name.strip().strip('"').lower() for name in text.split(separator)]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise ScoreError(
            f"{path}, line 1: no column {' and none '.join(missing)}; begin the table with a line like score,label"
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ScoreError(f"{path}, line 1: {twice[0]} is there twice; name every column once")
    return header, separator


def _parts(path: Path, file: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    """Whole lines, and the number of the first of them."""
    line, rest = 2, b""
    while block := file.read(_PART):
        end = block.rfind(b"\n") + 1
        if len(rest) > _LONGEST and not end:
            raise ScoreError(f"{path}, line {line}: is longer than {_LONGEST} characters; is it a table of scores?")
        if not end:
            rest += block
            continue
        part, rest = rest + block[:end], block[end:]
        yield line, part
        line += part.count(b"\n")
    yield line, rest


def _table(path: Path, part: bytes, line: int, header: list[str], columns: list[str], separator: str) -> npt.NDArray[np.void]:
    """The columns of these lines, `line` being the number of the first."""
    longest = max(map(len, part.split(b"\n")))
    if longest > _LONGEST:
        raise ScoreError(f"{path}, from line {line}: a line is longer than {_LONGEST} characters; is it a table of scores?")
    kinds = [(name, "f8" if name in NEEDED else f"S{max(longest, 1)}") for name in columns]
    try:
        table = np.loadtxt(
            io.StringIO(part.decode("latin-1")),  # a character for each byte
            np.dtype(kinds),
            comments=None,
            delimiter=separator,
            usecols=[header.index(name) for name in columns],
            quotechar='"',
            ndmin=1,
            encoding="latin-1",
        )
    except ValueError:
        raise _wrong(path, part, line, header, separator) from None
    if not (np.isfinite(table["score"]) & np.isin(table["label"], (0, 1))).all():
        raise _wrong(path, part, line, header, separator)
    return table


def _wrong(path: Path, part: bytes, line: int, header: list[str], separator: str) -> ScoreError:
    """What is wrong with the first of these lines that cannot be read."""
    for number, row in enumerate(csv.reader(io.StringIO(part.decode("utf-8", "replace")), delimiter=separator), line):
        if not row:
            continue
        where = f"{path}, line {number}: "
        if len(row) != len(header):
            return ScoreError(f"{where}has {len(row)} columns, the first line {len(header)}; give a value for each")
        given = dict(zip(header, row, strict=True))
        try:
            score = float(given["score"])
        except ValueError:
            return ScoreError(
                f"{where}score {given['score']!r} is no number; write decimals with a point; where there is none, leave the "
                "trial out, and say how many you left out"
            )
        if not np.isfinite(score):
            return ScoreError(
                f"{where}score {given['score']} cannot be ranked; leave the trial out, and say how many you left out"
            )
        if given["label"].strip() not in ("0", "1", "0.0", "1.0"):
            return ScoreError(f"{where}label {given['label']!r}; give 1 (same speaker) or 0")
    return ScoreError(f"{path}, from line {line}: cannot be read; give a table with the columns score,label")
