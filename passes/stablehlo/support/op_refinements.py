"""How each operation refines the shapes of its results, for `stablehlo-refine-shapes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sdyopt.mlir.dialects.builtin import UnrealizedConversionCastOp
from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding_edits import set_function_type
from sdyopt.mlir.dialects.stablehlo.collectives import AllGatherOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo.compare_select import BitcastConvertOp, ConvertOp, UniformQuantizeOp
from sdyopt.mlir.dialects.stablehlo.contraction import (
    DotGeneralOp,
    DotOp,
    dot_result_shape,
    ragged_dot_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import ConditionalOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp as RegionReturnOp
from sdyopt.mlir.dialects.stablehlo.convolution import (
    ConvolutionOp,
    DynamicConvOp,
    convolution_shape,
)
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp, dynamic_gather_types
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import RngOp
from sdyopt.mlir.dialects.stablehlo.reducer import padding_pairs, pairs_of
from sdyopt.mlir.dialects.stablehlo.replica_groups import CollectiveOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    DynamicBroadcastInDimOp,
    DynamicReshapeOp,
    SetDimensionSizeOp,
    type_with_size,
)
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicPadOp, PadOp, RealDynamicSliceOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width, constant_integers, most_specific_type
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense_array
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor
from sdyopt.mlir.ir.value import Value

from .folds import Patterns
from .refinement import (
    WRAPPER,
    refine_results,
    refine_shapes,
    refine_values,
    shapes_in_operands,
    static_slice_sizes,
)

# The patterns refine the results of operations.
REFINEMENTS = Patterns()
Infer = Callable[[Any], Sequence[int] | None]
F = TypeVar("F", bound=Infer)


def infers_shape(op_class: type[Op]) -> Callable[[F], F]:
    """Decorator: refines the only result of operations to the shape that a function infers, if any."""

    def register(infer: F) -> F:
        @REFINEMENTS.pattern(op_class)
        def refine(op: Op, rewriter: Rewriter) -> bool:
            try:
                shape = infer(op)
            except SignatureError:
                return False
            return shape is not None and refine_shapes(op, [shape])

        return infer

    return register


infers_shape(ConvertOp)(lambda op: op.signature[ConvertOp.operand].shape)
infers_shape(DynamicBroadcastInDimOp)(lambda op: constant_integers(op.output_dimensions))
infers_shape(DynamicIotaOp)(lambda op: constant_integers(op.output_shape))
infers_shape(DynamicReshapeOp)(lambda op: constant_integers(op.output_shape))
infers_shape(RngOp)(lambda op: constant_integers(op.shape))
infers_shape(UniformQuantizeOp)(lambda op: op.signature[UniformQuantizeOp.operand].shape)


def _infer(op: Op, rewriter: Rewriter) -> bool:
    """Infers the result types from operands that may have been refined."""
    infer = op.infer_result_types
    assert infer is not None
    try:
        return refine_results(op, infer(op.signature, op.regions))
    except SignatureError:
        return False


INFER = Pattern(_infer, benefit=0)


@REFINEMENTS.pattern(CustomCallOp)
def refine_custom_call(call: CustomCallOp, rewriter: Rewriter) -> bool:
    shapes = shapes_in_operands(call)
    if shapes is None or not refine_shapes(call, shapes):
        return False
    if call.call_target_name == WRAPPER:
        argument, result = call.operand_at(0), call.results[0]
        if argument.type is result.type:
            rewriter.replace_all_uses(result, argument)
            rewriter.erase(call)
    return True


@REFINEMENTS.pattern(WhileOp)
def refine_while(op: WhileOp, rewriter: Rewriter) -> bool:
    """Refines the block arguments of both regions. The results are inferred from the operands."""
    types = op.signature.operand_types
    changed = [refine_values(op, region.blocks[0].arguments, types) for region in op.regions]
    return any(changed)


@REFINEMENTS.pattern(ReturnOp)
def update_function(op: ReturnOp, rewriter: Rewriter) -> bool:
    """Sets the result types of a function to those that were refined, and erases the casts."""
    function = op.parent_op
    assert isinstance(function, FuncOp)
    types = list(op.signature.operand_types)
    casts: dict[Op, None] = {}
    for index, operand in enumerate(op.operands):
        cast = operand.defining_op
        if not isinstance(cast, UnrealizedConversionCastOp) or len(cast.operands) != 1:
            continue
        source = cast.operand_at(0).type
        try:
            specific = most_specific_type(cast.signature, [source, operand.type])
        except SignatureError:
            continue
        if specific is not operand.type:
            types[index] = source
            casts[cast] = None
    for cast in casts:
        rewriter.replace(cast, cast.operands)
    if casts:
        set_function_type(function, function.function_type.inputs, types, Rewriter())
    return bool(casts)


@REFINEMENTS.pattern(RegionReturnOp)
def update_branches(op: RegionReturnOp, rewriter: Rewriter) -> bool:
    """Visits a conditional again if a branch returns more specific types than its results have."""
    parent = op.parent_op
    if not isinstance(parent, ConditionalOp):
        return False
    for old, new in zip(parent.signature.result_types, op.signature.operand_types, strict=False):
        try:
            if most_specific_type(op.signature, [old, new]) is not old:
                rewriter.visit_again(parent)
                return True
        except SignatureError:
            continue
    return False


@infers_shape(BitcastConvertOp)
def bitcast_shape(op: BitcastConvertOp) -> Sequence[int] | None:
    source, target = op.signature[BitcastConvertOp.operand], op.signature[BitcastConvertOp.out]
    return source.shape if bit_width(source.element) == bit_width(target.element) else None


def _gathered_shape(
    op: CollectiveOp, dimension: int, factor: Callable[[int, int], int]
) -> Sequence[int] | None:
    """The operand's shape with one size multiplied or divided by the size of the replica groups."""
    type, groups = op.operands[0].type, op.replica_groups
    uses_global_ids = bool(op.attribute("use_global_device_ids"))
    if not isinstance(type, RankedTensor) or (op.channel_handle is not None and not uses_global_ids):
        return None
    if not isinstance(groups, DenseElements) or not groups.type.shape[1]:
        return None
    shape = list(type.shape)
    if shape[dimension] != DYNAMIC:
        shape[dimension] = factor(shape[dimension], groups.type.shape[1])
    return shape


