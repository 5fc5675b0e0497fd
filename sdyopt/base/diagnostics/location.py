"""Source locations, MLIR's builtin location attributes, and source text, in which they are offsets."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

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

    def call_site(self) -> CallSite | None:
        """The first call site in a location, through names and fused locations."""
        pending = [self]
        visited: set[Location] = set()
        while pending:
            part = pending.pop()
            if isinstance(part, CallSite):
                return part
            if isinstance(part, (NameLoc, FusedLoc)) and part not in visited:
                visited.add(part)
                pending.extend(reversed(part.children))
        return None


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
    site = location.call_site()
    while site is not None and len(callers) < CALL_STACK_LIMIT:
        callers.append(site.caller)
        site = site.caller.call_site()
    return callers


# The maximum length of the text of a location in a diagnostic; nested ones may be exponentially long.
_MAX_DESCRIPTION = 10_000


def describe(location: Location) -> str:
    """The text of a location as in MLIR, without the enclosing `loc(…)`; a long one is cut."""
    text, length = list[str](), 0
    pending: list[Location | str] = [location]
    while pending:
        part = pending.pop()
        if not isinstance(part, str):
            pending.extend(reversed(_description(part)))
            continue
        text.append(part)
        length += len(part)
        if length > _MAX_DESCRIPTION:
            text.append("…")
            break
    return "".join(text)


def _description(location: Location) -> list[Location | str]:
    """The text of a location, in which that of others is left out."""
    match location:
        case UnknownLoc():
            return ["unknown"]
        case FileLoc(file, line, column):
            return [f"{quoted(file)}:{line}:{column}"]
        case FileRange(file, line, column, end_line, end_column):
            end = f":{end_column}" if line == end_line else f"{end_line}:{end_column}"
            return [f"{quoted(file)}:{line}:{column} to {end}"]
        case NameLoc(name, child):
            return [quoted(name)] if isinstance(child, UnknownLoc) else [f"{quoted(name)}(", child, ")"]
        case CallSite(callee, caller):
            return ["callsite(", callee, " at ", caller, ")"]
        case FusedLoc(locations, metadata):
            suffix = "" if metadata is None else f"<{metadata}>"
            separated = [part for nested in locations for part in (nested, ", ")][:-1]
            return [f"fused{suffix}[", *separated, "]"]

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


class Source:
    """A named text, or a chunk of one.

    Offsets count characters of `text`. Lines and columns start at 1 and are those of the whole file, even
    in a chunk. Columns count bytes, as in MLIR. A binary file has its bytes as `data`, and no text.
    """

    def __init__(
        self,
        name: str,
        text: str,
        whole: Source | None = None,
        start: int = 0,
        data: bytes | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self.data = data
        self._whole = whole or self
        self._start = start

    def chunk(self, start: int, end: int) -> Source:
        """The text between two offsets, as a source with the same name."""
        return Source(self.name, self.text[start:end], self._whole, self._start + start)

    def location(self, offset: int) -> FileLoc:
        """The file location of an offset."""
        line, column = self.line_column(offset)
        return FileLoc(self.name, line, column)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        offset += self._start
        text, line_starts = self._whole.text, self._whole.line_starts
        line = bisect_right(line_starts, offset)
        start = line_starts[line - 1]
        byte_count = (
            offset - start if text.isascii() else len(text[start:offset].encode("utf-8", "surrogateescape"))
        )
        return line, byte_count + 1

    def offset_of(self, line: int, column: int) -> int | None:
        """The offset of a line and column; None if the text has no such line or column."""
        text, line_starts = self._whole.text, self._whole.line_starts
        if not 1 <= line <= len(line_starts) or column < 1:
            return None
        start, end = self._line_bounds(line)
        if text.isascii():
            offset = start + column - 1
        else:
            before = text[start:end].encode("utf-8", "surrogateescape")[: column - 1]
            offset = start + len(before.decode("utf-8", "ignore")) + max(0, column - 1 - len(before))
        return offset - self._start if offset <= end else None

    def line_text(self, line: int) -> str:
        """The text of a line of the file, without the line terminator."""
        start, end = self._line_bounds(line)
        return self._whole.text[start:end]

    @property
    def line_count(self) -> int:
        """The number of lines of the whole file."""
        return len(self._whole.line_starts)

    @cached_property
    def line_starts(self) -> array[int]:
        """The offset of the start of each line. An array takes a fraction of the memory of a list."""
        text, starts, newline = self.text, array("q", [0]), self.text.find("\n")
        while newline >= 0:
            starts.append(newline + 1)
            newline = text.find("\n", newline + 1)
        return starts

    def _line_bounds(self, line: int) -> tuple[int, int]:
        text, line_starts = self._whole.text, self._whole.line_starts
        start = line_starts[line - 1]
        end = line_starts[line] - 1 if line < len(line_starts) else len(text)
        if end > start and text[end - 1] == "\r":
            end -= 1
        return start, end


class FusedParts:
    """Locations that are fused when the result is first read, as an offset is resolved.

    A chain of folds fuses the result of each with the next location, and each of these is one longer.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: LazyLocation) -> None:
        self._parts = parts

    def location(self, _offset: int) -> Location:
        """The fused location."""
        locations: list[Location] = []
        pending: list[LazyLocation] = [*reversed(self._parts)]
        while pending:
            part = pending.pop()
            if isinstance(part, Location):
                locations.append(part)
            elif isinstance(part[0], FusedParts):
                pending.extend(reversed(part[0]._parts))
            else:
                locations.append(part[0].location(part[1]))
        return fused(locations)


# A location that the text does not state is (source, offset) until it is first read, and one that is fused
# has its parts. Operations and block arguments store the two values, which takes less memory than a pair.
LazyLocation = Location | tuple[Source | FusedParts, int]


def lazily_fused(*parts: LazyLocation) -> LazyLocation:
    """What `fused` returns for some locations, when it is first read."""
    return FusedParts(*parts), 0


def without_offset(location: LazyLocation) -> Location | None:
    """A location that is not only an offset in a text; None for one that is."""
    if isinstance(location, Location):
        return location
    source, offset = location
    return None if isinstance(source, Source) else source.location(offset)
