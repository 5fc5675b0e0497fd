"""The locations of instructions of HLO: the metadata of their attributes, and the tables of call stacks.

metadata={op_name="jit(step)/dot_general" stack_frame_id=3}     the third frame of the table, and its parents
metadata={op_name="jit(step)/dot_general" source_file="model.py" source_line=12}     text of older releases
"""

from __future__ import annotations

import re

from sdyopt.analysis.figures.source_locations import Frame, SourceLocation

_METADATA = re.compile(r"metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*+\")*+)\}")
_FIELD = re.compile(r'\b(\w++)=("(?:[^"\\]|\\.)*"|\d{1,9})')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# JAX keeps at most 10 frames of a call stack by default.
_MAX_FRAMES = 64


class Locations:
    """The locations of a text, each read once."""

    def __init__(self, lines: list[str]) -> None:
        self._tables = _tables(lines)
        self._known: dict[str, SourceLocation] = {}

    def of(self, rest: str) -> SourceLocation:
        """The location of an instruction with these attributes."""
        place = self._known.get(rest)
        if place is None:
            place = self._known[rest] = self._read_location(rest)
        return place

    def _read_location(self, rest: str) -> SourceLocation:
        # What is not closed is not searched for another start.
        at = rest.find("metadata={")
        metadata = None if at < 0 else _METADATA.match(rest, at)
        fields = {} if metadata is None else dict(_FIELD.findall(metadata[1]))
        name = fields.get("op_name", "").strip('"').replace("\\'", "'")
        numbers = {field: int(value) for field, value in fields.items() if value.isdecimal()}
        if "stack_frame_id" in numbers and (frames := self._frames(numbers["stack_frame_id"])):
            first = frames[0]
            return SourceLocation(first.file, first.line, first.column, name, frames, name)
        file, line = fields.get("source_file", "").strip('"'), numbers.get("source_line", 0)
        frames = (Frame("", file, line, 0),) if line else ()
        return SourceLocation(file, line, 0, name, frames, name)

    def _frames(self, number: int) -> tuple[Frame, ...]:
        """The call stack of a frame, the innermost first. The parent of frame 5 is 4 if it says 5."""
        files, functions, places, frames = (self._tables[name] for name in _TABLES)
        result: dict[Frame, None] = {}
        for _ in range(_MAX_FRAMES):
            if number not in frames:
                break
            frame = _numbers_of(frames[number])
            place = _numbers_of(places.get(frame.get("file_location_id", 0), ""))
            # XLA repeats the frames around a loop or a call that it inlines.
            item = Frame(
                functions.get(place.get("function_name_id", 0), "").strip('"'),
                files.get(place.get("file_name_id", 0), "").strip('"'),
                place.get("line", 0),
                place.get("column", 0),
            )
            result[item] = None
            number = frame.get("parent_frame_id", 0) - 1
        return tuple(result)


def _tables(lines: list[str]) -> dict[str, dict[int, str]]:
    """The tables of frames, by name and number, which newer XLA prints before the computations."""
    tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
    table: dict[int, str] | None = None
    for line in lines[1:]:
        if line in tables:
            table = tables[line]
        elif table is not None and (match := re.match(r"(\d{1,9}) (.*)", line)) is not None:
            table[int(match[1])] = match[2]
        elif line.startswith(("ENTRY", "%")):
            break
    return tables


def _numbers_of(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"\b(\w++)=(\d{1,9})", text)}
