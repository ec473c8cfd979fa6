"""The steps of training on a working folder, each from what the one before left there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from pathlib import Path

import torch

from ...bench.content.material import TUNED
from ...kernels.jit import F64
from . import decoding, hearing, packs, recogniser_fit, recogniser_score, voices
from . import recogniser as recogniser_net
from . import targets as target_packs
from .align import align_all, read_labels
from .augment import Augmenter
from .batches import Sampler
from .corpora import DEV, TRAIN, Utterance, from_folder, from_manifest, read_index, write_index
from .decoder import Shape as DecoderShape
from .decoding import Pieces
from .durations import label_all
from .errors import TrainingError
from .evaluate import accuracy
from .fit import fit
from .journal import Journal
from .leak import attack, statistics
from .loop import Plan
from .packs import Pack
from .student import LATE, SOON, Shape, load
from .targets import TargetPack
from .transcribe import transcribed

FRAMES, BATCH = 400, 24  # of a training batch: 4 s, 24 times
RECOGNISER_FRAMES, RECOGNISER_BATCH = 600, 16
DECODER_FRAMES, DECODER_BATCH = 320, 32
HEARINGS, VOICES = 3, 4  # variants of what is heard and of who says it
_WEIGHTS = {"index": 0.6, "synth-en": 0.2, "synth-zh": 0.2}  # of what a batch is drawn from
_CLEAR = 0.3  # of each: speech as it is; the rest is drawn from all copies
_NOISY = 99  # the copy that dev speakers are heard in noise from


def index(corpora: Sequence[Path], work: Path, journal: Journal) -> None:
    """Utterances of all manifests and folders to index.csv. TrainingError for what is wrong with them."""
    utterances = [u for path in corpora for u in (from_manifest(path) if path.suffix == ".csv" else from_folder(path))]
    write_index(work / "index.csv", utterances)
    for split in sorted({u.split for u in utterances}):
        chosen = [u for u in utterances if u.split == split]
        hours = sum(u.seconds for u in chosen) / 3600
        journal(f"index {split}: {len(chosen)} utterances, {hours:.2f} h, {len({u.speaker for u in chosen})} speakers")


def align(work: Path, journal: Journal) -> None:
    """Segments of all utterances with words to labels/; what is there already is kept."""
    for name, utterances in _corpora(work):
        of_language = defaultdict(list)
        for u in utterances:
            of_language[u.language].append(u)
        align_all(of_language["en"], work / "labels" / f"{name}.jsonl", journal)
        if name.startswith("synth"):
            label_all(of_language["zh"], work / "labels" / f"{name}.jsonl", journal)


def pack(work: Path, copies: int, seed: int, journal: Journal) -> None:
    """A clean pack for each corpus, `copies` augmented ones of what is trained on, one of what is not; those there are kept."""
    everything = list(_corpora(work))
    babble = packs.babble_of([u for _, us in everything for u in us if u.split == TRAIN], seed)
    for name, utterances in everything:
        labels = {utterance: segments for utterance, segments in read_labels(work / "labels" / f"{name}.jsonl") if segments}
        tracks: dict[str, F64] = {}
        for split in (TRAIN, DEV):
            chosen = [u for u in utterances if u.split == split and u.utterance in labels]
            for copy in [0, *(range(1, copies + 1) if split == TRAIN else [_NOISY])]:
                if chosen:
                    augmenter = Augmenter(seed * 1000 + copy, babble) if copy else None
                    packs.make(_pack_folder(work, name, split, copy), chosen, labels, augmenter, tracks, journal)


def student(
    work: Path, count: int, threads: int, seed: int, journal: Journal, shape: Shape | None = None, batch: int = BATCH
) -> None:
    """Train on all packs that are there, from the last checkpoint on, to `count` steps. TrainingError if there is no pack."""
    torch.set_num_threads(threads)
    sampler = Sampler(_drawn(work), FRAMES, batch, seed)
    fit(work / "student", Plan(count, seed=seed), shape or Shape(), sampler, _dev(work), journal)


def evaluate(work: Path, journal: Journal) -> None:
    """The best student's scores on each dev pack, by corpus, to the journal."""
    best, saved = load(work / "student" / "best.pt")
    for name in _WEIGHTS:
        for dev in _packs(work, name, DEV):
            for source in sorted({row.speaker.split(":")[0] for row in dev.rows}):
                journal(f"step {saved['step']}, {dev.folder.name}, {source}: {accuracy(best, dev, source)}")


def leak(work: Path, journal: Journal) -> None:
    """The equal error rate of `leak.attack` on the dev speakers of the index, to the journal."""
    best, _ = load(work / "student" / "best.pt")
    enrolled = frozenset(u.utterance for u in read_index(work / "index.csv") if u.role == "enrol")
    known = statistics(best, Pack(_pack_folder(work, "index", TRAIN, 0)))
    unknown = statistics(best, Pack(_pack_folder(work, "index", DEV, 0)))
    heard, learnt = len(set(unknown.speakers)), len(set(known.speakers))
    eer = attack(known, unknown, enrolled)
    found = f"leak: EER {eer.value:.3f} [{eer.low:.3f}, {eer.high:.3f}] of {heard} speakers"
    journal(f"{found}; the attacker learnt from {learnt} others")


