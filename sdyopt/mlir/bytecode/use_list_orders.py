"""The orders of the uses of values that are not the order of the program, read and written.

An order has a position for each use, from the last in the program to the first. Without one, the uses of a
value are in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.bytecode.stream import ByteReader, ByteWriter
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpOperand, Value


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
