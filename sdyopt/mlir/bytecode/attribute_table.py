"""The attributes, types, strings and resources of a bytecode file, decoded when they are first used."""

from __future__ import annotations

from array import array
from importlib import import_module
from importlib.util import find_spec

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.bytecode.encodings import DialectEncodings, EntryReader
from sdyopt.mlir.bytecode.stream import ATTRIBUTES, SECTIONS, ByteReader
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr, Type
from sdyopt.mlir.ir.dialect import DialectTable

# The maximum nesting depth of attributes.
MAX_DEPTH = 1000


class FileDialect:
    """A dialect of the file: its name and the version that wrote the file, () if it has none."""

    __slots__ = ("encodings", "name", "version")

    def __init__(self, name: str, version: tuple[int, ...]) -> None:
        self.name = name
        self.version = version
        self.encodings = encodings_of(name)


def register_encodings(encodings: DialectEncodings) -> DialectEncodings:
    """Registers the encodings of the attributes and types of a plugin's dialect, and returns them."""
    assert encodings.dialect not in _encodings, f"the dialect {encodings.dialect} has encodings already"
    _encodings[encodings.dialect] = encodings
    return encodings


def encodings_of(dialect: str) -> DialectEncodings | None:
    """The encodings of a dialect; None if all its attributes and types are encoded as text."""
    if dialect not in _encodings:
        module = f"sdyopt.mlir.bytecode.{_WITH.get(dialect, dialect)}_encodings"
        exists = dialect.isidentifier() and find_spec(module) is not None
        _encodings[dialect] = getattr(import_module(module), dialect) if exists else None
    return _encodings[dialect]


# The dialects whose encodings are in the module of another one.
_WITH = {"chlo": "stablehlo", "mhlo": "stablehlo"}
_encodings: dict[str, DialectEncodings | None] = {}


class _Entries:
    """The attributes or the types of a file: where each ends, and its value once it is decoded.

    An entry starts where the previous one ends, the first at `start`. The lowest bit of an element of `ends`
    states whether the dialect encoded the entry; otherwise it is text.
    """

    __slots__ = ("dialects", "ends", "kind", "start", "values")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.start = 0
        self.ends = array("q")
        # The number of the dialect of each entry.
        self.dialects = array("L")
        self.values: list[Attribute | None] = []


def unknown_dialect_help(name: str, dialects: DialectTable) -> str:
    """The help for what a dialect lacks: to load its plugin; empty if the dialect is known."""
    known = dialects.find(name) is not None
    return "" if known else f"load the plugin of the dialect '{name}' with --load-plugin=FILE.py"


