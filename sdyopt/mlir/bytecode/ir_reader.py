"""Reads the operations of a bytecode file, with their regions.

Operations of one kind (the same name, attributes, properties and result types) share a template, as equal
statements of a text do. The loop over the operations of a block calls few functions, because a program may
have many.
"""

from __future__ import annotations

from operator import attrgetter

from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.mlir.asm.lexical import PROPERTIES as PROPERTIES_NAME
from sdyopt.mlir.asm.parser.module_parser import MAX_REGION_DEPTH
from sdyopt.mlir.bytecode.attribute_table import AttributeTable, FileDialect
from sdyopt.mlir.bytecode.properties import (
    UseListOrder,
    read_properties,
    read_use_list_orders,
    restore_program_order,
)
from sdyopt.mlir.bytecode.stream import (
    ELIDED_ARGUMENT_LOCATIONS,
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
    HAS_USE_LIST_ORDERS,
    IR,
    PROPERTY_VALUES,
    REGION_SECTIONS,
    SECTIONS,
    USE_LIST_ORDERS,
    ByteReader,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import complete_attributes, inherent_names
from sdyopt.mlir.ir.op_fields import AttrField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, UnregisteredOp, build, build_at_offset
from sdyopt.mlir.ir.types import NONE, Type
from sdyopt.mlir.ir.value import LazyLocation, Value

# The number of bytes of a number, by its first byte.
_SIZES = bytes((first & -first).bit_length() or 9 for first in range(256))
# What an operation has that is not attributes, properties, results and operands.
_LARGE = HAS_SUCCESSORS | HAS_REGIONS | HAS_USE_LIST_ORDERS
_UNKNOWN = UnknownLoc()
_type_of = attrgetter("type")


class OpName:
    """The name of an operation of the file."""

    __slots__ = ("dialect", "is_registered", "name", "op_class")

    def __init__(self, name: str, op_class: type[Op], dialect: FileDialect, is_registered: bool) -> None:
        self.name = name
        self.op_class = op_class
        self.dialect = dialect
        self.is_registered = is_registered


class _Template:
    """The common parts of operations of one kind, and their signatures by the types of the operands.

    `is_large`: whether an operation has more parts than the class `Op` declares.
    """

    __slots__ = (
        *("attributes", "discardable", "is_large", "mutable", "name", "op_class", "result_types"),
        "signatures",
    )

    def __init__(
        self,
        op_name: OpName,
        attributes: DictAttr,
        discardable: DictAttr,
        mutable: dict[str, Attribute],
        result_types: tuple[Type, ...],
    ) -> None:
        self.op_class = op_name.op_class
        self.name = op_name.name
        self.attributes = attributes
        self.discardable = discardable
        self.mutable = mutable
        self.result_types = result_types
        self.is_large = bool(mutable) or op_name.op_class.set_up is not None
        self.signatures: dict[tuple[Type, ...], OpSignature] = {}

    def signature(self, operand_types: tuple[Type, ...]) -> OpSignature:
        """The signature with these types of the operands."""
        signature = self.signatures.get(operand_types)
        if signature is None:
            signature = self.signatures[operand_types] = OpSignature(
                self.op_class, self.name, self.attributes, operand_types, self.result_types
            )
        return signature


class _ForwardReference(Value):
    """Stands for a value that is used before it is read."""

    __slots__ = ()

    def __init__(self) -> None:
        self.type = NONE
        self.first_use = None


class IRReader:
    """Reads the IR section."""

    def __init__(
        self,
        data: bytes,
        table: AttributeTable,
        locations: Source,
        op_names: list[OpName],
        properties: list[tuple[int, int]],
        version: int,
    ) -> None:
        self._data = data
        self._table = table
        self._op_names = op_names
        self._properties = properties
        self._version = version
        # The templates of operations by the bytes of the name and the mask, and those of attributes,
        # properties and types of results.
        self._templates: dict[bytes, dict[bytes, _Template]] = {}
        self._depth = 0
        # The number of operations so far: their order in the walk of the program.
        self._count = 0
        self._locations = locations
        # The values of the enclosing isolated region by number; None if a value is not yet read.
        self._values: list[Value | None] = []
        self._next_value = 0
        # Values that were used before they were read, and the orders of uses that the file states.
        self._used_before: list[Value] = []
        self._patched: dict[Op, None] = {}
        self._use_orders: list[tuple[Value, UseListOrder, int]] = []

    def read_top_level(self, section: ByteReader, block: Block) -> None:
        """Reads all operations of the IR section."""
        start = section.position
        count, has_arguments = section.flagged()
        if has_arguments:
            section.fail("the top-level block has arguments", start)
        self._read_ops(section, block, count)
        section.finish()
        for op in self._patched:
            types = tuple([use.value.type for use in op.operand_uses])
            op.signature = op.signature.with_types(types, op.signature.result_types)
        if self._version >= USE_LIST_ORDERS:
            for value in self._used_before:
                restore_program_order(value)
            for value, order, offset in self._use_orders:
                if not order.apply(value):
                    section.fail("the order of uses is not a permutation", offset)

    # --- Regions and blocks -----------------------------------------------------------------------

    def _read_regions(self, reader: ByteReader, op: Op, is_isolated: bool) -> None:
        if self._depth == MAX_REGION_DEPTH:
            reader.fail(f"regions are nested deeper than {MAX_REGION_DEPTH}")
        self._depth += 1
        outer_values, outer_next = self._values, self._next_value
        if is_isolated:
            self._values, self._next_value = [], 0
        if is_isolated and self._version >= REGION_SECTIONS:
            start = reader.position
            code, section = reader.subsection()
            if code != IR:
                reader.fail(f"expected an IR section, found the {SECTIONS[code]} section", start)
            for region in op.regions:
                self._read_region(section, region)
            section.finish()
        else:
            for region in op.regions:
                self._read_region(reader, region)
        self._values, self._next_value = outer_values, outer_next
        self._depth -= 1

    def _read_region(self, reader: ByteReader, region: Region) -> None:
        block_count = reader.count()
        if not block_count:
            return
        start = reader.position
        value_count = reader.varint()
        # A value takes at least a byte, that of its type.
        if value_count > reader.remaining:
            reader.fail(f"{value_count} values are expected, and {reader.remaining} bytes are left", start)
        values, outer_next = self._values, self._next_value
        first_value = self._next_value = len(values)
        values.extend([None] * value_count)
        for _ in range(block_count):
            region.add_block()
        for block in region.blocks:
            self._read_block(reader, block)
        for number, value in enumerate(values[first_value:], first_value):
            if value is None or type(value) is _ForwardReference:
                reader.fail(f"the value number {number} is not defined")
        del values[first_value:]
        self._next_value = outer_next

    def _read_block(self, reader: ByteReader, block: Block) -> None:
        count, has_arguments = reader.flagged()
        if count > reader.remaining:
            reader.fail(f"{count} operations are expected, and {reader.remaining} bytes are left")
        if has_arguments:
            self._read_arguments(reader, block)
        self._read_ops(reader, block, count)

    def _read_arguments(self, reader: ByteReader, block: Block) -> None:
        may_elide = self._version >= ELIDED_ARGUMENT_LOCATIONS
        type_at, values, next_value = self._table.type, self._values, self._next_value
        for _ in range(reader.count()):
            location: LazyLocation = _UNKNOWN
            number, has_location = reader.varint(), True
            if may_elide:
                number, has_location = number >> 1, bool(number & 1)
            type = type_at(number, reader)
            if has_location:
                location = (self._locations, reader.varint())
            argument = block.add_argument(type, location)
            if next_value < len(values) and values[next_value] is None:
                values[next_value] = argument
                next_value += 1
                continue
            self._next_value = next_value
            self._define(argument, reader)
            next_value = self._next_value
        self._next_value = next_value
        if self._version >= USE_LIST_ORDERS and reader.byte() & HAS_USE_LIST_ORDERS:
            start = reader.position
            for index, order in read_use_list_orders(reader, len(block.arguments)):
                self._use_orders.append((block.arguments[index], order, start))

    def _define(self, value: Value, reader: ByteReader) -> None:
        """Gives the next number to a value."""
        number, values = self._next_value, self._values
        if number >= len(values):
            reader.fail("there are more values than the region states")
        forward = values[number]
        values[number] = value
        self._next_value = number + 1
        if forward is not None:
            self._resolve(forward, value)

    def _resolve(self, forward: Value, value: Value) -> None:
        """Makes the uses of a forward reference uses of the value."""
        for use in reversed(list(forward.uses)):
            use.unlink()
            use.link(value)
            self._patched[use.owner] = None
        self._used_before.append(value)

    # --- Operations -------------------------------------------------------------------------------

    def _read_ops(self, reader: ByteReader, block: Block, count: int) -> None:
        """Reads `count` operations and appends them to a block.

        Numbers of up to three bytes are decoded here, without a call. What operations of one kind have in
        common is not decoded, but looked up by its bytes.
        """
        data, position, end, sizes = self._data, reader.position, reader.end, _SIZES
        kinds_of, values, locations = self._templates, self._values, self._locations
        value_count, next_value, order = len(values), self._next_value, self._count
        block.is_ordered = False
        try:
            for _ in range(count):
                start = position
                mask_at = position + sizes[data[position]]
                mask = data[mask_at]
                # The location.
                position = mask_at + 1
                location = data[position]
                if location & 1:
                    location >>= 1
                    position += 1
                elif location & 2:
                    location = (location | data[position + 1] << 8) >> 2
                    position += 2
                elif location & 4:
                    location = (location | data[position + 1] << 8 | data[position + 2] << 16) >> 3
                    position += 3
                else:
                    reader.position = position
                    location = reader.varint()
                    position = reader.position
                # The attributes, properties and types of results.
                common = position
                if mask & HAS_ATTRIBUTES:
                    position += sizes[data[position]]
                if mask & HAS_PROPERTIES:
                    position += sizes[data[position]]
                if mask & HAS_RESULTS:
                    if data[position] == 3:  # one result, as of most operations
                        position += 1
                        position += sizes[data[position]]
                    else:
                        reader.position = position
                        for _ in range(reader.count()):
                            reader.varint()
                        position = reader.position
                kind = data[start : mask_at + 1]
                templates = kinds_of.get(kind)
                if templates is None:
                    templates = kinds_of[kind] = {}
                template = templates.get(data[common:position])
                if template is None:
                    template = templates[data[common:position]] = self._template(start, mask, common, reader)
                operands: list[Value] = []
                if mask & HAS_OPERANDS:
                    number = data[position]
                    if number & 1:
                        number >>= 1
                        position += 1
                    else:
                        reader.position = position
                        number = reader.count()
                        position = reader.position
                    for _ in range(number):
                        number = data[position]
                        if number & 1:
                            number >>= 1
                            position += 1
                        elif number & 2:
                            number = (number | data[position + 1] << 8) >> 2
                            position += 2
                        elif number & 4:
                            number = (number | data[position + 1] << 8 | data[position + 2] << 16) >> 3
                            position += 3
                        else:
                            reader.position = position
                            number = reader.varint()
                            position = reader.position
                        value = values[number] if number < value_count else None
                        if value is None:
                            reader.position = position
                            value = self._forward_reference(number, reader)
                        operands.append(value)
                if position > end:
                    reader.fail("unexpected end", end)
                types = tuple(map(_type_of, operands))
                signature = template.signatures.get(types) or template.signature(types)
                if template.is_large or mask & _LARGE:
                    reader.position, self._next_value, self._count = position, next_value, order + 1
                    self._read_large_op(reader, block, template, signature, operands, mask, location, order)
                    position, next_value, order = reader.position, self._next_value, self._count
                    continue
                op = build_at_offset(signature, operands, template.discardable, locations, location, block)
                op.order = order
                order += 1
                results = op.results
                if len(results) == 1 and next_value < value_count and values[next_value] is None:
                    values[next_value] = results[0]
                    next_value += 1
                elif results:
                    reader.position, self._next_value = position, next_value
                    for result in results:
                        self._define(result, reader)
                    next_value = self._next_value
        except IndexError:
            reader.fail("unexpected end", len(data))
        reader.position, self._next_value, self._count = position, next_value, order
        block.is_ordered = True

    def _read_large_op(
        self,
        reader: ByteReader,
        block: Block,
        template: _Template,
        signature: OpSignature,
        operands: list[Value],
        mask: int,
        location: int,
        order: int,
    ) -> None:
        """Reads the rest of an operation that has more than attributes, results and operands."""
        successors: list[Block] = []
        if mask & HAS_SUCCESSORS:
            start = reader.position
            region = block.parent
            blocks = region.blocks if region is not None else []
            for _ in range(reader.count()):
                number = reader.varint()
                if number >= len(blocks):
                    reader.fail(f"there is no block with the number {number}", start)
                successors.append(blocks[number])
        orders_at = reader.position
        result_count = len(signature.result_types)
        orders = list(read_use_list_orders(reader, result_count)) if mask & HAS_USE_LIST_ORDERS else []
        regions: tuple[Region, ...] = ()
        is_isolated = False
        if mask & HAS_REGIONS:
            start = reader.position
            count, is_isolated = reader.flagged()
            if count > reader.remaining:
                reader.fail(f"{count} regions are expected, and {reader.remaining} bytes are left", start)
            regions = tuple([Region() for _ in range(count)])
        op = build(
            signature, operands, template.discardable, (self._locations, location), regions, successors
        )
        op.order = order
        block.append(op)
        for name, value in template.mutable.items():
            op.set_mutable_attribute(name, value)
        for result in op.results:
            self._define(result, reader)
        for index, order_of_uses in orders:
            self._use_orders.append((op.results[index], order_of_uses, orders_at))
        if regions:
            self._read_regions(reader, op, is_isolated)

    def _forward_reference(self, number: int, reader: ByteReader) -> Value:
        if number >= len(self._values):
            reader.fail(f"there is no value with the number {number}")
        value = self._values[number] = _ForwardReference()
        return value

    def _template(self, start: int, mask: int, common: int, reader: ByteReader) -> _Template:
        """The template of the operation that starts at `start`, whose attributes start at `common`."""
        op_name = self._op_name(start, reader)
        reader.position = common
        attributes: dict[str, Attribute] = {}
        if mask & HAS_ATTRIBUTES:
            decoded = self._table.attribute(reader.varint(), reader)
            if not isinstance(decoded, DictAttr):
                reader.fail(f"expected a dictionary, found {type(decoded).__name__}", common)
            attributes.update(decoded.entries)
        properties: dict[str, Attribute] = {}
        if mask & HAS_PROPERTIES:
            properties = self._properties_of(op_name, reader.varint(), reader)
        op_class = op_name.op_class
        inherent = inherent_names(op_class) | {PROPERTIES_NAME}
        for name in inherent & attributes.keys():
            properties.setdefault(name, attributes.pop(name))
        for name in properties.keys() - inherent:
            # Those of another release than the one that is followed.
            attributes.setdefault(name, properties.pop(name))
        self._check_storage(op_class, properties, reader)
        mutable = {name: properties.pop(name) for name in op_class.mutable_attributes if name in properties}
        types: tuple[Type, ...] = ()
        if mask & HAS_RESULTS:
            types = tuple([self._table.type(reader.varint(), reader) for _ in range(reader.count())])
        inherent_attributes = complete_attributes(op_class, dictionary(properties))
        return _Template(op_name, inherent_attributes, dictionary(attributes), mutable, types)

    def _op_name(self, start: int, reader: ByteReader) -> OpName:
        reader.position = start
        number = reader.varint()
        if number >= len(self._op_names):
            reader.fail(f"there is no operation name with the number {number}", start)
        return self._op_names[number]

    def _properties_of(self, op_name: OpName, number: int, reader: ByteReader) -> dict[str, Attribute]:
        if number >= len(self._properties):
            reader.fail(f"there are no properties with the number {number}")
        start, end = self._properties[number]
        entry = self._table.entry_reader(start, end, PROPERTY_VALUES, op_name.dialect)
        if not op_name.is_registered:
            return {PROPERTIES_NAME: entry.attribute()}
        if op_name.op_class is UnregisteredOp:
            reader.fail(f"'{op_name.name}' has properties, whose encoding is not known")
        return read_properties(op_name.op_class, entry)

    def _check_storage(
        self, op_class: type[Op], properties: dict[str, Attribute], reader: ByteReader
    ) -> None:
        """Fails if the class of an inherent attribute is not that of its declaration."""
        for field in op_class.fields.values():
            if isinstance(field, AttrField):
                value = properties.get(field.name)
                if value is not None and not field.constraint.has_storage_class(value):
                    reader.fail(f"'{op_class.name}' has an attribute '{field.name}' of another class")
