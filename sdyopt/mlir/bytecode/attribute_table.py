"""What a bytecode file refers to by number: decoded when it is first used, and numbered before it is written.

The numbers are those of MLIR: attributes, types and names of operations that are used most have the smallest
numbers, and those of a dialect follow each other.
"""

from __future__ import annotations

from array import array
from importlib import import_module
from importlib.util import find_spec
from typing import Generic, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.mlir.asm.lexical import PROPERTIES as PROPERTIES_NAME
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.bytecode.encodings import DialectEncodings, Encoding, EntryReader, EntryWriter
from sdyopt.mlir.bytecode.properties import layouts_of, write_properties
from sdyopt.mlir.bytecode.stream import ATTRIBUTES, PROPERTIES, SECTIONS, ByteReader
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, LocationAttr, Type, dictionary, nested_attributes
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseResource
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.value import Value

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


K = TypeVar("K")


class NumberedDialect:
    """A dialect of the file: its name, number and encodings, and the keys of its resources."""

    __slots__ = ("encodings", "name", "number", "resources")

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.encodings: DialectEncodings | None = encodings_of(name)
        self.resources: dict[str, int] = {}


class NumberedEntry(Generic[K]):
    """Something numbered: how often it is used, its dialect, and its number."""

    __slots__ = ("count", "dialect", "encoding", "key", "number")

    def __init__(self, key: K, dialect: NumberedDialect) -> None:
        self.key = key
        self.dialect = dialect
        self.count = 1
        self.number = 0
        self.encoding: Encoding | None = None


class IRNumbering:
    """The numbers of everything that the file refers to. Implements `EntryWriter`, and writes nothing."""

    def __init__(self, root: Op, version: int) -> None:
        self.version = version
        self.dialects: dict[str, NumberedDialect] = {}
        self.attributes: dict[Attribute, NumberedEntry[Attribute]] = {}
        self.types: dict[Attribute, NumberedEntry[Attribute]] = {}
        self.op_names: dict[tuple[str, bool], NumberedEntry[tuple[str, bool]]] = {}
        self.values: dict[Value, int] = {}
        # The number of values that are defined directly in a region.
        self.value_counts: dict[Region, int] = {}
        # The number of each block in its region.
        self.blocks: dict[Block, int] = {}
        # The operations whose regions use no values from outside.
        self.isolated: set[Op] = set()
        # The order of operations in the walk of the program.
        self.order: dict[Op, int] = {}
        self._find_isolated(root)
        self._next_value = 0
        self._number_ops(root)
        _assign_numbers(self.attributes)
        _assign_numbers(self.op_names)
        _assign_numbers(self.types)
        number = 0
        for dialect in self.dialects.values():
            for key in dialect.resources:
                dialect.resources[key] = number
                number += 1

    # --- Operations -------------------------------------------------------------------------------

    def _find_isolated(self, root: Op) -> None:
        outside: set[Op] = set()
        for number, op in enumerate(root.walk()):
            self.order[op] = number
            region = op.parent_region
            for value in op.operands:
                block = value.block
                defined_in = None if block is None else block.parent
                inner = region
                while inner is not None and inner is not defined_in:
                    owner = inner.parent
                    if owner is None or ISOLATED in owner.traits:
                        break
                    outside.add(owner)
                    inner = owner.parent_region
        self.isolated = {op for op in self.order if op not in outside or ISOLATED in op.traits}

    def _number_ops(self, root: Op) -> None:
        self._number_op(root)
        pending: list[tuple[Region, int]] = []
        self._add_regions(root, pending)
        while pending:
            region, self._next_value = pending.pop()
            first = self._next_value
            for number, block in enumerate(region.blocks):
                self.blocks[block] = number
                for argument in block.arguments:
                    self._define(argument)
                    self.attribute(LocationAttr(argument.location))
                    self.type(argument.type)
                for op in block.ops:
                    self._number_op(op)
            self.value_counts[region] = self._next_value - first
            for block in region.blocks:
                for op in block.ops:
                    self._add_regions(op, pending)

    def _add_regions(self, op: Op, pending: list[tuple[Region, int]]) -> None:
        first = 0 if op in self.isolated else self._next_value
        pending += [(region, first) for region in op.regions if region.blocks]

    def _define(self, value: Value) -> None:
        self.values[value] = self._next_value
        self._next_value += 1

    def _number_op(self, op: Op) -> None:
        name = (op.signature.name, not isinstance(op, UnregisteredOp))
        entry = self.op_names.get(name)
        if entry is None:
            self.op_names[name] = NumberedEntry(name, self.dialect(op.dialect_name))
        else:
            entry.count += 1
        for result in op.results:
            self._define(result)
            self.type(result.type)
        attributes = attributes_of(op, self.version)
        if attributes.entries:
            self.attribute(attributes)
        if self.version >= PROPERTIES:
            write_op_properties(op, self)
        self.attribute(LocationAttr(op.location))

    def dialect(self, name: str) -> NumberedDialect:
        """The dialect of this name, numbered in the order of first use."""
        dialect = self.dialects.get(name)
        if dialect is None:
            dialect = self.dialects[name] = NumberedDialect(name, len(self.dialects))
        return dialect

    # --- `EntryWriter` ----------------------------------------------------------------------------

    def attribute(self, attribute: Attribute) -> None:
        self._number(attribute, self.attributes)

    def type(self, type: Type) -> None:
        self._number(type, self.types)

    def _number(self, attribute: Attribute, entries: dict[Attribute, NumberedEntry[Attribute]]) -> None:
        entry = entries.get(attribute)
        if entry is not None:
            entry.count += 1
            return
        namespace = getattr(attribute, "namespace", None)
        dialect_name = namespace if isinstance(namespace, str) else attribute.dialect
        dialect = self.dialect(dialect_name)
        entry = entries[attribute] = NumberedEntry(attribute, dialect)
        if dialect.encodings is not None:
            entry.encoding = dialect.encodings.encoding_of(encoded_part(attribute))
        if entry.encoding is not None:
            entry.encoding.write(self, encoded_part(attribute))
            return
        for inner in nested_attributes(attribute):
            if isinstance(inner, DenseResource):
                self.resource(inner.key)

    def optional_attribute(self, attribute: Attribute | None) -> None:
        if attribute is not None:
            self.attribute(attribute)

    def resource(self, key: str) -> None:
        self.dialect("builtin").resources.setdefault(key, 0)

    def byte(self, value: int) -> None: ...
    def bytes(self, value: bytes) -> None: ...
    def varint(self, value: int) -> None: ...
    def signed(self, value: int) -> None: ...
    def string(self, text: str) -> None: ...


