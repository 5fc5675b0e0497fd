"""Source locations: MLIR's builtin location attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.base.interning import Interned


class Location(Interned):
    """Base class of locations. `children` are the directly nested locations in MLIR's walk order."""

    @property
    def children(self) -> tuple[Location, ...]:
        return ()

    def walk(self) -> Iterator[Location]:
        """This location and all nested ones in pre-order, each once, however often it occurs."""
        pending: list[Location] = [self]
        visited: set[Location] = set()
        while pending:
            location = pending.pop()
            if location in visited:
                continue
            visited.add(location)
            yield location
            pending.extend(reversed(location.children))

    def __str__(self) -> str:
        return f"loc({describe(self)})"


class UnknownLoc(Location):
    """`loc(unknown)`."""


class FileLoc(Location):
    """`"file":1:2`: a position in a file. Lines and columns start at 1, columns count bytes; 0 is unknown."""

    file: str
    line: int
    column: int


class FileRange(Location):
    """`"file":1:2 to 3:4`: a range in a file. The end column is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class NameLoc(Location):
    """`"name"(child)`: a named location."""

    name: str
    child: Location = UnknownLoc()

    @property
    def children(self) -> tuple[Location, ...]:
        return (self.child,)


class CallSite(Location):
    """`callsite(callee at caller)`: a location in an inlined function, and the location of the call."""

    callee: Location
    caller: Location

    @property
    def children(self) -> tuple[Location, ...]:
        return (self.callee, self.caller)


class FusedLoc(Location):
    """`fused<metadata>[…]`: several locations; `metadata` is an attribute."""

    locations: tuple[Location, ...]
    metadata: Interned | None = None

    @property
    def children(self) -> tuple[Location, ...]:
        return self.locations


def fused(locations: Iterable[Location], metadata: Interned | None = None) -> Location:
    """A location that fuses several others, simplified as in MLIR.

    Drops duplicates and unknown locations, and flattens nested ones with the same metadata. Without metadata,
    a single location is returned as it is; if none is left, the result is unknown.
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


# The maximum number of callers in the notes of a diagnostic.
CALL_STACK_LIMIT = 10


def resolve_file_location(location: Location) -> FileLoc | FileRange | None:
    """The first file location in a location in pre-order, which diagnostics show; None if there is none."""
    for part in location.walk():
        if isinstance(part, (FileLoc, FileRange)):
            return part
    return None


def call_stack(location: Location) -> list[Location]:
    """The locations of the inlined calls that contain this location, innermost first."""
    callers: list[Location] = []
    site = _call_site(location)
    while site is not None and len(callers) < CALL_STACK_LIMIT:
        callers.append(site.caller)
        site = _call_site(site.caller)
    return callers


def _call_site(location: Location) -> CallSite | None:
    """The first call site in a location, through names and fused locations."""
    pending = [location]
    while pending:
        part = pending.pop()
        if isinstance(part, CallSite):
            return part
        if isinstance(part, (NameLoc, FusedLoc)):
            pending.extend(reversed(part.children))
    return None


def describe(location: Location) -> str:
    """The text of a location as in MLIR, without the enclosing `loc(…)`."""
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
            suffix = "" if metadata is None else f"<{metadata}>"
            return f"fused{suffix}[{', '.join(map(describe, locations))}]"

    raise AssertionError(f"unhandled location {type(location).__name__}")


def quoted(text: str) -> str:
    """An MLIR string literal; non-printable bytes are escaped in hexadecimal."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text.encode("utf-8", "surrogateescape"))) + '"'


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    if byte == ord('"') or not 0x20 <= byte < 0x7F:
        return f"\\{byte:02X}"
    return chr(byte)
