"""A GStreamer element: audioconvert ! velavox method=mcadams ! ...; as a script it takes a file to a file.

    /usr/bin/python3 gst_velavox.py IN.wav OUT.wav
    GST_PLUGIN_PATH=FOLDER gst-launch-1.0 autoaudiosrc ! audioconvert ! velavox ! autoaudiosink   # this file in FOLDER/python/

Needs the system's Python with its `gi`, and velavox importable there. See docs/gstreamer.md.
"""

import sys
from typing import Any

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstBase", "1.0")
from gi.repository import GObject, Gst, GstBase  # noqa: E402
from velavox.engine.adapters.frames import Frames  # noqa: E402
from velavox.engine.methods import make  # noqa: E402
from velavox.engine.stage import Stage  # noqa: E402

Gst.init(None)
CAPS = Gst.Caps.from_string("audio/x-raw,format=S16LE,layout=interleaved,rate=[4000,384000],channels=[1,8]")


class Velavox(GstBase.BaseTransform):  # type: ignore[misc]
    """Changes 16-bit sound in place. A rate or channel count that changes in mid-stream prepares another engine, same voice."""

    __gstmetadata__ = ("velavox", "Filter/Effect/Audio", "Anonymizes a voice", "velavox")
    __gsttemplates__ = (
        Gst.PadTemplate.new("sink", Gst.PadDirection.SINK, Gst.PadPresence.ALWAYS, CAPS),
        Gst.PadTemplate.new("src", Gst.PadDirection.SRC, Gst.PadPresence.ALWAYS, CAPS),
    )
    method = GObject.Property(type=str, default="mcadams", nick="what is done to the voice; before the first sound")
    mute = GObject.Property(type=bool, default=False, nick="silence")

    def __init__(self) -> None:
        super().__init__()
        self.set_in_place(True)
        self.set_passthrough(False)
        self._stage: Stage | None = None
        self._frames: Frames | None = None
        self._rate = self._channels = 0

    def do_start(self) -> bool:
        """The pipeline begins. A method that is none ends it here: later, gst-launch may wait for ever."""
        try:
            self._stage = self._stage or make(self.method)
        except ValueError as error:
            print(f"velavox: {error}", file=sys.stderr)
            return False
        return True

    def do_set_caps(self, incoming: Any, outgoing: Any) -> bool:
        """The form of what comes now; the pipeline waits while an engine is prepared."""
        form = incoming.get_structure(0)
        self._rate, self._channels = form.get_value("rate"), form.get_value("channels")
        try:
            if self._frames is None:
                assert self._stage is not None
                self._frames = Frames(self._stage, sample_rate=self._rate, channels=self._channels)
            else:
                self._frames.prepare(self._rate, self._channels)
        except ValueError as error:
            print(f"velavox: {error}", file=sys.stderr)
            return False
        return True

    def do_transform_ip(self, buffer: Any) -> Any:
        """Whatever fails here, the voice itself does not go on: GStreamer takes an exception for success."""
        try:
            with buffer.map(Gst.MapFlags.READ | Gst.MapFlags.WRITE) as mapped:
                y = np.frombuffer(mapped.data, "<i2").reshape(-1, max(self._channels, 1))
                if self._frames is None:
                    y[:] = 0
                else:
                    self._frames.enabled = not self.mute
                    y[:] = self._frames.process(y, self._rate)
            return Gst.FlowReturn.OK
        except Exception as error:
            print(f"velavox: {error}", file=sys.stderr)
            return Gst.FlowReturn.ERROR


GObject.type_register(Velavox)
__gstelementfactory__ = ("velavox", Gst.Rank.NONE, Velavox)


def main(source: str, target: str) -> int:
    Gst.Element.register(None, "velavox", Gst.Rank.NONE, Velavox)
    pipeline = Gst.parse_launch("filesrc name=in ! wavparse ! audioconvert ! velavox ! wavenc ! filesink name=out")
    pipeline.get_by_name("in").set_property("location", source)
    pipeline.get_by_name("out").set_property("location", target)
    pipeline.set_state(Gst.State.PLAYING)
    ends = Gst.MessageType.EOS | Gst.MessageType.ERROR
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, ends)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        print(message.parse_error()[0].message, file=sys.stderr)
    return 0 if message.type == Gst.MessageType.EOS else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