def recogniser(
    work: Path,
    count: int,
    threads: int,
    seed: int,
    journal: Journal,
    shape: recogniser_net.Shape | None = None,
    batch: int = RECOGNISER_BATCH,
) -> None:
    """The streaming recogniser on all packs that are there, from the last checkpoint on, to `count` steps."""
    torch.set_num_threads(threads)
    sampler = Sampler(_drawn(work), RECOGNISER_FRAMES, batch, seed)
    shape = shape or recogniser_net.Shape()
    recogniser_fit.fit(work / "recogniser", Plan(count, seed=seed), shape, sampler, _dev(work), journal)


def score(
    work: Path, folder: Path, journal: Journal, without: Container[str] = TUNED, names: Sequence[Sequence[str]] = (("stream",),)
) -> None:
    """What the recogniser that was exported to `folder` gets wrong on each dev pack, by corpus, and of recorded Chinese words.

    without: speakers left out, those on whom its thresholds were looked at. names: detectors, as they come with velavox, that
    look for the Chinese words, those of a row together.
    """
    for name, dev in _dev(work):
        corpora = defaultdict(set)
        for row in dev.rows:
            corpus, _, speaker = row.speaker.partition(":")
            if speaker not in without:
                corpora[corpus].add(row.speaker)
        for corpus, speakers in sorted(corpora.items()):
            told = recogniser_score.told(recogniser_score.read_pack(folder, dev, speakers))
            journal(f"recogniser, {name}, {corpus}: {told}")
    chinese = [u for u in read_index(work / "index.csv") if u.split == DEV and u.language == "zh" and u.transcript]
    if chinese:
        journal(f"recogniser, Chinese words: {recogniser_score.told(recogniser_score.read_words(folder, chinese))}")
        for together in names:
            journal(f"recogniser, Chinese words: {recogniser_score.found_words(chinese, together, 'zh')}")


def targets(work: Path, seed: int, journal: Journal) -> None:
    """What the decoder shall say, of training and of dev speech, to targets/; what is there already is kept."""
    utterances = [u for _, some in _corpora(work) for u in some]
    for split in (TRAIN, DEV):
        target_packs.make(work / "targets" / split, target_packs.chosen(utterances, split, seed), journal)


def decoder(
    work: Path,
    late: int,
    count: int,
    threads: int,
    seed: int,
    journal: Journal,
    shape: DecoderShape | None = None,
    batch: int = DECODER_BATCH,
) -> None:
    """What the best student hears of the targets, in voices of theirs, and the decoder that says it, to `count` steps."""
    torch.set_num_threads(threads)
    best, saved = load(work / "student" / "best.pt")
    utterances = {u.utterance: u for _, some in _corpora(work) for u in some}
    project = voices.projection(Path(__file__).parents[1] / "noise.onnx")
    pieces = []
    for split in (TRAIN, DEV):
        pack = TargetPack(work / "targets" / split)
        heard = range(1, 1 + HEARINGS) if split == TRAIN else [None]
        hearings = [
            hearing.make(work / "hearing" / f"{split}-{n or 0}-of-{saved['step']}", best, utterances, pack.rows, n, journal)
            for n in heard
        ]
        spoken = [voices.make(work / "voices" / f"{split}-{n}", pack, project, n or None, journal) for n in range(VOICES)]
        pieces.append(Pieces(pack, hearings, spoken, late, DECODER_FRAMES, batch, seed))
    folder = work / {LATE: "decoder", SOON: "decoder_low"}[late]
    decoding.fit(folder, Plan(count, seed=seed, validate_every=250), shape or DecoderShape(late), pieces[0], pieces[1], journal)


def _corpora(work: Path) -> list[tuple[str, list[Utterance]]]:
    """Names and utterances of the index, with words found for those without, and of the synthetic speech."""
    synthetic = sorted((work / "synth").glob("*/index.csv"))
    return [("index", list(transcribed(work))), *((f"synth-{path.parent.name}", read_index(path)) for path in synthetic)]


def _drawn(work: Path) -> list[tuple[float, list[Pack]]]:
    """The packs that batches are drawn from, by weight: as it is, and all copies. TrainingError if there is none."""
    found = {name: every for name in _WEIGHTS if (every := _packs(work, name, TRAIN))}
    if not found:
        raise TrainingError(f"{work}: no packs of training speech: index, align and pack some first")
    clear = [(_CLEAR * _WEIGHTS[name], every[:1]) for name, every in found.items()]
    return clear + [((1 - _CLEAR) * _WEIGHTS[name], every) for name, every in found.items()]


def _dev(work: Path) -> list[tuple[str, Pack]]:
    """The packs of unheard speakers, by name."""
    return [(p.folder.name, p) for name in _WEIGHTS for p in _packs(work, name, DEV)]


def _pack_folder(work: Path, name: str, split: str, copy: int) -> Path:
    return work / "packs" / f"{name.removesuffix('-' + split)}-{split}-{copy}"


def _packs(work: Path, name: str, split: str) -> list[Pack]:
    return [Pack(folder) for folder in sorted((work / "packs").glob(f"{name}-{split}-*"))]
