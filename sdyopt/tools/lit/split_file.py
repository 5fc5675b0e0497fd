"""split-file INPUT FOLDER: splits a file at its `//--- NAME` lines into files with these names.

Text before the first such line is discarded.
"""

import re
import sys
from pathlib import Path

MARKER = re.compile(r"(?:.|//)--- (\S+)\s*")


def split(text: str) -> dict[str, str]:
    """The parts by name, in order. Raises ValueError if there is none, or for a name that cannot be used."""
    parts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if not (match := MARKER.fullmatch(line)):
            if current is not None:
                current.append(line)
            continue
        if match[1] in parts:
            raise ValueError(f"two parts are named {match[1]}")
        path = Path(match[1])
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"the part {match[1]} is outside of the folder")
        current = parts[match[1]] = []
    if not parts:
        raise ValueError("no `//--- NAME` line")
    return {name: "".join(lines) for name, lines in parts.items()}


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: split-file INPUT FOLDER")
    source, folder = map(Path, sys.argv[1:])
    try:
        parts = split(source.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"split-file: {source}: {error}")
    for name, text in parts.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