@REFINEMENTS.pattern(AllGatherOp)
def refine_all_gather(op: AllGatherOp, rewriter: Rewriter) -> bool:
    shape = _gathered_shape(op, op.all_gather_dim, lambda size, count: size * count)
    return shape is not None and refine_shapes(op, [shape])


@infers_shape(ReduceScatterOp)
def reduce_scatter_shape(op: ReduceScatterOp) -> Sequence[int] | None:
    return _gathered_shape(op, op.scatter_dimension, lambda size, count: size // count)


@infers_shape(ConvolutionOp)
def convolution(op: ConvolutionOp) -> Sequence[int]:
    return convolution_shape(op.signature, padding_pairs(op.signature, op.padding))


@infers_shape(DynamicConvOp)
def dynamic_convolution(op: DynamicConvOp) -> Sequence[int] | None:
    padding = constant_value(op.padding.defining_op)
    return convolution_shape(op.signature, pairs_of(padding)) if isinstance(padding, DenseElements) else None


@infers_shape(DotOp)
def dot(op: DotOp) -> Sequence[int]:
    lhs, rhs = op.signature[DotOp.lhs], op.signature[DotOp.rhs]
    return [*lhs.shape[:-1], *rhs.shape[1:]]


@infers_shape(DotGeneralOp)
def dot_general(op: DotGeneralOp) -> Sequence[int]:
    lhs, rhs = op.signature[DotGeneralOp.lhs], op.signature[DotGeneralOp.rhs]
    return dot_result_shape(op.signature, lhs, rhs, op.dot_dimension_numbers)


@infers_shape(RaggedDotOp)
def ragged_dot(op: RaggedDotOp) -> Sequence[int] | None:
    lhs, rhs, groups = (operand.type for operand in op.operands)
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        return None
    assert isinstance(groups, RankedTensor)
    return ragged_dot_result_shape(lhs, rhs, groups, op.ragged_dot_dimension_numbers.dimensions)


def _constants(**operands: Value) -> dict[str, Sequence[int]] | None:
    """The constant integers by name; None if an operand is not constant."""
    shapes: dict[str, Sequence[int]] = {}
    for name, value in operands.items():
        integers = constant_integers(value)
        if integers is None:
            return None
        shapes[name] = integers
    return shapes


@REFINEMENTS.pattern(DynamicPadOp)
def refine_pad(op: DynamicPadOp, rewriter: Rewriter) -> bool:
    padding = _constants(
        edge_padding_low=op.edge_padding_low,
        edge_padding_high=op.edge_padding_high,
        interior_padding=op.interior_padding,
    )
    if padding is None:
        return False
    return _refine_as(op, PadOp, [op.operand, op.padding_value], padding)


@REFINEMENTS.pattern(RealDynamicSliceOp)
def refine_slice(op: RealDynamicSliceOp, rewriter: Rewriter) -> bool:
    ranges = _constants(start_indices=op.start_indices, limit_indices=op.limit_indices, strides=op.strides)
    if ranges is not None:
        return _refine_as(op, SliceOp, [op.operand], ranges)
    sizes = static_slice_sizes(op)
    if sizes is None:
        return False
    extents = op.signature[RealDynamicSliceOp.operand].shape
    if any(size < 0 or (size > extent != DYNAMIC) for size, extent in zip(sizes, extents, strict=True)):
        return False
    return refine_shapes(op, [sizes])


def _refine_as(
    op: Op, op_class: type[Op], operands: Sequence[Value], attributes: dict[str, Sequence[int]]
) -> bool:
    try:
        # The type that a static operation with these operands and lists of integers would have.
        values: list[tuple[str, Attribute]] = [(name, dense_array(I64, v)) for name, v in attributes.items()]
        types = tuple([operand.type for operand in operands])
        signature = OpSignature(
            op_class, op_class.name, DictAttr(tuple(sorted(values))), types, (op.results[0].type,)
        )
        infer = op_class.infer_result_types
        assert infer is not None
        type = infer(signature, ())[0]
    except SignatureError:
        return False
    return refine_results(op, [type])


@REFINEMENTS.pattern(DynamicGatherOp)
def refine_dynamic_gather(op: DynamicGatherOp, rewriter: Rewriter) -> bool:
    try:
        return refine_results(op, dynamic_gather_types(op.signature, constant_integers(op.slice_sizes)))
    except SignatureError:
        return False


@REFINEMENTS.pattern(SetDimensionSizeOp)
def refine_set_dimension_size(op: SetDimensionSizeOp, rewriter: Rewriter) -> bool:
    try:
        return refine_results(op, [type_with_size(op.signature, constant_integers(op.size))])
    except SignatureError:
        return False
