"""How bytecode encodes the inherent attributes of an operation, and the orders of the uses of values.

Inherent attributes are encoded as properties in the order of their names, each as a reference to an
attribute, and followed by segment sizes. Releases of StableHLO before properties encoded them with the
discardable attributes.

An order of uses, which is written if it is not that of the program, has a position for each use, from the
last in the program to the first. Without one, the uses of a value are in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior, cached_by_release
from sdyopt.mlir.bytecode.encodings import EntryReader, EntryWriter
from sdyopt.mlir.bytecode.stream import SEGMENT_SIZES, ByteReader, ByteWriter, MalformedBytecode
from sdyopt.mlir.ir.attribute import UNIT, Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import (
    OPERAND_SEGMENTS,
    RESULT_SEGMENTS,
    AttrField,
    Field,
    OperandField,
    ResultField,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS, AttrConstraint
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.ir.value import OpOperand, Value

# The optional attributes of operations that earlier releases do not have, the newest first.
_LATER = {
    "sdy.all_reduce": ("reduction_op",),
    "sdy.reduce_scatter": ("reduction_op",),
}

# Those that only releases before jaxlib 0.10.2 do not have, which are read, but not followed.
_LATER_THAN_LLVM_21 = {
    **dict.fromkeys(("arith.addf", "arith.subf", "arith.mulf", "math.fma"), ("roundingmode",)),
    **{f"arith.{name}": ("nonNeg",) for name in ("extui", "index_castui", "uitofp")},
    "func.func": ("no_inline",),
    "func.call": ("arg_attrs", "res_attrs", "no_inline"),
    "cf.cond_br": ("branch_weights",),
}


class Property(NamedTuple):
    """An inherent attribute of a class of operations, or (`segments`) the sizes of as many segments."""

    name: str
    is_optional: bool
    constraint: AttrConstraint[Any] | None = None
    segments: int = 0


Layout = tuple[Property, ...]


def layouts_of(op_class: type[Op]) -> Sequence[Layout]:
    """The properties of a class in the order of their encoding, as each release has them, newest first."""
    layouts = _layouts.get(op_class)
    if layouts is None:
        layouts = _layouts[op_class] = list(dict.fromkeys(_declared_layouts(op_class)))
    return layouts


_layouts: dict[type[Op], Sequence[Layout]] = {}


def _declared_layouts(op_class: type[Op]) -> Iterator[Layout]:
    declared = op_class.fields_of_all_releases
    behaviors = dict.fromkeys(field.behavior for field in declared.values() if field.behavior is not None)
    for active in product((True, False), repeat=len(behaviors)):
        is_active = dict(zip(behaviors, active, strict=True))
        fields = [
            field if field.behavior is None or is_active[field.behavior] else field.before
            for field in declared.values()
        ]
        layout = _layout(op_class, [field for field in fields if field is not None])
        yield layout
        for later in _later(op_class):
            layout = tuple(entry for entry in layout if entry.name != later)
            yield layout


def _later(op_class: type[Op]) -> tuple[str, ...]:
    return _LATER.get(op_class.name, ()) + _LATER_THAN_LLVM_21.get(op_class.name, ())


@cached_by_release()
def _followed_layout(op_class: type[Op], version: int) -> Layout:
    """The properties in a version of the format, as the followed release of Shardy has them."""
    fields = list(op_class.fields.values())
    layout = _layout(op_class, fields)
    if not Behavior.REDUCTION_KINDS.active:
        layout = tuple(entry for entry in layout if entry.name not in _LATER.get(op_class.name, ()))
    return _in_version(layout, version)


def _in_version(layout: Layout, version: int) -> Layout:
    """The properties in a version of the format, in the first of which segment sizes are like others."""
    return layout if version >= SEGMENT_SIZES else tuple(sorted(layout, key=_name))


def _layout(op_class: type[Op], fields: Sequence[Field]) -> Layout:
    properties = [
        Property(field.name, field.is_optional or field.default is not None, field.constraint)
        for field in fields
        if isinstance(field, AttrField)
    ]
    properties.sort(key=_name)
    if ATTR_SIZED_OPERANDS in op_class.traits:
        count = sum(isinstance(field, OperandField) for field in fields)
        properties.append(Property(OPERAND_SEGMENTS, is_optional=False, segments=count))
    if ATTR_SIZED_RESULTS in op_class.traits:
        count = sum(isinstance(field, ResultField) for field in fields)
        properties.append(Property(RESULT_SEGMENTS, is_optional=False, segments=count))
    return tuple(properties)


def _name(entry: Property) -> str:
    return entry.name


def read_properties(op_class: type[Op], reader: EntryReader) -> dict[str, Attribute]:
    """The inherent attributes that properties encode.

    The encoding does not state which release wrote it: it is the first for which all bytes are read, and each
    attribute is of the declared class.
    """
    start, problem = reader.position, None
    for layout in layouts_of(op_class):
        reader.position = start
        try:
            return _read_layout(layout, reader)
        except MalformedBytecode as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _read_layout(layout: Layout, reader: EntryReader) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for entry in _in_version(layout, reader.version):
        start = reader.position
        if entry.segments and reader.version >= SEGMENT_SIZES:
            attributes[entry.name] = DenseArray(I32, _read_sparse(reader, entry.segments))
            continue
        value = reader.optional_attribute() if entry.is_optional else reader.attribute()
        if value is None:
            continue
        if entry.constraint is not None and not entry.constraint.has_storage_class(value):
            reader.fail(f"the attribute '{entry.name}' is of another class", start)
        attributes[entry.name] = value
    reader.finish()
    return attributes


def write_properties(op_class: type[Op], attributes: DictAttr, writer: EntryWriter) -> None:
    """Writes inherent attributes as properties."""
    for entry in _followed_layout(op_class, writer.version):
        value = attributes.get(entry.name)
        if entry.segments and writer.version >= SEGMENT_SIZES:
            _write_sparse(writer, value.values if isinstance(value, DenseArray) else (0,) * entry.segments)
        elif entry.is_optional:
            writer.optional_attribute(value)
        else:
            writer.attribute(UNIT if value is None else value)


def _read_sparse(reader: EntryReader, count: int) -> tuple[int, ...]:
    """Numbers, most of which may be zero: then only the others are encoded, each with its index."""
    start = reader.position
    size, is_sparse = reader.flagged()
    if not size:
        return (0,) * count
    if not is_sparse:
        if size > count:
            reader.fail(f"{size} sizes of segments are encoded, for {count} segments", start)
        values = [reader.varint() for _ in range(size)]
        return tuple(values + [0] * (count - size))
    bits = reader.varint()
    if bits > 8:
        reader.fail(f"an index of {bits} bits in a list of segment sizes", start)
    sizes = [0] * count
    for _ in range(size):
        value = reader.varint()
        index = value & ((1 << bits) - 1)
        if index >= count:
            reader.fail(f"the index {index} is not less than the number of segments, {count}", start)
        sizes[index] = value >> bits
    return tuple(sizes)


def _write_sparse(writer: EntryWriter, values: Sequence[int]) -> None:
    nonzero = [(index, value) for index, value in enumerate(values) if value]
    last = nonzero[-1][0] if nonzero else 0
    # As in MLIR, all are written unless few are nonzero.
    if last > 256 or len(nonzero) > len(values) // 2:
        writer.varint(len(values) << 1)
        for value in values:
            writer.varint(value)
        return
    writer.varint(len(nonzero) << 1 | 1)
    if not nonzero:
        return
    bits = last.bit_length()
    writer.varint(bits)
    for index, value in nonzero:
        writer.varint(value << bits | index)


class UseListOrder(NamedTuple):
    """The positions of all uses, or pairs of a use and the position to which it moves."""

    positions: list[int]
    is_in_pairs: bool

    def apply(self, value: Value) -> bool:
        """Brings the uses of a value into this order; returns whether it is a permutation of them."""
        uses, order = list(value.uses), self.positions
        if self.is_in_pairs:
            moved = dict(zip(order[::2], order[1::2], strict=False))
            order = [moved.get(position, position) for position in range(len(uses))]
        if len(order) != len(uses) or sorted(order) != list(range(len(uses))):
            return False
        ordered: list[OpOperand] = list(uses)
        for use, position in zip(uses, order, strict=True):
            ordered[position] = use
        _relink(ordered, value)
        return True


def read_use_list_orders(reader: ByteReader, count: int) -> Iterator[tuple[int, UseListOrder]]:
    """The orders of some of `count` values, by the index of the value."""
    entries = 1 if count == 1 else reader.count()
    for _ in range(entries):
        start = reader.position
        index = 0 if count == 1 else reader.varint()
        if index >= count:
            reader.fail(f"there is no value with the index {index}", start)
        size, is_in_pairs = reader.flagged()
        if size > reader.remaining:
            reader.fail(f"{size} positions are expected, and {reader.remaining} bytes are left", start)
        yield index, UseListOrder([reader.varint() for _ in range(size)], is_in_pairs)


def write_use_list_orders(writer: ByteWriter, values: Sequence[Value], numbers: Mapping[Op, int]) -> bool:
    """Writes the orders that are not that of the program; returns whether there are any.

    `numbers` are those of operations in the program.
    """
    numbered = ((index, _use_list_order(value, numbers)) for index, value in enumerate(values))
    orders = [(index, order) for index, order in numbered if order]
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


def _use_list_order(value: Value, numbers: Mapping[Op, int]) -> list[int]:
    """For each use, from the last in the program to the first, its position among the uses of a value.

    Empty if the uses are in that order.
    """
    if not value.has_uses or value.has_one_use:
        return []
    uses = [(numbers[use.owner], use.index) for use in value.uses]
    positions = sorted(range(len(uses)), key=uses.__getitem__, reverse=True)
    return [] if positions == list(range(len(uses))) else positions


def restore_program_order(value: Value) -> None:
    """Orders the uses from the last in the program to the first."""
    _relink(sorted(value.uses, key=_position_of_use, reverse=True), value)


def _position_of_use(use: OpOperand) -> tuple[int, int]:
    return use.owner.order, use.index


def _relink(uses: list[OpOperand], value: Value) -> None:
    """Makes these the uses of a value, in this order."""
    value.first_use = None
    for use in reversed(uses):
        use.link(value)
