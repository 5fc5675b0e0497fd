"""Writes a program as bytecode, resources included, after `ir_numbering` has numbered what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.asm.resources import Blob, Resources
from sdyopt.mlir.bytecode.attribute_table import (
    IRNumbering,
    NumberedDialect,
    NumberedEntry,
    attributes_of,
    encoded_part,
    write_op_properties,
)
from sdyopt.mlir.bytecode.properties import write_use_list_orders
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
from sdyopt.mlir.dialects.vhlo.to_vhlo import checked_version, convert_to_version, legalize_to_vhlo
from sdyopt.mlir.dialects.vhlo.types import bytecode_version
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr, Type
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op, UnregisteredOp

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

    def __init__(self, numbering: IRNumbering, strings: _Strings) -> None:
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
        self._numbering = IRNumbering(root, options.version)
        self._strings = _Strings()
        self._properties: dict[bytes, int] = {}
        self._printer = AttributePrinter()

    def file(self) -> bytes:
        writer = ByteWriter()
        writer.bytes(MAGIC)
        writer.varint(self._version)
        writer.bytes(self._options.producer.encode("utf-8", "surrogateescape") + b"\0")
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

        def write_name(entry: NumberedEntry[tuple[str, bool]]) -> None:
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

        def write(entry: NumberedEntry[Attribute]) -> None:
            start = len(values.data)
            encoding = entry.encoding
            if encoding is None:
                values.bytes(self._text(entry.key).encode("utf-8", "surrogateescape") + b"\0")
            else:
                values.varint(encoding.code)
                encoding.write(values, encoded_part(entry.key))
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
                writer.varint(numbering.blocks[block])
        if version >= USE_LIST_ORDERS and write_use_list_orders(writer, op.results, numbering.order):
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
                if write_use_list_orders(writer, block.arguments, self._numbering.order):
                    writer.data[mask_at] = HAS_USE_LIST_ORDERS
        for op in ops:
            self._write_op(writer, op)


def _write_groups(
    writer: ByteWriter, entries: Iterable[NumberedEntry[K]], write: Callable[[NumberedEntry[K]], None]
) -> None:
    """Writes entries in groups of a dialect: its number, the number of entries, and the entries."""
    for dialect, group in _groups(entries):
        writer.varint(dialect.number)
        writer.varint(len(group))
        for entry in group:
            write(entry)


def _groups(entries: Iterable[NumberedEntry[K]]) -> Iterator[tuple[NumberedDialect, list[NumberedEntry[K]]]]:
    group: list[NumberedEntry[K]] = []
    for entry in entries:
        if group and entry.dialect is not group[0].dialect:
            yield group[0].dialect, group
            group = []
        group.append(entry)
    if group:
        yield group[0].dialect, group
