"""From checkpoints to the graphs that are shipped, with the manifest, and what of it is checked before anybody uses them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from ...engine.graphs import Model, Stream
from ...kernels import channel, fbank, prosody
from ...kernels.jit import F32
from .. import manifest
from . import decoder as decoders
from . import export_decoder, export_encoder, recogniser, recogniser_export, recogniser_phonotactics, student
from .align import read_labels
from .corpora import TRAIN, read_index
from .encoder import encode
from .errors import TrainingError
from .export_decoder import NAMES
from .journal import Journal
from .noise import export_noise
from .recogniser import ROW
from .smoke import clips
from .speaker import export_speaker
from .student import PAIR
from .whiten import DIMENSIONS

TRAINED = ("encoder", *NAMES.values())
GRAPHS = ("speaker", "noise", *TRAINED, "recogniser", "phonotactics")
LARGEST = 16e6  # bytes of all graphs together
EXACT = 1e-4  # by which a step graph in float32 may differ from the network at once
MOST_OFF = 0.15  # of the content, about 2 a frame over all classes, by which the encoder in int8 may differ on the mean
MOST_MOVED = 0.1  # of the recogniser's likelihoods in int8, of 2 a row, likewise

Sound = dict[str, F32]


def publish(work: Path, folder: Path, names: Sequence[str], resemblyzer: Path | None, journal: Journal) -> None:
    """Export graphs of a working folder to `folder`, then check all that lies there. TrainingError where something is amiss.

    names: of the graphs; speaker.onnx is made of `resemblyzer`, the checkpoint in Resemblyzer's package.
    """
    folder.mkdir(parents=True, exist_ok=True)
    indices = [work / "index.csv", *sorted((work / "synth").glob("*-train/index.csv"))]
    utterances = [u for path in indices if path.exists() for u in read_index(path) if u.split == TRAIN]
    sources = ", ".join(sorted({u.source for u in utterances}))
    for name in names:
        if name == "speaker":
            if resemblyzer is None:
                raise TrainingError("speaker: is made of Resemblyzer's pretrained.pt; give --resemblyzer FILE")
            export_speaker(resemblyzer, folder)
        elif name == "noise":
            export_noise(read_index(work / "index.csv"), folder, journal)
        elif name == "encoder":
            export_encoder.export_encoder(work / "student" / "best.pt", folder, sources)
            journal(f"encoder: {_check_encoder(work, folder)}")
        elif name in NAMES.values():
            export_decoder.export_decoder(work / name / "best.pt", folder, sources)
            journal(f"{name}: {_check_decoder(work, folder, name)}")
        elif name == "recogniser":
            recogniser_export.export_recogniser(work / name / "best.pt", folder, sources)
            journal(f"{name}: {_check_recogniser(work, folder)}")
        elif name == "phonotactics":
            known = frozenset(u.utterance for u in utterances)
            lines = [line for path in sorted((work / "labels").glob("*.jsonl")) for line in read_labels(path)]
            spoken = [segments for utterance, segments in lines if utterance in known]
            journal(f"{name}: {recogniser_phonotactics.export_phonotactics(spoken, folder, sources)}")
        else:
            raise TrainingError(f"graph {name!r}: give one of {', '.join(GRAPHS)}")
    journal(check(folder))


def check(folder: Path) -> str:
    """Load every graph of `folder` and run a step of those that have one; what there is, in a line."""
    entries = manifest.read(folder)
    for name in entries:
        loaded = manifest.load(name, folder)
        if loaded.states:
            Stream(loaded).step()
    total = sum(entry.bytes for entry in entries.values())
    if total > LARGEST:
        raise TrainingError(
            f"{folder}: graphs of {total / 1e6:.1f} MB together; {LARGEST / 1e6:.0f} are allowed: make them less"
        )
    return ", ".join(f"{name} {entry.bytes / 1e6:.2f} MB" for name, entry in entries.items()) + f"; {total / 1e6:.2f} MB in all"


def stepped(stream: Stream, given: Sound, steady: Sound | None = None, frames_each: int = PAIR) -> Sound:
    """What a step graph says of all frames of `given`, (frames, ...) each, so many a step; `steady` inputs stay the same."""
    for name, value in (steady or {}).items():
        stream.inputs[name][0] = value
    found: dict[str, list[F32]] = {name: [] for name in stream.outputs}
    frames = min(len(x) for x in given.values())
    for start in range(0, frames - frames % frames_each, frames_each):
        for name, x in given.items():
            stream.inputs[name][0] = x[start : start + frames_each]
        stream.step()
        for name, y in stream.outputs.items():
            found[name].append(y[0].copy())
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _check_encoder(work: Path, folder: Path) -> str:
    net, _ = student.load(work / "student" / "best.pt")
    mel = _features()
    given = {"mel": mel, "mean": channel.offline(mel)}
    with torch.no_grad():
        said = encode(net, torch.from_numpy(mel)[None])
    expected = {name: x[0].numpy() for name, x in said._asdict().items()}
    exact = Stream(Model(export_encoder.graph(net, int8=False).SerializeToString(), "encoder"))
    off = _compare("encoder", expected, stepped(exact, given))
    shipped = stepped(Stream(manifest.load("encoder", folder)), given)
    moved = float(np.abs(shipped["content"] - expected["content"]).sum(1).mean())
    if moved > MOST_OFF:
        raise TrainingError(f"encoder: in int8 its content is {moved:.2f} off, of 2; train on, or use float32")
    return f"step by step within {off:.1e} of at once; in int8 the content is {moved:.3f} off, of 2"


def _check_decoder(work: Path, folder: Path, name: str) -> str:
    net, _ = decoders.load(work / name / "best.pt")
    listening, _ = student.load(work / "student" / "best.pt")
    mel = torch.from_numpy(_features())[None]
    with torch.no_grad():
        heard = encode(listening, mel)
        content = heard.content[..., -decoders.CLASSES[net.shape.late] :]
        manner = prosody.offline(heard.pitch[0], heard.voicing[0], heard.energy[0], net.shape.late)
        voice = torch.randn(1, DIMENSIONS, generator=torch.Generator().manual_seed(0))
        voice *= DIMENSIONS**0.5 / voice.norm()
        said, _ = net(content, torch.from_numpy(manner)[None], voice, net.fresh(1))
    expected = {"f0": said.f0()[0].numpy(), "envelope": said.envelope[0].numpy(), "noise": said.noise[0].sigmoid().numpy()}
    given, steady = {"content": content[0].numpy(), "prosody": manner}, {"voice": voice[0].numpy()}
    exact = Stream(Model(export_decoder.graph(net, int8=False).SerializeToString(), name))
    off = _compare(name, expected, stepped(exact, given, steady))
    shipped = stepped(Stream(manifest.load(name, folder)), given, steady)
    error = float(np.sqrt(np.mean((shipped["envelope"] - expected["envelope"]) ** 2)) * 10 / np.log(10))
    return f"step by step within {off:.1e} of at once; in int8 the envelope is {error:.2f} dB off (rms)"


def _check_recogniser(work: Path, folder: Path) -> str:
    net, _ = recogniser.load(work / "recogniser" / "best.pt")
    mel = _features()
    mel = mel[: len(mel) - len(mel) % ROW]
    given = {"mel": mel, "mean": channel.offline(mel)}
    with torch.no_grad():
        said, _ = net(torch.from_numpy(student.features(mel))[None], net.fresh(1))
    expected = {"likely": said.units[0].log_softmax(-1).flatten().numpy()}
    exact = Stream(Model(recogniser_export.graph(net, int8=False).SerializeToString(), "recogniser"))
    off = _compare("recogniser", expected, stepped(exact, given, frames_each=ROW))
    shipped = stepped(Stream(manifest.load("recogniser", folder)), given, frames_each=ROW)
    moved = float(np.abs(np.exp(shipped["likely"]) - np.exp(expected["likely"])).sum() / (len(mel) // ROW))
    if moved > MOST_MOVED:
        raise TrainingError(f"recogniser: in int8 its likelihoods are {moved:.2f} off, of 2; train on, or use float32")
    return f"step by step within {off:.1e} of at once; in int8 the likelihoods are {moved:.3f} off, of 2"


def _compare(name: str, expected: Sound, found: Sound) -> float:
    """The largest difference, relative where numbers are above 1; TrainingError if it is larger than EXACT."""
    off = max(float(np.max(np.abs(found[key] - x) / np.maximum(1, np.abs(x)))) for key, x in expected.items())
    if not off <= EXACT:
        raise TrainingError(f"{name}: its step graph differs from the network by {off:.2g}: report this")
    return off


def _features() -> F32:
    """Of the benches' clips, an even number of frames, (frames, BANDS)."""
    mel = np.concatenate([fbank.offline(u.audio()) for u in clips()])
    return mel[: len(mel) - len(mel) % PAIR]
