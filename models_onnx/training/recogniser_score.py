"""How many phones the recogniser gets wrong, of speakers that it has not heard."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ...bench.bootstrap import ratio
from ...bench.content.passing import watched
from ...bench.recognition import edits
from ...engine.content.detectors import detectors
from ...engine.content.find import Finder
from ...engine.content.lexicon import Lexicon
from ...engine.content.phones import NUMBER
from ...engine.content.prefix import Reader
from ...engine.content.pronounce import of_syllable, toneless
from ...engine.content.recogniser import FRAME, Recogniser
from ...engine.graphs import Stream
from ...kernels import channel
from ...kernels.jit import F32
from .. import manifest
from . import recogniser as nets
from .corpora import Utterance
from .packs import Pack, Row
from .recogniser import ROW, UNITS
from .recogniser_units import spoken
from .student import features

_BATCH = 16
_TAIL = 20  # frames after a recording's end, in which its last phones are said


@dataclass(frozen=True)
class PhoneErrors:
    """Edits between the phones spoken and those recognised, silence left out."""

    edits: int
    phones: int

    def __add__(self, other: PhoneErrors) -> PhoneErrors:
        return PhoneErrors(self.edits + other.edits, self.phones + other.phones)

    @property
    def rate(self) -> float:
        """From 0; insertions can lift it above 1. NaN if nothing was spoken."""
        return self.edits / self.phones if self.phones else float("nan")

    def __str__(self) -> str:
        return f"PER {self.rate:.3f}"


def phone_errors(recogniser: nets.Recogniser, pack: Pack, source: str = "", most: int | None = None) -> PhoneErrors:
    """Of the likeliest path, over rows of `pack` whose speaker's name begins with `source`; over `most`, evenly spread."""
    total = PhoneErrors(0, 0)
    for row, units in heard(recogniser, pack, source, most):
        wanted = spoken(pack.state[row.start : row.start + row.frames]).phone.tolist()
        total += PhoneErrors(edits(wanted, greedy(units)), len(wanted))
    return total


def greedy(units: torch.Tensor) -> list[int]:
    """The phones of the likeliest class of each row, (rows, UNITS): what repeats is one, blanks are none."""
    best = torch.unique_consecutive(units.argmax(-1))
    return best[best > 0].tolist()  # type: ignore[no-any-return]


def heard(
    recogniser: nets.Recogniser, pack: Pack, source: str = "", most: int | None = None
) -> Iterator[tuple[Row, torch.Tensor]]:
    """Each row that `phone_errors` scores, with the logits of its units, (rows, UNITS)."""
    rows = [r for r in pack.rows if r.speaker.startswith(source)]
    rows = sorted(rows[:: max(1, len(rows) // most)] if most else rows, key=lambda r: r.frames)
    for start in range(0, len(rows), _BATCH):
        chosen = rows[start : start + _BATCH]
        longest = -(-(chosen[-1].frames + _TAIL) // ROW) * ROW
        mel = np.zeros((len(chosen), longest, pack.mel.shape[1]), np.float32)
        for b, row in enumerate(chosen):
            mel[b, : row.frames] = features(pack.mel[row.start : row.start + row.frames].astype(np.float32))
        with torch.no_grad():
            outputs, _ = recogniser(torch.from_numpy(mel), recogniser.fresh(len(chosen)))
        for row, units in zip(chosen, outputs.units, strict=True):
            yield row, units[: -(-(row.frames + _TAIL) // ROW)]


@dataclass(frozen=True)
class Read:
    """What the shipped graphs read of an utterance."""

    speaker: str
    phones: int  # spoken
    path: int  # edits of the likeliest path
    read: int  # edits of the reading at the utterance's end


def read_pack(folder: Path, pack: Pack, speakers: Container[str]) -> Iterator[Read]:
    """Of each row of `pack` that one of `speakers` speaks, by the graphs in `folder`."""
    stream, reader = Stream(manifest.load("recogniser", folder)), Reader(folder=folder)
    for row in pack.rows:
        if row.speaker in speakers:
            mel = pack.mel[row.start : row.start + row.frames].astype(np.float32)
            mean = channel.offline(mel)
            ended = np.broadcast_to(mean[-1], (_TAIL + ROW, mean.shape[1]))  # says nothing: it is its own mean
            likely = _stepped(stream, np.concatenate((mel, ended)), np.concatenate((mean, ended)))
            yield _read(reader, row.speaker, spoken(pack.state[row.start : row.start + row.frames]).phone.tolist(), likely)


def read_words(folder: Path, utterances: Iterable[Utterance]) -> Iterator[Read]:
    """Of recordings of Chinese words, whose phones are those of their pinyin."""
    recogniser, reader = Recogniser(folder), Reader(folder=folder)
    for u in utterances:
        phones = [NUMBER[phone] for syllable in toneless(u.transcript) for phone in of_syllable(syllable)]
        recogniser.reset()
        likely = recogniser.push(np.concatenate((u.audio(), np.zeros(_TAIL * FRAME, np.float32))))
        yield _read(reader, u.speaker, phones, likely)


def found_words(utterances: Sequence[Utterance], names: Sequence[str], language: str) -> str:
    """In how many recordings, of a listed word each, the detectors `names` find it; and what else; in words."""
    lexicon = Lexicon.of(sorted({u.transcript for u in utterances}), b"score")
    terms = {entry.text: entry.term for entry in lexicon.entries}
    made = detectors(Finder(lexicon, (), (language,)), names)
    right = others = 0
    for u in utterances:
        found = {hit.term for detector in made for look in watched(detector, u.audio()) for hit in look.hits}
        right += terms[u.transcript] in found
        others += len(found - {terms[u.transcript]})
    return f"{' + '.join(names)} finds {right} of {len(utterances)}, and {others} that are not said"


def told(found: Iterable[Read]) -> str:
    """Error rates, with the interval of the second from drawing speakers anew."""
    reads = list(found)
    total = sum(read.phones for read in reads)
    path = sum(read.path for read in reads) / total
    rate = ratio((read.speaker, read.read, read.phones) for read in reads)
    speakers = len({read.speaker for read in reads})
    interval = f"[{rate.low:.3f}, {rate.high:.3f}]"
    return f"PER {rate.value:.3f} {interval}, of the likeliest path {path:.3f}; {total} phones, {speakers} speakers"


def _read(reader: Reader, speaker: str, phones: list[int], likely: F32) -> Read:
    reader.read(likely)
    found = [NUMBER[phone] for phone in reader.end().phones]
    return Read(speaker, len(phones), edits(phones, greedy(torch.from_numpy(likely))), edits(phones, found))


def _stepped(stream: Stream, mel: F32, mean: F32) -> F32:
    """Likelihoods of whole rows of a recording from its beginning."""
    stream.reset()
    likely = np.empty((len(mel) // ROW, UNITS), np.float32)
    for row, said in enumerate(likely):
        frames = slice(ROW * row, ROW * (row + 1))
        stream.inputs["mel"][0], stream.inputs["mean"][0] = mel[frames], mean[frames]
        stream.step()
        said[:] = stream.outputs["likely"][0]
    return likely
