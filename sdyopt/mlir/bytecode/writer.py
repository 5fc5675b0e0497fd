"""Writes a program as bytecode.

Attributes, types and names of operations are first numbered, in the order of MLIR: those that are used most
have the smallest numbers, and those of a dialect follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.location import Location, UnknownLoc
from sdyopt.mlir.asm.lexical import PROPERTIES as PROPERTIES_NAME
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.asm.resources import Blob, Resources
from sdyopt.mlir.bytecode.attribute_table import encodings_of
from sdyopt.mlir.bytecode.encodings import DialectEncodings, Encoding, EntryWriter
from sdyopt.mlir.bytecode.properties import layouts_of, write_properties
from sdyopt.mlir.bytecode.stream import (
    ATTRIBUTE_OFFSETS,
    ATTRIBUTES,
    DIALECT_VERSION,
    DIALECT_VERSIONS,
    DIALECTS,
    ELIDED_ARGUMENT_LOCATIONS,
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
    HAS_USE_LIST_ORDERS,
    IR,
    MAGIC,
    NEWEST_VERSION,
    PROPERTIES,
    PROPERTY_VALUES,
    REGION_SECTIONS,
    RESOURCE_OFFSETS,
    RESOURCES,
    STRINGS,
    USE_LIST_ORDERS,
    ByteWriter,
)
from sdyopt.mlir.dialects.vhlo.dialect import bytecode_version
from sdyopt.mlir.dialects.vhlo.to_version import checked_version, convert_to_version
from sdyopt.mlir.dialects.vhlo.to_vhlo import legalize_to_vhlo
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, LocationAttr, Type, dictionary, nested_attributes
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseResource
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.value import Value

K = TypeVar("K")

_BLOB_KIND, _STRING_KIND = 0, 2


@dataclass(frozen=True)
class BytecodeOptions:
    """The options of the writer: the version of the format, who writes it, and whether blobs are left out."""

    version: int = NEWEST_VERSION
    producer: str = "sdy-opt"
    elides_resources: bool = False


def write_bytecode(root: Op, resources: Resources, options: BytecodeOptions) -> bytes:
    """The bytecode of a program."""
    return _FileWriter(root, resources, options).file()


def artifact(root: Op, resources: Resources, target: str, elides_resources: bool = False) -> bytes:
    """The portable artifact of a program for a version of StableHLO, such as "1.0.0".

    Converts the program in place. Raises DiagnosticError for a version that there is not, or that cannot
    express the program.
    """
    version = checked_version(target, root)
    legalize_to_vhlo(root, allows_other_dialects=True)
    convert_to_version(root, version)
    producer = f"StableHLO_v{target}"
    options = BytecodeOptions(bytecode_version(version), producer, elides_resources)
    return write_bytecode(root, resources, options)


class _Dialect:
    """A dialect of the file: its name, number and encodings, and the keys of its resources."""

    __slots__ = ("encodings", "name", "number", "resources")

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.encodings: DialectEncodings | None = encodings_of(name)
        self.resources: dict[str, int] = {}


class _Entry(Generic[K]):
    """Something numbered: how often it is used, its dialect, and its number."""

    __slots__ = ("count", "dialect", "encoding", "key", "number")

    def __init__(self, key: K, dialect: _Dialect) -> None:
        self.key = key
        self.dialect = dialect
        self.count = 1
        self.number = 0
        self.encoding: Encoding | None = None


class _Numbering:
    """The numbers of everything that the file refers to. Implements `EntryWriter`, and writes nothing."""

    def __init__(self, root: Op, version: int) -> None:
        self.version = version
        self.dialects: dict[str, _Dialect] = {}
        self.attributes: dict[Attribute, _Entry[Attribute]] = {}
        self.types: dict[Attribute, _Entry[Attribute]] = {}
        self.op_names: dict[tuple[str, bool], _Entry[tuple[str, bool]]] = {}
        self.values: dict[Value, int] = {}
        # The number of values that are defined directly in a region.
        self.value_counts: dict[Region, int] = {}
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
            for block in region.blocks:
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
            self.op_names[name] = _Entry(name, self.dialect(op.dialect_name))
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

    def dialect(self, name: str) -> _Dialect:
        """The dialect of this name, numbered in the order of first use."""
        dialect = self.dialects.get(name)
        if dialect is None:
            dialect = self.dialects[name] = _Dialect(name, len(self.dialects))
        return dialect

    # --- `EntryWriter` ----------------------------------------------------------------------------

    def attribute(self, attribute: Attribute) -> None:
        self._number(attribute, self.attributes)

    def type(self, type: Type) -> None:
        self._number(type, self.types)

    def _number(self, attribute: Attribute, entries: dict[Attribute, _Entry[Attribute]]) -> None:
        entry = entries.get(attribute)
        if entry is not None:
            entry.count += 1
            return
        dialect = self.dialect(_dialect_name(attribute))
        entry = entries[attribute] = _Entry(attribute, dialect)
        if dialect.encodings is not None:
            entry.encoding = dialect.encodings.encoding_of(_encoded(attribute))
        if entry.encoding is not None:
            entry.encoding.write(self, _encoded(attribute))
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


def _dialect_name(attribute: Attribute) -> str:
    namespace = getattr(attribute, "namespace", None)
    return namespace if isinstance(namespace, str) else attribute.dialect


def _encoded(attribute: Attribute) -> Attribute | Location:
    """What the encodings know: the location in an attribute, or the attribute."""
    return attribute.location if isinstance(attribute, LocationAttr) else attribute


def _assign_numbers(entries: dict[K, _Entry[K]]) -> None:
    """Numbers the entries: the most used first, and in each range of equally long numbers by dialect."""
    ordered = sorted(entries.values(), key=lambda entry: -entry.count)
    result: list[_Entry[K]] = []
    size, first_dialect, position = 0, 0, 0
    for digits in range(1, 9):
        # As in MLIR, which subtracts only the previous range.
        size = (1 << 7 * digits) - size
        group = ordered[position : position + size]
        position += len(group)

        def place(entry: _Entry[K], first: int = first_dialect) -> tuple[bool, int]:
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


class _Strings:
    """The strings of the file by number."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text.encode("utf-8", "surrogateescape"), len(self._numbers))

    def section(self) -> ByteWriter:
        writer = ByteWriter()
        writer.varint(len(self._numbers))
        for text in reversed(self._numbers):
            writer.varint(len(text) + 1)
        writer.bytes(b"".join([text + b"\0" for text in self._numbers]))
        return writer


