"""The static forms of dynamic operations whose operands are constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sdyopt.mlir.dialects.stablehlo.concatenate_pad import DynamicPadOp, PadOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp, GatherOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, RealDynamicSliceOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import Value

from .refinement import static_slice_sizes
from .replacement import inherent, new_value

# The class, the operands and the inherent attributes of the operation that takes the place of another one.
StaticForm = tuple[type[Op], Sequence[Value], dict[str, Attribute | None]]


def integers(values: Iterable[int]) -> Attribute:
    """The attribute `array<i64: values>`."""
    return dense_array(I64, values)


def gather_form(op: Op) -> StaticForm | None:
    """A gather with constant slice sizes; None if they are not constant."""
    assert isinstance(op, DynamicGatherOp)
    sizes = constant_integers(op.slice_sizes)
    if sizes is None:
        return None
    attributes = inherent(op, "dimension_numbers", "indices_are_sorted") | {"slice_sizes": integers(sizes)}
    return GatherOp, [op.operand, op.start_indices], attributes


def pad_form(op: Op) -> StaticForm | None:
    """A pad with constant padding sizes; None if they are not constant."""
    assert isinstance(op, DynamicPadOp)
    sizes = {
        "edge_padding_low": op.edge_padding_low,
        "edge_padding_high": op.edge_padding_high,
        "interior_padding": op.interior_padding,
    }
    return _with_attributes(PadOp, [op.operand, op.padding_value], sizes)


def slice_form(op: Op) -> StaticForm | None:
    """A slice with constant starts, limits and strides; None if one of them is not constant."""
    assert isinstance(op, RealDynamicSliceOp)
    bounds = {"start_indices": op.start_indices, "limit_indices": op.limit_indices, "strides": op.strides}
    return _with_attributes(SliceOp, [op.operand], bounds)


def _with_attributes(
    op_class: type[Op], operands: Sequence[Value], values: Mapping[str, Value]
) -> StaticForm | None:
    """An operation whose attributes are the integers of operands; None if one of them is not constant."""
    attributes: dict[str, Attribute | None] = {}
    for name, value in values.items():
        numbers = constant_integers(value)
        if numbers is None:
            return None
        attributes[name] = integers(numbers)
    return op_class, operands, attributes


def dynamic_slice_form(op: RealDynamicSliceOp, rewriter: Rewriter) -> StaticForm | None:
    """A dynamic slice of a constant size, with its starts as scalars; None if the size is not constant."""
    sizes = static_slice_sizes(op)
    if sizes is None:
        return None
    element = op.signature[RealDynamicSliceOp.start_indices].element
    row, scalar = RankedTensor((1,), element), RankedTensor((), element)
    starts: list[Value] = []
    for index in range(len(sizes)):
        attributes = {
            "start_indices": integers([index]),
            "limit_indices": integers([index + 1]),
            "strides": integers([1]),
        }
        one = new_value(op, SliceOp, [op.start_indices], row, rewriter, attributes)
        starts.append(new_value(op, ReshapeOp, [one], scalar, rewriter))
    return DynamicSliceOp, [op.operand, *starts], {"slice_sizes": integers(sizes)}
