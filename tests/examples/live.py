"""A live stream in a program of one's own: which devices, what it does, what it cost. Runs for the seconds given."""

import sys
from dataclasses import asdict

from velavox import Live, McAdams, SoundCard

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
with Live(McAdams(), card=SoundCard()) as live:  # the system's default microphone and output
    live.wait(seconds / 2)
    live.muted = True  # silence goes out; the engine runs on
    live.wait(seconds / 4)
    live.muted = False
    live.wait(seconds / 4)
    for name, value in asdict(live.status()).items():
        print(f"{name}: {value}")