class _Entries(ByteWriter):
    """Implements `EntryWriter` with numbers that are assigned."""

    __slots__ = ("numbering", "strings", "version")

    def __init__(self, numbering: _Numbering, strings: _Strings) -> None:
        super().__init__()
        self.numbering = numbering
        self.strings = strings
        self.version = numbering.version

    def attribute(self, attribute: Attribute) -> None:
        self.varint(self.numbering.attributes[attribute].number)

    def optional_attribute(self, attribute: Attribute | None) -> None:
        if attribute is None:
            self.varint(0)
        else:
            self.flagged(self.numbering.attributes[attribute].number, True)

    def type(self, type: Type) -> None:
        self.varint(self.numbering.types[type].number)

    def string(self, text: str) -> None:
        self.varint(self.strings.number(text))

    def resource(self, key: str) -> None:
        self.varint(self.numbering.dialects["builtin"].resources[key])


class _FileWriter:
    def __init__(self, root: Op, resources: Resources, options: BytecodeOptions) -> None:
        self._root = root
        self._resources = resources
        self._options = options
        self._version = options.version
        self._numbering = _Numbering(root, options.version)
        self._strings = _Strings()
        self._properties: dict[bytes, int] = {}
        self._printer = AttributePrinter()

    def file(self) -> bytes:
        writer = ByteWriter()
        writer.bytes(MAGIC)
        writer.varint(self._version)
        writer.bytes(self._options.producer.encode() + b"\0")
        writer.section(DIALECTS, self._dialect_section())
        offsets, values = self._attribute_sections()
        writer.section(ATTRIBUTE_OFFSETS, offsets)
        writer.section(ATTRIBUTES, values)
        ir = self._entries()
        ir.flagged(1, False)
        self._write_op(ir, self._root)
        writer.section(IR, ir)
        offsets, values = self._resource_sections()
        writer.section(RESOURCE_OFFSETS, offsets)
        writer.section(RESOURCES, values)
        writer.section(STRINGS, self._strings.section())
        if self._version >= PROPERTIES:
            writer.section(PROPERTY_VALUES, self._property_section())
        return bytes(writer.data)

    def _entries(self) -> _Entries:
        return _Entries(self._numbering, self._strings)

    # --- Sections ---------------------------------------------------------------------------------

    def _dialect_section(self) -> ByteWriter:
        writer, numbering = ByteWriter(), self._numbering
        writer.varint(len(numbering.dialects))
        for dialect in numbering.dialects.values():
            name = self._strings.number(dialect.name)
            if self._version < DIALECT_VERSIONS:
                writer.varint(name)
                continue
            version = dialect.encodings.written_version if dialect.encodings is not None else ()
            writer.flagged(name, bool(version))
            if version:
                section = ByteWriter()
                for part in version:
                    section.varint(part)
                writer.section(DIALECT_VERSION, section)
        if self._version >= ELIDED_ARGUMENT_LOCATIONS:
            writer.varint(len(numbering.op_names))

        def write_name(entry: _Entry[tuple[str, bool]]) -> None:
            name, is_registered = entry.key
            number = self._strings.number(name.partition(".")[2])
            if self._version < PROPERTIES:
                writer.varint(number)
            else:
                writer.flagged(number, is_registered)

        _write_groups(writer, numbering.op_names.values(), write_name)
        return writer

    def _attribute_sections(self) -> tuple[ByteWriter, ByteWriter]:
        """The section of offsets, and that of the encoded attributes and types."""
        offsets, values, numbering = ByteWriter(), self._entries(), self._numbering
        offsets.varint(len(numbering.attributes))
        offsets.varint(len(numbering.types))

        def write(entry: _Entry[Attribute]) -> None:
            start = len(values.data)
            encoding = entry.encoding
            if encoding is None:
                values.bytes(self._text(entry.key).encode("utf-8", "surrogateescape") + b"\0")
            else:
                values.varint(encoding.code)
                encoding.write(values, _encoded(entry.key))
            offsets.flagged(len(values.data) - start, encoding is not None)

        _write_groups(offsets, numbering.attributes.values(), write)
        _write_groups(offsets, numbering.types.values(), write)
        return offsets, values

    def _text(self, attribute: Attribute) -> str:
        if isinstance(attribute, Type):
            return self._printer.type(attribute)
        return self._printer.attribute(attribute)

    def _resource_sections(self) -> tuple[ByteWriter, ByteWriter]:
        """The section of offsets, and that of the resources."""
        offsets, values = ByteWriter(), ByteWriter()
        external = {name: entries for name, entries in self._resources.external.items() if entries}
        offsets.varint(len(external))
        for name, entries in external.items():
            offsets.varint(self._strings.number(name))
            offsets.varint(len(entries))
            for key, text in entries.items():
                self._write_resource(offsets, values, key, text.strip('"'))
        for dialect in self._numbering.dialects.values():
            if dialect.resources:
                offsets.varint(dialect.number)
                offsets.varint(len(dialect.resources))
                for key in dialect.resources:
                    self._write_resource(offsets, values, key, self._resources.blobs.get(key))
        return offsets, values

    def _write_resource(
        self, offsets: ByteWriter, values: ByteWriter, key: str, value: Blob | str | None
    ) -> None:
        start = len(values.data)
        if value is not None and not self._options.elides_resources:
            if isinstance(value, Blob):
                values.varint(value.alignment)
                values.varint(len(value.data))
                values.align(max(1, value.alignment))
                values.bytes(value.data)
            else:
                values.varint(self._strings.number(value))
        offsets.varint(self._strings.number(key))
        offsets.varint(len(values.data) - start)
        offsets.byte(_STRING_KIND if isinstance(value, str) else _BLOB_KIND)

    def _property_section(self) -> ByteWriter:
        writer = ByteWriter()
        writer.varint(len(self._properties))
        for properties in self._properties:
            writer.bytes(properties)
        return writer

    # --- Operations -------------------------------------------------------------------------------

    def _write_op(self, writer: _Entries, op: Op) -> None:
        numbering, version = self._numbering, self._version
        name = (op.signature.name, not isinstance(op, UnregisteredOp))
        writer.varint(numbering.op_names[name].number)
        mask, mask_at = 0, len(writer.data)
        writer.byte(0)
        writer.attribute(LocationAttr(op.location))
        attributes = attributes_of(op, version)
        if attributes.entries:
            mask |= HAS_ATTRIBUTES
            writer.attribute(attributes)
        if version >= PROPERTIES:
            properties = self._entries()
            if write_op_properties(op, properties):
                mask |= HAS_PROPERTIES
                writer.varint(self._property_number(properties))
        if op.results:
            mask |= HAS_RESULTS
            writer.varint(len(op.results))
            for result in op.results:
                writer.type(result.type)
        operands = op.operands
        if operands:
            mask |= HAS_OPERANDS
            writer.varint(len(operands))
            for value in operands:
                writer.varint(numbering.values[value])
        if op.successors:
            mask |= HAS_SUCCESSORS
            writer.varint(len(op.successors))
            for block in op.successors:
                assert block.parent is not None
                writer.varint(block.parent.blocks.index(block))
        if version >= USE_LIST_ORDERS and self._write_use_orders(writer, op.results):
            mask |= HAS_USE_LIST_ORDERS
        if op.regions:
            mask |= HAS_REGIONS
        writer.data[mask_at] = mask
        if op.regions:
            self._write_regions(writer, op)

    def _property_number(self, properties: _Entries) -> int:
        sized = ByteWriter()
        sized.varint(len(properties.data))
        return self._properties.setdefault(bytes(sized.data) + bytes(properties.data), len(self._properties))

    def _write_regions(self, writer: _Entries, op: Op) -> None:
        is_isolated = op in self._numbering.isolated
        writer.flagged(len(op.regions), is_isolated)
        if not is_isolated or self._version < REGION_SECTIONS:
            for region in op.regions:
                self._write_region(writer, region)
            return
        section = self._entries()
        for region in op.regions:
            self._write_region(section, region)
        writer.section(IR, section)

    def _write_region(self, writer: _Entries, region: Region) -> None:
        writer.varint(len(region.blocks))
        if not region.blocks:
            return
        writer.varint(self._numbering.value_counts[region])
        for block in region.blocks:
            self._write_block(writer, block)

    def _write_block(self, writer: _Entries, block: Block) -> None:
        ops = list(block.ops)
        writer.flagged(len(ops), bool(block.arguments))
        if block.arguments:
            writer.varint(len(block.arguments))
            for argument in block.arguments:
                type_number = self._numbering.types[argument.type].number
                location = argument.location
                if self._version < ELIDED_ARGUMENT_LOCATIONS:
                    writer.varint(type_number)
                    writer.attribute(LocationAttr(location))
                    continue
                has_location = not isinstance(location, UnknownLoc)
                writer.flagged(type_number, has_location)
                if has_location:
                    writer.attribute(LocationAttr(location))
            if self._version >= USE_LIST_ORDERS:
                mask_at = len(writer.data)
                writer.byte(0)
                if self._write_use_orders(writer, block.arguments):
                    writer.data[mask_at] = HAS_USE_LIST_ORDERS
        for op in ops:
            self._write_op(writer, op)

    def _write_use_orders(self, writer: ByteWriter, values: Sequence[Value]) -> bool:
        """Writes the orders of uses that are not that of the program; returns whether there are any."""
        orders = [(index, order) for index, value in enumerate(values) if (order := self._use_order(value))]
        if not orders:
            return False
        if len(values) != 1:
            writer.varint(len(orders))
        for index, order in orders:
            if len(values) != 1:
                writer.varint(index)
            moved = [(position, place) for place, position in enumerate(order) if position != place]
            if len(moved) < len(order) // 2:
                writer.flagged(2 * len(moved), True)
                for pair in moved:
                    writer.varint(pair[0])
                    writer.varint(pair[1])
            else:
                writer.flagged(len(order), False)
                for position in order:
                    writer.varint(position)
        return True

    def _use_order(self, value: Value) -> list[int]:
        """For each use, from the last in the program to the first, its position among the uses of a value.

        Empty if the uses are in that order.
        """
        if not value.has_uses or value.has_one_use:
            return []
        order = self._numbering.order
        uses = [(order[use.owner], use.index) for use in value.uses]
        positions = sorted(range(len(uses)), key=uses.__getitem__, reverse=True)
        return [] if positions == list(range(len(uses))) else positions


def _write_groups(
    writer: ByteWriter, entries: Iterable[_Entry[K]], write: Callable[[_Entry[K]], None]
) -> None:
    """Writes entries in groups of a dialect: its number, the number of entries, and the entries."""
    for dialect, group in _groups(entries):
        writer.varint(dialect.number)
        writer.varint(len(group))
        for entry in group:
            write(entry)


def _groups(entries: Iterable[_Entry[K]]) -> Iterator[tuple[_Dialect, list[_Entry[K]]]]:
    group: list[_Entry[K]] = []
    for entry in entries:
        if group and entry.dialect is not group[0].dialect:
            yield group[0].dialect, group
            group = []
        group.append(entry)
    if group:
        yield group[0].dialect, group
