"""Copies of operations and blocks, with their regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.value import OpOperand, Value


def clone(op: Op, values: dict[Value, Value], blocks: dict[Block, Block]) -> Op:
    """A copy of an operation, in no block, with its regions.

    Operands and successors are replaced as `values` and `blocks` say. Both get what is copied, with its copy.
    """
    unmapped: list[OpOperand] = []
    copy = _clone(op, values, blocks, unmapped)
    _map(unmapped, values)
    return copy


def clone_blocks(
    source: Region, target: Region, values: dict[Value, Value], blocks: dict[Block, Block]
) -> None:
    """Copies the blocks of a region to the end of another one. Arguments that `values` has are left out."""
    unmapped: list[OpOperand] = []
    _clone_blocks(source, target, values, blocks, unmapped)
    _map(unmapped, values)


def _clone(op: Op, values: dict[Value, Value], blocks: dict[Block, Block], unmapped: list[OpOperand]) -> Op:
    """As `clone`. Adds the uses of values that are not copied, or copied later, to `unmapped`."""
    regions = tuple([Region() for _ in op.regions]) if op.regions else ()
    successors = tuple([blocks.get(block, block) for block in op.successors]) if op.successors else ()
    operands = [values.get(use.value, use.value) for use in op._operands]
    copy = build(op.signature, operands, op.attributes, op.lazy_location, regions, successors)
    for use, original in zip(copy._operands, op._operands, strict=True):
        if use.value is original.value:
            unmapped.append(use)
    for name in op.mutable_attributes:
        copy.set_mutable_attribute(name, op.mutable_attribute(name))
    values.update(zip(op.results, copy.results, strict=True))
    for region, new_region in zip(op.regions, regions, strict=True):
        _clone_blocks(region, new_region, values, blocks, unmapped)
    return copy


def _clone_blocks(
    source: Region,
    target: Region,
    values: dict[Value, Value],
    blocks: dict[Block, Block],
    unmapped: list[OpOperand],
) -> None:
    for block in source.blocks:
        blocks[block] = target.add_block()
        for argument in block.arguments:
            if argument not in values:
                values[argument] = blocks[block].add_argument(argument.type, argument.lazy_location)
    for block in source.blocks:
        for child in block.ops:
            blocks[block].append(_clone(child, values, blocks, unmapped))


def _map(uses: Iterable[OpOperand], values: Mapping[Value, Value]) -> None:
    """Replaces used values that were copied after their uses, as in graph regions."""
    for use in uses:
        copy = values.get(use.value, use.value)
        if copy is not use.value:
            use.unlink()
            use.link(copy)
