"""Reads the sections of a bytecode file, and builds its program."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Location, Source, quoted
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.resources import Blob, Resources
from sdyopt.mlir.bytecode.attribute_table import AttributeTable, FileDialect, unknown_dialect_help
from sdyopt.mlir.bytecode.ir_reader import IRReader, OpName
from sdyopt.mlir.bytecode.stream import (
    ATTRIBUTE_OFFSETS,
    ATTRIBUTES,
    DIALECT_VERSION,
    DIALECT_VERSIONS,
    DIALECTS,
    ELIDED_ARGUMENT_LOCATIONS,
    IR,
    MAGIC,
    NEWEST_VERSION,
    PROPERTIES,
    PROPERTY_VALUES,
    RESOURCE_OFFSETS,
    RESOURCES,
    SECTIONS,
    STRINGS,
    ByteReader,
    MalformedBytecode,
)
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import NO_ATTRIBUTES, Op, UnregisteredOp, build

_HEADER = "header"


def read_bytecode(
    name: str, data: bytes, dialects: DialectTable, options: ParseOptions
) -> tuple[Op, Resources]:
    """The module of a bytecode file, and its resources. Nothing is verified. Raises DiagnosticError."""
    try:
        reader = _FileReader(name, data, dialects, options)
        return reader.program(), reader.resources
    except MalformedBytecode as error:
        raise located(error, name) from None


def located(error: MalformedBytecode, name: str) -> DiagnosticError:
    """The error in the file of this name, with the section and the offset."""
    problem = DiagnosticError.at(FileLoc(name, 0, 0), f"invalid bytecode: {error.problem}")
    problem.help(error.help or "the file may be cut off, or changed as text; write it again, or as text")
    return problem.note(f"at byte {error.offset} of the file, in the {error.section} section")


class _Locations(Source):
    """The locations of a file by number, decoded when they are first read, as those in texts are."""

    def __init__(self, name: str, table: AttributeTable, section: ByteReader) -> None:
        super().__init__(name, "")
        self._table = table
        self._end = ByteReader(section.data, section.end, section.end, section.section)

    def location(self, offset: int) -> Location:  # type: ignore[override]  # that of a text is in a file
        """The location of this number; raises DiagnosticError if it is none."""
        try:
            return self._table.location(offset, self._end)
        except MalformedBytecode as error:
            raise located(error, self.name) from None


class _FileReader:
    def __init__(self, name: str, data: bytes, dialects: DialectTable, options: ParseOptions) -> None:
        self._name = name
        self._data = data
        self._dialects = dialects
        self._options = options
        self.resources = Resources()
        header = ByteReader(data, 0, len(data), _HEADER)
        if not data.startswith(MAGIC):
            header.fail("the file does not start with the magic number of bytecode")
        header.take(len(MAGIC))
        self._version = header.varint()
        if self._version > NEWEST_VERSION:
            header.fail(
                f"the file has version {self._version} of the format; the newest that is read is "
                f"{NEWEST_VERSION}"
            )
        header.text()  # who wrote the file
        self._sections = self._read_sections(header)
        self._table = AttributeTable(data, self._version, dialects, options.allow_unregistered_dialects)
        self._table.strings = self._read_strings()
        self._file_dialects: list[FileDialect] = []
        self._op_names: list[OpName] = []
        self._read_dialects()
        self._table.read(self._section(ATTRIBUTE_OFFSETS), self._section(ATTRIBUTES), self._file_dialects)
        self._read_resources()
        self._properties = self._read_properties()

    # --- Sections ---------------------------------------------------------------------------------

    def _read_sections(self, header: ByteReader) -> dict[int, ByteReader]:
        sections: dict[int, ByteReader] = {}
        while header.remaining:
            start = header.position
            code, section = header.subsection()
            if code in sections:
                header.fail(f"a second {SECTIONS[code]} section", start)
            sections[code] = section
        return sections

    def _section(self, code: int) -> ByteReader:
        section = self._sections.get(code)
        if section is None:
            raise MalformedBytecode(f"there is no {SECTIONS[code]} section", _HEADER, len(self._data))
        return section

    def _read_strings(self) -> list[str]:
        reader = self._section(STRINGS)
        lengths = [reader.varint() for _ in range(reader.count())]
        strings, position = [], reader.position
        for length in reversed(lengths):
            end = position + length
            if not length or end > reader.end or self._data[end - 1]:
                reader.fail("a string that no NUL byte ends within the section", position)
            strings.append(self._data[position : end - 1].decode("utf-8", "surrogateescape"))
            position = end
        reader.position = position
        reader.finish()
        return strings

    def _read_dialects(self) -> None:
        reader, table, version = self._section(DIALECTS), self._table, self._version
        for _ in range(reader.count()):
            dialect_version: tuple[int, ...] = ()
            if version < DIALECT_VERSIONS:
                name = reader.varint()
            else:
                name, has_version = reader.flagged()
                if has_version:
                    dialect_version = self._dialect_version(reader)
            self._file_dialects.append(FileDialect(table.string(name, reader), dialect_version))
        if version >= ELIDED_ARGUMENT_LOCATIONS:
            reader.varint()  # the number of names, which are read up to the end
        while reader.remaining:
            dialect = self._dialect(reader)
            for _ in range(reader.count()):
                self._op_names.append(self._op_name(dialect, reader))

    def _dialect_version(self, reader: ByteReader) -> tuple[int, ...]:
        start = reader.position
        code, section = reader.subsection()
        if code != DIALECT_VERSION:
            reader.fail(f"expected a dialect version section, found the {SECTIONS[code]} section", start)
        numbers = []
        while section.remaining:
            numbers.append(section.varint())
        return tuple(numbers)

    def _dialect(self, reader: ByteReader) -> FileDialect:
        number = reader.varint()
        if number >= len(self._file_dialects):
            reader.fail(f"there is no dialect with the number {number}")
        return self._file_dialects[number]

    def _op_name(self, dialect: FileDialect, reader: ByteReader) -> OpName:
        is_registered = True
        if self._version < PROPERTIES:
            number = reader.varint()
        else:
            number, is_registered = reader.flagged()
        name = f"{dialect.name}.{self._table.string(number, reader)}"
        op_class = self._dialects.op_class(name)
        is_allowed = self._options.allow_unregistered_dialects or self._dialects.has_all_of(dialect.name)
        if op_class is None and not is_allowed:
            help = unknown_dialect_help(dialect.name, self._dialects) or (
                f"load the plugin that adds it to '{dialect.name}' with --load-plugin=FILE.py"
            )
            problem = f"the operation '{name}' is not registered; -allow-unregistered-dialect reads it"
            reader.fail(problem, help=help)
        return OpName(name, op_class or UnregisteredOp, dialect, is_registered)

    def _read_resources(self) -> None:
        offsets = self._sections.get(RESOURCE_OFFSETS)
        if offsets is None:
            return
        values, table = self._section(RESOURCES), self._table
        for _ in range(offsets.varint()):
            group = table.string(offsets.varint(), offsets)
            entries = self.resources.external.setdefault(group, {})
            for key, value in self._resource_group(offsets, values):
                if isinstance(value, Blob):
                    entries[key] = f'"{value.text}"'
                elif value is not None:
                    entries[key] = value
        while offsets.remaining:
            dialect = self._dialect(offsets)
            for key, value in self._resource_group(offsets, values):
                table.resource_keys.append(key)
                if isinstance(value, Blob) and dialect.name == "builtin":
                    self.resources.blobs[key] = value

    def _resource_group(
        self, offsets: ByteReader, values: ByteReader
    ) -> Iterator[tuple[str, Blob | str | None]]:
        for _ in range(offsets.count()):
            key = self._table.string(offsets.varint(), offsets)
            start = offsets.position
            size, kind = offsets.varint(), offsets.byte()
            if size > values.remaining:
                offsets.fail("a resource ends after its section", start)
            reader = ByteReader(self._data, values.position, values.position + size, values.section)
            values.position += size
            yield key, self._resource(kind, reader, start) if size else None

    def _resource(self, kind: int, reader: ByteReader, start: int) -> Blob | str:
        if kind == 0:
            alignment, size = reader.varint(), reader.varint()
            reader.align(alignment)
            return Blob(alignment, reader.take(size))
        if kind == 1:
            return "true" if reader.byte() else "false"
        if kind == 2:
            return quoted(self._table.string(reader.varint(), reader))
        raise MalformedBytecode(f"there is no kind {kind} of resources", SECTIONS[RESOURCE_OFFSETS], start)

    def _read_properties(self) -> list[tuple[int, int]]:
        """The ranges of the encoded properties in the file."""
        reader = self._sections.get(PROPERTY_VALUES)
        if reader is None:
            return []
        ranges = []
        for _ in range(reader.count()):
            size = reader.varint()
            start = reader.position
            reader.take(size)
            ranges.append((start, start + size))
        reader.finish()
        return ranges

    # --- The program ------------------------------------------------------------------------------

    def program(self) -> Op:
        """The top-level operation; a module around the operations unless they are a single one."""
        section = self._section(IR)
        block = Block()
        regions = IRReader(
            section.data,
            self._table,
            _Locations(self._name, self._table, section),
            self._op_names,
            self._properties,
            self._version,
        )
        regions.read_top_level(section, block)
        first = block.first
        if first is None or first is not block.last or first.signature.name != "builtin.module":
            if first is not None and first is block.last and not self._options.implicit_module:
                block.detach(first)
                return first
            return self._module_around(block, section)
        block.detach(first)
        return first

    def _module_around(self, block: Block, section: ByteReader) -> Op:
        if not self._options.implicit_module:
            section.fail("the file has not exactly one top-level operation")
        module_class = self._dialects.op_class("builtin.module")
        assert module_class is not None
        region = Region()
        region.add_block(block)
        signature = OpSignature(module_class, module_class.name, NO_ATTRIBUTES, (), ())
        return build(signature, (), regions=(region,))
