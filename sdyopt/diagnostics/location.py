"""Where something comes from: a place in a file, or a composition of such places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.interning import Interned


class Location(Interned):
    """Base of all locations. `children` are the locations it is composed of, in MLIR's walking order."""

    @property
    def children(self) -> tuple[Location, ...]:
        return ()

    def walk(self) -> Iterator[Location]:
        """This location and all those inside it, outermost first."""
        pending: list[Location] = [self]
        while pending:
            location = pending.pop()
            yield location
            pending.extend(reversed(location.children))

    def __str__(self) -> str:
        return f"loc({describe(self)})"


class UnknownLoc(Location):
    """Nobody knows."""

    __str__ = Location.__str__


class FileLoc(Location):
    """A point in a file. Lines and columns count from 1, columns in bytes; 0 is not known."""

    file: str
    line: int
    column: int

    __str__ = Location.__str__


class FileRange(Location):
    """A stretch of a file, `"file":1:2 to 3:4`; the end is the first column that is not part of it."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    __str__ = Location.__str__


class NameLoc(Location):
    """A name that somebody gave, with the place that it was given to."""

    name: str
    child: Location = UnknownLoc()

    __str__ = Location.__str__

    @property
    def children(self) -> tuple[Location, ...]:
        return (self.child,)


class CallSite(Location):
    """A place inside a function that was inlined, and where the call stood."""

    callee: Location
    caller: Location

    __str__ = Location.__str__

    @property
    def children(self) -> tuple[Location, ...]:
        return (self.callee, self.caller)


class FusedLoc(Location):
    """Several places that became one operation; `metadata` is an attribute saying how."""

    locations: tuple[Location, ...]
    metadata: Interned | None = None

    __str__ = Location.__str__

    @property
    def children(self) -> tuple[Location, ...]:
        return self.locations


class OpaqueLoc(Location):
    """A place only another tool understands, and a stand-in for everybody else."""

    identifier: str
    fallback: Location

    __str__ = Location.__str__

    @property
    def children(self) -> tuple[Location, ...]:
        return (self.fallback,)


def fused(locations: Iterable[Location], metadata: Interned | None = None) -> Location:
    """The location that stands for several, simplified as MLIR does.

    Equal ones are one, unknown ones say nothing, and those fused with the same metadata are taken
    apart. A single location stands for itself if there is no metadata.
    """
    parts: dict[Location, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc) and location.metadata is metadata:
            parts.update(dict.fromkeys(location.locations))
        elif not isinstance(location, UnknownLoc):
            parts[location] = None
    if metadata is None and len(parts) < 2:
        return next(iter(parts), UnknownLoc())
    return FusedLoc(tuple(parts) or (UnknownLoc(),), metadata)


# A diagnostic shows no more callers of an inlined place than this.
CALL_STACK_LIMIT = 10


def resolve_file_location(location: Location) -> FileLoc | FileRange | None:
    """The place in a file that a diagnostic at this location shows: the first one in it, if any."""
    for part in location.walk():
        if isinstance(part, (FileLoc, FileRange)):
            return part
    return None


def call_stack(location: Location) -> list[Location]:
    """Where the code at this location was called from, innermost call first."""
    callers: list[Location] = []
    site = _call_site(location)
    while site is not None and len(callers) < CALL_STACK_LIMIT:
        callers.append(site.caller)
        site = _call_site(site.caller)
    return callers


def _call_site(location: Location) -> CallSite | None:
    """The call site that a location is, below names and in the first fused location that has one."""
    pending = [location]
    while pending:
        part = pending.pop()
        if isinstance(part, CallSite):
            return part
        if isinstance(part, (NameLoc, FusedLoc)):
            pending.extend(reversed(part.children))
    return None


def describe(location: Location) -> str:
    """The location as MLIR writes it, without the `loc(…)` around it."""
    match location:
        case UnknownLoc():
            return "unknown"
        case FileLoc(file, line, column):
            return f"{quoted(file)}:{line}:{column}"
        case FileRange(file, line, column, end_line, end_column):
            end = f":{end_column}" if line == end_line else f"{end_line}:{end_column}"
            return f"{quoted(file)}:{line}:{column} to {end}"
        case NameLoc(name, child):
            return quoted(name) if isinstance(child, UnknownLoc) else f"{quoted(name)}({describe(child)})"
        case CallSite(callee, caller):
            return f"callsite({describe(callee)} at {describe(caller)})"
        case FusedLoc(locations, metadata):
            how = "" if metadata is None else f"<{metadata}>"
            return f"fused{how}[{', '.join(map(describe, locations))}]"
        case OpaqueLoc(_, fallback):
            return describe(fallback)
    raise AssertionError(f"no words for {type(location).__name__}")


def quoted(text: str) -> str:
    """A string literal of MLIR: bytes that do not print are written in hexadecimal."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text.encode("utf-8", "surrogateescape"))) + '"'


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    if byte == ord('"') or not 0x20 <= byte < 0x7F:
        return f"\\{byte:02X}"
    return chr(byte)
