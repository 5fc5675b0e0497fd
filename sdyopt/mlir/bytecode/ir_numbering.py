"""Numbers what the bytecode of a program refers to: dialects, attributes, types, names, values, resources.

The numbers are those of MLIR: attributes, types and names of operations that are used most have the smallest
numbers, and those of a dialect follow each other.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from sdyopt.base.diagnostics.location import Location
from sdyopt.mlir.asm.lexical import PROPERTIES as PROPERTIES_NAME
from sdyopt.mlir.bytecode.attribute_table import encodings_of
from sdyopt.mlir.bytecode.encodings import DialectEncodings, Encoding, EntryWriter
from sdyopt.mlir.bytecode.properties import layouts_of, write_properties
from sdyopt.mlir.bytecode.stream import PROPERTIES
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, LocationAttr, Type, dictionary, nested_attributes
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseResource
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.value import Value

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