class AttributeTable:
    """Implements `encodings.Table` for a file."""

    def __init__(self, data: bytes, version: int, dialects: DialectTable, allow_unregistered: bool) -> None:
        self.data = data
        self.version = version
        self.strings: list[str] = []
        # The keys of the resources of dialects.
        self.resource_keys: list[str] = []
        self.allow_unregistered = allow_unregistered
        self._dialects = dialects
        self._attributes = _Entries("attribute")
        self._types = _Entries("type")
        self._file_dialects: list[FileDialect] = []
        # The number of entries that are being decoded, and a reader for each.
        self._depth = 0
        self._readers: list[EntryReader] = []
        self._distinct_ids = 0

    def read(self, offsets: ByteReader, values: ByteReader, file_dialects: list[FileDialect]) -> None:
        """Reads where each attribute and type is."""
        counts = offsets.varint(), offsets.varint()
        position = values.position
        self._file_dialects = file_dialects
        for entries, count in zip((self._attributes, self._types), counts, strict=True):
            entries.start, ends = position, entries.ends
            while len(ends) < count:
                start = offsets.position
                number = offsets.varint()
                if number >= len(file_dialects):
                    offsets.fail(f"there is no dialect with the number {number}", start)
                size = offsets.count()
                if not size or len(ends) + size > count:
                    offsets.fail(f"a group of {size} entries, of {count} in all", start)
                entries.dialects += array("L", [number]) * size
                position = self._read_group(offsets, size, ends, position)
                if position > values.end:
                    offsets.fail("an entry ends after its section", start)
            entries.values = [None] * count
        offsets.finish()

    def _read_group(self, offsets: ByteReader, size: int, ends: array[int], position: int) -> int:
        """Adds the ends of the entries of a group, whose first starts at `position`. Returns the last end."""
        data, at = self.data, offsets.position
        for _ in range(size):
            first = data[at] if at < offsets.end else 0
            if first & 1:
                # Most entries are small.
                at += 1
                length = first >> 1
            else:
                offsets.position = at
                length = offsets.varint()
                at = offsets.position
            position += length >> 1
            if position > len(data):
                offsets.fail("an entry ends after its section", at)
            ends.append(position << 1 | length & 1)
        offsets.position = at
        return position

    # --- `EncodingTable` ----------------------------------------------------------------------------------

    def attribute(self, number: int, reader: ByteReader) -> Attribute:
        """The attribute of this number, to which `reader` has just read a reference."""
        values = self._attributes.values
        if number >= len(values):
            reader.fail(f"there is no attribute with the number {number}")
        value = values[number]
        # Not `or`: an empty list is false.
        return self._decode(self._attributes, number, reader) if value is None else value

    def type(self, number: int, reader: ByteReader) -> Type:
        """The type of this number, to which `reader` has just read a reference."""
        values = self._types.values
        if number >= len(values):
            reader.fail(f"there is no type with the number {number}")
        value = values[number]
        if value is None:
            value = self._decode(self._types, number, reader)
        assert isinstance(value, Type)
        return value

    def location(self, number: int, reader: ByteReader) -> Location:
        """The location that is the attribute of this number."""
        attribute = self.attribute(number, reader)
        if not isinstance(attribute, LocationAttr):
            reader.fail(f"expected a location, found {type(attribute).__name__}")
        return attribute.location

    def string(self, number: int, reader: ByteReader) -> str:
        """The string of this number."""
        if number >= len(self.strings):
            reader.fail(f"there is no string with the number {number}")
        return self.strings[number]

    def resource(self, number: int, reader: ByteReader) -> str:
        """The key of the resource of this number."""
        if number >= len(self.resource_keys):
            reader.fail(f"there is no resource with the number {number}")
        return self.resource_keys[number]

    def next_distinct_id(self) -> int:
        """An id that no other distinct attribute has."""
        self._distinct_ids += 1
        return self._distinct_ids - 1

    # --- Decoding ---------------------------------------------------------------------------------

    def entry_reader(self, start: int, end: int, section: int, dialect: FileDialect) -> EntryReader:
        """The reader of a range of bytes of a dialect's."""
        return EntryReader(self, self.data, start, end, SECTIONS[section], self.version, dialect.version)

    def _decode(self, entries: _Entries, number: int, user: ByteReader) -> Attribute:
        depth = self._depth
        if depth == MAX_DEPTH:
            user.fail(f"attributes are nested deeper than {MAX_DEPTH}, or one contains itself")
        ends, dialect = entries.ends, self._file_dialects[entries.dialects[number]]
        start = ends[number - 1] >> 1 if number else entries.start
        end = ends[number]
        if depth == len(self._readers):
            self._readers.append(self.entry_reader(start, end >> 1, ATTRIBUTES, dialect))
        reader = self._readers[depth]
        reader.position, reader.end, reader.dialect_version = start, end >> 1, dialect.version
        is_type = entries is self._types
        self._depth = depth + 1
        try:
            value = self._encoded(dialect, is_type, reader) if end & 1 else self._text(reader, is_type)
        finally:
            self._depth = depth
        if reader.position != reader.end:
            reader.finish()
        if isinstance(value, Type) is not is_type:
            reader.fail("expected a type" if is_type else "expected an attribute", start)
        entries.values[number] = value
        return value

    def _encoded(self, dialect: FileDialect, is_type: bool, reader: EntryReader) -> Attribute:
        encodings, start = dialect.encodings, reader.position
        if encodings is None:
            reader.fail(f"the dialect '{dialect.name}' has no encodings that are known")
        code = reader.varint()
        encoding = (encodings.types if is_type else encodings.attributes).get(code)
        if encoding is None:
            kind = "type" if is_type else "attribute"
            help = unknown_dialect_help(dialect.name, self._dialects)
            reader.fail(f"the dialect '{dialect.name}' has no {kind} with the code {code}", start, help)
        value: Attribute = encoding.read(reader)
        return value

    def _text(self, reader: EntryReader, is_type: bool) -> Attribute:
        """The attribute or type of a text in assembly format."""
        start = reader.position
        text = reader.text()
        source = Source("<bytecode>", text)
        parser = AsmParser(
            source, ParserState(source, self._dialects, self.allow_unregistered).attribute_parser
        )
        try:
            value = parser.type() if is_type else parser.attribute()
            parser.skip_trivia()
            is_whole = parser.at_end
        except DiagnosticError as error:
            reader.fail(f"in '{text}': " + error.diagnostic.message, start)
        if not is_whole:
            reader.fail(f"trailing characters in '{text}'", start)
        return value
