"""A live stream in a program of one's own: which devices, what it does, what it cost: python live.py [SECONDS]"""

import sys
from dataclasses import asdict

from velavox import Live, McAdams, SoundCard
from velavox.engine.card import DeviceError


def main(seconds: float) -> None:
    with Live(McAdams(), card=SoundCard()) as live:  # the system's default microphone and output
        live.wait(seconds / 2)
        live.muted = True  # silence goes out; the engine runs on
        live.wait(seconds / 4)
        live.muted = False
        live.wait(seconds / 4)
        for name, value in asdict(live.status()).items():
            print(f"{name}: {value}")


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    except DeviceError as error:
        sys.exit(str(error))
