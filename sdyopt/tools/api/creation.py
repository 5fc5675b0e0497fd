"""Things that edits insert: regions, result types and locations of new operations."""

from __future__ import annotations

from sdyopt.base.diagnostics.location import without_offset
from sdyopt.mlir.ir import rewrite as ir
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.types import Type as IrType
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpResult, Value
from sdyopt.tools.api.attributes import Type

# A type, or its text.
AnyType = Type | str


def directly_after(value: Value) -> ir.InsertionPoint:
    """The insertion point directly after the definition of a value."""
    if isinstance(value, OpResult):
        return {"after": value.op}
    assert isinstance(value, BlockArgument)
    return {"at_start_of": value.block}


def ir_type(type: AnyType) -> IrType:
    return (Type.parse(type) if isinstance(type, str) else type).ir


def location_in(block: Block) -> LazyLocation:
    return UNKNOWN if block.parent_op is None else block.parent_op.lazy_location


def parent_of(point: ir.InsertionPoint) -> Op | None:
    """The operation in which an insertion point is."""
    for op in (point.get("before"), point.get("after")):
        if op is not None:
            return op.parent_op
    block = point.get("at_end_of") or point.get("at_start_of")
    return None if block is None else block.parent_op


def locate(op: Op, location: LazyLocation) -> None:
    """Gives a location to all that has none in the text that was inserted."""
    for inner in op.walk():
        if without_offset(inner.lazy_location) is None:
            inner.location = location
        for region in inner.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if without_offset(argument.lazy_location) is None:
                        argument.location = location