def encoded_part(attribute: Attribute) -> Attribute | Location:
    """The object that encodings take: the location in an attribute, or the attribute."""
    return attribute.location if isinstance(attribute, LocationAttr) else attribute


def _assign_numbers(entries: dict[K, NumberedEntry[K]]) -> None:
    """Numbers the entries: the most used first, and in each range of equally long numbers by dialect."""
    ordered = sorted(entries.values(), key=lambda entry: -entry.count)
    result: list[NumberedEntry[K]] = []
    size, first_dialect, position = 0, 0, 0
    for digits in range(1, 9):
        # As in MLIR, which subtracts only the previous range.
        size = (1 << 7 * digits) - size
        group = ordered[position : position + size]
        position += len(group)

        def place(entry: NumberedEntry[K], first: int = first_dialect) -> tuple[bool, int]:
            return entry.dialect.number != first, entry.dialect.number

        group.sort(key=place)
        result += group
        if position >= len(ordered):
            break
        first_dialect = group[-1].dialect.number
    entries.clear()
    for number, entry in enumerate(result):
        entry.number = number
        entries[entry.key] = entry


def attributes_of(op: Op, version: int) -> DictAttr:
    """The attributes that are encoded as a dictionary: without properties, all of them."""
    # Without properties, those of an unregistered operation are lost, as in MLIR.
    if isinstance(op, UnregisteredOp) or (version >= PROPERTIES and layouts_of(type(op))[0]):
        return op.attributes
    inherent = op.inherent_attributes()
    if not inherent.entries:
        return op.attributes
    return dictionary((*inherent.entries, *op.attributes.entries))


def write_op_properties(op: Op, writer: EntryWriter) -> bool:
    """Writes the properties of an operation; returns whether it has any."""
    if isinstance(op, UnregisteredOp):
        properties = op.signature.attributes.get(PROPERTIES_NAME)
        if properties is None:
            return False
        writer.attribute(properties)
        return True
    if not layouts_of(type(op))[0]:
        return False
    write_properties(type(op), op.inherent_attributes(), writer)
    return True
