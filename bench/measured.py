"""What `velavox privacy` says was measured, from a comparison's results into the package.

python -m velavox.bench.measured RESULTS/anonymizers.json

The comparison must have been of dp and dp:mode=low, with the graphs that are there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..engine.atomic import atomically
from ..engine.dpvoice import MODES
from ..models_onnx import manifest, measured

FOLDER = Path(measured.__file__).parent


def measured_of(results: dict[str, Any], encoder_sha256: str) -> dict[str, Any]:
    """What is kept of a comparison. ValueError if a mode is not in it."""
    leaks: dict[str, Any] = {}
    for mode in MODES:
        names = ("dp", f"dp:mode={mode}") if mode == "balanced" else (f"dp:mode={mode}",)
        found = [r["leak"] for r in results["results"] if r["condition"] in names and r["leak"]]
        if not found:
            raise ValueError(f"no results of {names[-1]}: compare with --methods dp dp:mode=low")
        leak = found[0]
        speakers = results["speech"]["attacked_speakers"]
        leaks[mode] = {"eer": leak["value"], "low": leak["low"], "high": leak["high"], "speakers": speakers}
    return {"encoder_sha256": encoder_sha256, "content_leak": leaks}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.measured", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("results", type=Path, metavar="JSON", help="anonymizers.json of a comparison")
    given = parser.parse_args()
    try:
        results = json.loads(given.results.read_text(encoding="utf-8"))
        text = json.dumps(measured_of(results, manifest.read(FOLDER)["encoder"].sha256), indent=1) + "\n"
    except (OSError, ValueError) as error:
        sys.exit(f"{given.results}: {error}")
    with atomically(FOLDER / measured.FILE) as part:
        part.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
