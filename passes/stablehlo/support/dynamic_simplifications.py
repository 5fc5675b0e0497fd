"""The patterns of stablehlo-aggressive-simplification for dynamic operations, and their static forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sdyopt.mlir.dialects.arith.floats import IndexCastOp
from sdyopt.mlir.dialects.shape import ShapeOfOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp, GatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    DynamicBroadcastInDimOp,
    DynamicReshapeOp,
    ReshapeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import (
    DynamicPadOp,
    DynamicSliceOp,
    PadOp,
    RealDynamicSliceOp,
    SliceOp,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers, ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE
from sdyopt.mlir.ir.types import I64, INDEX, RankedTensor
from sdyopt.mlir.ir.value import Value

from .folds import Patterns, result_type
from .refinement import static_slice_sizes
from .replacement import inherent, is_iota, new_value, replace_with_new, replace_with_value

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


DYNAMIC_SIMPLIFICATIONS = Patterns()


@DYNAMIC_SIMPLIFICATIONS.pattern(
    DynamicBroadcastInDimOp, "DynamicBroadcastInDimOp_FoldToDynamicReshape", benefit=2
)
def use_dynamic_reshape(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    """Uses the result of a reshape to the shape of the broadcast."""
    reshape = op.operand.defining_op
    if not isinstance(reshape, DynamicReshapeOp) or reshape.output_shape is not op.output_dimensions:
        return False
    return is_iota(op.broadcast_dimensions) and replace_with_new(
        op, DynamicReshapeOp, reshape.operands, rewriter
    )


@DYNAMIC_SIMPLIFICATIONS.pattern(
    DynamicBroadcastInDimOp, "DynamicBroadcastInDimOp_MergeComposition", benefit=2
)
def merge_dynamic_broadcasts(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    inner = op.operand.defining_op
    if not isinstance(inner, DynamicBroadcastInDimOp):
        return False
    merged = integers([op.broadcast_dimensions[dim] for dim in inner.broadcast_dimensions])
    empty = integers([])
    attributes = {
        "broadcast_dimensions": merged,
        "known_expanding_dimensions": empty,
        "known_nonexpanding_dimensions": empty,
    }
    operands = [inner.operand, op.output_dimensions]
    return replace_with_new(op, DynamicBroadcastInDimOp, operands, rewriter, attributes)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicBroadcastInDimOp, "DynamicBroadcastInDimOp_RemoveNoop", benefit=2)
def remove_dynamic_broadcast(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    """Removes a broadcast to the shape that the operand has."""
    shape = op.output_dimensions.defining_op
    if not isinstance(shape, ShapeOfOp) or shape.arg is not op.operand:
        return False
    return is_iota(op.broadcast_dimensions) and replace_with_value(op, op.operand, rewriter)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicBroadcastInDimOp, "DynamicBroadcastInDimOp_ReplaceNoopWithConvert")
def nonexpanding_broadcast_to_convert(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    known = op.known_nonexpanding_dimensions
    if known is None or len(known) != result_type(op).rank or not is_iota(op.broadcast_dimensions):
        return False
    return replace_with_new(op, ConvertOp, [op.operand], rewriter)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicBroadcastInDimOp, "DynamicBroadcastInDimOpNotActuallyDynamic")
def dynamic_broadcast_to_static(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    type = result_type(op)
    if not ranked(op.operand).has_static_shape:
        return False
    attributes = inherent(op, "broadcast_dimensions")
    if type.has_static_shape:
        return replace_with_new(
            op, BroadcastInDimOp, [op.operand], rewriter, attributes, keeps_attributes=False
        )
    shape = constant_integers(op.output_dimensions)
    if shape is None:
        return False
    given = {name: value for name, value in attributes.items() if value is not None}
    static = RankedTensor(tuple(shape), type.element)
    value = new_value(op, BroadcastInDimOp, [op.operand], static, rewriter, given)
    # Operations of other dialects, such as `return`, need the type that they have.
    if any(user.dialect_name != op.dialect_name for user in op.results[0].users):
        value = new_value(op, ConvertOp, [value], type, rewriter)
    rewriter.replace(op, [value])
    return True


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicReshapeOp, "DynamicReshapeOp_MergeComposition", benefit=2)
def merge_dynamic_reshapes(op: DynamicReshapeOp, rewriter: Rewriter) -> bool:
    inner = op.operand.defining_op
    if not isinstance(inner, DynamicReshapeOp):
        return False
    return replace_with_new(op, DynamicReshapeOp, [inner.operand, op.output_shape], rewriter)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicReshapeOp, "DynamicReshapeOpSameOperandAndResultShape")
def remove_repeated_reshape(op: DynamicReshapeOp, rewriter: Rewriter) -> bool:
    """Removes a reshape of a result that has the shape to which an operand was reshaped."""
    between = op.operand.defining_op
    if between is None or SAME_SHAPE not in between.traits or not between.operands:
        return False
    reshape = between.operand_at(0).defining_op
    if not isinstance(reshape, DynamicReshapeOp) or reshape.output_shape is not op.output_shape:
        return False
    return replace_with_value(op, op.operand, rewriter, keeps_attributes=False)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicReshapeOp, "DynamicReshapeOpIsStatic")
def dynamic_reshape_to_static(op: DynamicReshapeOp, rewriter: Rewriter) -> bool:
    if not result_type(op).has_static_shape:
        return False
    return replace_with_new(op, ReshapeOp, [op.operand], rewriter, keeps_attributes=False)


@DYNAMIC_SIMPLIFICATIONS.pattern(ShapeOfOp, "DynamicReshapeOp_FoldComposedOpsToShapeOperand", benefit=2)
def use_reshape_operand(op: ShapeOfOp, rewriter: Rewriter) -> bool:
    reshape = op.arg.defining_op
    return isinstance(reshape, DynamicReshapeOp) and replace_with_value(op, reshape.output_shape, rewriter)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicIotaOp, "DynamicIotaOpToBroadcast")
def dynamic_iota_to_broadcast(op: DynamicIotaOp, rewriter: Rewriter) -> bool:
    type, dimension, shape = result_type(op), op.iota_dimension, op.output_shape
    if type.rank < 2:
        return False
    wide = RankedTensor(ranked(shape).shape, I64)
    cast = IndexCastOp if ranked(shape).element is INDEX else ConvertOp
    sizes = new_value(op, cast, [shape], wide, rewriter)
    size = new_value(
        op,
        SliceOp,
        [sizes],
        RankedTensor((1,), I64),
        rewriter,
        {
            "start_indices": integers([dimension]),
            "limit_indices": integers([dimension + 1]),
            "strides": integers([1]),
        },
    )
    row = RankedTensor((type.shape[dimension],), type.element)
    value = new_value(op, DynamicIotaOp, [size], row, rewriter, {"iota_dimension": IntegerAttr(0, I64)})
    attributes = {"broadcast_dimensions": integers([dimension])}
    return replace_with_new(
        op, DynamicBroadcastInDimOp, [value, shape], rewriter, attributes, keeps_attributes=False
    )


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicIotaOp, "DynamicIotaIsStatic")
def dynamic_iota_to_static(op: DynamicIotaOp, rewriter: Rewriter) -> bool:
    if not result_type(op).has_static_shape:
        return False
    attributes = inherent(op, "iota_dimension")
    return replace_with_new(op, IotaOp, (), rewriter, attributes, keeps_attributes=False)


@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicGatherOp, "DynamicGatherOp_ReplaceWithGather", benefit=2)
@DYNAMIC_SIMPLIFICATIONS.pattern(DynamicPadOp, "DynamicPadOp_ReplaceWithPad")
@DYNAMIC_SIMPLIFICATIONS.pattern(RealDynamicSliceOp, "RealDynamicSliceOp_ReplaceWithSlice")
def to_static(op: Op, rewriter: Rewriter) -> bool:
    """Replaces a dynamic operation by its static form."""
    form = _STATIC_FORMS[type(op)](op)
    return form is not None and _use_form(op, form, rewriter)


@DYNAMIC_SIMPLIFICATIONS.pattern(RealDynamicSliceOp, "RealDynamicSliceOpToDynamicSlice")
def to_dynamic_slice(op: RealDynamicSliceOp, rewriter: Rewriter) -> bool:
    form = dynamic_slice_form(op, rewriter)
    return form is not None and _use_form(op, form, rewriter)


def _use_form(op: Op, form: StaticForm, rewriter: Rewriter) -> bool:
    op_class, operands, attributes = form
    return replace_with_new(op, op_class, operands, rewriter, attributes)


_STATIC_FORMS = {DynamicGatherOp: gather_form, DynamicPadOp: pad_form, RealDynamicSliceOp: slice_form}
