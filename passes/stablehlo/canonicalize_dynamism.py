"""stablehlo-canonicalize-dynamism: replace dynamic operations whose operands are constants by static ones.

    %c = stablehlo.constant dense<[4, 8]> : tensor<2xi32>
    %0 = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [0]
      : (tensor<4xf32>, tensor<2xi32>) -> tensor<4x8xf32>
becomes
    %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>

Operations with dynamic types stay: run `stablehlo-refine-shapes` first. A slice whose limits are its starts
plus constants becomes a `dynamic_slice`. Custom calls lose the operands that are shapes of their results.
"""

from __future__ import annotations

from functools import partial

from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp, DynamicConvOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import DynamicIotaOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    DynamicBroadcastInDimOp,
    DynamicReshapeOp,
    ReshapeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicPadOp, RealDynamicSliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from .support.dynamic_simplifications import dynamic_slice_form, gather_form, pad_form, slice_form
from .support.folds import Patterns, result_type
from .support.refinement import SHAPE_OPERANDS, shape_operand_indices, shapes_in_operands
from .support.replacement import inherent, replace_with_new


@register("stablehlo-canonicalize-dynamism")
class StablehloCanonicalizeDynamism(Pass):
    anchor = FUNCTION

    def run(self, function: Op) -> bool:
        options = GreedyOptions(
            top_down=True, max_iterations=2, region_simplification=RegionSimplification.AGGRESSIVE
        )
        changed, converged = apply_greedily(function, lambda op_class: _PATTERNS.get(op_class, ()), options)
        if not converged:
            limit = f"{options.max_iterations} iterations"
            message = f"Failed to converge StablehloCanonicalizeDynamism in {limit}"
            function.warning(message, help="run the pass again")
        return changed


_replace = partial(replace_with_new, keeps_attributes=False)


_PATTERNS = Patterns()


@_PATTERNS.pattern(DynamicBroadcastInDimOp)
def broadcast(op: DynamicBroadcastInDimOp, rewriter: Rewriter) -> bool:
    operand = op.signature[DynamicBroadcastInDimOp.operand]
    if not operand.has_static_shape or not _has_static_result(op, op.output_dimensions):
        return False
    return _replace(op, BroadcastInDimOp, [op.operand], rewriter, inherent(op, "broadcast_dimensions"))


def _has_static_result(op: Op, shape: Value) -> bool:
    return constant_integers(shape) is not None and result_type(op).has_static_shape


@_PATTERNS.pattern(DynamicConvOp)
def convolution(op: DynamicConvOp, rewriter: Rewriter) -> bool:
    padding = constant_integers(op.padding)
    if padding is None:
        return False
    data = b"".join([size.to_bytes(8, "little", signed=True) for size in padding])
    attributes = dict(op.signature.attributes.entries)
    attributes["padding"] = dense(RankedTensor((len(padding) // 2, 2), I64), data)
    return _replace(op, ConvolutionOp, [op.lhs, op.rhs], rewriter, attributes)


@_PATTERNS.pattern(DynamicIotaOp)
def iota(op: DynamicIotaOp, rewriter: Rewriter) -> bool:
    if not _has_static_result(op, op.output_shape):
        return False
    return _replace(op, IotaOp, [], rewriter, inherent(op, "iota_dimension"))


@_PATTERNS.pattern(DynamicReshapeOp)
def reshape(op: DynamicReshapeOp, rewriter: Rewriter) -> bool:
    if not _has_static_result(op, op.output_shape):
        return False
    return _replace(op, ReshapeOp, [op.operand], rewriter, {})


@_PATTERNS.pattern(DynamicGatherOp)
@_PATTERNS.pattern(DynamicPadOp)
def to_static(op: Op, rewriter: Rewriter) -> bool:
    form = _STATIC_FORMS[type(op)](op)
    if form is None:
        return False
    op_class, operands, attributes = form
    return _replace(op, op_class, operands, rewriter, attributes)


@_PATTERNS.pattern(RealDynamicSliceOp)
def slice_(op: RealDynamicSliceOp, rewriter: Rewriter) -> bool:
    form = dynamic_slice_form(op, rewriter) or slice_form(op)
    if form is None:
        return False
    op_class, operands, attributes = form
    return _replace(op, op_class, operands, rewriter, attributes | dict(op.attributes.entries))


@_PATTERNS.pattern(CustomCallOp)
def custom_call(op: CustomCallOp, rewriter: Rewriter) -> bool:
    if shapes_in_operands(op) is None:
        return False
    indices = op.attributes.get(SHAPE_OPERANDS)
    assert isinstance(indices, DenseElements)
    erased = set(shape_operand_indices(indices))
    static = [isinstance(t, RankedTensor) and t.has_static_shape for t in op.signature.result_types]
    if not all(static[: len(erased)]):
        return False
    attributes: dict[str, Attribute | None] = dict(op.signature.attributes.entries)
    layouts = attributes.get("operand_layouts")
    if isinstance(layouts, ArrayAttr):
        kept = [layout for index, layout in enumerate(layouts.elements) if index not in erased]
        attributes["operand_layouts"] = ArrayAttr(tuple(kept))
    discardable: DictAttr = op.attributes.without(SHAPE_OPERANDS)
    operands = [value for index, value in enumerate(op.operands) if index not in erased]
    return _replace(op, CustomCallOp, operands, rewriter, attributes | dict(discardable.entries))


_STATIC_FORMS = {DynamicGatherOp: gather_form, DynamicPadOp: pad_form}
