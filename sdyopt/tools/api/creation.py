"""Things that edits insert: regions, result types and locations of new operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.base.diagnostics.location import without_offset
from sdyopt.mlir.ir import rewrite as ir
from sdyopt.mlir.ir.attribute import Attribute, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import complete_attributes, inherent_names
from sdyopt.mlir.ir.op_fields import ResultField
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
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


def region_of(types: Sequence[IrType], location: LazyLocation) -> Region:
    """A region of one block with arguments of these types."""
    region = Region()
    block = region.add_block()
    for type in types:
        block.add_argument(type, location)
    return region


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


def inferred_types(
    op_class: type[Op], operands: Sequence[Value], attributes: Mapping[str, Attribute]
) -> list[IrType]:
    """The result types of an operation. Raises ValueError if they cannot be inferred."""
    types = tuple([value.type for value in operands])
    count = sum(isinstance(field, ResultField) for field in op_class.fields.values())
    if not count:
        return []
    if op_class.infer_result_types is not None and not op_class.declares_regions:
        names = inherent_names(op_class)
        given = dictionary({name: value for name, value in attributes.items() if name in names})
        inherent = complete_attributes(op_class, given)
        signature = OpSignature(op_class, op_class.name, inherent, types, ())
        try:
            return list(op_class.infer_result_types(signature, ()))
        except SignatureError as error:
            raise ValueError(f"the result types of {op_class.name} cannot be inferred: {error}") from None
    if count == 1 and SAME_TYPE in op_class.traits and types:
        return [types[0]]
    raise ValueError(f"the result types of {op_class.name} are not inferred: give result_types")
