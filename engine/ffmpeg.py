"""Sound that libsndfile does not read (M4A, MP4, WebM, ...) as a stream of floats from ffmpeg, if that is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from ..kernels.jit import F32
from .failure import FileFailure

# Containers that hold sound and carry a signature. Without such a list a text file may be taken for a play list that names
# other files, and headerless samples for music.
_CONTAINERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,asf,avi,flv,mpegts,mpeg,rm,ogg,flac,mp3,aac,loas,ac3,eac3,dts,truehd,amr,"
    "wav,w64,aiff,caf,au,voc,ircam,iff,nistsphere,ape,wv,tta,tak,mpc,mpc8,shn,dsf,oma,sox,xwma"
)
_SAFE = ("-protocol_whitelist", "file", "-format_whitelist", _CONTAINERS)
_SURE = 50  # of 100: ffprobe gives this to a guess by the file's name; content that it knows scores more
_PROBE_SECONDS = 60


class Ffmpeg:
    """The first sound track of a file, at its own rate and channels.

    Attributes:
        rate, channels: as in the file.
        frames: expected, to about 0.1 s; None if even reading all packets did not tell.
        subtype: what keeps its depth, in libsndfile's words.
        others: other tracks (pictures, languages) that are left out.
    """

    def __init__(self, path: Path) -> None:
        """Raises FileFailure if ffmpeg is missing or finds no sound."""
        self._process: subprocess.Popen[bytes] | None = None
        programs = shutil.which("ffmpeg"), shutil.which("ffprobe")
        if programs[0] is None or programs[1] is None:
            raise FileFailure(
                "libsndfile cannot read it, and ffmpeg is not there to try",
                "install ffmpeg for M4A, MP4, WebM and more; samples without a header go through `velavox pipe`",
            )
        self._ffmpeg, ffprobe = programs[0], programs[1]
        self._url = "file:" + os.fspath(path)
        found = _probe(ffprobe, self._url)
        streams = found.get("streams", [])
        sounds = [s for s in streams if s.get("codec_type") == "audio"]
        if not sounds or int(found.get("format", {}).get("probe_score", 0)) <= _SURE:
            raise FileFailure(
                "no sound in it that libsndfile or ffmpeg can read",
                "check that the file plays; samples without a header go through `velavox pipe`",
            )
        sound = sounds[0]
        self.rate, self.channels = int(sound.get("sample_rate", 0)), int(sound.get("channels", 0))
        self.subtype = "PCM_24" if int(sound.get("bits_per_raw_sample", 0)) > 16 else "PCM_16"
        self.others = len(streams) - 1
        seconds = float(sound.get("duration", 0) or found["format"].get("duration", 0)) or self._measure()
        self.frames = round(seconds * self.rate) or None

    def read(self, out: F32) -> int:
        """Fill `out`, shape (frames, channels); the number of frames that came, 0 at the end."""
        if self._process is None:
            shape = ("-ar", str(self.rate), "-ac", str(self.channels))  # holds where a broadcast changes in the middle
            self._process = self._start("-vn", *shape, "-c:a", "pcm_f32le", "-f", "f32le", "pipe:1")
        count = cast(BufferedReader, self._process.stdout).readinto(out.data.cast("B"))  # waits until it is full
        return count // (4 * self.channels)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _start(self, *output: str) -> subprocess.Popen[bytes]:
        command = [self._ffmpeg, "-nostdin", "-v", "quiet", *_SAFE, "-i", self._url, "-map", "0:a:0", *output]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _measure(self) -> float:
        """Seconds by the packets' times, undecoded: what a browser records has no length in its header."""
        text = self._start("-c", "copy", "-progress", "pipe:1", "-f", "null", os.devnull).communicate()[0].decode()
        times = [line.partition("=")[2] for line in text.splitlines() if line.startswith("out_time_us=")]
        return int(times[-1]) / 1e6 if times and times[-1].isdigit() else 0.0


def _probe(ffprobe: str, url: str) -> dict[str, Any]:
    entries = "format=duration,probe_score:stream=codec_type,sample_rate,channels,bits_per_raw_sample,duration"
    command = [ffprobe, "-v", "quiet", *_SAFE, "-show_entries", entries, "-of", "json", url]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=False)
        found: dict[str, Any] = json.loads(done.stdout or "{}")
    except (subprocess.TimeoutExpired, ValueError):  # ffprobe that crashes over a damaged file leaves half an answer
        return {}
    return found
