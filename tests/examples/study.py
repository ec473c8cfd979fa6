"""A folder of interviews, one voice for each speaker, names replaced: python study.py IN_FOLDER OUT_FOLDER MAPPING.csv"""

import sys

from velavox import anonymize_folder


def main(source: str, target: str, mapping: str) -> None:
    result = anonymize_folder(source, target, "voicemask", voices="per-speaker", rename=True, mapping=mapping)
    print(result.summary)
    for outcome in result.having("failed"):
        print(outcome.line)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
