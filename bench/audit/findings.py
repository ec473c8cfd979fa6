"""What is wrong with the material of an audit, or of what to beware: by kind, with the names of all that it concerns."""

from __future__ import annotations

from collections.abc import Iterator

_NAMED = 3  # in a line; all stand in the file that the audit writes


class Findings:
    """Names by kind, in the order in which they are found; what is found twice counts once."""

    def __init__(self) -> None:
        self.names: dict[str, list[str]] = {}
        self._seen: set[tuple[str, str]] = set()

    def add(self, kind: str, name: str) -> None:
        """`kind` reads as in "no such file"; `name` is that of a recording, a speaker or a line of a table."""
        if (kind, name) not in self._seen:
            self._seen.add((kind, name))
            self.names.setdefault(kind, []).append(name)

    def update(self, other: Findings) -> None:
        for kind, names in other.names.items():
            for name in names:
                self.add(kind, name)

    def counts(self) -> dict[str, int]:
        return {kind: len(names) for kind, names in self.names.items()}

    def lines(self) -> Iterator[str]:
        """As in "no such file: 5: a, b, c and 2 more"."""
        for kind, names in self.names.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{kind}: {len(names)}: {', '.join(names[:_NAMED])}{more}"
